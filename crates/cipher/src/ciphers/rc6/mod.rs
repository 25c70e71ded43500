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

use crate::Block;
use crate::ciphers::define::cipher;

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

cipher! {
    /// RC6-32/20 with a key of 16, 24 or 32 bytes. The round keys are wiped on drop.
    Rc6: Rc6Key, Block, [16, 24, 32], "RC6-";
    /// RC6 with a key of 128 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Rc6_128;
    /// RC6 with a key of 192 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Rc6_192;
    /// RC6 with a key of 256 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Rc6_256;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlockCipher as _;
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
