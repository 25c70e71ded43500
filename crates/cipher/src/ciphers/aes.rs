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

use core::fmt;

use crate::block::flat_mut;
use crate::ciphers::fixed_key::fixed_key_size;
use crate::ciphers::rijndael::RijndaelKey;
use crate::engine::CipherDirection;
use crate::operation::{Ecb, Modes};
use crate::{Backend, Block, BlockCipher, Error};

/// AES with a key, whose length selects the variant. The round keys are wiped on drop.
// The order of the fields puts the round keys at a multiple of 16 bytes.
#[repr(C)]
#[derive(Clone)]
pub struct Aes {
    key_bytes: usize,
    key: RijndaelKey<Block>,
}

// Other targets store round keys in a larger form: as registers (aarch64), or bitsliced (riscv32).
#[cfg(not(any(target_arch = "aarch64", target_arch = "riscv32")))]
const _: () = assert!(size_of::<Aes>() <= 256);

impl Aes {
    /// Lengths of a key in bytes.
    pub const KEY_BYTES: &'static [usize] = &[16, 24, 32];

    /// Prepares a key of 16, 24 or 32 bytes for the fastest backend of this machine.
    ///
    /// # Errors
    /// `KeyLength` for other lengths.
    pub fn new(key: &[u8]) -> Result<Aes, Error> {
        Self::with_backend(key, Backend::best_of(Self::BACKENDS))
    }

    /// Prepares a key for a given backend.
    ///
    /// # Errors
    /// `KeyLength`, and `BackendUnavailable` if this machine lacks the backend.
    pub fn with_backend(key: &[u8], backend: Backend) -> Result<Aes, Error> {
        if !Self::KEY_BYTES.contains(&key.len()) {
            return Err(Error::KeyLength);
        }
        RijndaelKey::<Block>::check(backend)?;
        Ok(Self::prepare(key, backend))
    }

    /// Prepares a key for a backend. Callers have checked both.
    #[inline(always)]
    pub(crate) fn prepare(key: &[u8], backend: Backend) -> Self {
        Aes { key: RijndaelKey::new(key, backend), key_bytes: key.len() }
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

impl crate::block_cipher::Sealed for Aes {}

impl BlockCipher for Aes {
    const BLOCK_BYTES: usize = 16;
    const BACKENDS: &'static [Backend] = RijndaelKey::<Block>::BACKENDS;
    type Core = RijndaelKey<Block>;

    fn core(&self) -> &RijndaelKey<Block> {
        &self.key
    }

    fn backend(&self) -> Backend {
        Aes::backend(self)
    }
}

/// Shows the variant and the backend, never the key.
impl fmt::Debug for Aes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Aes-{} ({})", 8 * self.key_bytes, self.backend().name())
    }
}

fixed_key_size!(
    /// AES with a key of 128 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Aes128: Aes
);
fixed_key_size!(
    /// AES with a key of 192 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Aes192: Aes
);
fixed_key_size!(
    /// AES with a key of 256 bits, with RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Aes256: Aes
);
