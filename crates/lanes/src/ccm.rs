//! CCM (SP 800-38C) of many messages, in lanes on every core.

use tress_cipher::lanes::ccm::{self, Forged, Open, Seal};
use tress_cipher::{CcmCipher, Error};

use crate::Pool;

/// Encrypts all messages in place and writes their tags, on up to `threads` threads of which the caller's is one; 0 is one for each
/// core. What is too small for more runs on the caller's thread alone. Messages that have run before are left alone.
///
/// # Errors
/// `NonceRepeated` as [`ccm::check_nonces`] says: two keys of the same bytes count as two. Nothing is encrypted then.
pub fn seal<C: CcmCipher>(jobs: &mut [Seal<'_, C>], pool: &Pool, threads: usize) -> Result<(), Error> {
    ccm::check_nonces(jobs)?;
    pool.for_each_group(jobs, Seal::bytes, threads, ccm::seal_without_nonce_check);
    Ok(())
}

/// Decrypts all messages in place, on threads as [`seal`]. The data of a forged message is wiped; the others are not touched by it, and
/// are plaintext.
///
/// # Errors
/// If messages are forged. [`Open::result`] says which.
pub fn open<C: CcmCipher>(jobs: &mut [Open<'_, C>], pool: &Pool, threads: usize) -> Result<(), Forged> {
    pool.for_each_group(jobs, Open::bytes, threads, |jobs| {
        let _: Result<(), Forged> = ccm::open(jobs);
    });
    // Nothing is left to do but to count.
    ccm::open(jobs)
}
