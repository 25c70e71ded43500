//! libgcrypt: AES in ECB, CBC, CTR and CCM, opened at run time.
//!
//! A handle keeps its key. Each message sets its initialisation vector, and in CCM the lengths that the manual
//! requires ("Working with cipher handles", The Libgcrypt Reference Manual).

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

use crate::library::functions;
use crate::{Direction, Error, Missing, Mode, PeerCipher, TAG_BYTES};

pub const NAME: &str = "libgcrypt";

const FILE: &str = "libgcrypt.so.20";
const PACKAGE: &str = "libgcrypt20";

// gcrypt.h of libgcrypt 1.10.
const DISABLE_SECMEM: c_int = 37;
const INITIALIZATION_FINISHED: c_int = 38;
const INITIALIZATION_FINISHED_P: c_int = 39;
/// Argument of the first two commands.
const NOTHING: c_int = 0;
const SET_CCM_LENGTHS: c_int = 69;
const AES: [(usize, c_int); 3] = [(16, 7), (24, 8), (32, 9)];
/// gpg-error.h: the code of a wrong checksum. Bits above the lowest 16 name the source of an error.
const CHECKSUM: c_uint = 10;
const CODE: c_uint = 0xffff;

functions! {
    _library;
    check_version: unsafe extern "C" fn(*const c_char) -> *const c_char = b"gcry_check_version",
    control: unsafe extern "C" fn(c_int, ...) -> c_uint = b"gcry_control",
    open: unsafe extern "C" fn(*mut *mut c_void, c_int, c_int, c_uint) -> c_uint = b"gcry_cipher_open",
    close: unsafe extern "C" fn(*mut c_void) = b"gcry_cipher_close",
    ctl: unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, usize) -> c_uint = b"gcry_cipher_ctl",
    set_key: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_uint = b"gcry_cipher_setkey",
    set_iv: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_uint = b"gcry_cipher_setiv",
    set_ctr: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_uint = b"gcry_cipher_setctr",
    /// Handle, output and its size, input and its size. Without an input, it works on the output in place.
    encrypt: unsafe extern "C" fn(*mut c_void, *mut u8, usize, *const u8, usize) -> c_uint = b"gcry_cipher_encrypt",
    decrypt: unsafe extern "C" fn(*mut c_void, *mut u8, usize, *const u8, usize) -> c_uint = b"gcry_cipher_decrypt",
    get_tag: unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> c_uint = b"gcry_cipher_gettag",
    check_tag: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_uint = b"gcry_cipher_checktag",
}

fn load() -> Result<Functions, Missing> {
    // SAFETY: libgcrypt's initialisers have no precondition. The types are those of the prototypes in gcrypt.h, where gcry_error_t is an
    // unsigned int and a handle a pointer.
    let functions = unsafe { Functions::open(FILE) }?;
    // The order of the manual: first the version, which initialises the library; then no locked memory, which these test keys do not
    // need; then the end of initialisation, unless other code in this process has done it.
    // SAFETY: a version of NULL asks for none, and the commands take no other arguments.
    unsafe {
        (functions.check_version)(ptr::null());
        if (functions.control)(INITIALIZATION_FINISHED_P) == 0 {
            (functions.control)(DISABLE_SECMEM, NOTHING);
            (functions.control)(INITIALIZATION_FINISHED, NOTHING);
        }
    }
    Ok(functions)
}

/// The version of libgcrypt on this machine, such as `1.10.1`, or how to install it.
pub fn version() -> Result<String, Missing> {
    let functions = functions()?;
    // SAFETY: without a wanted version, the function returns a string with static lifetime.
    let text = unsafe { CStr::from_ptr((functions.check_version)(ptr::null())) };
    Ok(text.to_string_lossy().into_owned())
}

/// AES in one of the modes under one key.
pub struct Cipher {
    functions: &'static Functions,
    handle: *mut c_void,
    mode: Mode,
    direction: Direction,
}

impl Drop for Cipher {
    fn drop(&mut self) {
        // SAFETY: the handle came from gcry_cipher_open and is closed once.
        unsafe { (self.functions.close)(self.handle) }
    }
}

impl PeerCipher for Cipher {
    fn new(mode: Mode, direction: Direction, key: &[u8]) -> Result<Cipher, Error> {
        let functions = functions()?;
        let (_, algorithm) = AES.into_iter().find(|(bytes, _)| *bytes == key.len()).ok_or(Error::Length)?;
        let number = match mode {
            Mode::Ecb => 1,
            Mode::Cbc => 3,
            Mode::Ctr => 6,
            Mode::Ccm => 8,
            Mode::Gcm => return Err(Error::Refused("gcry_cipher_open")),
        };
        let mut handle = ptr::null_mut();
        // SAFETY: the pointer to the handle is valid for a write, and the handle is used only after success.
        check("gcry_cipher_open", unsafe { (functions.open)(&mut handle, algorithm, number, 0) })?;
        let cipher = Cipher { functions, handle, mode, direction };
        // SAFETY: the handle is live, and the pointer is valid for `key.len()` bytes.
        check("gcry_cipher_setkey", unsafe { (functions.set_key)(handle, key.as_ptr(), key.len()) })?;
        Ok(cipher)
    }

    fn apply(&mut self, iv: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
        self.mode.check(iv, data.len(), tag.len())?;
        let Cipher { functions, handle, mode, direction } = *self;
        let (start, bytes) = (data.as_mut_ptr(), data.len());
        let mut lengths = [bytes as u64, 0, TAG_BYTES as u64];
        // SAFETY: the handle is live, the pointers are valid for the given lengths, the message is processed in place, and
        // SET_CCM_LENGTHS reads three 64-bit numbers: of data, of associated data, and of the tag.
        unsafe {
            check(
                "gcry_cipher_setiv",
                match mode {
                    Mode::Ecb => 0,
                    Mode::Ctr => (functions.set_ctr)(handle, iv.as_ptr(), iv.len()),
                    _ => (functions.set_iv)(handle, iv.as_ptr(), iv.len()),
                },
            )?;
            if mode == Mode::Ccm {
                let size = size_of_val(&lengths);
                check("gcry_cipher_ctl", (functions.ctl)(handle, SET_CCM_LENGTHS, lengths.as_mut_ptr().cast(), size))?;
            }
            let transform = if direction == Direction::Encrypt { functions.encrypt } else { functions.decrypt };
            check("gcry_cipher_encrypt", transform(handle, start, bytes, ptr::null(), 0))?;
            match (mode, direction) {
                (Mode::Ccm, Direction::Encrypt) => {
                    check("gcry_cipher_gettag", (functions.get_tag)(handle, tag.as_mut_ptr(), tag.len()))
                }
                (Mode::Ccm, Direction::Decrypt) => match (functions.check_tag)(handle, tag.as_ptr(), tag.len()) {
                    status if status & CODE == CHECKSUM => Err(Error::Authentication),
                    status => check("gcry_cipher_checktag", status),
                },
                _ => Ok(()),
            }
        }
    }
}

fn check(call: &'static str, status: c_uint) -> Result<(), Error> {
    if status == 0 { Ok(()) } else { Err(Error::Refused(call)) }
}
