//! What ciphers share whose blocks are four little-endian words of 32 bits: RC6 and LEA.

#[cfg(target_arch = "aarch64")]
mod aarch64;
pub(crate) mod chain;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod chain_ahead;
pub(crate) mod portable;
#[cfg(target_arch = "riscv32")]
pub(crate) mod riscv32;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod sliced;
#[cfg(target_arch = "x86_64")]
mod x86;

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::block::Block;

/// The words of a block.
pub(crate) type BlockWords = [u32; 4];

#[inline(always)]
pub(crate) fn to_words(block: &Block) -> BlockWords {
    let number = u128::from_le_bytes(*block);
    [number as u32, (number >> 32) as u32, (number >> 64) as u32, (number >> 96) as u32]
}

#[inline(always)]
pub(crate) fn to_bytes([a, b, c, d]: BlockWords) -> Block {
    let low = u128::from(a) | u128::from(b) << 32;
    (low | u128::from(c) << 64 | u128::from(d) << 96).to_le_bytes()
}

/// The round keys of a cipher, and the cipher in 32-bit words for several blocks side by side.
pub trait WordKeys: Clone + Zeroize + ZeroizeOnDrop + 'static {
    /// Round keys that are all zero.
    const ZERO: Self;

    /// Computes the round keys. The cipher must have keys of this length.
    fn expand_key(key: &[u8]) -> Self;
    /// Number of rounds.
    fn rounds(&self) -> usize;
    /// Word `index` of the round keys.
    fn word(&self, index: usize) -> u32;
    /// Encrypts `N` blocks.
    fn encrypt<const N: usize>(keys: &impl RoundKeySource, x: &mut [BlockWords; N]);
    /// Decrypts `N` blocks.
    fn decrypt<const N: usize>(keys: &impl RoundKeySource, x: &mut [BlockWords; N]);
}

/// A source of round keys.
pub trait RoundKeySource {
    /// Number of rounds.
    fn rounds(&self) -> usize;
    /// Word `index` of the round keys of block `slot`.
    fn word(&self, index: usize, slot: usize) -> u32;
}

impl<K: WordKeys> RoundKeySource for K {
    #[inline(always)]
    fn rounds(&self) -> usize {
        WordKeys::rounds(self)
    }

    #[inline(always)]
    fn word(&self, index: usize, _: usize) -> u32 {
        WordKeys::word(self, index)
    }
}

/// Encrypts one block.
#[inline(always)]
pub(crate) fn encrypt_block<K: WordKeys>(keys: &K, block: &mut Block) {
    let mut x = [to_words(block)];
    K::encrypt(keys, &mut x);
    *block = to_bytes(x[0]);
}
