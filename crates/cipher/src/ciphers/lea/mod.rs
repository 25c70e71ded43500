//! LEA-128, LEA-192 and LEA-256 on every backend.
//!
//! LEA (2013) is a lightweight cipher of additions, rotations by fixed amounts and XORs. It is a standard: KS X 3246 of Korea, and
//! ISO/IEC 29192-2. Its blocks have 128 bits, and it has 24, 28 or 32 rounds. For data that leaves the systems of these standards,
//! [`crate::aes`] has been studied more.
//!
//! | backend | implementation | constant time |
//! |---|---|---|
//! | `reference` | the paper line by line | not guaranteed |
//! | `portable` | 32-bit words, several blocks side by side | yes |
//! | `riscv32` | assembly for RV32I, four blocks side by side | yes |
//! | `neon` | 128-bit registers of aarch64, 4 blocks a vector | yes |
//! | `avx2` | 256-bit registers, 8 blocks a vector | yes |
//! | `avx512` | 512-bit registers with rotations, 16 blocks a vector | yes |
//!
//! All backends add, XOR and rotate by fixed amounts, without tables and without branches on secrets. The chains of one message (CBC
//! encryption, the MAC of CCM) run in 32-bit words on every backend. The words of keys and blocks are little-endian.
//!
//! ```
//! use tress_cipher::{lea::Lea, modes::ctr};
//!
//! let cipher = Lea::new(&[7; 32])?;
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

use keyed::LeaKey;

cipher! {
    /// LEA with a key of 16, 24 or 32 bytes. The round keys are wiped on drop.
    Lea: LeaKey, Block, [16, 24, 32], "LEA-";
    /// LEA with a key of 128 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Lea128;
    /// LEA with a key of 192 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Lea192;
    /// LEA with a key of 256 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Lea256;
}
