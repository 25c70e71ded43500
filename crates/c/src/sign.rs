//! Signing keys, and single signatures.
//!
//! A key belongs to one scheme: "rsa-pss-", "rsa-pkcs1-" or "dsa-" with "sha256", "sha384" or "sha512", or
//! "schnorr-sha256". For PSS, ":N" after the name sets the length of the salt in bytes.

use std::ffi::c_char;

use tress_sign::rsa;
use tress_sign::signature::Keypair as _;
use tress_sign::{EncryptedKey, KeyFile, PrivateKey, PublicKey, Scheme, SigningKey, VerifyingKey, discrete};

use crate::buffer::tress_buffer;
use crate::failure::Failure;
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, guard_value, tress_status};

/// A private key and its signature scheme. It never changes, so any number of threads may use it at the same time.
/// `tress_signing_key_free` wipes the key.
pub struct tress_signing_key {
    pub(crate) key: SigningKey,
}

/// A public key and its signature scheme. It never changes, so any number of threads may use it at the same time.
pub struct tress_verifying_key {
    pub(crate) key: VerifyingKey,
}

/// Longest DSA signature: a DER sequence of the integers r and s, each of up to 256 bits.
const DSA_SIGNATURE_BYTES: usize = 2 + 2 * (2 + 33);
/// A challenge and a response of 256 bits each.
const SCHNORR_SIGNATURE_BYTES: usize = 64;

/// Returns the scheme with this name, or without a name the default scheme of the key.
fn scheme(name: Option<&str>, key: impl FnOnce() -> PublicKey) -> Result<Scheme, Failure> {
    name.map_or_else(|| Ok(Scheme::of(&key())), scheme_by_name)
}

fn scheme_by_name(name: &str) -> Result<Scheme, Failure> {
    name.parse().map_err(|_| Failure::with_detail(TRESS_UNKNOWN_NAME, "unknown scheme name"))
}

/// Reads a private key: PKCS #8 or PKCS #1, PEM or DER. `passphrase` decrypts an encrypted PKCS #8 key, and may be NULL.
/// `scheme_name` selects the signature scheme; NULL selects "rsa-pss-sha256", "dsa-sha256" or "schnorr-sha256" by the type
/// of the key. Any thread.
///
/// Returns `TRESS_MALFORMED_KEY`, `TRESS_NOT_PRIVATE`, `TRESS_KEY_ENCRYPTED`, `TRESS_WRONG_PASSPHRASE`,
/// `TRESS_WORK_FACTOR`, `TRESS_MEMORY`, `TRESS_KEY_REFUSED`, `TRESS_WRONG_SCHEME`, `TRESS_UNKNOWN_NAME`.
///
/// # Safety
/// `length` bytes are readable at `data`; the texts are NULL or end with NUL; `key` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_signing_key_read(
    data: *const u8,
    length: usize,
    passphrase: *const c_char,
    scheme_name: *const c_char,
    key: *mut *mut tress_signing_key,
) -> tress_status {
    // SAFETY: the arguments are passed on unchanged.
    unsafe { tress_signing_key_read_up_to(data, length, passphrase, scheme_name, EncryptedKey::DEFAULT_LIMIT, key) }
}

/// Reads a private key with another limit for the work factor. `max_work_factor`, 1 to 23, is the binary logarithm of
/// scrypt's N with r = 8 and p = 1, or of a fifth of the rounds of PBKDF2; each step up doubles the time. Otherwise as
/// `tress_signing_key_read`, which has the limit 20: about five seconds and 1 GiB of memory. Any thread.
///
/// Returns what `tress_signing_key_read` returns, and `TRESS_WORK_FACTOR` for a limit outside 1 to 23.
///
/// # Safety
/// As for `tress_signing_key_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_signing_key_read_up_to(
    data: *const u8,
    length: usize,
    passphrase: *const c_char,
    scheme_name: *const c_char,
    max_work_factor: u8,
    key: *mut *mut tress_signing_key,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        raw::write_handle(key, || {
            let (data, passphrase) = (raw::bytes(data, length)?, raw::optional_text(passphrase)?);
            let private = KeyFile::read(data)?.into_private_up_to(passphrase.map(str::as_bytes), max_work_factor)?;
            let scheme = scheme(raw::optional_text(scheme_name)?, || private.public_key())?;
            Ok(tress_signing_key { key: SigningKey::new(private, scheme)? })
        })
    })
}

/// Generates a private key. `kind` is "rsa-2048" to "rsa-8192" (even numbers), "dsa-2048", "dsa-3072", "schnorr-2048" or
/// "schnorr-3072". `scheme_name` is as for `tress_signing_key_read`. An RSA key takes from a second to minutes. Any thread.
///
/// Returns `TRESS_UNKNOWN_NAME`, `TRESS_WRONG_SCHEME`, `TRESS_RANDOM`.
///
/// # Safety
/// `kind` ends with NUL; `scheme_name` is NULL or ends with NUL; `key` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_signing_key_generate(
    kind: *const c_char,
    scheme_name: *const c_char,
    key: *mut *mut tress_signing_key,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        raw::write_handle(key, || {
            let private = generate(raw::text(kind)?)?;
            let scheme = scheme(raw::optional_text(scheme_name)?, || private.public_key())?;
            Ok(tress_signing_key { key: SigningKey::new(private, scheme)? })
        })
    })
}

fn generate(kind: &str) -> Result<PrivateKey, Failure> {
    use discrete::GroupSize::{Bits2048, Bits3072};
    Ok(match kind {
        "dsa-2048" => PrivateKey::Dsa(discrete::PrivateKey::generate(Bits2048)?),
        "dsa-3072" => PrivateKey::Dsa(discrete::PrivateKey::generate(Bits3072)?),
        "schnorr-2048" => PrivateKey::Schnorr(discrete::PrivateKey::generate(Bits2048)?),
        "schnorr-3072" => PrivateKey::Schnorr(discrete::PrivateKey::generate(Bits3072)?),
        other => {
            let bits = other.strip_prefix("rsa-").and_then(|bits| bits.parse::<usize>().ok());
            let bits =
                bits.filter(|bits| (rsa::MIN_SIGN_BITS..=rsa::MAX_BITS).contains(bits) && bits.is_multiple_of(2));
            let bits = bits.ok_or_else(|| Failure::with_detail(TRESS_UNKNOWN_NAME, "unknown kind of key"))?;
            PrivateKey::Rsa(rsa::PrivateKey::generate(bits)?)
        }
    })
}

/// Returns the length of the longest signature of the key in bytes; 0 for NULL. Any thread.
///
/// # Safety
/// `key` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_signing_key_signature_bytes(key: *const tress_signing_key) -> usize {
    // SAFETY: `key` is NULL or a valid handle, as the caller promises.
    let key = unsafe { key.as_ref() };
    guard_value(0, || key.map_or(0, |key| signature_bytes(&key.key)))
}

pub(crate) fn signature_bytes(key: &SigningKey) -> usize {
    match key.key() {
        PrivateKey::Rsa(key) => key.public_key().signature_bytes(),
        PrivateKey::Schnorr(_) => SCHNORR_SIGNATURE_BYTES,
        _ => DSA_SIGNATURE_BYTES,
    }
}

/// Writes the private key as PKCS #8 in PEM, which is secret, to a new buffer `pem`. Any thread.
///
/// # Safety
/// `key` is a valid handle; `pem` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_signing_key_pem(
    key: *const tress_signing_key,
    pem: *mut *mut tress_buffer,
) -> tress_status {
    // SAFETY: the caller promises a valid handle.
    guard(|| unsafe { raw::write_handle(pem, || Ok(raw::handle(key)?.key.key().to_pem().as_bytes().to_vec().into())) })
}

/// Creates the public key of a private key, for the same scheme. Any thread.
///
/// # Safety
/// `key` is a valid handle; `public_key` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_signing_key_public(
    key: *const tress_signing_key,
    public_key: *mut *mut tress_verifying_key,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        raw::write_handle(public_key, || Ok(tress_verifying_key { key: raw::handle(key)?.key.verifying_key() }))
    })
}

/// Wipes the key and frees the handle; NULL does nothing. No thread may use the handle afterwards.
///
/// # Safety
/// `key` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_signing_key_free(key: *mut tress_signing_key) {
    // SAFETY: `key` is NULL or a valid handle that nobody uses afterwards, as the caller promises.
    unsafe { raw::free_handle(key) }
}

/// Reads a public key: SubjectPublicKeyInfo or PKCS #1, PEM or DER. `scheme_name` is as for `tress_signing_key_read`. Any
/// thread.
///
/// Returns `TRESS_MALFORMED_KEY`, `TRESS_NOT_PUBLIC`, `TRESS_KEY_REFUSED`, `TRESS_WRONG_SCHEME`, `TRESS_UNKNOWN_NAME`.
///
/// # Safety
/// `length` bytes are readable at `data`; `scheme_name` is NULL or ends with NUL; `key` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_verifying_key_read(
    data: *const u8,
    length: usize,
    scheme_name: *const c_char,
    key: *mut *mut tress_verifying_key,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        raw::write_handle(key, || {
            let public = KeyFile::read(raw::bytes(data, length)?)?.into_public()?;
            let scheme = scheme(raw::optional_text(scheme_name)?, || public.clone())?;
            Ok(tress_verifying_key { key: VerifyingKey::new(public, scheme)? })
        })
    })
}

/// Writes the public key as SubjectPublicKeyInfo in PEM to a new buffer `pem`. Any thread.
///
/// # Safety
/// `key` is a valid handle; `pem` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_verifying_key_pem(
    key: *const tress_verifying_key,
    pem: *mut *mut tress_buffer,
) -> tress_status {
    // SAFETY: the caller promises a valid handle.
    guard(|| unsafe { raw::write_handle(pem, || Ok(raw::handle(key)?.key.key().to_pem().into_bytes().into())) })
}

/// Frees the handle; NULL does nothing. No thread may use the handle afterwards.
///
/// # Safety
/// `key` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_verifying_key_free(key: *mut tress_verifying_key) {
    // SAFETY: `key` is NULL or a valid handle that nobody uses afterwards, as the caller promises.
    unsafe { raw::free_handle(key) }
}

/// Computes the digest of a message with the hash function of a scheme, for jobs. Writes the digest to `digest`, which has
/// room for `capacity` bytes, and its length of 32, 48 or 64 bytes to `digest_length`, unless that is NULL. Any thread.
///
/// Returns `TRESS_UNKNOWN_NAME`, `TRESS_BUFFER`.
///
/// # Safety
/// `scheme_name` ends with NUL; `length` bytes are readable at `message`; `capacity` bytes are writable at `digest`;
/// `digest_length` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_digest(
    scheme_name: *const c_char,
    message: *const u8,
    length: usize,
    digest: *mut u8,
    capacity: usize,
    digest_length: *mut usize,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        let hash = scheme_by_name(raw::text(scheme_name)?)?.hash();
        let made = hash.digest(raw::bytes(message, length)?);
        copy_out(&made, digest, capacity, digest_length)
    })
}

/// Copies `made` to the caller's buffer, and writes its length.
///
/// # Safety
/// `capacity` bytes are writable at `out`; `length` is NULL or writable.
unsafe fn copy_out(made: &[u8], out: *mut u8, capacity: usize, length: *mut usize) -> Result<(), Failure> {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    unsafe {
        raw::write_optional(length, made.len());
        let out = raw::bytes_mut(out, capacity)?;
        out.get_mut(..made.len()).ok_or(TRESS_BUFFER)?.copy_from_slice(made);
    }
    Ok(())
}

/// Signs a message. Writes the signature to `signature`, which has room for `capacity` bytes, and its length to
/// `signature_length`. A batch of signatures is several times faster on processors with AVX-512 IFMA: `tress_sign_jobs`.
/// Any thread.
///
/// Returns `TRESS_BUFFER` if `capacity` is less than `tress_signing_key_signature_bytes`; `TRESS_RANDOM`, `TRESS_FAULT`.
///
/// # Safety
/// `key` is a valid handle; `length` bytes are readable at `message`; `capacity` bytes are writable at `signature`;
/// `signature_length` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_sign(
    key: *const tress_signing_key,
    message: *const u8,
    length: usize,
    signature: *mut u8,
    capacity: usize,
    signature_length: *mut usize,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        let key = &raw::handle(key)?.key;
        let message = raw::bytes(message, length)?;
        if signature_length.is_null() {
            return Err(TRESS_NULL.into());
        }
        if capacity < signature_bytes(key) {
            raw::write_optional(signature_length, signature_bytes(key));
            return Err(TRESS_BUFFER.into());
        }
        let digest = key.scheme().hash().digest(message);
        let made = key.sign_digests(&[digest]).pop().ok_or(TRESS_INTERNAL)??;
        copy_out(made.as_bytes(), signature, capacity, signature_length)
    })
}

/// Verifies the signature of a message. Any thread.
///
/// Returns `TRESS_OK` if the signature is valid, otherwise `TRESS_MISMATCH` or `TRESS_MALFORMED_SIGNATURE`.
///
/// # Safety
/// `key` is a valid handle; each buffer has the length given for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_verify(
    key: *const tress_verifying_key,
    message: *const u8,
    length: usize,
    signature: *const u8,
    signature_length: usize,
) -> tress_status {
    // SAFETY: the caller promises valid pointers and lengths: see `# Safety`.
    guard(|| unsafe {
        let key = &raw::handle(key)?.key;
        let message = raw::bytes(message, length)?;
        let signature = raw::bytes(signature, signature_length)?;
        Ok(key.verify_digest(&key.scheme().hash().digest(message), signature)?)
    })
}
