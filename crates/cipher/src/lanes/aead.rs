//! What an authenticated cipher is to those who have many messages.

use super::ccm;
use crate::modes::ccm::Ccm;
use crate::{CcmCipher, Error};

/// An authenticated cipher with its key, whose messages run in lanes. CCM is one, over any cipher with 128-bit blocks:
///
/// ```
/// use tress_cipher::{Error, aes::Aes, lanes::Aead, modes::ccm::Ccm};
///
/// fn seal<A: Aead>(aead: &A, packets: &mut [([u8; 600], [u8; 16])]) -> Result<(), Error> {
///     let job = |(number, (data, tag))| aead.job(&[number as u8; 12], b"", data, tag);
///     let packets = packets.iter_mut().map(|(data, tag)| (&mut data[..], &mut tag[..]));
///     A::encrypt(&mut packets.enumerate().map(job).collect::<Result<Vec<_>, _>>()?);
///     Ok(())
/// }
///
/// seal(&Ccm::<Aes>::from(Aes::new(&[7; 16])?), &mut [([0; 600], [0; 16]); 100])?;
/// # Ok::<(), Error>(())
/// ```
pub trait Aead: Sized {
    /// One message: its key, nonce, associated data, buffer and tag.
    type Job<'a>
    where
        Self: 'a;

    /// A message with a nonce (never twice under one key, also not by two jobs of one call) and associated data; `data` is
    /// transformed in place. `tag` is written by `encrypt` and read by `decrypt`.
    ///
    /// # Errors
    /// For lengths of nonce, data or tag that this one does not have.
    fn job<'a>(
        &'a self,
        nonce: &[u8],
        aad: &'a [u8],
        data: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> Result<Self::Job<'a>, Error>;

    /// Encrypts all messages in place and writes their tags. Jobs that have run before are left alone.
    fn encrypt(jobs: &mut [Self::Job<'_>]);

    /// Decrypts all messages in place; returns how many of those that ran are forged. The data of a forged message is
    /// wiped; the others are not touched by it.
    #[must_use = "forged messages are among them"]
    fn decrypt(jobs: &mut [Self::Job<'_>]) -> usize;

    /// What became of a job. One that has not run is not verified.
    fn result(job: &Self::Job<'_>) -> Result<(), Error>;
}

/// Lengths of nonce and tag are those of the calls.
impl<C: CcmCipher, M, N> Aead for Ccm<C, M, N> {
    type Job<'a>
        = ccm::Job<'a, C>
    where
        Self: 'a;

    #[inline]
    fn job<'a>(
        &'a self,
        nonce: &[u8],
        aad: &'a [u8],
        data: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> Result<ccm::Job<'a, C>, Error> {
        ccm::Job::new(&self.cipher, nonce, aad, data, tag)
    }

    fn encrypt(jobs: &mut [ccm::Job<'_, C>]) {
        ccm::encrypt(jobs);
    }

    fn decrypt(jobs: &mut [ccm::Job<'_, C>]) -> usize {
        ccm::decrypt(jobs)
    }

    fn result(job: &ccm::Job<'_, C>) -> Result<(), Error> {
        job.result()
    }
}
