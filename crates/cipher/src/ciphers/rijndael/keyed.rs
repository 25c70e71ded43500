//! Rijndael with a key, for each length of a block.

#[cfg(target_arch = "aarch64")]
use super::aarch64;
use super::portable::Portable;
use super::reference::Reference;
#[cfg(target_arch = "riscv32")]
use super::riscv32;
#[cfg(target_arch = "x86_64")]
use super::x86;
use crate::block::{Block, BlockBytes};
use crate::engine::{Engine, backends};
use crate::operation::compile_modes;

/// A block of one of the lengths of Rijndael, with its engines.
pub trait RijndaelBlock: BlockBytes {
    type Portable: Engine<Block = Self>;
    #[cfg(target_arch = "riscv32")]
    type Riscv32: Engine<Block = Self>;
    #[cfg(target_arch = "aarch64")]
    type ArmAes: Engine<Block = Self>;
    #[cfg(target_arch = "x86_64")]
    type AesNi: Engine<Block = Self>;
    #[cfg(target_arch = "x86_64")]
    type Vaes256: Engine<Block = Self>;
    #[cfg(target_arch = "x86_64")]
    type Vaes512: Engine<Block = Self>;
}

/// Defines the engines for one block length. The numbers after `portable` are the blocks in a vector and the bytes of a round key; in
/// the engines for larger blocks they are the blocks in a flight.
macro_rules! rijndael_block {
    ($bytes:literal, portable $portable:literal $key_bytes:literal, arm $arm:ty, x86 [$aesni:ty, $vaes256:ty, $vaes512:ty]) => {
        impl RijndaelBlock for [u8; $bytes] {
            type Portable = Portable<Self, $portable, $key_bytes>;
            #[cfg(target_arch = "riscv32")]
            type Riscv32 = riscv32::Riscv32<Self>;
            #[cfg(target_arch = "aarch64")]
            type ArmAes = $arm;
            #[cfg(target_arch = "x86_64")]
            type AesNi = $aesni;
            #[cfg(target_arch = "x86_64")]
            type Vaes256 = $vaes256;
            #[cfg(target_arch = "x86_64")]
            type Vaes512 = $vaes512;
        }
    };
    ($bytes:literal, vaes512 $blocks:literal) => {
        rijndael_block!(
            $bytes,
            portable 8 32,
            arm aarch64::ArmAes<aarch64::TwoRegisters<Self>, 4>,
            x86 [x86::wide::AesNi<Self, 4>, x86::wide::Vaes256<Self, 8>, x86::wide::Vaes512<Self, $blocks>]
        );
    };
}

rijndael_block!(16, portable 16 16, arm aarch64::ArmAes<aarch64::OneRegister, 8>, x86 [x86::AesNi, x86::Vaes256, x86::Vaes512]);
rijndael_block!(20, vaes512 24);
rijndael_block!(24, vaes512 16);
rijndael_block!(28, vaes512 16);
rijndael_block!(32, vaes512 16);

backends! {
    /// Rijndael with a key of 16, 20, 24, 28 or 32 bytes.
    pub enum RijndaelKey<B: RijndaelBlock> of B {
        Reference: Reference<B>,
        Portable: B::Portable,
        #[cfg(target_arch = "riscv32")]
        Riscv32 [B::BYTES == 16]: B::Riscv32,
        #[cfg(target_arch = "aarch64")]
        ArmAes: B::ArmAes,
        #[cfg(target_arch = "x86_64")]
        AesNi: B::AesNi,
        #[cfg(target_arch = "x86_64")]
        Vaes256: B::Vaes256,
        #[cfg(target_arch = "x86_64")]
        Vaes512: B::Vaes512,
    }
    ccm RijndaelKey<Block>
}

compile_modes!(ccm RijndaelKey<Block>);
#[cfg(feature = "ciphers")]
compile_modes!(RijndaelKey<[u8; 20]>);
#[cfg(feature = "ciphers")]
compile_modes!(RijndaelKey<[u8; 24]>);
#[cfg(feature = "ciphers")]
compile_modes!(RijndaelKey<[u8; 28]>);
#[cfg(feature = "ciphers")]
compile_modes!(RijndaelKey<[u8; 32]>);
