//! RC6-32/20 with keys of 128, 192 and 256 bits, on every backend.
//!
//! RC6 was one of the five finalists of the AES contest, submitted in 1998. It is **not standardised**: the contest chose
//! Rijndael, and few people have looked at RC6 since. No attack on all of its 20 rounds is known, but new designs should
//! take [`crate::aes`], which has been studied far more, has instructions of its own in most processors, and is faster
//! there. RC6 is here for study, for comparison and for data that somebody has encrypted with it.
//!
//! | backend | what it uses | constant time |
//! |---|---|---|
//! | `reference` | the paper line by line | no promise |
//! | `portable` | 32-bit words, several blocks side by side | yes, with fixed-time rotations and multiplications |
//! | `riscv32` | assembly for RV32IM, a block after the other | yes, likewise |
//! | `neon` | 128-bit registers of aarch64, 4 blocks a vector | yes |
//! | `avx2` | 256-bit registers, 8 blocks a vector | yes |
//! | `avx512` | 512-bit registers with rotations, 16 blocks a vector | yes |
//!
//! RC6 rotates by amounts that depend on the data, and multiplies. All backends leave both to the processor: there is no
//! table and no branch on a secret. Where a rotation takes as many cycles as its amount says, or a multiplication ends
//! early for small factors, as on some small cores without a barrel shifter or a full multiplier, time does depend on
//! secrets; x86-64 and aarch64 processors are not of that kind. The chains of one message (CBC encryption, the MAC of CCM)
//! run in 32-bit words on every backend.
//!
//! The byte order is that of the AES submission: the words of keys and blocks are little-endian. Rounds and key lengths
//! other than those of the submission: [`General`].

use core::fmt;

use crate::engine::{CcmCore, CcmEngine, CcmOperation, Core, Direction, Engine, Modes, Operation, compile_modes};
use crate::modes::{ecb::Ecb, flat_mut};
use crate::rustcrypto::fixed_key_size;
use crate::{Backend, Block, BlockCipher, Error};

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod chain;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod chain_ahead;
mod keys;
mod portable;
mod reference;
#[cfg(target_arch = "riscv32")]
mod riscv32;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod sliced;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use reference::General;

use keys::Keys;
use portable::Portable;
use reference::Reference;

/// Rounds of the AES submission.
const ROUNDS: usize = 20;

/// RC6-32/20 with a key of 16, 24 or 32 bytes. Round keys are wiped when it is dropped.
#[derive(Clone)]
pub struct Rc6 {
    inner: Inner,
    keys: Keys,
    key_bytes: usize,
}

/// The engine of the chosen backend, which is the proof that the machine has it. All take the same round keys.
#[derive(Clone, Copy)]
enum Inner {
    Reference(Reference),
    Portable(Portable),
    #[cfg(target_arch = "riscv32")]
    Riscv32(riscv32::Riscv32),
    #[cfg(target_arch = "aarch64")]
    Neon(aarch64::Neon),
    #[cfg(target_arch = "x86_64")]
    Avx2(x86::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
}

impl Rc6 {
    /// Prepares a key of 16, 24 or 32 bytes for the fastest backend of this machine.
    pub fn new(key: &[u8]) -> Result<Rc6, Error> {
        Self::with_backend(key, Backend::best_of(Self::BACKENDS))
    }

    /// Prepares a key for a given backend; a machine without it is an error.
    pub fn with_backend(key: &[u8], backend: Backend) -> Result<Rc6, Error> {
        if !matches!(key.len(), 16 | 24 | 32) {
            return Err(Error::KeyLength);
        }
        let engine = match backend {
            Backend::Reference => Some(Inner::Reference(Reference)),
            Backend::Portable => Some(Inner::Portable(Portable)),
            #[cfg(target_arch = "riscv32")]
            Backend::Riscv32 => riscv32::Riscv32::detect().map(Inner::Riscv32),
            #[cfg(target_arch = "aarch64")]
            Backend::Neon => aarch64::Neon::detect().map(Inner::Neon),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => x86::Avx2::detect().map(Inner::Avx2),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => x86::Avx512::detect().map(Inner::Avx512),
            _ => None,
        };
        let inner = engine.ok_or(Error::BackendUnavailable(backend))?;
        let keys = match inner {
            Inner::Reference(_) => reference::expand_key(key),
            _ => keys::expand_key(key),
        };
        Ok(Rc6 { inner, keys, key_bytes: key.len() })
    }

    /// The backend that this key was prepared for.
    pub fn backend(&self) -> Backend {
        match self.inner {
            Inner::Reference(_) => Backend::Reference,
            Inner::Portable(_) => Backend::Portable,
            #[cfg(target_arch = "riscv32")]
            Inner::Riscv32(_) => Backend::Riscv32,
            #[cfg(target_arch = "aarch64")]
            Inner::Neon(_) => Backend::Neon,
            #[cfg(target_arch = "x86_64")]
            Inner::Avx2(_) => Backend::Avx2,
            #[cfg(target_arch = "x86_64")]
            Inner::Avx512(_) => Backend::Avx512,
        }
    }

    /// Bytes of the key: 16, 24 or 32.
    pub fn key_bytes(&self) -> usize {
        self.key_bytes
    }

    /// Encrypts blocks, each on its own.
    pub fn encrypt_blocks(&self, blocks: &mut [Block]) {
        self.ecb(Ecb { data: flat_mut(blocks), direction: Direction::Encrypt });
    }

    /// Decrypts blocks, each on its own.
    pub fn decrypt_blocks(&self, blocks: &mut [Block]) {
        self.ecb(Ecb { data: flat_mut(blocks), direction: Direction::Decrypt });
    }
}

/// Calls a method on the engine of a key's backend.
macro_rules! dispatch {
    ($rc6:expr, $method:ident, $operation:expr) => {
        match $rc6.inner {
            Inner::Reference(engine) => engine.$method(&$rc6.keys, $operation),
            Inner::Portable(engine) => engine.$method(&$rc6.keys, $operation),
            #[cfg(target_arch = "riscv32")]
            Inner::Riscv32(engine) => engine.$method(&$rc6.keys, $operation),
            #[cfg(target_arch = "aarch64")]
            Inner::Neon(engine) => engine.$method(&$rc6.keys, $operation),
            #[cfg(target_arch = "x86_64")]
            Inner::Avx2(engine) => engine.$method(&$rc6.keys, $operation),
            #[cfg(target_arch = "x86_64")]
            Inner::Avx512(engine) => engine.$method(&$rc6.keys, $operation),
        }
    };
}

impl Core for Rc6 {
    type Block = Block;

    #[inline]
    fn run<O: Operation<Rc6>>(&self, operation: O) -> O::Output {
        dispatch!(self, run, operation)
    }
}

impl CcmCore for Rc6 {
    #[inline]
    fn run_ccm<O: CcmOperation<Rc6>>(&self, operation: O) -> O::Output {
        dispatch!(self, run_ccm, operation)
    }
}

compile_modes!(ccm Rc6);

impl BlockCipher for Rc6 {
    const BLOCK_BYTES: usize = 16;
    const BACKENDS: &'static [Backend] =
        &[Backend::Reference, Backend::Portable, Backend::Riscv32, Backend::Neon, Backend::Avx2, Backend::Avx512];
    type Core = Rc6;

    fn core(&self) -> &Rc6 {
        self
    }

    fn backend(&self) -> Backend {
        Rc6::backend(self)
    }
}

/// Names the key size and the backend, never the key.
impl fmt::Debug for Rc6 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RC6-{} ({})", 8 * self.key_bytes, self.backend().name())
    }
}

fixed_key_size!(
    /// RC6 with a key of 128 bits: RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Rc6_128: Rc6
);
fixed_key_size!(
    /// RC6 with a key of 192 bits: RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Rc6_192: Rc6
);
fixed_key_size!(
    /// RC6 with a key of 256 bits: RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Rc6_256: Rc6
);

#[cfg(test)]
mod tests {
    use super::*;

    /// What lanes ask of a vector beside encryption; no message is long enough to carry out of a counter's low words.
    struct Increment;

    impl CcmOperation<Rc6> for Increment {
        type Output = ();

        fn call<E: CcmEngine<Cipher = Rc6>, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, _: &E::Keys) {
            // The first eight bytes before and after.
            let cases = [
                (0, 1),
                (0xffff_fffe, 0xffff_ffff),
                (0xffff_ffff, 1 << 32),
                (0x7fff_ffff_ffff_ffff, 1 << 63),
                (u64::MAX, 0),
            ];
            for slot in 0..E::SLOTS {
                for (before, after) in cases {
                    let block = |number: u64| u128::from(number) | 0x0102_0304_0506_0708 << 64;
                    let others = [0x33; 16];
                    let mut vector = engine.zero();
                    for other in 0..E::SLOTS {
                        engine.set_slot(&mut vector, other, &others);
                    }
                    engine.set_slot(&mut vector, slot, &block(before).to_le_bytes());
                    let next = engine.increment(vector);
                    assert_eq!(engine.slot(&next, slot), block(after).to_le_bytes());
                    assert_eq!(engine.slot(&engine.reverse(next), slot), block(after).to_be_bytes());
                    for other in (0..E::SLOTS).filter(|other| *other != slot) {
                        assert_eq!(engine.slot(&next, other), (u128::from_le_bytes(others) + 1).to_le_bytes());
                    }
                }
            }
        }
    }

    #[test]
    fn counters_carry() {
        for backend in Rc6::BACKENDS.iter().filter(|backend| backend.is_available()) {
            Rc6::with_backend(&[0; 16], *backend).unwrap().run_ccm(Increment);
        }
    }
}
