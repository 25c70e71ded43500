//! OpenSSL 3: AES through the EVP interface of libcrypto, opened at run time.
//!
//! A context keeps its key. Each message costs one initialisation with its nonce, as `EVP_EncryptInit(3)` recommends
//! for many messages under one key.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use crate::library::functions;
use crate::{Direction, Error, Missing, Mode};

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
    /// `EVP_CipherInit_ex`: context, cipher, engine, key, nonce, 1 to encrypt, 0 to decrypt, -1 to leave the direction unchanged.
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

struct Context {
    functions: &'static Functions,
    raw: *mut c_void,
}

// SAFETY: a context has one owner and is used through `&mut` only, and libcrypto does not bind it to a thread.
unsafe impl Send for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: `raw` came from EVP_CIPHER_CTX_new and is freed once.
        unsafe { (self.functions.context_free)(self.raw) }
    }
}

impl Context {
    fn new(key_bytes: usize, mode: &str, direction: Direction) -> Result<Context, Error> {
        let functions = functions()?;
        if ![16, 24, 32].contains(&key_bytes) {
            return Err(Error::Length);
        }
        let name = format!("EVP_aes_{}_{mode}", key_bytes * 8);
        // SAFETY: functions of these names take no argument and return a `const EVP_CIPHER *` with static lifetime.
        let (raw, cipher) = unsafe {
            let cipher: EvpCipher =
                *functions.library.get(name.as_bytes()).map_err(|error| missing(error.to_string()))?;
            ((functions.context_new)(), cipher())
        };
        if raw.is_null() {
            return Err(Error::Refused("EVP_CIPHER_CTX_new"));
        }
        let context = Context { functions, raw };
        let encrypt = c_int::from(direction == Direction::Encrypt);
        // SAFETY: the context is live; null for engine, key and nonce means that they are set later.
        check("EVP_CipherInit_ex", unsafe {
            (functions.init)(raw, cipher, ptr::null_mut(), ptr::null(), ptr::null(), encrypt)
        })?;
        Ok(context)
    }

    fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        // SAFETY: `new` chose the cipher by this key's length, so the library reads `key.len()` bytes. Null leaves
        // the nonce unset.
        check("EVP_CipherInit_ex", unsafe {
            (self.functions.init)(self.raw, ptr::null(), ptr::null_mut(), key.as_ptr(), ptr::null(), -1)
        })
    }

    /// Sets the nonce. The caller has checked its length.
    fn set_nonce(&mut self, nonce: &[u8]) -> Result<(), Error> {
        // SAFETY: the cipher reads as many bytes as its nonce length, which the caller has checked.
        check("EVP_CipherInit_ex", unsafe {
            (self.functions.init)(self.raw, ptr::null(), ptr::null_mut(), ptr::null(), nonce.as_ptr(), -1)
        })
    }

    fn ctrl(&mut self, command: c_int, bytes: usize, data: *mut u8) -> Result<(), Error> {
        let bytes = c_int::try_from(bytes).map_err(|_| Error::Length)?;
        // SAFETY: for the three commands used here, `data` is null or valid for `bytes` bytes.
        check("EVP_CIPHER_CTX_ctrl", unsafe { (self.functions.ctrl)(self.raw, command, bytes, data.cast()) })
    }

    /// Processes data. With a null `output`, `input` is associated data; with both null, `bytes` is the message's length.
    fn update(&mut self, output: *mut u8, input: *const u8, bytes: usize) -> Result<(), Error> {
        let bytes = c_int::try_from(bytes).map_err(|_| Error::MessageTooLong)?;
        let mut written = 0;
        // SAFETY: `input` is valid for `bytes` bytes, and `output` is null or the same address. Every cipher used
        // here writes as many bytes as it reads, because padding is off.
        let status = unsafe { (self.functions.update)(self.raw, output, &mut written, input, bytes) };
        check("EVP_CipherUpdate", status)
    }

    fn finish(&mut self) -> Result<(), Error> {
        let mut rest = [0; 16];
        let mut written = 0;
        // SAFETY: the library writes at most one block, for which `rest` has room.
        check("EVP_CipherFinal_ex", unsafe { (self.functions.finish)(self.raw, rest.as_mut_ptr(), &mut written) })
    }
}

fn check(call: &'static str, status: c_int) -> Result<(), Error> {
    if status > 0 { Ok(()) } else { Err(Error::Refused(call)) }
}

/// AES in ECB, CBC or CTR under one key.
pub struct Cipher {
    context: Context,
    mode: Mode,
}

impl Cipher {
    /// Sets a key of 16, 24 or 32 bytes.
    pub fn new(mode: Mode, key: &[u8], direction: Direction) -> Result<Cipher, Error> {
        let name = match mode {
            Mode::Ecb => "ecb",
            Mode::Cbc => "cbc",
            Mode::Ctr => "ctr",
            Mode::Ccm => return Err(Error::Refused("EVP_CipherUpdate")),
        };
        let mut context = Context::new(key.len(), name, direction)?;
        // SAFETY: the context is live.
        check("EVP_CIPHER_CTX_set_padding", unsafe { (context.functions.set_padding)(context.raw, 0) })?;
        context.set_key(key)?;
        Ok(Cipher { context, mode })
    }

    /// Encrypts or decrypts one message in place. `iv` is a block, or empty for ECB. In CBC and ECB, `data` must be whole blocks.
    pub fn apply(&mut self, iv: &[u8], data: &mut [u8]) -> Result<(), Error> {
        let iv_bytes = if self.mode == Mode::Ecb { 0 } else { 16 };
        if iv.len() != iv_bytes || (self.mode != Mode::Ctr && !data.len().is_multiple_of(16)) {
            return Err(Error::Length);
        }
        if self.mode != Mode::Ecb {
            self.context.set_nonce(iv)?;
        }
        // Without padding, EVP_CipherFinal has nothing to do for whole blocks, nor for CTR.
        self.context.update(data.as_mut_ptr(), data.as_ptr(), data.len())
    }
}

/// AES-GCM under one key, with nonces of 12 bytes.
pub struct Gcm(Context);

impl Gcm {
    /// Sets a key of 16, 24 or 32 bytes.
    pub fn new(key: &[u8]) -> Result<Gcm, Error> {
        let mut context = Context::new(key.len(), "gcm", Direction::Encrypt)?;
        context.set_key(key)?;
        Ok(Gcm(context))
    }

    pub fn encrypt(&mut self, nonce: &[u8], aad: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
        if nonce.len() != 12 {
            return Err(Error::Length);
        }
        self.0.set_nonce(nonce)?;
        if !aad.is_empty() {
            self.0.update(ptr::null_mut(), aad.as_ptr(), aad.len())?;
        }
        self.0.update(data.as_mut_ptr(), data.as_ptr(), data.len())?;
        self.0.finish()?;
        self.0.ctrl(EVP_CTRL_AEAD_GET_TAG, tag.len(), tag.as_mut_ptr())
    }
}

/// AES-CCM under one key.
pub struct Ccm {
    context: Context,
    nonce_bytes: usize,
    tag_bytes: usize,
}

impl Ccm {
    /// Sets a key of 16, 24 or 32 bytes and the lengths of nonces and tags.
    pub fn new(key: &[u8], nonce_bytes: usize, tag_bytes: usize, direction: Direction) -> Result<Ccm, Error> {
        let mut context = Context::new(key.len(), "ccm", direction)?;
        context.ctrl(EVP_CTRL_AEAD_SET_IVLEN, nonce_bytes, ptr::null_mut())?;
        // Before the key, because the library prepares the first block with the key, and that block contains the tag's length.
        context.ctrl(EVP_CTRL_AEAD_SET_TAG, tag_bytes, ptr::null_mut())?;
        context.set_key(key)?;
        Ok(Ccm { context, nonce_bytes, tag_bytes })
    }

    pub fn encrypt(&mut self, nonce: &[u8], aad: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
        self.start(nonce, tag)?;
        self.message(aad, data)?;
        self.context.finish()?;
        self.context.ctrl(EVP_CTRL_AEAD_GET_TAG, tag.len(), tag.as_mut_ptr())
    }

    pub fn decrypt(&mut self, nonce: &[u8], aad: &[u8], data: &mut [u8], tag: &[u8]) -> Result<(), Error> {
        self.start(nonce, tag)?;
        // The library only reads the expected tag, although its prototype takes a mutable pointer.
        self.context.ctrl(EVP_CTRL_AEAD_SET_TAG, tag.len(), tag.as_ptr().cast_mut())?;
        self.message(aad, data).map_err(|_| Error::Authentication)
    }

    fn start(&mut self, nonce: &[u8], tag: &[u8]) -> Result<(), Error> {
        if nonce.len() != self.nonce_bytes || tag.len() != self.tag_bytes {
            return Err(Error::Length);
        }
        self.context.set_nonce(nonce)
    }

    fn message(&mut self, aad: &[u8], data: &mut [u8]) -> Result<(), Error> {
        if !aad.is_empty() {
            // The first block contains the message's length, so it has to be set before the associated data.
            self.context.update(ptr::null_mut(), ptr::null(), data.len())?;
            self.context.update(ptr::null_mut(), aad.as_ptr(), aad.len())?;
        }
        self.context.update(data.as_mut_ptr(), data.as_ptr(), data.len())
    }
}
