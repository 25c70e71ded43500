//! Signs and verifies batches of digests: the encodings before and after the RSA operation.

use zeroize::Zeroizing;

use super::operation::{self, PrivateJob};
use super::{PrivateKey, PublicKey, pkcs1v15, pss};
use crate::{Error, Hash, integer, random};

/// Padding of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Padding {
    Pkcs1v15,
    Pss(SaltLength),
}

/// Length of the PSS salt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SaltLength {
    /// The length of the digest, which is the maximum that FIPS 186-5 allows.
    Digest,
    /// This number of bytes.
    Bytes(usize),
    /// When verifying, any length, because a signature shows the length of its salt. When signing, the length of the digest, or the minimum
    /// length that the key requires.
    Any,
}

/// One digest to sign.
#[derive(Clone, Copy)]
pub(crate) struct RsaSignJob<'a> {
    pub(crate) key: &'a PrivateKey,
    pub(crate) padding: Padding,
    pub(crate) hash: Hash,
    pub(crate) digest: &'a [u8],
}

/// One signature to verify.
#[derive(Clone, Copy)]
pub(crate) struct RsaVerifyJob<'a> {
    pub(crate) key: &'a PublicKey,
    pub(crate) padding: Padding,
    pub(crate) hash: Hash,
    pub(crate) digest: &'a [u8],
    pub(crate) signature: &'a [u8],
}

pub(crate) fn sign_batch(jobs: &[RsaSignJob<'_>]) -> Vec<Result<Vec<u8>, Error>> {
    let encoded: Vec<Result<PrivateJob<'_>, Error>> = jobs.iter().map(encode).collect();
    let mut ready = Vec::with_capacity(jobs.len());
    let mut outcomes: Vec<Result<(), Error>> = Vec::with_capacity(jobs.len());
    for job in encoded {
        outcomes.push(job.map(|job| ready.push(job)));
    }
    let mut signatures = operation::private(&ready).into_iter();
    jobs.iter()
        .zip(outcomes)
        .map(|(job, outcome)| {
            outcome?;
            let number = signatures.next().ok_or(Error::Fault)??;
            Ok(integer::to_bytes(&number, job.key.public.signature_bytes()).to_vec())
        })
        .collect()
}

fn encode<'a>(job: &RsaSignJob<'a>) -> Result<PrivateJob<'a>, Error> {
    let bits = job.key.public.bits();
    let message = match job.padding {
        Padding::Pkcs1v15 => pkcs1v15::encode(job.hash, job.digest, bits.div_ceil(8))?,
        Padding::Pss(salt) => {
            let range = job.key.public.salt_bytes(job.hash, salt)?;
            let mut salt = vec![0; job.hash.digest_bytes().clamp(*range.start(), *range.end())];
            random::fill(&mut salt)?;
            pss::encode(job.hash, job.digest, &salt, bits - 1)?
        }
    };
    Ok(PrivateJob { key: job.key, message: integer::from_bytes(&message) })
}

pub(crate) fn verify_batch(jobs: &[RsaVerifyJob<'_>]) -> Vec<Result<(), Error>> {
    let numbers: Vec<Result<_, Error>> = jobs.iter().map(number).collect();
    let ready: Vec<(&PublicKey, &[u64])> = jobs
        .iter()
        .zip(&numbers)
        .filter_map(|(job, number)| Some((job.key, number.as_ref().ok()?.as_slice())))
        .collect();
    let mut messages = operation::public(&ready).into_iter();
    jobs.iter()
        .zip(&numbers)
        .map(|(job, number)| {
            if let Err(error) = number {
                return Err(*error);
            }
            compare(job, &messages.next().ok_or(Error::Fault)?)
        })
        .collect()
}

/// The signature as a number. It must have exactly the length of the modulus, and be below it.
fn number(job: &RsaVerifyJob<'_>) -> Result<Zeroizing<Vec<u64>>, Error> {
    if job.digest.len() != job.hash.digest_bytes() {
        return Err(Error::DigestLength);
    }
    if job.signature.len() != job.key.signature_bytes() {
        return Err(Error::MalformedSignature);
    }
    let number = integer::from_bytes(job.signature);
    if !integer::is_less(&number, job.key.modulus.as_limbs()) {
        return Err(Error::MalformedSignature);
    }
    Ok(number)
}

fn compare(job: &RsaVerifyJob<'_>, message: &[u64]) -> Result<(), Error> {
    let bits = job.key.bits();
    match job.padding {
        Padding::Pkcs1v15 => {
            let expected = pkcs1v15::encode(job.hash, job.digest, bits.div_ceil(8))?;
            if *integer::to_bytes(message, bits.div_ceil(8)) == expected { Ok(()) } else { Err(Error::Mismatch) }
        }
        Padding::Pss(salt) => {
            let length = (bits - 1).div_ceil(8);
            // One byte shorter than the modulus if the modulus has one bit more than whole bytes.
            if !integer::is_zero_from_byte(message, length) {
                return Err(Error::Mismatch);
            }
            let message = integer::to_bytes(message, length);
            pss::verify(job.hash, job.digest, &message, bits - 1, &job.key.salt_bytes(job.hash, salt)?)
        }
    }
}
