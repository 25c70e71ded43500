//! Batches of messages on every core, for every AEAD.

use tress_cipher::Error;
use tress_cipher::lanes::ccm::Forged;
use tress_cipher::lanes::{Aead, AeadJob};

use crate::Pool;

/// Encrypts all messages in place and writes their tags, on up to `threads` threads including the caller's; 0 means one for each
/// core. A batch that is too small for several threads runs on the caller's thread. Messages that have run before are skipped.
///
/// ```
/// use tress_cipher::{Aad, chacha20poly1305::ChaCha20Poly1305, lanes::Aead};
/// use tress_lanes::{Pool, seal};
///
/// let key = ChaCha20Poly1305::new(&[7; 32]);
/// let mut packets = vec![([0; 600], [0; 16]); 1000];
/// let jobs = packets.iter_mut().enumerate().map(|(number, (data, tag))| {
///     let mut nonce = [0; 12];
///     nonce[..8].copy_from_slice(&number.to_be_bytes());
///     key.to_seal(nonce[..].into(), Aad(b""), data, tag.into())
/// });
/// seal::<ChaCha20Poly1305>(&mut jobs.collect::<Result<Vec<_>, _>>()?, Pool::shared(), 0)?;
/// # Ok::<(), tress_cipher::Error>(())
/// ```
///
/// # Errors
/// `NonceRepeated` if two jobs have the same key and nonce: two key objects count as two keys, even if created from the same bytes. Nothing
/// is encrypted then.
pub fn seal<A: Aead>(jobs: &mut [A::Seal<'_>], pool: &Pool, threads: usize) -> Result<(), Error> {
    A::check_nonces(jobs)?;
    pool.for_each_group(jobs, AeadJob::bytes, threads, A::seal_without_nonce_check);
    Ok(())
}

/// Decrypts all messages in place, on threads as in [`seal`]. The data of a forged message is wiped; all other messages are decrypted.
///
/// # Errors
/// `Forged` if at least one message is forged. [`AeadJob::result`] says which.
pub fn open<A: Aead>(jobs: &mut [A::Open<'_>], pool: &Pool, threads: usize) -> Result<(), Forged> {
    pool.for_each_group(jobs, AeadJob::bytes, threads, |jobs| {
        let _: Result<(), Forged> = A::open(jobs);
    });
    // All jobs have run: this only counts the forged ones.
    A::open(jobs)
}
