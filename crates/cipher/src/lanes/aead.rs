//! What an authenticated cipher is to those who have many messages.

use super::ccm::{self, Forged};
use crate::modes::ccm::Ccm;
use crate::{Aad, CcmCipher, Error, Nonce, Tag, TagMut};

/// An authenticated cipher with its key, whose messages run in lanes. CCM is one, over any cipher with 128-bit blocks:
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
    /// A message to encrypt: its key, nonce, associated data, buffer, and where its tag goes.
    type Seal<'a>
    where
        Self: 'a;
    /// A message to decrypt: its key, nonce, associated data, buffer and tag.
    type Open<'a>
    where
        Self: 'a;

    /// A message to encrypt in place, with a nonce that is used once under this key.
    ///
    /// # Errors
    /// For lengths of nonce, data or tag that this one does not have.
    fn to_seal<'a>(
        &'a self,
        nonce: Nonce<'_>,
        aad: Aad<'a>,
        data: &'a mut [u8],
        tag: TagMut<'a>,
    ) -> Result<Self::Seal<'a>, Error>;

    /// A message to decrypt in place.
    ///
    /// # Errors
    /// For lengths of nonce, data or tag that this one does not have.
    fn to_open<'a>(
        &'a self,
        nonce: Nonce<'_>,
        aad: Aad<'a>,
        data: &'a mut [u8],
        tag: Tag<'a>,
    ) -> Result<Self::Open<'a>, Error>;

    /// [`ccm::seal`] for this one.
    ///
    /// # Errors
    /// `NonceRepeated`.
    fn seal(jobs: &mut [Self::Seal<'_>]) -> Result<(), Error>;

    /// [`ccm::open`] for this one.
    ///
    /// # Errors
    /// If messages are forged.
    fn open(jobs: &mut [Self::Open<'_>]) -> Result<(), Forged>;
}

/// Lengths of nonce and tag are those of the calls.
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
