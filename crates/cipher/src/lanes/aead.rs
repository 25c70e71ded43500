//! The interface of an authenticated cipher for many messages.

use super::ccm::{self, Forged};
use crate::modes::ccm::Ccm;
use crate::{Aad, CcmCipher, Error, Nonce, Tag, TagMut};

/// An authenticated cipher with its key, whose messages run in lanes. CCM over any cipher with 128-bit blocks implements it:
///
/// ```
/// use tress_cipher::{Aad, Error, aes::Aes, lanes::Aead, modes::ccm::Ccm};
///
/// fn seal<A: Aead>(aead: &A, packets: &mut [([u8; 600], [u8; 16])]) -> Result<(), Error> {
///     let job = |(number, (data, tag))| aead.to_seal([number as u8; 12][..].into(), Aad(b""), data, tag);
///     let packets = packets.iter_mut().map(|(data, tag)| (&mut data[..], (&mut tag[..]).into()));
///     A::seal(&mut packets.enumerate().map(job).collect::<Result<Vec<_>, _>>()?)
/// }
///
/// seal(&Ccm::<Aes>::from(Aes::new(&[7; 16])?), &mut [([0; 600], [0; 16]); 100])?;
/// # Ok::<(), Error>(())
/// ```
pub trait Aead: Sized {
    /// A message to encrypt: its key, nonce, associated data, buffer, and the buffer for its tag.
    type Seal<'a>
    where
        Self: 'a;
    /// A message to decrypt: its key, nonce, associated data, buffer and tag.
    type Open<'a>
    where
        Self: 'a;

    /// Prepares a message to encrypt in place. The nonce must be used only once with this key.
    ///
    /// # Errors
    /// For lengths of nonce, data or tag that the cipher does not have.
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
    /// For lengths of nonce, data or tag that the cipher does not have.
    fn to_open<'a>(
        &'a self,
        nonce: Nonce<'_>,
        aad: Aad<'a>,
        data: &'a mut [u8],
        tag: Tag<'a>,
    ) -> Result<Self::Open<'a>, Error>;

    /// Encrypts all messages in place and writes their tags, as [`ccm::seal`] does.
    ///
    /// # Errors
    /// `NonceRepeated` if two jobs have the same key and nonce. Nothing is encrypted then.
    fn seal(jobs: &mut [Self::Seal<'_>]) -> Result<(), Error>;

    /// Decrypts all messages in place, as [`ccm::open`] does. The data of a forged message is wiped.
    ///
    /// # Errors
    /// `Forged` if at least one message is forged.
    fn open(jobs: &mut [Self::Open<'_>]) -> Result<(), Forged>;
}

/// The calls determine the lengths of nonce and tag; `M` and `N` are ignored.
impl<C: CcmCipher, M, N> Aead for Ccm<C, M, N> {
    type Seal<'a>
        = ccm::Seal<'a, C>
    where
        Self: 'a;
    type Open<'a>
        = ccm::Open<'a, C>
    where
        Self: 'a;

    #[inline]
    fn to_seal<'a>(
        &'a self,
        nonce: Nonce<'_>,
        aad: Aad<'a>,
        data: &'a mut [u8],
        tag: TagMut<'a>,
    ) -> Result<ccm::Seal<'a, C>, Error> {
        ccm::Seal::new(&self.cipher, nonce, aad, data, tag)
    }

    #[inline]
    fn to_open<'a>(
        &'a self,
        nonce: Nonce<'_>,
        aad: Aad<'a>,
        data: &'a mut [u8],
        tag: Tag<'a>,
    ) -> Result<ccm::Open<'a, C>, Error> {
        ccm::Open::new(&self.cipher, nonce, aad, data, tag)
    }

    fn seal(jobs: &mut [ccm::Seal<'_, C>]) -> Result<(), Error> {
        ccm::seal(jobs)
    }

    fn open(jobs: &mut [ccm::Open<'_, C>]) -> Result<(), Forged> {
        ccm::open(jobs)
    }
}
