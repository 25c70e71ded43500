//! AES (FIPS 197) with keys of 128, 192 and 256 bits, on every backend. AES is Rijndael with blocks of 128 bits, and shares its code
//! ([`crate::rijndael`]).
//!
//! ```
//! use tress_cipher::aes::Aes;
//!
//! let cipher = Aes::new(&[7; 16])?;
//! let mut blocks = [[1; 16]; 100];
//! cipher.encrypt_blocks(&mut blocks);
//! cipher.decrypt_blocks(&mut blocks);
//! assert_eq!(blocks, [[1; 16]; 100]);
//! # Ok::<(), tress_cipher::Error>(())
//! ```

use crate::Block;
use crate::ciphers::define::cipher;
use crate::ciphers::rijndael::RijndaelKey;

cipher! {
    /// AES with a key, whose length selects the variant. The round keys are wiped on drop.
    Aes: RijndaelKey<Block>, Block, [16, 24, 32], "Aes-";
    /// AES with a key of 128 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Aes128;
    /// AES with a key of 192 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Aes192;
    /// AES with a key of 256 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Aes256;
}

// Other targets store round keys in a larger form: as registers (aarch64), or bitsliced (riscv32).
#[cfg(not(any(target_arch = "aarch64", target_arch = "riscv32")))]
const _: () = assert!(size_of::<Aes>() <= 256);
