//! Keyed block ciphers, chosen by name.

use std::ffi::c_char;

use ::tress_cipher::catalogue::{self, CIPHERS, Cipher, Mode, Type};
use ::tress_cipher::{Backend, BlockCipher, Error, for_every_cipher};

use crate::failure::Failure;
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, guard_value, tress_status};

/// A block cipher with its key. The handle never changes, so any number of threads may use it at the same time.
/// `tress_cipher_free` wipes the key.
pub struct tress_cipher {
    pub(crate) keyed: KeyedCipher,
    cipher: &'static Cipher,
}

macro_rules! define_keyed_cipher {
    ($($of:ident: $type:ty, $kind:ident, $([$($name:literal)*])*;)*) => {
        /// A keyed cipher, with one variant for each type of the library. AES is Rijndael with blocks of 128 bits.
        #[allow(clippy::large_enum_variant, reason = "every value is in a separate box")]
        pub(crate) enum KeyedCipher {
            $($of($type),)*
        }

        impl KeyedCipher {
            fn new(cipher: &Cipher, key: &[u8], backend: Backend) -> Result<Self, Error> {
                Ok(match cipher.of {
                    $(Type::$of => Self::$of(<$type>::with_backend(key, backend)?),)*
                })
            }
        }

        $(impl CipherType for $type {
            #[inline]
            fn of(keyed: &KeyedCipher) -> Option<&Self> {
                match keyed {
                    KeyedCipher::$of(cipher) => Some(cipher),
                    _ => None,
                }
            }
        })*
    };
}

/// One of the types of [`KeyedCipher`].
pub(crate) trait CipherType: BlockCipher + Sized {
    /// Returns the cipher if it has this type.
    fn of(keyed: &KeyedCipher) -> Option<&Self>;
}

for_every_cipher!([define_keyed_cipher]);

/// Evaluates an expression with the cipher in its concrete type.
macro_rules! with_cipher {
    ($keyed:expr, $cipher:ident => $body:expr) => {
        ::tress_cipher::for_every_cipher!([$crate::ciphers::match_keyed], ($keyed, $cipher, $body))
    };
}

macro_rules! match_keyed {
    (($keyed:expr, $cipher:ident, $body:expr) $($of:ident: $type:ty, $kind:ident, $([$($name:literal)*])*;)*) => {
        match $keyed {
            $($crate::ciphers::KeyedCipher::$of($cipher) => $body,)*
        }
    };
}

/// As [`with_cipher`], but the result is an `Option`: `None` if the cipher does not support CCM.
macro_rules! with_ccm_cipher {
    ($keyed:expr, $cipher:ident => $body:expr) => {
        ::tress_cipher::for_every_cipher!([$crate::ciphers::match_ccm], ($keyed, $cipher, $body))
    };
}

macro_rules! match_ccm {
    (($keyed:expr, $cipher:ident, $body:expr) $($of:ident: $type:ty, $kind:ident, $([$($name:literal)*])*;)*) => {
        match $keyed {
            $($crate::ciphers::KeyedCipher::$of(_keyed) => $crate::ciphers::if_ccm!($kind, {
                let $cipher = _keyed;
                $body
            }),)*
        }
    };
}

macro_rules! if_ccm {
    (ccm, $body:expr) => {
        Some($body)
    };
    (block, $body:expr) => {
        None
    };
}

pub(crate) use {if_ccm, match_ccm, match_keyed, with_ccm_cipher, with_cipher};

impl tress_cipher {
    pub(crate) fn has_ccm(&self) -> bool {
        self.cipher.modes.contains(&Mode::Ccm)
    }

    fn new(name: &str, backend: Option<&str>, key: &[u8]) -> Result<Self, Failure> {
        let Some(cipher) = catalogue::find(name) else {
            return Err(Failure::with_detail(TRESS_UNKNOWN_NAME, "unknown cipher name"));
        };
        if key.len() != cipher.key_bytes {
            return Err(TRESS_KEY_LENGTH.into());
        }
        let backend = match backend {
            Some(name) => Backend::from_name(name)
                .ok_or_else(|| Failure::with_detail(TRESS_UNKNOWN_NAME, "unknown backend name"))?,
            None => cipher.best_backend(),
        };
        Ok(Self { keyed: KeyedCipher::new(cipher, key, backend)?, cipher })
    }
}

/// Returns the name of cipher number `index`, counted from 0, or NULL past the last one. The names are those of the command:
/// "aes-128", "aes-192", "aes-256", "rijndael-BLOCK-KEY" with 128, 160, 192, 224 or 256 bits each, "rc6-128", "rc6-192",
/// "rc6-256", "lea-128", "lea-192", "lea-256", "pipo-128", "pipo-256". Any thread; never fails; the text is static.
#[unsafe(no_mangle)]
pub extern "C" fn tress_cipher_name_at(index: usize) -> *const c_char {
    CIPHERS.get(index).map_or(std::ptr::null(), |cipher| cipher.c_name.as_ptr())
}

/// Prepares a key for the fastest backend of this machine. `name` is one that `tress_cipher_name_at` returns, and
/// `key_length` is the key length of that cipher. Writes the handle to `cipher`; free it with `tress_cipher_free`. Any
/// thread.
///
/// Returns `TRESS_UNKNOWN_NAME`, `TRESS_KEY_LENGTH`.
///
/// # Safety
/// `name` ends with NUL; `key_length` bytes are readable at `key`; `cipher` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_new(
    name: *const c_char,
    key: *const u8,
    key_length: usize,
    cipher: *mut *mut tress_cipher,
) -> tress_status {
    // SAFETY: the arguments are passed on unchanged, with a NULL backend, which is allowed.
    unsafe { tress_cipher_new_with_backend(name, std::ptr::null(), key, key_length, cipher) }
}

/// Prepares a key for a given backend: "reference" (slow, not constant time, for tests), "portable", "neon", "arm-aes",
/// "aesni", "avx2", "vaes256", "avx512", "gfni512" or "vaes512"; NULL selects the fastest. Any thread.
///
/// Returns `TRESS_BACKEND_UNAVAILABLE` if this machine or the cipher does not support the backend, and the errors of
/// `tress_cipher_new`.
///
/// # Safety
/// As `tress_cipher_new`; `backend` is NULL or ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_new_with_backend(
    name: *const c_char,
    backend: *const c_char,
    key: *const u8,
    key_length: usize,
    cipher: *mut *mut tress_cipher,
) -> tress_status {
    guard(|| {
        // SAFETY: the caller promises that the texts end with NUL, the key has its length, and `cipher` is writable.
        unsafe {
            raw::write_handle(cipher, || {
                tress_cipher::new(raw::text(name)?, raw::optional_text(backend)?, raw::bytes(key, key_length)?)
            })
        }
    })
}

/// Wipes the key and frees the handle; NULL does nothing. No thread may use the handle afterwards.
///
/// # Safety
/// `cipher` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_free(cipher: *mut tress_cipher) {
    // SAFETY: `cipher` is NULL or a valid handle that nobody uses afterwards, as the caller promises.
    unsafe { raw::free_handle(cipher) }
}

/// Returns the block size in bytes: 16, for Rijndael 16 to 32, for PIPO 8; 0 for NULL. Any thread.
///
/// # Safety
/// `cipher` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_block_bytes(cipher: *const tress_cipher) -> usize {
    // SAFETY: `cipher` is NULL or a valid handle, as the caller promises.
    let cipher = unsafe { cipher.as_ref() };
    guard_value(0, || cipher.map_or(0, |cipher| cipher.cipher.block_bytes))
}

/// Returns the name of the cipher, or NULL for NULL. Any thread; the text is static.
///
/// # Safety
/// `cipher` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_name(cipher: *const tress_cipher) -> *const c_char {
    // SAFETY: `cipher` is NULL or a valid handle, as the caller promises.
    unsafe { cipher.as_ref() }.map_or(std::ptr::null(), |cipher| cipher.cipher.c_name.as_ptr())
}

/// Returns the name of the backend that the key was prepared for, or NULL for NULL. Any thread; the text is static.
///
/// # Safety
/// `cipher` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_backend(cipher: *const tress_cipher) -> *const c_char {
    // SAFETY: `cipher` is NULL or a valid handle, as the caller promises.
    let Some(cipher) = (unsafe { cipher.as_ref() }) else {
        return std::ptr::null();
    };
    with_cipher!(&cipher.keyed, keyed => keyed.backend()).c_name().as_ptr()
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn every_backend_has_its_name() {
        for backend in CIPHERS[0].backends.iter().filter(|backend| backend.is_available()) {
            let cipher = tress_cipher::new("aes-128", Some(backend.name()), &[0; 16]).unwrap();
            // SAFETY: `cipher` is a valid handle, and the name is a text that ends with NUL.
            let name = unsafe { CStr::from_ptr(tress_cipher_backend(&cipher)) };
            assert_eq!(name.to_str().unwrap(), backend.name());
        }
    }
}
