//! The interface of an authenticated cipher for many messages.

use super::ccm::{self, Forged};
use crate::{Aad, CcmCipher, Error, Nonce, Tag, TagMut, modes};

/// A message of a batch, to encrypt or to decrypt.
pub trait AeadJob: Send {
    /// Bytes of data and associated data.
    fn bytes(&self) -> usize;

    /// The result of the job; `Authentication` if it has not run.
    fn result(&self) -> Result<(), Error>;
}

/// An authenticated cipher with its key, for batches of messages. Ciphers with 128-bit blocks implement it by CCM, in lanes. With the
/// features `chacha20poly1305` and `gcm`, `ChaCha20Poly1305` and `Gcm` implement it: their lanes are the blocks of one message, and in
/// `ChaCha20Poly1305` of several short ones.
///
/// ```
/// use tress_cipher::{Aad, Error, aes::Aes, lanes::Aead};
///
/// fn seal<A: Aead>(aead: &A, packets: &mut [([u8; 600], [u8; 16])]) -> Result<(), Error> {
///     let job = |(number, (data, tag))| aead.to_seal([number as u8; 12][..].into(), Aad(b""), data, tag);
///     let packets = packets.iter_mut().map(|(data, tag)| (&mut data[..], (&mut tag[..]).into()));
///     A::seal(&mut packets.enumerate().map(job).collect::<Result<Vec<_>, _>>()?)
/// }
///
/// seal(&Aes::new(&[7; 16])?, &mut [([0; 600], [0; 16]); 100])?;
/// # Ok::<(), Error>(())
/// ```
pub trait Aead: Sized {
    /// A message to encrypt: its key, nonce, associated data, buffer, and the buffer for its tag.
    type Seal<'a>: AeadJob
    where
        Self: 'a;
    /// A message to decrypt: its key, nonce, associated data, buffer and tag.
    type Open<'a>: AeadJob
    where
        Self: 'a;

    /// Checks the lengths of nonce, message and tag before there is a message.
    ///
    /// # Errors
    /// `NonceLength`, `TagLength` and `MessageTooLong` for lengths that the cipher does not have.
    fn check_lengths(nonce: Nonce<'_>, message_bytes: usize, tag_bytes: usize) -> Result<(), Error>;

    /// Prepares a message to encrypt in place. The nonce must be used only once with this key.
    ///
    /// # Errors
    /// As [`check_lengths`](Self::check_lengths).
    fn to_seal<'a>(
        &'a self,
        nonce: Nonce<'_>,
        aad: Aad<'a>,
        data: &'a mut [u8],
        tag: TagMut<'a>,
    ) -> Result<Self::Seal<'a>, Error>;

    /// Prepares a message to decrypt in place.
    ///
    /// # Errors
    /// As [`check_lengths`](Self::check_lengths).
    fn to_open<'a>(
        &'a self,
        nonce: Nonce<'_>,
        aad: Aad<'a>,
        data: &'a mut [u8],
        tag: Tag<'a>,
    ) -> Result<Self::Open<'a>, Error>;

    /// Encrypts one message in place and writes its tag.
    ///
    /// # Errors
    /// As [`check_lengths`](Self::check_lengths).
    fn seal_one(&self, nonce: Nonce<'_>, aad: Aad<'_>, data: &mut [u8], tag: TagMut<'_>) -> Result<(), Error> {
        Self::seal(&mut [self.to_seal(nonce, aad, data, tag)?])
    }

    /// Decrypts one message in place. If it is forged, its data is wiped.
    ///
    /// # Errors
    /// `Authentication`, and as [`check_lengths`](Self::check_lengths).
    fn open_one(&self, nonce: Nonce<'_>, aad: Aad<'_>, data: &mut [u8], tag: Tag<'_>) -> Result<(), Error> {
        Ok(Self::open(&mut [self.to_open(nonce, aad, data, tag)?])?)
    }

    /// Checks that no two jobs have the same key and nonce, as [`ccm::check_nonces`] does.
    ///
    /// # Errors
    /// `NonceRepeated` with a job that has the key and nonce of an earlier one.
    fn check_nonces(jobs: &mut [Self::Seal<'_>]) -> Result<(), Error>;

    /// [`seal`](Self::seal) without the check, for callers that know that no two of these jobs have the same key and nonce.
    fn seal_without_nonce_check(jobs: &mut [Self::Seal<'_>]);

    /// Encrypts all messages in place and writes their tags, as [`ccm::seal`] does.
    ///
    /// # Errors
    /// `NonceRepeated` if two jobs have the same key and nonce. Nothing is encrypted then.
    fn seal(jobs: &mut [Self::Seal<'_>]) -> Result<(), Error> {
        Self::check_nonces(jobs)?;
        Self::seal_without_nonce_check(jobs);
        Ok(())
    }

    /// Decrypts all messages in place, as [`ccm::open`] does. The data of a forged message is wiped.
    ///
    /// # Errors
    /// `Forged` if at least one message is forged.
    fn open(jobs: &mut [Self::Open<'_>]) -> Result<(), Forged>;
}

/// CCM.
impl<C: CcmCipher> Aead for C {
    type Seal<'a>
        = ccm::Seal<'a, C>
    where
        Self: 'a;
    type Open<'a>
        = ccm::Open<'a, C>
    where
        Self: 'a;

    #[inline]
    fn check_lengths(nonce: Nonce<'_>, message_bytes: usize, tag_bytes: usize) -> Result<(), Error> {
        modes::ccm::check_lengths(nonce, message_bytes, tag_bytes)
    }

    #[inline]
    fn to_seal<'a>(
        &'a self,
        nonce: Nonce<'_>,
        aad: Aad<'a>,
        data: &'a mut [u8],
        tag: TagMut<'a>,
    ) -> Result<ccm::Seal<'a, C>, Error> {
        ccm::Seal::new(self, nonce, aad, data, tag)
    }

    #[inline]
    fn to_open<'a>(
        &'a self,
        nonce: Nonce<'_>,
        aad: Aad<'a>,
        data: &'a mut [u8],
        tag: Tag<'a>,
    ) -> Result<ccm::Open<'a, C>, Error> {
        ccm::Open::new(self, nonce, aad, data, tag)
    }

    fn seal_one(&self, nonce: Nonce<'_>, aad: Aad<'_>, data: &mut [u8], tag: TagMut<'_>) -> Result<(), Error> {
        modes::ccm::seal(self, nonce, aad, data, tag)
    }

    fn open_one(&self, nonce: Nonce<'_>, aad: Aad<'_>, data: &mut [u8], tag: Tag<'_>) -> Result<(), Error> {
        modes::ccm::open(self, nonce, aad, data, tag)
    }

    fn check_nonces(jobs: &mut [ccm::Seal<'_, C>]) -> Result<(), Error> {
        ccm::check_nonces(jobs)
    }

    fn seal_without_nonce_check(jobs: &mut [ccm::Seal<'_, C>]) {
        ccm::seal_without_nonce_check(jobs);
    }

    fn open(jobs: &mut [ccm::Open<'_, C>]) -> Result<(), Forged> {
        ccm::open(jobs)
    }
}
