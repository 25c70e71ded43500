//! Batches of messages under ChaCha20-Poly1305. The lanes are the blocks of one message; threads run several messages.

use std::ffi::c_int;

use ::tress_cipher::chacha20poly1305::ChaCha20Poly1305;

use crate::lanes::{JobKey, aead_pass, run_jobs_on_threads, tress_ccm_job};
use crate::raw;
use crate::status::tress_status::*;
use crate::status::{guard, tress_status};

/// A key of ChaCha20-Poly1305 (RFC 8439). The handle never changes, so any number of threads may use it at the same time.
/// `tress_chacha20poly1305_free` wipes the key.
pub struct tress_chacha20poly1305(ChaCha20Poly1305);

/// Prepares a key of 32 bytes for the fastest backend of this machine. Writes the handle to `aead`; free it with
/// `tress_chacha20poly1305_free`. Any thread.
///
/// Returns `TRESS_KEY_LENGTH`.
///
/// # Safety
/// `key_length` bytes are readable at `key`; `aead` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_chacha20poly1305_new(
    key: *const u8,
    key_length: usize,
    aead: *mut *mut tress_chacha20poly1305,
) -> tress_status {
    let make = || {
        // SAFETY: the caller promises that the key has its length.
        let key = unsafe { raw::bytes(key, key_length)? };
        let key = key.try_into().map_err(|_| TRESS_KEY_LENGTH)?;
        Ok(tress_chacha20poly1305(ChaCha20Poly1305::new(key)))
    };
    // SAFETY: the caller promises that `aead` is writable.
    guard(|| unsafe { raw::write_handle(aead, make) })
}

/// Wipes the key and frees the handle; NULL does nothing. No thread may use the handle afterwards.
///
/// # Safety
/// `aead` is NULL, or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_chacha20poly1305_free(aead: *mut tress_chacha20poly1305) {
    // SAFETY: `aead` is NULL or a valid handle that nobody uses afterwards, as the caller promises.
    unsafe { raw::free_handle(aead) }
}

/// Encrypts all messages under one key, or decrypts them if `encrypt` is 0, on up to `threads` threads. Otherwise as
/// `tress_ccm_encrypt_jobs_threads` and `tress_ccm_decrypt_jobs_threads`, with nonces of 12 bytes and tags of 16.
///
/// # Safety
/// `aead` is a valid handle; `jobs` points to `count` jobs, each as `tress_ccm_encrypt_jobs` needs it; no job writes to memory
/// that another job reads or writes; `failed` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_chacha20poly1305_jobs(
    aead: *const tress_chacha20poly1305,
    jobs: *mut tress_ccm_job,
    count: usize,
    encrypt: c_int,
    threads: usize,
    failed: *mut usize,
) -> tress_status {
    // SAFETY: the caller promises a valid handle, `count` jobs with valid pointers and lengths, and that `failed` is NULL or writable.
    guard(|| unsafe {
        let (key, encrypt) = (&raw::handle(aead)?.0, encrypt != 0);
        run_jobs_on_threads(jobs, count, threads, failed, encrypt, Some(aead.cast()), |jobs, count| {
            aead_pass(jobs, count, true, encrypt, |_| JobKey::Own(key)).failures
        })
    })
}
