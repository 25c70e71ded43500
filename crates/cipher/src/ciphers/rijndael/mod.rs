//! Rijndael with blocks and keys of 128, 160, 192, 224 and 256 bits, in every combination, on every backend.
//!
//! J. Daemen, V. Rijmen: "AES Proposal: Rijndael" (version 2, 1999). FIPS 197 standardised the variant with blocks of 128 bits as AES.
//! [`crate::aes`] shares the code of this module.
//!
//! | backend | implementation | constant time |
//! |---|---|---|
//! | `reference` | the standard line by line | no |
//! | `portable` | bitsliced 64-bit words | yes |
//! | `riscv32` | assembly for RV32I, bitsliced 32-bit words; blocks of 128 bits | yes |
//! | `arm-aes` | the AES instructions of aarch64, 128-bit registers | yes |
//! | `aesni` | AES-NI, 128-bit registers | yes |
//! | `vaes256` | VAES, 256-bit registers | yes |
//! | `vaes512` | VAES, 512-bit registers | yes |
//!
//! ```
//! use tress_cipher::{modes::ctr, rijndael::Rijndael};
//!
//! let cipher = Rijndael::<32>::new(&[7; 20])?;
//! let mut data = *b"blocks of 256 bits, a key of 160";
//! ctr::apply(&cipher, &[1; 32], &mut data)?;
//! # Ok::<(), tress_cipher::Error>(())
//! ```

use core::fmt;

use crate::operation::Modes;
use crate::{Backend, BlockCipher, Error};

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod expand;
mod keyed;
mod keys;
mod portable;
mod reference;
#[cfg(target_arch = "riscv32")]
mod riscv32;
mod shape;
#[cfg(target_arch = "x86_64")]
mod x86;

use keyed::RijndaelBlock;
pub(crate) use keyed::RijndaelKey;

/// Rijndael with a key and blocks of `BLOCK_BYTES` bytes (16, 20, 24, 28 or 32). The round keys are wiped on drop.
// The order of the fields puts the round keys at a multiple of 16 bytes.
#[repr(C)]
#[derive(Clone)]
pub struct Rijndael<const BLOCK_BYTES: usize>
where
    [u8; BLOCK_BYTES]: RijndaelBlock,
{
    key_bytes: usize,
    key: RijndaelKey<[u8; BLOCK_BYTES]>,
}

impl<const BLOCK_BYTES: usize> Rijndael<BLOCK_BYTES>
where
    [u8; BLOCK_BYTES]: RijndaelBlock,
{
    /// Lengths of a key in bytes.
    pub const KEY_BYTES: &'static [usize] = &[16, 20, 24, 28, 32];

    /// Prepares a key of 16, 20, 24, 28 or 32 bytes for the fastest backend of this machine.
    ///
    /// # Errors
    /// `KeyLength` for other lengths.
    pub fn new(key: &[u8]) -> Result<Self, Error> {
        Self::with_backend(key, Backend::best_of(RijndaelKey::<[u8; BLOCK_BYTES]>::BACKENDS))
    }

    /// Prepares a key for a given backend.
    ///
    /// # Errors
    /// `KeyLength`, and `BackendUnavailable` if this machine lacks the backend.
    pub fn with_backend(key: &[u8], backend: Backend) -> Result<Self, Error> {
        if !Self::KEY_BYTES.contains(&key.len()) {
            return Err(Error::KeyLength);
        }
        RijndaelKey::<[u8; BLOCK_BYTES]>::check(backend)?;
        Ok(Rijndael { key: RijndaelKey::new(key, backend), key_bytes: key.len() })
    }

    /// Length of the key in bytes.
    pub fn key_bytes(&self) -> usize {
        self.key_bytes
    }
}

impl<const BLOCK_BYTES: usize> crate::block_cipher::Sealed for Rijndael<BLOCK_BYTES> where
    [u8; BLOCK_BYTES]: RijndaelBlock
{
}

impl<const BLOCK_BYTES: usize> BlockCipher for Rijndael<BLOCK_BYTES>
where
    [u8; BLOCK_BYTES]: RijndaelBlock,
    RijndaelKey<[u8; BLOCK_BYTES]>: Modes,
{
    const BLOCK_BYTES: usize = BLOCK_BYTES;
    const BACKENDS: &'static [Backend] = RijndaelKey::<[u8; BLOCK_BYTES]>::BACKENDS;
    type Core = RijndaelKey<[u8; BLOCK_BYTES]>;

    fn core(&self) -> &Self::Core {
        &self.key
    }

    fn backend(&self) -> Backend {
        self.key.backend()
    }
}

/// Shows the lengths of block and key and the backend, never the key.
impl<const BLOCK_BYTES: usize> fmt::Debug for Rijndael<BLOCK_BYTES>
where
    [u8; BLOCK_BYTES]: RijndaelBlock,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rijndael-{}-{} ({})", 8 * BLOCK_BYTES, 8 * self.key_bytes, self.key.backend().name())
    }
}
