//! CCM (SP 800-38C) of many messages, in lanes on every core.

use tress_cipher::lanes::ccm::{self, Forged, Open, Seal};
use tress_cipher::{CcmCipher, Error};

use crate::Pool;

/// Encrypts all messages in place and writes their tags, on up to `threads` threads including the caller's; 0 means one for each
/// core. A batch that is too small for several threads runs on the caller's thread. Messages that have run before are skipped.
///
/// # Errors
/// `NonceRepeated`, as [`ccm::check_nonces`] finds it: two key objects count as two keys, even if created from the same bytes. Nothing
/// is encrypted then.
pub fn seal<C: CcmCipher>(jobs: &mut [Seal<'_, C>], pool: &Pool, threads: usize) -> Result<(), Error> {
    ccm::check_nonces(jobs)?;
    pool.for_each_group(jobs, Seal::bytes, threads, ccm::seal_without_nonce_check);
    Ok(())
}

/// Decrypts all messages in place, on threads as in [`seal`]. The data of a forged message is wiped; all other messages are decrypted.
///
/// # Errors
/// `Forged` if at least one message is forged. [`Open::result`] says which.
pub fn open<C: CcmCipher>(jobs: &mut [Open<'_, C>], pool: &Pool, threads: usize) -> Result<(), Forged> {
    pool.for_each_group(jobs, Open::bytes, threads, |jobs| {
        let _: Result<(), Forged> = ccm::open(jobs);
    });
    // All jobs have run: this only counts the forged ones.
    ccm::open(jobs)
}
