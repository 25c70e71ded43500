//! RC6-32/20 with keys of 128, 192 and 256 bits, on every backend.
//!
//! RC6, submitted in 1998, was one of the five finalists of the AES contest. It is **not standardised**: the contest chose
//! Rijndael, and RC6 has been studied little since. No attack on all of its 20 rounds is known. New designs should use
//! [`crate::aes`], which has been studied far more and is faster on the many processors that have instructions for it. RC6 is here
//! for study, for comparison and to decrypt existing data.
//!
//! | backend | implementation | constant time |
//! |---|---|---|
//! | `reference` | the paper line by line | not guaranteed |
//! | `portable` | 32-bit words, several blocks side by side | yes, with fixed-time rotations and multiplications |
//! | `riscv32` | assembly for RV32IM, block by block | yes, with fixed-time shifts and multiplications |
//! | `neon` | 128-bit registers of aarch64, 4 blocks a vector | yes |
//! | `avx2` | 256-bit registers, 8 blocks a vector | yes |
//! | `avx512` | 512-bit registers with rotations, 16 blocks a vector | yes |
//!
//! RC6 multiplies, and rotates by amounts that depend on the data. All backends use the processor's instructions for both, without
//! tables and without branches on secrets. The run time still depends on secrets on cores where a rotation takes one cycle for each
//! bit, or where a multiplication ends early for small factors: some small cores without a barrel shifter or a full multiplier.
//! x86-64 and aarch64 processors are not affected. The chains of one message (CBC encryption, the MAC of CCM) run in 32-bit words on
//! every backend.
//!
//! The byte order is that of the AES submission: the words of keys and blocks are little-endian. [`General`] has other numbers of
//! rounds and key lengths.
//!
//! ```
//! use tress_cipher::{modes::ctr, rc6::Rc6};
//!
//! let cipher = Rc6::new(&[7; 32])?;
//! let mut data = *b"a message of any length";
//! ctr::apply(&cipher, &[1; 16], &mut data)?;
//! # Ok::<(), tress_cipher::Error>(())
//! ```

use core::fmt;

use crate::block::flat_mut;
use crate::ciphers::fixed_key::fixed_key_size;
use crate::engine::CipherDirection;
use crate::operation::{Ecb, Modes};
use crate::{Backend, Block, BlockCipher, Error};

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod keyed;
mod keys;
mod portable;
mod reference;
#[cfg(target_arch = "riscv32")]
mod riscv32;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod sliced;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use reference::General;

use keyed::Rc6Key;

/// RC6-32/20 with a key of 16, 24 or 32 bytes. The round keys are wiped on drop.
#[derive(Clone)]
pub struct Rc6 {
    key: Rc6Key,
    key_bytes: usize,
}

impl Rc6 {
    /// Lengths of a key in bytes.
    pub const KEY_BYTES: &'static [usize] = &[16, 24, 32];

    /// Prepares a key of 16, 24 or 32 bytes for the fastest backend of this machine.
    ///
    /// # Errors
    /// `KeyLength` for other lengths.
    pub fn new(key: &[u8]) -> Result<Rc6, Error> {
        Self::with_backend(key, Backend::best_of(Self::BACKENDS))
    }

    /// Prepares a key for a given backend.
    ///
    /// # Errors
    /// `KeyLength`, and `BackendUnavailable` if this machine lacks the backend.
    pub fn with_backend(key: &[u8], backend: Backend) -> Result<Rc6, Error> {
        if !Self::KEY_BYTES.contains(&key.len()) {
            return Err(Error::KeyLength);
        }
        Rc6Key::check(backend)?;
        Ok(Self::prepare(key, backend))
    }

    /// Prepares a key for a backend. Callers have checked both.
    #[inline(always)]
    pub(crate) fn prepare(key: &[u8], backend: Backend) -> Self {
        Rc6 { key: Rc6Key::new(key, backend), key_bytes: key.len() }
    }

    /// The backend that this key was prepared for.
    pub fn backend(&self) -> Backend {
        self.key.backend()
    }

    /// Length of the key in bytes: 16, 24 or 32.
    pub fn key_bytes(&self) -> usize {
        self.key_bytes
    }

    /// Encrypts blocks in place, each separately (ECB).
    pub fn encrypt_blocks(&self, blocks: &mut [Block]) {
        self.key.ecb(Ecb { data: flat_mut(blocks), direction: CipherDirection::Encrypt });
    }

    /// Decrypts blocks in place, each separately (ECB).
    pub fn decrypt_blocks(&self, blocks: &mut [Block]) {
        self.key.ecb(Ecb { data: flat_mut(blocks), direction: CipherDirection::Decrypt });
    }
}

impl crate::block_cipher::Sealed for Rc6 {}

impl BlockCipher for Rc6 {
    const BLOCK_BYTES: usize = 16;
    const BACKENDS: &'static [Backend] = Rc6Key::BACKENDS;
    type Core = Rc6Key;

    fn core(&self) -> &Rc6Key {
        &self.key
    }

    fn backend(&self) -> Backend {
        Rc6::backend(self)
    }
}

/// Shows the length of the key and the backend, never the key.
impl fmt::Debug for Rc6 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RC6-{} ({})", 8 * self.key_bytes, self.backend().name())
    }
}

fixed_key_size!(
    /// RC6 with a key of 128 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Rc6_128: Rc6
);
fixed_key_size!(
    /// RC6 with a key of 192 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Rc6_192: Rc6
);
fixed_key_size!(
    /// RC6 with a key of 256 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Rc6_256: Rc6
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{CcmCore, CcmEngine, CcmOperation};

    /// Tests the counter operations of an engine's vectors. Tests with whole messages cannot: none is long enough for a carry out of the
    /// counter's low word.
    struct Increment;

    impl CcmOperation for Increment {
        type Output = ();

        fn call<E: CcmEngine, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, _: &E::RoundKeys) {
            // The first eight bytes before and after an increment, as a number.
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
            Rc6::with_backend(&[0; 16], *backend).unwrap().key.run_ccm(Increment);
        }
    }
}
