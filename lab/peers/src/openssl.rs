//! OpenSSL 3: AES through the EVP interface of libcrypto, opened at run time.
//!
//! A context keeps its key. Each message costs one initialisation with its nonce, as `EVP_EncryptInit(3)` recommends
//! for many messages under one key.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use crate::library::functions;
use crate::{Direction, Error, Missing, Mode, NONCE_BYTES, PeerCipher, TAG_BYTES};

pub const NAME: &str = "openssl";

pub(crate) const FILE: &str = "libcrypto.so.3";
pub(crate) const PACKAGE: &str = "libssl3";

// include/openssl/crypto.h and include/openssl/evp.h of OpenSSL 3.0.
const OPENSSL_VERSION_STRING: c_int = 6;
const EVP_CTRL_AEAD_SET_IVLEN: c_int = 0x9;
const EVP_CTRL_AEAD_GET_TAG: c_int = 0x10;
const EVP_CTRL_AEAD_SET_TAG: c_int = 0x11;

type EvpCipher = unsafe extern "C" fn() -> *const c_void;

functions! {
    library;
    version: unsafe extern "C" fn(c_int) -> *const c_char = b"OpenSSL_version",
    context_new: unsafe extern "C" fn() -> *mut c_void = b"EVP_CIPHER_CTX_new",
    context_free: unsafe extern "C" fn(*mut c_void) = b"EVP_CIPHER_CTX_free",
    set_padding: unsafe extern "C" fn(*mut c_void, c_int) -> c_int = b"EVP_CIPHER_CTX_set_padding",
    ctrl: unsafe extern "C" fn(*mut c_void, c_int, c_int, *mut c_void) -> c_int = b"EVP_CIPHER_CTX_ctrl",
    /// `EVP_CipherInit_ex`: context, cipher, engine, key, initialisation vector, 1 to encrypt, 0 to decrypt, -1 to leave the direction.
    init: unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_void, *const u8, *const u8, c_int) -> c_int = b"EVP_CipherInit_ex",
    update: unsafe extern "C" fn(*mut c_void, *mut u8, *mut c_int, *const u8, c_int) -> c_int = b"EVP_CipherUpdate",
    finish: unsafe extern "C" fn(*mut c_void, *mut u8, *mut c_int) -> c_int = b"EVP_CipherFinal_ex",
}

fn load() -> Result<Functions, Missing> {
    // SAFETY: libcrypto's initialisers have no precondition, and the types are those of the prototypes in evp.h and crypto.h.
    unsafe { Functions::open(FILE) }
}

/// The version of libcrypto 3 on this machine, such as `3.0.17`, or how to install it.
pub fn version() -> Result<String, Missing> {
    let functions = functions()?;
    // SAFETY: the function returns a string with static lifetime for every argument.
    let text = unsafe { CStr::from_ptr((functions.version)(OPENSSL_VERSION_STRING)) };
    Ok(text.to_string_lossy().into_owned())
}

/// AES in any mode under one key.
pub struct Cipher {
    functions: &'static Functions,
    context: *mut c_void,
    mode: Mode,
    direction: Direction,
}

impl Drop for Cipher {
    fn drop(&mut self) {
        // SAFETY: the context came from EVP_CIPHER_CTX_new and is freed once.
        unsafe { (self.functions.context_free)(self.context) }
    }
}

impl Cipher {
    /// Sets what is not null, and the direction unless it is -1.
    fn init(&mut self, cipher: *const c_void, key: *const u8, iv: *const u8, encrypt: c_int) -> Result<(), Error> {
        // SAFETY: the context is live. The library reads as many bytes as the cipher's key and its initialisation vector have:
        // `new` chooses the cipher by the key's length, and `apply` checks the other one.
        check("EVP_CipherInit_ex", unsafe {
            (self.functions.init)(self.context, cipher, ptr::null_mut(), key, iv, encrypt)
        })
    }

    fn ctrl(&mut self, command: c_int, bytes: usize, data: *mut u8) -> Result<(), Error> {
        // SAFETY: for the three commands used here, `data` is null or valid for `bytes` bytes.
        check("EVP_CIPHER_CTX_ctrl", unsafe {
            (self.functions.ctrl)(self.context, command, bytes as c_int, data.cast())
        })
    }

    fn update(&mut self, data: &mut [u8]) -> Result<(), Error> {
        let bytes = c_int::try_from(data.len()).map_err(|_| Error::MessageTooLong)?;
        let (start, mut written) = (data.as_mut_ptr(), 0);
        // SAFETY: the message is valid for `bytes` bytes, and every cipher used here writes as many bytes as it reads, because
        // padding is off.
        check("EVP_CipherUpdate", unsafe { (self.functions.update)(self.context, start, &mut written, start, bytes) })
    }
}

impl PeerCipher for Cipher {
    fn new(mode: Mode, direction: Direction, key: &[u8]) -> Result<Cipher, Error> {
        let functions = functions()?;
        if ![16, 24, 32].contains(&key.len()) {
            return Err(Error::Length);
        }
        let mode_name = match mode {
            Mode::Ecb => "ecb",
            Mode::Cbc => "cbc",
            Mode::Ctr => "ctr",
            Mode::Ccm => "ccm",
            Mode::Gcm => "gcm",
        };
        let name = format!("EVP_aes_{}_{mode_name}", key.len() * 8);
        // SAFETY: functions of these names take no argument and return a `const EVP_CIPHER *` with static lifetime.
        let (context, cipher) = unsafe {
            let cipher: EvpCipher =
                *functions.library.get(name.as_bytes()).map_err(|error| missing(error.to_string()))?;
            ((functions.context_new)(), cipher())
        };
        if context.is_null() {
            return Err(Error::Refused("EVP_CIPHER_CTX_new"));
        }
        let mut made = Cipher { functions, context, mode, direction };
        made.init(cipher, ptr::null(), ptr::null(), c_int::from(direction == Direction::Encrypt))?;
        match mode {
            Mode::Ccm => {
                made.ctrl(EVP_CTRL_AEAD_SET_IVLEN, NONCE_BYTES, ptr::null_mut())?;
                // Before the key, because the library prepares the first block with the key, and that block contains the tag's length.
                made.ctrl(EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, ptr::null_mut())?;
            }
            Mode::Gcm => {}
            // SAFETY: the context is live.
            _ => check("EVP_CIPHER_CTX_set_padding", unsafe { (functions.set_padding)(context, 0) })?,
        }
        made.init(ptr::null(), key.as_ptr(), ptr::null(), -1)?;
        Ok(made)
    }

    fn apply(&mut self, iv: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
        self.mode.check(iv, data.len(), tag.len())?;
        if self.mode != Mode::Ecb {
            self.init(ptr::null(), ptr::null(), iv.as_ptr(), -1)?;
        }
        if self.mode == Mode::Ccm && self.direction == Direction::Decrypt {
            self.ctrl(EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, tag.as_mut_ptr())?;
            return self.update(data).map_err(|_| Error::Authentication);
        }
        self.update(data)?;
        // Without padding, EVP_CipherFinal has nothing to do for whole blocks, nor for CTR.
        if !self.mode.has_tag() {
            return Ok(());
        }
        let (mut rest, mut written) = ([0; 16], 0);
        // SAFETY: the library writes at most one block, for which `rest` has room.
        check("EVP_CipherFinal_ex", unsafe { (self.functions.finish)(self.context, rest.as_mut_ptr(), &mut written) })?;
        self.ctrl(EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, tag.as_mut_ptr())
    }
}

fn check(call: &'static str, status: c_int) -> Result<(), Error> {
    if status > 0 { Ok(()) } else { Err(Error::Refused(call)) }
}
