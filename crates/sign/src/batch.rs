//! Many signatures at once, under one key or many, by one scheme or many: every exponentiation of a step goes into lanes
//! with all others of its size.

use std::num::NonZero;
use std::thread;

use crate::discrete::{self, AnyPrivate, AnyPublic};
use crate::rsa::{self, Padding};
use crate::{Error, PrivateKey, PublicKey, Scheme, Signature, SigningKey, VerifyingKey};

/// One digest to sign.
#[derive(Clone, Copy, Debug)]
pub struct SignJob<'a> {
    /// Under this key, by its scheme.
    pub key: &'a SigningKey,
    /// A digest that the scheme's hash function made.
    pub digest: &'a [u8],
}

/// One signature to check.
#[derive(Clone, Copy, Debug)]
pub struct VerifyJob<'a> {
    /// Under this key, by its scheme.
    pub key: &'a VerifyingKey,
    /// A digest that the scheme's hash function made.
    pub digest: &'a [u8],
    /// What is said to be its signature.
    pub signature: &'a [u8],
}

/// Signs all, and returns for each job, in their order, its signature or what went wrong with it: `DigestLength`, `Fault`,
/// `Random`. Batches that are multiples of eight under keys of one size fill the lanes.
///
/// It runs on up to `threads` threads, of which the caller's is one; 0 is one for each core. Where the system gives no more threads,
/// fewer do all.
#[must_use]
pub fn sign_batch(jobs: &[SignJob<'_>], threads: usize) -> Vec<Result<Signature, Error>> {
    in_shares(threads, jobs, sign_share)
}

/// Checks all, and returns for each job, in their order, whether its signature holds: `MalformedSignature`, `Mismatch` or
/// `DigestLength` where it does not. On threads as [`sign_batch`].
#[must_use]
pub fn verify_batch(jobs: &[VerifyJob<'_>], threads: usize) -> Vec<Result<(), Error>> {
    in_shares(threads, jobs, verify_share)
}

pub(crate) fn sign_share(jobs: &[SignJob<'_>]) -> Vec<Result<Signature, Error>> {
    let (mut with_rsa, mut others) = (Vec::new(), Vec::new());
    for SignJob { key, digest } in jobs {
        let hash = key.scheme().hash();
        match key.key() {
            PrivateKey::Rsa(rsa) => {
                with_rsa.push(rsa::SignJob { key: rsa, padding: padding(key.scheme()), hash, digest });
            }
            PrivateKey::Dsa(dsa) => others.push(discrete::SignJob { key: AnyPrivate::Dsa(dsa), hash, digest }),
            PrivateKey::Schnorr(schnorr) => {
                others.push(discrete::SignJob { key: AnyPrivate::Schnorr(schnorr), hash, digest });
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
                with_rsa.push(rsa::VerifyJob { key: rsa, padding: padding(key.scheme()), hash, digest, signature });
            }
            PublicKey::Dsa(dsa) => {
                others.push(discrete::VerifyJob { key: AnyPublic::Dsa(dsa), hash, digest, signature });
            }
            PublicKey::Schnorr(schnorr) => {
                others.push(discrete::VerifyJob { key: AnyPublic::Schnorr(schnorr), hash, digest, signature });
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

/// Exponentiations side by side.
const LANES: usize = 8;

/// Shares of whole lanes, as many as threads.
fn in_shares<J: Sync, R: Send>(threads: usize, jobs: &[J], work: impl Fn(&[J]) -> Vec<R> + Sync) -> Vec<R> {
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let threads = if threads == 0 { cores() } else { threads };
    let share = jobs.len().div_ceil(threads).next_multiple_of(LANES);
    let work = &work;
    thread::scope(|scope| {
        let mut shares = jobs.chunks(share.max(LANES));
        let own = shares.next().unwrap_or_default();
        let start = |share| (share, thread::Builder::new().spawn_scoped(scope, move || work(share)));
        let others: Vec<_> = shares.map(start).collect();
        let mut results = work(own);
        for (share, thread) in others {
            results.extend(match thread.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(done)) => done,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(_) => work(share),
            });
        }
        results
    })
}

/// The padding of a scheme; no key of RSA has another scheme.
fn padding(scheme: Scheme) -> Padding {
    match scheme {
        Scheme::RsaPss { salt, .. } => Padding::Pss(salt),
        _ => Padding::Pkcs1v15,
    }
}
