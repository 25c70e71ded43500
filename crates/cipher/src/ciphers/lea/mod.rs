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

use keyed::LeaKey;

/// LEA with a key of 16, 24 or 32 bytes. The round keys are wiped on drop.
#[derive(Clone)]
pub struct Lea {
    key: LeaKey,
    key_bytes: usize,
}

impl Lea {
    /// Lengths of a key in bytes.
    pub const KEY_BYTES: &'static [usize] = &[16, 24, 32];

    /// Prepares a key of 16, 24 or 32 bytes for the fastest backend of this machine.
    ///
    /// # Errors
    /// `KeyLength` for other lengths.
    pub fn new(key: &[u8]) -> Result<Lea, Error> {
        Self::with_backend(key, Backend::best_of(Self::BACKENDS))
    }

    /// Prepares a key for a given backend.
    ///
    /// # Errors
    /// `KeyLength`, and `BackendUnavailable` if this machine lacks the backend.
    pub fn with_backend(key: &[u8], backend: Backend) -> Result<Lea, Error> {
        if !Self::KEY_BYTES.contains(&key.len()) {
            return Err(Error::KeyLength);
        }
        LeaKey::check(backend)?;
        Ok(Self::prepare(key, backend))
    }

    /// Prepares a key for a backend. Callers have checked both.
    #[inline(always)]
    pub(crate) fn prepare(key: &[u8], backend: Backend) -> Self {
        Lea { key: LeaKey::new(key, backend), key_bytes: key.len() }
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

impl crate::block_cipher::Sealed for Lea {}

impl BlockCipher for Lea {
    const BLOCK_BYTES: usize = 16;
    const BACKENDS: &'static [Backend] = LeaKey::BACKENDS;
    type Core = LeaKey;

    fn core(&self) -> &LeaKey {
        &self.key
    }

    fn backend(&self) -> Backend {
        Lea::backend(self)
    }
}

/// Shows the length of the key and the backend, never the key.
impl fmt::Debug for Lea {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LEA-{} ({})", 8 * self.key_bytes, self.backend().name())
    }
}

fixed_key_size!(
    /// LEA with a key of 128 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Lea128: Lea
);
fixed_key_size!(
    /// LEA with a key of 192 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Lea192: Lea
);
fixed_key_size!(
    /// LEA with a key of 256 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Lea256: Lea
);
