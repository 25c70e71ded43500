//! Keyed block ciphers, chosen by name.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr;

use ::tress_cipher::catalogue::{self, CIPHERS, Cipher, Mode, Type};
use ::tress_cipher::{Backend, BlockCipher, Error, for_every_cipher};

use crate::failure::Failure;
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, guard_value, tress_status};

/// A block cipher with its key. The handle never changes, so any number of threads may use it at the same time.
/// `tress_cipher_free` wipes the key, for one in the caller's memory `tress_cipher_wipe`.
pub struct tress_cipher {
    /// `OWNED` or `LENT` with the object's address, so that no copy of it counts as a handle.
    mark: usize,
    pub(crate) keyed: KeyedCipher,
    cipher: &'static Cipher,
}

/// The mark of a cipher in a box.
const OWNED: usize = 0x6b1d_9c47;
/// The mark of a cipher in the caller's memory.
const LENT: usize = 0x52e8_f3a5;

/// Returns the cipher of a handle; `TRESS_STATE` for memory that has no key.
///
/// # Safety
/// `cipher` is NULL, or readable memory whose bytes are initialised and, with the mark of a handle, a cipher that nobody changes while
/// the reference is in use.
#[inline]
pub(crate) unsafe fn cipher_of<'a>(cipher: *const tress_cipher) -> Result<&'a tress_cipher, tress_status> {
    // SAFETY: the caller promises readable memory.
    if !matches!(unsafe { mark_of(cipher) }?, OWNED | LENT) {
        return Err(TRESS_STATE);
    }
    // SAFETY: `cipher` is aligned and has a mark, so `prepare` has written a cipher there, as the caller promises.
    Ok(unsafe { &*cipher })
}

/// Returns the mark of a handle, any number for other memory.
///
/// # Safety
/// As [`cipher_of`].
#[inline]
unsafe fn mark_of(cipher: *const tress_cipher) -> Result<usize, tress_status> {
    match cipher {
        _ if cipher.is_null() => Err(TRESS_NULL),
        _ if !cipher.is_aligned() => Err(TRESS_STATE),
        // SAFETY: the pointer is aligned, and the caller promises readable memory.
        _ => Ok(unsafe { (&raw const (*cipher).mark).read() } ^ cipher.addr()),
    }
}

macro_rules! define_keyed_cipher {
    ($($of:ident: $type:ty, $kind:ident, $([$($name:literal)*])*;)*) => {
        /// A keyed cipher, with one variant for each type of the library. AES is Rijndael with blocks of 128 bits.
        #[allow(clippy::large_enum_variant, reason = "every value is in a separate box")]
        pub(crate) enum KeyedCipher {
            $($of($type),)*
        }

        impl tress_cipher {
            /// Writes a cipher to `place`, with the mark of a handle.
            ///
            /// # Safety
            /// `place` is aligned and writable.
            unsafe fn write(
                place: *mut Self,
                mark: usize,
                cipher: &'static Cipher,
                key: &[u8],
                backend: Backend,
            ) -> Result<(), Error> {
                match cipher.of {
                    $(Type::$of => {
                        let keyed = KeyedCipher::$of(<$type>::with_backend(key, backend)?);
                        // SAFETY: the caller promises an aligned and writable place.
                        unsafe { place.write(Self { mark: mark ^ place.addr(), keyed, cipher }) };
                    })*
                }
                Ok(())
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

    /// Looks the names up, and writes a cipher to `place`.
    ///
    /// # Safety
    /// `place` is aligned and writable.
    unsafe fn prepare(
        place: *mut Self,
        mark: usize,
        name: &str,
        backend: Option<&str>,
        key: &[u8],
    ) -> Result<(), Failure> {
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
        // SAFETY: the caller promises an aligned and writable place.
        Ok(unsafe { Self::write(place, mark, cipher, key, backend) }?)
    }
}

/// Returns the name of cipher number `index`, counted from 0, or NULL past the last one. The names are those of the command:
/// "aes-128", "aes-192", "aes-256", "rijndael-BLOCK-KEY" with 128, 160, 192, 224 or 256 bits each, "rc6-128", "rc6-192",
/// "rc6-256", "lea-128", "lea-192", "lea-256", "pipo-128", "pipo-256". Any thread; never fails; the text is static.
#[unsafe(no_mangle)]
pub extern "C" fn tress_cipher_name_at(index: usize) -> *const c_char {
    CIPHERS.get(index).map_or(ptr::null(), |cipher| cipher.c_name.as_ptr())
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
    unsafe { tress_cipher_new_with_backend(name, ptr::null(), key, key_length, cipher) }
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
            raw::write_null(cipher)?;
            let (name, backend, key) = (raw::text(name)?, raw::optional_text(backend)?, raw::bytes(key, key_length)?);
            let mut place = Box::new(MaybeUninit::<tress_cipher>::uninit());
            tress_cipher::prepare(place.as_mut_ptr(), OWNED, name, backend, key)?;
            cipher.write(Box::into_raw(place).cast());
        }
        Ok(())
    })
}

/// Returns the number of bytes that `tress_cipher_init` needs, for every cipher. Any thread; never fails.
#[unsafe(no_mangle)]
pub extern "C" fn tress_cipher_bytes() -> usize {
    // For a place at a multiple of the alignment.
    size_of::<tress_cipher>() + align_of::<tress_cipher>() - 1
}

/// `tress_cipher_new` in the caller's memory, for keys that are used once: nothing is allocated. `memory` may have any
/// alignment. The handle points into `memory`; end its use with `tress_cipher_wipe`, not with `tress_cipher_free`. Do not move
/// or copy the memory: the handle of a copy is refused. Any thread.
///
/// Returns the errors of `tress_cipher_new`, and `TRESS_LENGTH` if `length` is less than `tress_cipher_bytes`. Then the memory
/// is unchanged, and the handle NULL.
///
/// # Safety
/// As `tress_cipher_new`; `length` bytes are writable at `memory`, and nobody else uses them until the key is wiped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_init(
    memory: *mut c_void,
    length: usize,
    name: *const c_char,
    key: *const u8,
    key_length: usize,
    cipher: *mut *mut tress_cipher,
) -> tress_status {
    guard(|| {
        // SAFETY: the caller promises that the text ends with NUL, the key has its length, `cipher` is writable, and `memory` has
        // `length` bytes: enough for an aligned place.
        unsafe {
            raw::write_null(cipher)?;
            raw::check_pointer(memory.cast(), length.max(1))?;
            if length < tress_cipher_bytes() {
                return Err(Failure::with_detail(TRESS_LENGTH, "less memory than tress_cipher_bytes"));
            }
            let place = memory.byte_add(memory.align_offset(align_of::<tress_cipher>())).cast();
            tress_cipher::prepare(place, LENT, raw::text(name)?, None, raw::bytes(key, key_length)?)?;
            cipher.write(place);
        }
        Ok(())
    })
}

/// Wipes a key that `tress_cipher_init` prepared; the memory belongs to the caller again. Every function refuses the handle with
/// `TRESS_STATE` afterwards, until the memory is used for something else. NULL, other handles and wiped ones: does nothing.
/// No thread may use the handle afterwards.
///
/// # Safety
/// `cipher` is NULL, or a handle of `tress_cipher_init` whose memory the caller has not used for something else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_wipe(cipher: *mut tress_cipher) {
    // SAFETY: the caller promises readable memory. With this mark it holds a cipher that nobody uses afterwards.
    unsafe {
        if mark_of(cipher) == Ok(LENT) {
            guard_value((), || ptr::drop_in_place(cipher));
            (&raw mut (*cipher).mark).write_volatile(0);
        }
    }
}

/// Wipes the key and frees the handle; NULL does nothing. No thread may use the handle afterwards. A handle of
/// `tress_cipher_init` is wiped and not freed.
///
/// # Safety
/// `cipher` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_free(cipher: *mut tress_cipher) {
    // SAFETY: `cipher` is NULL or a valid handle that nobody uses afterwards, as the caller promises. The mark says whose memory it is.
    unsafe {
        match mark_of(cipher) {
            Ok(OWNED) => raw::free_handle(cipher),
            _ => tress_cipher_wipe(cipher),
        }
    }
}

/// Returns the block size in bytes: 16, for Rijndael 16 to 32, for PIPO 8; 0 for NULL. Any thread.
///
/// # Safety
/// `cipher` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_block_bytes(cipher: *const tress_cipher) -> usize {
    // SAFETY: `cipher` is NULL or a valid handle, as the caller promises.
    let cipher = unsafe { cipher_of(cipher) };
    guard_value(0, || cipher.map_or(0, |cipher| cipher.cipher.block_bytes))
}

/// Returns the name of the cipher, or NULL for NULL. Any thread; the text is static.
///
/// # Safety
/// `cipher` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_name(cipher: *const tress_cipher) -> *const c_char {
    // SAFETY: `cipher` is NULL or a valid handle, as the caller promises.
    unsafe { cipher_of(cipher) }.map_or(ptr::null(), |cipher| cipher.cipher.c_name.as_ptr())
}

/// Returns the name of the backend that the key was prepared for, or NULL for NULL. Any thread; the text is static.
///
/// # Safety
/// `cipher` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_backend(cipher: *const tress_cipher) -> *const c_char {
    // SAFETY: `cipher` is NULL or a valid handle, as the caller promises.
    let Ok(cipher) = (unsafe { cipher_of(cipher) }) else {
        return ptr::null();
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
            let mut place = MaybeUninit::uninit();
            // SAFETY: the place is aligned, the cipher in it is a valid handle, and the name is a text that ends with NUL.
            unsafe {
                let place = place.as_mut_ptr();
                tress_cipher::prepare(place, LENT, "aes-128", Some(backend.name()), &[0; 16]).unwrap();
                assert_eq!(CStr::from_ptr(tress_cipher_backend(place)).to_str().unwrap(), backend.name());
                tress_cipher_wipe(place);
            }
        }
    }
}
