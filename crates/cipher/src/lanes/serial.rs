//! AEADs whose lanes are the blocks of one message: the messages of a batch run one after the other, but short ones of ChaCha20-Poly1305
//! share calls of its kernel.

use core::fmt;

use super::aead::{Aead, AeadJob};
use super::ccm::Forged;
use super::nonces::{self, NonceJob};
use crate::{Aad, BLOCK_BYTES, Block, Error, Nonce, Tag, TagMut};
#[cfg(feature = "gcm")]
use crate::{CcmCipher, modes::gcm::Gcm};

/// Bytes of a nonce.
const NONCE_BYTES: usize = 12;

/// A message with its tag: a buffer for it, or the received one.
pub struct SerialJob<'a, A, T> {
    aead: &'a A,
    nonce: [u8; NONCE_BYTES],
    aad: &'a [u8],
    data: &'a mut [u8],
    tag: T,
    next: usize,
    /// `None` until the job has run.
    result: Option<Result<(), Error>>,
}

impl<'a, A, T> SerialJob<'a, A, T> {
    fn new(aead: &'a A, Nonce(nonce): Nonce<'_>, Aad(aad): Aad<'a>, data: &'a mut [u8], tag: T) -> Result<Self, Error> {
        let nonce = nonce.try_into().map_err(|_| Error::NonceLength)?;
        Ok(SerialJob { aead, nonce, aad, data, tag, next: 0, result: None })
    }
}

impl<A: Sync, T: Send> AeadJob for SerialJob<'_, A, T> {
    fn bytes(&self) -> usize {
        self.aad.len() + self.data.len()
    }

    fn result(&self) -> Result<(), Error> {
        self.result.unwrap_or(Err(Error::Authentication))
    }
}

impl<A, T> NonceJob for SerialJob<'_, A, T> {
    fn key_and_nonce(&self) -> (usize, u128) {
        let mut nonce = [0; BLOCK_BYTES];
        nonce[..NONCE_BYTES].copy_from_slice(&self.nonce);
        (core::ptr::from_ref(self.aead).addr(), u128::from_be_bytes(nonce))
    }

    fn link(&mut self) -> &mut usize {
        &mut self.next
    }

    fn linked(&self) -> usize {
        self.next
    }
}

impl<A, T> fmt::Debug for SerialJob<'_, A, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SerialJob").field("result", &self.result).finish_non_exhaustive()
    }
}

/// Implements [`Aead`] by the methods `seal` and `open` for one message, and for some messages by a function before.
macro_rules! serial {
    ($({ $parameter:ident: $($bound:tt)+ })? $aead:ty $(, $before:path)?) => {
        impl$(<$parameter: $($bound)+>)? Aead for $aead {
            type Seal<'a>
                = SerialJob<'a, Self, &'a mut Block>
            where
                Self: 'a;
            type Open<'a>
                = SerialJob<'a, Self, &'a Block>
            where
                Self: 'a;

            fn check_lengths(nonce: Nonce<'_>, message_bytes: usize, tag_bytes: usize) -> Result<(), Error> {
                match () {
                    () if nonce.0.len() != NONCE_BYTES => Err(Error::NonceLength),
                    () if tag_bytes != BLOCK_BYTES => Err(Error::TagLength),
                    () if message_bytes as u64 > Self::MAX_BYTES => Err(Error::MessageTooLong),
                    () => Ok(()),
                }
            }

            fn to_seal<'a>(
                &'a self,
                nonce: Nonce<'_>,
                aad: Aad<'a>,
                data: &'a mut [u8],
                TagMut(tag): TagMut<'a>,
            ) -> Result<Self::Seal<'a>, Error> {
                Self::check_lengths(nonce, data.len(), tag.len())?;
                SerialJob::new(self, nonce, aad, data, tag.try_into().map_err(|_| Error::TagLength)?)
            }

            fn to_open<'a>(
                &'a self,
                nonce: Nonce<'_>,
                aad: Aad<'a>,
                data: &'a mut [u8],
                Tag(tag): Tag<'a>,
            ) -> Result<Self::Open<'a>, Error> {
                Self::check_lengths(nonce, data.len(), tag.len())?;
                SerialJob::new(self, nonce, aad, data, tag.try_into().map_err(|_| Error::TagLength)?)
            }

            fn check_nonces(jobs: &mut [Self::Seal<'_>]) -> Result<(), Error> {
                nonces::repeated(jobs).map_or(Ok(()), |job| Err(Error::NonceRepeated { job }))
            }

            fn seal_without_nonce_check(jobs: &mut [Self::Seal<'_>]) {
                $($before(jobs, |job| job.result.is_none().then_some((job.aead, &job.nonce, job.aad, &mut *job.data)), true, |job, tag| {
                    *job.tag = *tag;
                    job.result = Some(Ok(()));
                });)?
                for job in jobs.iter_mut().filter(|job| job.result.is_none()) {
                    job.result = Some(job.aead.seal(&job.nonce, job.aad, job.data).map(|tag| *job.tag = tag));
                }
            }

            fn open(jobs: &mut [Self::Open<'_>]) -> Result<(), Forged> {
                $($before(jobs, |job| job.result.is_none().then_some((job.aead, &job.nonce, job.aad, &mut *job.data)), false, |job, tag| {
                    job.result = Some(crate::chacha20poly1305::check(tag, job.tag, job.data));
                });)?
                let mut forged = None;
                for (first, job) in jobs.iter_mut().enumerate() {
                    if job.result.is_none() {
                        job.result = Some(job.aead.open(&job.nonce, job.aad, job.data, job.tag));
                    }
                    if job.result != Some(Ok(())) {
                        forged.get_or_insert(Forged { count: 0, first }).count += 1;
                    }
                }
                forged.map_or(Ok(()), Err)
            }
        }
    };
}

#[cfg(all(feature = "chacha20poly1305", any(target_arch = "x86_64", target_arch = "aarch64")))]
serial!(crate::chacha20poly1305::ChaCha20Poly1305, crate::chacha20poly1305::apply_short);
#[cfg(all(feature = "chacha20poly1305", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
serial!(crate::chacha20poly1305::ChaCha20Poly1305);
#[cfg(feature = "gcm")]
serial!({ C: CcmCipher + Sync } Gcm<C>);
