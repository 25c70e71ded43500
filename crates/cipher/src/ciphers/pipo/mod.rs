//! PIPO-64/128 and PIPO-64/256: a block cipher with blocks of 64 bits and keys of 128 or 256 bits, on every backend.
//!
//! Kim et al., "PIPO: A Lightweight Block Cipher with Efficient Higher-Order Masking Software Implementations",
//! ICISC 2020. PIPO won a competition in Korea; it is not standardised. It is here for study and for devices that are too
//! small for AES. For anything else use [`crate::aes`].
//!
//! | backend | implementation | constant time |
//! |---|---|---|
//! | `reference` | the paper line by line | yes, but slow |
//! | `portable` | bitsliced 64-bit words | yes |
//! | `riscv32` | four blocks a register of RV32I, in assembly | yes |
//! | `neon` | a byte for each block in 128-bit registers of aarch64 | yes |
//! | `avx2` | bitsliced 256-bit registers | yes |
//! | `gfni512` | a byte for each block in 512-bit registers; a bit matrix rotates a row | yes |
//!
//! # Limits of 64-bit blocks
//!
//! Among 2^32 blocks (32 GiB) under one key, two equal ones are likely, in any mode and for any key length. In CBC, two equal
//! ciphertext blocks reveal the XOR of two plaintext blocks (Sweet32). In CTR, the absence of equal key stream blocks distinguishes
//! the key stream from random bytes. After q blocks the probability is about q²/2^65: one in a million after 2^22.5 blocks
//! (45 MiB). Change the key long before that: 2^20 blocks (8 MiB) under one key keep the probability near 2^-25.
//!
//! The counter of [`crate::modes::ctr`] is the last two bytes of the block, big-endian, after a nonce of six bytes. A message has
//! at most 65,536 blocks (512 KiB) from a counter of zero; a longer one is refused with [`crate::Error::CounterExhausted`]. A nonce must
//! never be used twice with a key. Random nonces of 48 bits repeat with a probability of one in a million after some 24,000
//! messages, so use the number of the message.
//!
//! PIPO has no CCM, which needs blocks of 128 bits, so its modes do not detect changes of the ciphertext.
//!
//! # Byte order
//!
//! The paper writes blocks and keys as numbers. Here they are bytes, least significant first: the paper's plaintext
//! `098552F6_1E270026` is the bytes `26 00 27 1e f6 52 85 09`, and byte `r` of a block is row `r` of the state.
//!
//! ```
//! use tress_cipher::{modes::ecb, pipo::Pipo};
//!
//! let key = 0x6dc416dd_779428d2_7e1d20ad_2e152297_u128.to_le_bytes();
//! let mut block = 0x098552f6_1e270026_u64.to_le_bytes();
//! ecb::encrypt(&Pipo::new(&key)?, &mut block)?;
//! assert_eq!(u64::from_le_bytes(block), 0x6b6b2981_ad5d0327);
//! # Ok::<(), tress_cipher::Error>(())
//! ```

use crate::ciphers::define::cipher;

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod keyed;
mod keys;
mod layers;
mod portable;
mod reference;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod registers;
#[cfg(target_arch = "riscv32")]
pub(crate) mod riscv32;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use layers::Block;

use keyed::PipoKey;

cipher! {
    /// PIPO with a key, whose length selects the variant. The round keys are wiped on drop.
    Pipo: PipoKey, Block, [16, 32], "Pipo-64/", counter 2;
    /// PIPO-64/128, with a key of 128 bits and RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Pipo128;
    /// PIPO-64/256, with a key of 256 bits and RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Pipo256;
}
