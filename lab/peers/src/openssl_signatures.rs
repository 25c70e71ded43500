//! OpenSSL 3: RSA (PKCS #1 v1.5) and DSA signatures of digests through `EVP_PKEY_sign`, opened at run time.
//! Contexts are created once per key, as in a server.

use std::ffi::{c_int, c_long, c_void};
use std::ptr;

use crate::library::functions;
use crate::openssl::{FILE, NAME, PACKAGE};
use crate::{Error, Missing, PeerKey};

functions! {
    _library;
    read: unsafe extern "C" fn(*mut *mut c_void, *mut *const u8, c_long) -> *mut c_void = b"d2i_AutoPrivateKey",
    key_free: unsafe extern "C" fn(*mut c_void) = b"EVP_PKEY_free",
    context_new: unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void = b"EVP_PKEY_CTX_new",
    context_free: unsafe extern "C" fn(*mut c_void) = b"EVP_PKEY_CTX_free",
    sha256: unsafe extern "C" fn() -> *const c_void = b"EVP_sha256",
    set_hash: unsafe extern "C" fn(*mut c_void, *const c_void) -> c_int = b"EVP_PKEY_CTX_set_signature_md",
    sign_init: unsafe extern "C" fn(*mut c_void) -> c_int = b"EVP_PKEY_sign_init",
    verify_init: unsafe extern "C" fn(*mut c_void) -> c_int = b"EVP_PKEY_verify_init",
    /// Context, signature and its length, digest and its length.
    sign: unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, *const u8, usize) -> c_int = b"EVP_PKEY_sign",
    verify: unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize) -> c_int = b"EVP_PKEY_verify",
}

fn load() -> Result<Functions, Missing> {
    // SAFETY: libcrypto's initialisers have no precondition, and the types are those of the prototypes in evp.h, rsa.h and x509.h.
    unsafe { Functions::open(FILE) }
}

/// A key that signs and verifies SHA-256 digests.
pub struct SignatureKey {
    functions: &'static Functions,
    key: *mut c_void,
    signing: *mut c_void,
    verifying: *mut c_void,
}

impl PeerKey for SignatureKey {
    fn new(der: &[u8]) -> Result<SignatureKey, Error> {
        let functions = functions()?;
        let length = c_long::try_from(der.len()).map_err(|_| Error::Length)?;
        let mut start = der.as_ptr();
        // SAFETY: `start` points to `length` bytes.
        let key = unsafe { (functions.read)(ptr::null_mut(), &mut start, length) };
        if key.is_null() {
            return Err(Error::Refused("d2i_AutoPrivateKey"));
        }
        // SAFETY: the key is live, and each context holds a reference to it.
        let [signing, verifying] = [(); 2].map(|()| unsafe { (functions.context_new)(key, ptr::null_mut()) });
        let key = SignatureKey { functions, key, signing, verifying };
        if signing.is_null() || verifying.is_null() {
            return Err(Error::Refused("EVP_PKEY_CTX_new"));
        }
        // SAFETY: both contexts are live, and the result of `EVP_sha256` is valid as long as the library is loaded.
        let is_ready = unsafe {
            (functions.sign_init)(signing) == 1
                && (functions.verify_init)(verifying) == 1
                && (functions.set_hash)(signing, (functions.sha256)()) == 1
                && (functions.set_hash)(verifying, (functions.sha256)()) == 1
        };
        if is_ready { Ok(key) } else { Err(Error::Refused("EVP_PKEY_CTX_set_signature_md")) }
    }

    fn sign(&mut self, _: &[u8], digest: &[u8; 32], signature: &mut Vec<u8>) -> Result<(), Error> {
        signature.resize(1024, 0);
        let mut length = signature.len();
        // SAFETY: the context is live, and `signature` has room for `length` bytes.
        let done = unsafe {
            (self.functions.sign)(self.signing, signature.as_mut_ptr(), &mut length, digest.as_ptr(), digest.len())
        };
        signature.truncate(length);
        if done == 1 { Ok(()) } else { Err(Error::Refused("EVP_PKEY_sign")) }
    }

    fn verify(&mut self, _: &[u8], digest: &[u8; 32], signature: &[u8]) -> Result<(), Error> {
        // SAFETY: the context is live; the lengths are those of the slices.
        let holds = unsafe {
            (self.functions.verify)(self.verifying, signature.as_ptr(), signature.len(), digest.as_ptr(), digest.len())
        };
        if holds == 1 { Ok(()) } else { Err(Error::Refused("EVP_PKEY_verify")) }
    }
}

impl Drop for SignatureKey {
    fn drop(&mut self) {
        // SAFETY: each pointer came from its own constructor, or is null, which these functions accept, and is freed once.
        unsafe {
            (self.functions.context_free)(self.signing);
            (self.functions.context_free)(self.verifying);
            (self.functions.key_free)(self.key);
        }
    }
}
