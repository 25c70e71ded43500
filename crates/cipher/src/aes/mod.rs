//! AES (FIPS 197) with keys of 128, 192 and 256 bits, on every backend.
//!
//! | backend | what it uses | constant time |
//! |---|---|---|
//! | `reference` | FIPS 197 line by line | no |
//! | `portable` | bitsliced 64-bit words | yes |
//! | `aesni` | AES-NI, 128-bit registers | yes |
//! | `vaes256` | VAES, 256-bit registers | yes |
//! | `vaes512` | VAES, 512-bit registers | yes |

use core::fmt;

use crate::engine::{CcmCore, CcmEngine, CcmOperation, Core, Direction, Engine, Operation};
use crate::modes::{ecb::Ecb, flat_mut};
use crate::traits::fixed_key_size;
use crate::{Backend, Block, BlockCipher, Error};

mod portable;
mod reference;
mod sbox;
mod word;
#[cfg(target_arch = "x86_64")]
mod x86;

use portable::Portable;
use reference::Reference;

/// AES with a key; the key's length chooses the variant. Round keys are wiped when it is dropped.
#[derive(Clone)]
pub struct Aes {
    pub(crate) inner: Inner,
    key_bytes: usize,
}

/// The round keys in the form of the chosen backend, with the proof that the machine has it.
// The portable keys are twice as large; without a heap there is no box to put them into.
#[allow(clippy::large_enum_variant)]
#[derive(Clone)]
pub(crate) enum Inner {
    Reference(reference::Keys),
    Portable(portable::Keys),
    #[cfg(target_arch = "x86_64")]
    AesNi(x86::AesNi, x86::Keys),
    #[cfg(target_arch = "x86_64")]
    Vaes256(x86::Vaes256, x86::Keys),
    #[cfg(target_arch = "x86_64")]
    Vaes512(x86::Vaes512, x86::Keys),
}

impl Aes {
    /// Prepares a key of 16, 24 or 32 bytes for the fastest backend of this machine.
    pub fn new(key: &[u8]) -> Result<Aes, Error> {
        Self::with_backend(key, Backend::best_of(Self::BACKENDS))
    }

    /// Prepares a key for a given backend; a machine without it is an error.
    pub fn with_backend(key: &[u8], backend: Backend) -> Result<Aes, Error> {
        if !matches!(key.len(), 16 | 24 | 32) {
            return Err(Error::KeyLength);
        }
        let unavailable = Error::BackendUnavailable(backend);
        let inner = match backend {
            Backend::Reference => Inner::Reference(reference::expand_key(key)),
            Backend::Portable => Inner::Portable(portable::expand_key(key)),
            #[cfg(target_arch = "x86_64")]
            Backend::AesNi => {
                let engine = x86::AesNi::detect().ok_or(unavailable)?;
                Inner::AesNi(engine, x86::expand_key(engine, key))
            }
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes256 => {
                let engine = x86::Vaes256::detect().ok_or(unavailable)?;
                Inner::Vaes256(engine, x86::expand_key(engine, key))
            }
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes512 => {
                let engine = x86::Vaes512::detect().ok_or(unavailable)?;
                Inner::Vaes512(engine, x86::expand_key(engine, key))
            }
            _ => return Err(unavailable),
        };
        Ok(Aes { inner, key_bytes: key.len() })
    }

    /// The backend that this key was prepared for.
    pub fn backend(&self) -> Backend {
        match &self.inner {
            Inner::Reference(_) => Backend::Reference,
            Inner::Portable(_) => Backend::Portable,
            #[cfg(target_arch = "x86_64")]
            Inner::AesNi(..) => Backend::AesNi,
            #[cfg(target_arch = "x86_64")]
            Inner::Vaes256(..) => Backend::Vaes256,
            #[cfg(target_arch = "x86_64")]
            Inner::Vaes512(..) => Backend::Vaes512,
        }
    }

    /// Bytes of the key: 16, 24 or 32.
    pub fn key_bytes(&self) -> usize {
        self.key_bytes
    }

    /// Encrypts blocks, each on its own.
    pub fn encrypt_blocks(&self, blocks: &mut [Block]) {
        self.run(Ecb { data: flat_mut(blocks), direction: Direction::Encrypt });
    }

    /// Decrypts blocks, each on its own.
    pub fn decrypt_blocks(&self, blocks: &mut [Block]) {
        self.run(Ecb { data: flat_mut(blocks), direction: Direction::Decrypt });
    }
}

/// Calls a method on the engine of a key's backend, with the engine's keys.
macro_rules! dispatch {
    ($aes:expr, $method:ident, $operation:expr) => {
        match &$aes.inner {
            Inner::Reference(keys) => Reference.$method(keys, $operation),
            Inner::Portable(keys) => Portable.$method(keys, $operation),
            #[cfg(target_arch = "x86_64")]
            Inner::AesNi(engine, keys) => engine.$method(keys, $operation),
            #[cfg(target_arch = "x86_64")]
            Inner::Vaes256(engine, keys) => engine.$method(keys, $operation),
            #[cfg(target_arch = "x86_64")]
            Inner::Vaes512(engine, keys) => engine.$method(keys, $operation),
        }
    };
}

impl Core for Aes {
    type Block = Block;

    #[inline]
    fn run<O: Operation<Aes>>(&self, operation: O) -> O::Output {
        dispatch!(self, run, operation)
    }
}

impl CcmCore for Aes {
    #[inline]
    fn run_ccm<O: CcmOperation<Aes>>(&self, operation: O) -> O::Output {
        dispatch!(self, run_ccm, operation)
    }
}

impl BlockCipher for Aes {
    const BLOCK_BYTES: usize = 16;
    const BACKENDS: &'static [Backend] =
        &[Backend::Reference, Backend::Portable, Backend::AesNi, Backend::Vaes256, Backend::Vaes512];
    type Core = Aes;

    fn core(&self) -> &Aes {
        self
    }

    fn backend(&self) -> Backend {
        Aes::backend(self)
    }
}

/// Names the variant and the backend, never the key.
impl fmt::Debug for Aes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Aes-{} ({})", 8 * self.key_bytes, self.backend().name())
    }
}

fixed_key_size!(
    /// AES with a key of 128 bits: RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Aes128: Aes
);
fixed_key_size!(
    /// AES with a key of 192 bits: RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Aes192: Aes
);
fixed_key_size!(
    /// AES with a key of 256 bits: RustCrypto's `BlockCipherEncrypt` and `BlockCipherDecrypt`.
    Aes256: Aes
);
