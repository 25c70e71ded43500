//! Signs and verifies batches, with any mix of keys and schemes. In each step, exponentiations of the same size share lanes.

use std::num::NonZero;
use std::thread;

use tress_lanes::wipe_stack;

use crate::discrete::{self, AnyPrivate, AnyPublic};
use crate::rsa::{self, Padding};
use crate::{Error, PrivateKey, PublicKey, Scheme, Signature, SigningKey, VerifyingKey};

/// One digest to sign.
#[derive(Clone, Copy, Debug)]
pub struct SignJob<'a> {
    /// The key, which includes the scheme.
    pub key: &'a SigningKey,
    /// A digest, made with the scheme's hash function.
    pub digest: &'a [u8],
}

/// One signature to verify.
#[derive(Clone, Copy, Debug)]
pub struct VerifyJob<'a> {
    /// The key, which includes the scheme.
    pub key: &'a VerifyingKey,
    /// A digest, made with the scheme's hash function.
    pub digest: &'a [u8],
    /// The signature to verify.
    pub signature: &'a [u8],
}

/// Signs all digests. Returns for each job, in order, its signature or its error: `DigestLength`, `Fault`, `Random`. Batches of a
/// multiple of eight jobs with keys of one size fill the lanes.
///
/// Uses up to `threads` threads, including the caller's; 0 means one for each core. If the system refuses threads, fewer do all the work.
#[must_use]
pub fn sign_batch(jobs: &[SignJob<'_>], threads: usize) -> Vec<Result<Signature, Error>> {
    run_in_shares(threads, jobs, sign_share)
}

/// Verifies all signatures. Returns for each job, in order, whether its signature is valid, or its error: `MalformedSignature`, `Mismatch`
/// or `DigestLength`. Uses threads as [`sign_batch`] does.
#[must_use]
pub fn verify_batch(jobs: &[VerifyJob<'_>], threads: usize) -> Vec<Result<(), Error>> {
    run_in_shares(threads, jobs, verify_share)
}

pub(crate) fn sign_share(jobs: &[SignJob<'_>]) -> Vec<Result<Signature, Error>> {
    let (mut with_rsa, mut others) = (Vec::new(), Vec::new());
    for SignJob { key, digest } in jobs {
        let hash = key.scheme().hash();
        match key.key() {
            PrivateKey::Rsa(rsa) => {
                with_rsa.push(rsa::RsaSignJob { key: rsa, padding: padding(key.scheme()), hash, digest });
            }
            PrivateKey::Dsa(dsa) => others.push(discrete::DiscreteSignJob { key: AnyPrivate::Dsa(dsa), hash, digest }),
            PrivateKey::Schnorr(schnorr) => {
                others.push(discrete::DiscreteSignJob { key: AnyPrivate::Schnorr(schnorr), hash, digest });
            }
        }
    }
    let mut with_rsa = rsa::sign_batch(&with_rsa).into_iter();
    let mut others = discrete::sign_batch(&others).into_iter();
    jobs.iter()
        .map(|job| {
            let outcomes = if matches!(job.key.key(), PrivateKey::Rsa(_)) { &mut with_rsa } else { &mut others };
            outcomes.next().unwrap_or(Err(Error::Fault)).map(Signature::new)
        })
        .collect()
}

pub(crate) fn verify_share(jobs: &[VerifyJob<'_>]) -> Vec<Result<(), Error>> {
    let (mut with_rsa, mut others) = (Vec::new(), Vec::new());
    for VerifyJob { key, digest, signature } in jobs {
        let hash = key.scheme().hash();
        match key.key() {
            PublicKey::Rsa(rsa) => {
                with_rsa.push(rsa::RsaVerifyJob { key: rsa, padding: padding(key.scheme()), hash, digest, signature });
            }
            PublicKey::Dsa(dsa) => {
                others.push(discrete::DiscreteVerifyJob { key: AnyPublic::Dsa(dsa), hash, digest, signature });
            }
            PublicKey::Schnorr(schnorr) => {
                others.push(discrete::DiscreteVerifyJob { key: AnyPublic::Schnorr(schnorr), hash, digest, signature });
            }
        }
    }
    let mut with_rsa = rsa::verify_batch(&with_rsa).into_iter();
    let mut others = discrete::verify_batch(&others).into_iter();
    jobs.iter()
        .map(|job| {
            let outcomes = if matches!(job.key.key(), PublicKey::Rsa(_)) { &mut with_rsa } else { &mut others };
            outcomes.next().unwrap_or(Err(Error::Fault))
        })
        .collect()
}

/// Number of exponentiations that run in parallel lanes.
const LANES: usize = 8;

/// Splits the jobs into one share per thread. All shares but the last are multiples of the number of lanes.
fn run_in_shares<J: Sync, R: Send>(threads: usize, jobs: &[J], work: impl Fn(&[J]) -> Vec<R> + Sync) -> Vec<R> {
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let threads = if threads == 0 { cores() } else { threads };
    let share = jobs.len().div_ceil(threads).next_multiple_of(LANES);
    let work = &work;
    thread::scope(|scope| {
        let mut shares = jobs.chunks(share.max(LANES));
        let own = shares.next().unwrap_or_default();
        let clean = move |share| {
            let results = work(share);
            wipe_stack();
            results
        };
        let start = |share| (share, thread::Builder::new().spawn_scoped(scope, move || clean(share)));
        let others: Vec<_> = shares.map(start).collect();
        let mut results = clean(own);
        for (share, thread) in others {
            results.extend(match thread.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(done)) => done,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(_) => clean(share),
            });
        }
        results
    })
}

/// The padding of a scheme for RSA keys, which have no other schemes.
fn padding(scheme: Scheme) -> Padding {
    match scheme {
        Scheme::RsaPss { salt, .. } => Padding::Pss(salt),
        _ => Padding::Pkcs1v15,
    }
}
