//! Block ciphers by their names, with a key.

use std::ffi::{CStr, c_char};

use ::tress_cipher::pipo::Pipo;
use ::tress_cipher::rc6::Rc6;
use ::tress_cipher::rijndael::Rijndael;
use ::tress_cipher::{Backend, BlockCipher, Error};

use crate::failure::Failure;
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, guard_value, tress_status};

/// A block cipher with its key. It never changes: any number of threads may use one at the same time, until it is
/// freed. The key is wiped then.
pub struct tress_cipher {
    pub(crate) keyed: Keyed,
    name: &'static CStr,
}

/// A key of each type that the library has. AES is Rijndael with blocks of 128 bits.
#[allow(clippy::large_enum_variant, reason = "it lives in a box of its own")]
pub(crate) enum Keyed {
    Rijndael128(Rijndael<16>),
    Rijndael160(Rijndael<20>),
    Rijndael192(Rijndael<24>),
    Rijndael224(Rijndael<28>),
    Rijndael256(Rijndael<32>),
    Rc6(Rc6),
    Pipo(Pipo),
}

/// An expression for whatever type a key has.
macro_rules! with_cipher {
    ($keyed:expr, $cipher:ident => $body:expr) => {
        match $keyed {
            $crate::ciphers::Keyed::Rijndael128($cipher) => $body,
            $crate::ciphers::Keyed::Rijndael160($cipher) => $body,
            $crate::ciphers::Keyed::Rijndael192($cipher) => $body,
            $crate::ciphers::Keyed::Rijndael224($cipher) => $body,
            $crate::ciphers::Keyed::Rijndael256($cipher) => $body,
            $crate::ciphers::Keyed::Rc6($cipher) => $body,
            $crate::ciphers::Keyed::Pipo($cipher) => $body,
        }
    };
}

pub(crate) use with_cipher;

/// Which type a name stands for.
#[derive(Clone, Copy)]
enum Family {
    /// Bytes of the block.
    Rijndael(usize),
    Rc6,
    Pipo,
}

use Family::{Pipo as P, Rc6 as C, Rijndael as R};

/// Names as the command has them, bytes of the key, and what it is.
const CIPHERS: [(&CStr, usize, Family); 33] = [
    (c"aes-128", 16, R(16)),
    (c"aes-192", 24, R(16)),
    (c"aes-256", 32, R(16)),
    (c"rijndael-128-128", 16, R(16)),
    (c"rijndael-128-160", 20, R(16)),
    (c"rijndael-128-192", 24, R(16)),
    (c"rijndael-128-224", 28, R(16)),
    (c"rijndael-128-256", 32, R(16)),
    (c"rijndael-160-128", 16, R(20)),
    (c"rijndael-160-160", 20, R(20)),
    (c"rijndael-160-192", 24, R(20)),
    (c"rijndael-160-224", 28, R(20)),
    (c"rijndael-160-256", 32, R(20)),
    (c"rijndael-192-128", 16, R(24)),
    (c"rijndael-192-160", 20, R(24)),
    (c"rijndael-192-192", 24, R(24)),
    (c"rijndael-192-224", 28, R(24)),
    (c"rijndael-192-256", 32, R(24)),
    (c"rijndael-224-128", 16, R(28)),
    (c"rijndael-224-160", 20, R(28)),
    (c"rijndael-224-192", 24, R(28)),
    (c"rijndael-224-224", 28, R(28)),
    (c"rijndael-224-256", 32, R(28)),
    (c"rijndael-256-128", 16, R(32)),
    (c"rijndael-256-160", 20, R(32)),
    (c"rijndael-256-192", 24, R(32)),
    (c"rijndael-256-224", 28, R(32)),
    (c"rijndael-256-256", 32, R(32)),
    (c"rc6-128", 16, C),
    (c"rc6-192", 24, C),
    (c"rc6-256", 32, C),
    (c"pipo-128", 16, P),
    (c"pipo-256", 32, P),
];

impl tress_cipher {
    fn new(name: &str, backend: Option<&str>, key: &[u8]) -> Result<Self, Failure> {
        let known = CIPHERS.iter().find(|(known, ..)| known.to_bytes() == name.as_bytes());
        let Some(&(name, key_bytes, family)) = known else {
            return Err(Failure::with_detail(TRESS_UNKNOWN_NAME, "unknown cipher name"));
        };
        if key.len() != key_bytes {
            return Err(TRESS_KEY_LENGTH.into());
        }
        let backend = match backend {
            Some(name) => Backend::from_name(name)
                .ok_or_else(|| Failure::with_detail(TRESS_UNKNOWN_NAME, "unknown backend name"))?,
            None => Backend::best_of(family.backends()),
        };
        Ok(Self { keyed: family.keyed(key, backend)?, name })
    }
}

impl Family {
    fn backends(self) -> &'static [Backend] {
        match self {
            Self::Rijndael(_) => Rijndael::<16>::BACKENDS,
            Self::Rc6 => Rc6::BACKENDS,
            Self::Pipo => Pipo::BACKENDS,
        }
    }

    fn keyed(self, key: &[u8], backend: Backend) -> Result<Keyed, Error> {
        Ok(match self {
            Self::Rijndael(20) => Keyed::Rijndael160(Rijndael::with_backend(key, backend)?),
            Self::Rijndael(24) => Keyed::Rijndael192(Rijndael::with_backend(key, backend)?),
            Self::Rijndael(28) => Keyed::Rijndael224(Rijndael::with_backend(key, backend)?),
            Self::Rijndael(32) => Keyed::Rijndael256(Rijndael::with_backend(key, backend)?),
            Self::Rijndael(_) => Keyed::Rijndael128(Rijndael::with_backend(key, backend)?),
            Self::Rc6 => Keyed::Rc6(Rc6::with_backend(key, backend)?),
            Self::Pipo => Keyed::Pipo(Pipo::with_backend(key, backend)?),
        })
    }
}

fn block_bytes_of<C: BlockCipher>(_: &C) -> usize {
    C::BLOCK_BYTES
}

/// Name of cipher number `index`, from 0; NULL past the last one. The names are those of the command: "aes-128",
/// "aes-192", "aes-256", "rijndael-BLOCK-KEY" with 128, 160, 192, 224 or 256 bits each, "rc6-128", "rc6-192",
/// "rc6-256", "pipo-128", "pipo-256". Any thread; never fails; the text is valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn tress_cipher_name_at(index: usize) -> *const c_char {
    CIPHERS.get(index).map_or(std::ptr::null(), |(name, ..)| name.as_ptr())
}

/// Prepares a key for the fastest backend of this machine. `name` is one of `tress_cipher_name_at`; `key` has the
/// length that it says. The handle goes to `cipher`; end it with `tress_cipher_free`. Any thread.
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
    // SAFETY: passed on as they are.
    unsafe { tress_cipher_new_with_backend(name, std::ptr::null(), key, key_length, cipher) }
}

/// The same for a given backend: "reference" (slow, not constant time, for tests), "portable", "neon", "arm-aes",
/// "aesni", "avx2", "vaes256", "avx512", "gfni512" or "vaes512"; NULL is the fastest. Any thread.
///
/// Returns `TRESS_BACKEND_UNAVAILABLE` where this machine, or the cipher, lacks it, and what `tress_cipher_new`
/// returns.
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
        // SAFETY: the caller vouches for every pointer.
        unsafe {
            raw::give(cipher, || {
                tress_cipher::new(raw::text(name)?, raw::optional_text(backend)?, raw::bytes(key, key_length)?)
            })
        }
    })
}

/// Wipes the key and ends the handle; NULL does nothing. No other thread may use it any more.
///
/// # Safety
/// `cipher` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_free(cipher: *mut tress_cipher) {
    // SAFETY: as above.
    unsafe { raw::free(cipher) }
}

/// Bytes of a block: 16, for Rijndael 16 to 32, for PIPO 8; 0 for NULL. Any thread.
///
/// # Safety
/// `cipher` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_block_bytes(cipher: *const tress_cipher) -> usize {
    // SAFETY: as above.
    let cipher = unsafe { cipher.as_ref() };
    guard_value(0, || cipher.map_or(0, |cipher| with_cipher!(&cipher.keyed, keyed => block_bytes_of(keyed))))
}

/// The name that the cipher was made by; NULL for NULL. Any thread; the text is valid for ever.
///
/// # Safety
/// `cipher` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_name(cipher: *const tress_cipher) -> *const c_char {
    // SAFETY: as above.
    unsafe { cipher.as_ref() }.map_or(std::ptr::null(), |cipher| cipher.name.as_ptr())
}

/// The backend that the key was prepared for; NULL for NULL. Any thread; the text is valid for ever.
///
/// # Safety
/// `cipher` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_cipher_backend(cipher: *const tress_cipher) -> *const c_char {
    // SAFETY: as above.
    let Some(cipher) = (unsafe { cipher.as_ref() }) else {
        return std::ptr::null();
    };
    let backend = with_cipher!(&cipher.keyed, keyed => keyed.backend());
    match backend {
        Backend::Reference => c"reference",
        Backend::Portable => c"portable",
        Backend::Riscv32 => c"riscv32",
        Backend::Neon => c"neon",
        Backend::ArmAes => c"arm-aes",
        Backend::AesNi => c"aesni",
        Backend::Avx2 => c"avx2",
        Backend::Vaes256 => c"vaes256",
        Backend::Avx512 => c"avx512",
        Backend::Gfni512 => c"gfni512",
        Backend::Vaes512 => c"vaes512",
        _ => c"other",
    }
    .as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_they_are() {
        for (name, key_bytes, family) in CIPHERS {
            let name = name.to_str().unwrap();
            let mut parts = name.split('-');
            let kind = parts.next().unwrap();
            let bits: Vec<usize> = parts.map(|part| part.parse().unwrap()).collect();
            assert_eq!(bits.last(), Some(&(8 * key_bytes)), "{name}");
            match family {
                Family::Rijndael(16) if kind == "aes" => assert_eq!(bits.len(), 1),
                Family::Rijndael(block) => assert_eq!((kind, bits[0]), ("rijndael", 8 * block)),
                Family::Rc6 => assert_eq!((kind, bits.len()), ("rc6", 1)),
                Family::Pipo => assert_eq!((kind, bits.len()), ("pipo", 1)),
            }
        }
    }

    #[test]
    fn every_backend_has_its_name() {
        for backend in Rijndael::<16>::BACKENDS.iter().filter(|backend| backend.is_available()) {
            let cipher = tress_cipher::new("aes-128", Some(backend.name()), &[0; 16]).unwrap();
            // SAFETY: a handle, and a text that ends with NUL.
            let name = unsafe { CStr::from_ptr(tress_cipher_backend(&cipher)) };
            assert_eq!(name.to_str().unwrap(), backend.name());
        }
    }
}
