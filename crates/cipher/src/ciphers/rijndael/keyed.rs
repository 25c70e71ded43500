//! A key on a backend, for each size of a block.

use core::marker::PhantomData;

#[cfg(target_arch = "aarch64")]
use super::aarch64;
use super::portable::{self, Portable};
use super::reference::{self, Reference};
#[cfg(target_arch = "riscv32")]
use super::riscv32;
#[cfg(target_arch = "x86_64")]
use super::x86;
use crate::engine::{BlockBytes, CcmCore, CcmEngine, CcmOperation, Core, Engine, Operation, compile_modes};
use crate::{Backend, Block, Error};

/// An engine that not every machine can run.
pub trait Backing<B: Size>: Engine<Cipher = Keyed<B>, Block = B, Keys: Clone> {
    /// The engine, if this machine has what it needs.
    fn detect() -> Option<Self>;
    /// Prepares a key of a length that Rijndael has.
    fn expand_key(self, key: &[u8]) -> Self::Keys;
}

/// A block of a length that Rijndael has, with the engines for it.
pub trait Size: BlockBytes {
    type Portable: Backing<Self, Keys = portable::Keys>;
    #[cfg(target_arch = "riscv32")]
    type Riscv32: Backing<Self, Keys = riscv32::Keys>;
    #[cfg(target_arch = "aarch64")]
    type ArmAes: Backing<Self>;
    #[cfg(target_arch = "x86_64")]
    type AesNi: Backing<Self>;
    #[cfg(target_arch = "x86_64")]
    type Vaes256: Backing<Self>;
    #[cfg(target_arch = "x86_64")]
    type Vaes512: Backing<Self>;
}

/// The engines of one size. The numbers of the wide ones are blocks in a flight.
macro_rules! size {
    ($bytes:literal, portable $portable:literal, arm $arm:ty, x86 [$aesni:ty, $vaes256:ty, $vaes512:ty]) => {
        impl Size for [u8; $bytes] {
            type Portable = Portable<Self, $portable>;
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
        size!(
            $bytes,
            portable 8,
            arm aarch64::ArmAes<aarch64::Two<Self>, 4>,
            x86 [x86::wide::AesNi<Self, 4>, x86::wide::Vaes256<Self, 8>, x86::wide::Vaes512<Self, $blocks>]
        );
    };
}

size!(16, portable 16, arm aarch64::ArmAes<aarch64::One, 8>, x86 [x86::AesNi, x86::Vaes256, x86::Vaes512]);
size!(20, vaes512 24);
size!(24, vaes512 16);
size!(28, vaes512 16);
size!(32, vaes512 16);

/// Rijndael with a key.
#[derive(Clone)]
pub struct Keyed<B: Size> {
    pub(super) inner: Inner<B>,
    key_bytes: usize,
}

/// The round keys in the form of the chosen backend, with the proof that the machine has it.
// The sizes differ; without a heap there is no box to put the larger ones into.
#[allow(clippy::large_enum_variant)]
#[derive(Clone)]
pub(super) enum Inner<B: Size> {
    Reference(reference::Keys),
    Portable(B::Portable, portable::Keys),
    #[cfg(target_arch = "riscv32")]
    Riscv32(B::Riscv32, riscv32::Keys),
    #[cfg(target_arch = "aarch64")]
    ArmAes(B::ArmAes, <B::ArmAes as Engine>::Keys),
    #[cfg(target_arch = "x86_64")]
    AesNi(B::AesNi, <B::AesNi as Engine>::Keys),
    #[cfg(target_arch = "x86_64")]
    Vaes256(B::Vaes256, <B::Vaes256 as Engine>::Keys),
    #[cfg(target_arch = "x86_64")]
    Vaes512(B::Vaes512, <B::Vaes512 as Engine>::Keys),
}

impl<B: Size> Keyed<B> {
    /// The backends, slower ones first.
    pub(crate) const BACKENDS: &'static [Backend] = &[
        Backend::Reference,
        Backend::Portable,
        Backend::Riscv32,
        Backend::ArmAes,
        Backend::AesNi,
        Backend::Vaes256,
        Backend::Vaes512,
    ];

    /// Prepares a key of 16, 20, 24, 28 or 32 bytes for a backend.
    pub(crate) fn new(key: &[u8], backend: Backend) -> Result<Self, Error> {
        if !matches!(key.len(), 16 | 20 | 24 | 28 | 32) {
            return Err(Error::KeyLength);
        }
        let unavailable = Error::BackendUnavailable(backend);
        let inner = match backend {
            Backend::Reference => Inner::Reference(reference::expand_key(B::BYTES / 4, key)),
            Backend::Portable => {
                let engine = B::Portable::detect().ok_or(unavailable)?;
                Inner::Portable(engine, engine.expand_key(key))
            }
            #[cfg(target_arch = "riscv32")]
            Backend::Riscv32 => {
                let engine = B::Riscv32::detect().ok_or(unavailable)?;
                Inner::Riscv32(engine, engine.expand_key(key))
            }
            #[cfg(target_arch = "aarch64")]
            Backend::ArmAes => {
                let engine = B::ArmAes::detect().ok_or(unavailable)?;
                Inner::ArmAes(engine, engine.expand_key(key))
            }
            #[cfg(target_arch = "x86_64")]
            Backend::AesNi => {
                let engine = B::AesNi::detect().ok_or(unavailable)?;
                Inner::AesNi(engine, engine.expand_key(key))
            }
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes256 => {
                let engine = B::Vaes256::detect().ok_or(unavailable)?;
                Inner::Vaes256(engine, engine.expand_key(key))
            }
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes512 => {
                let engine = B::Vaes512::detect().ok_or(unavailable)?;
                Inner::Vaes512(engine, engine.expand_key(key))
            }
            _ => return Err(unavailable),
        };
        Ok(Keyed { inner, key_bytes: key.len() })
    }

    /// The backend that this key was prepared for.
    pub(crate) fn backend(&self) -> Backend {
        match &self.inner {
            Inner::Reference(_) => Backend::Reference,
            Inner::Portable(..) => Backend::Portable,
            #[cfg(target_arch = "riscv32")]
            Inner::Riscv32(..) => Backend::Riscv32,
            #[cfg(target_arch = "aarch64")]
            Inner::ArmAes(..) => Backend::ArmAes,
            #[cfg(target_arch = "x86_64")]
            Inner::AesNi(..) => Backend::AesNi,
            #[cfg(target_arch = "x86_64")]
            Inner::Vaes256(..) => Backend::Vaes256,
            #[cfg(target_arch = "x86_64")]
            Inner::Vaes512(..) => Backend::Vaes512,
        }
    }

    pub(crate) fn key_bytes(&self) -> usize {
        self.key_bytes
    }
}

/// Calls a method on the engine of a key's backend, with the engine's keys.
macro_rules! dispatch {
    ($keyed:expr, $method:ident, $operation:expr) => {
        match &$keyed.inner {
            Inner::Reference(keys) => Reference(PhantomData).$method(keys, $operation),
            Inner::Portable(engine, keys) => engine.$method(keys, $operation),
            #[cfg(target_arch = "riscv32")]
            Inner::Riscv32(engine, keys) => engine.$method(keys, $operation),
            #[cfg(target_arch = "aarch64")]
            Inner::ArmAes(engine, keys) => engine.$method(keys, $operation),
            #[cfg(target_arch = "x86_64")]
            Inner::AesNi(engine, keys) => engine.$method(keys, $operation),
            #[cfg(target_arch = "x86_64")]
            Inner::Vaes256(engine, keys) => engine.$method(keys, $operation),
            #[cfg(target_arch = "x86_64")]
            Inner::Vaes512(engine, keys) => engine.$method(keys, $operation),
        }
    };
}

impl<B: Size> Core for Keyed<B> {
    type Block = B;

    #[inline]
    fn run<O: Operation<Self>>(&self, operation: O) -> O::Output {
        dispatch!(self, run, operation)
    }
}

impl CcmCore for Keyed<Block> {
    #[inline]
    fn run_ccm<O: CcmOperation<Self>>(&self, operation: O) -> O::Output {
        dispatch!(self, run_ccm, operation)
    }
}

compile_modes!(ccm Keyed<Block>);
compile_modes!(Keyed<[u8; 20]>);
compile_modes!(Keyed<[u8; 24]>);
compile_modes!(Keyed<[u8; 28]>);
compile_modes!(Keyed<[u8; 32]>);
