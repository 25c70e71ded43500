//! The private operation, m^d modulo n, for a batch of messages: blinded, by the Chinese remainder theorem, and verified before any result
//! is returned.
//!
//! Every message has its own random r. With c = m · r^e, the power c^(d − 1) is m^(d − 1) · r^(1 − e), so
//!
//! ```text
//! m^d = c^(d − 1) · m · r^(e − 1)
//! ```
//!
//! The factor r^(e − 1) is a by-product of r^e, and no inverse is needed: an inverse costs as much as a signature's share of a batch. Only
//! c enters the arithmetic modulo p and q, and it is unknown to an attacker.
//!
//! Then s^e is compared with m. Otherwise a fault in one half, whether a cosmic ray or an attack with a laser, would give a signature
//! whose difference from the correct one is divisible by p or q (Boneh, DeMillo, Lipton, 1997).

use tress_modular::lanes::{self, Power, Product};
use tress_modular::{Limb as _, Modulus, add};
use zeroize::{Zeroize, Zeroizing};

use super::{Half, PrivateKey, PublicKey};
use crate::Error;
use crate::integer::{self, Number};
use crate::random;

/// One message: a key, and a number below its modulus.
pub(crate) struct PrivateJob<'a> {
    pub(crate) key: &'a PrivateKey,
    pub(crate) message: Number,
}

/// A point at which a test may change intermediate results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code, reason = "places are named for tests"))]
pub(crate) enum FaultPoint {
    Blinded,
    HalfP,
    HalfQ,
    Joined,
}

/// m^d for every job, or `Fault` if the result does not verify.
pub(crate) fn private(jobs: &[PrivateJob<'_>]) -> Vec<Result<Number, Error>> {
    private_with(jobs, |_, _, _| {})
}

/// Like [`private`]. `tamper` is called with every intermediate result, and may change it.
pub(crate) fn private_with(
    jobs: &[PrivateJob<'_>],
    mut tamper: impl FnMut(usize, FaultPoint, &mut [u64]),
) -> Vec<Result<Number, Error>> {
    let randoms = match randoms(jobs) {
        Ok(randoms) => randoms,
        Err(error) => return jobs.iter().map(|_| Err(error)).collect(),
    };
    let powers = blinding_powers(jobs, &randoms);
    // m · r^(e − 1): multiplied by r it is c, and at the end it removes the blinding.
    let masks = multiply(modulus_of, jobs, &powers, &slices(jobs.iter().map(|job| &job.message)));
    let mut blinded = multiply(modulus_of, jobs, &masks, &slices(&randoms));
    for (index, blinded) in blinded.iter_mut().enumerate() {
        tamper(index, FaultPoint::Blinded, blinded);
    }
    let halves = halves(jobs, &blinded, &mut tamper);
    let mut joined = join(jobs, &halves);
    for (index, joined) in joined.iter_mut().enumerate() {
        tamper(index, FaultPoint::Joined, joined);
    }
    let signatures = multiply(modulus_of, jobs, &joined, &slices(&masks));
    let checks: Vec<(&PublicKey, &[u64])> =
        jobs.iter().zip(&signatures).map(|(job, signature)| (&job.key.public, signature.as_slice())).collect();
    let messages = public(&checks);
    jobs.iter()
        .zip(messages)
        .zip(signatures)
        .map(|((job, message), mut signature)| {
            if integer::is_equal(&message, &job.message) {
                return Ok(signature);
            }
            signature.zeroize();
            Err(Error::Fault)
        })
        .collect()
}

/// s^e for every signature, which must be below its modulus. Nothing is secret here.
pub(super) fn public(jobs: &[(&PublicKey, &[u64])]) -> Vec<Number> {
    let mut results = integer::zeros(jobs.iter().map(|(key, _)| key.modulus.limbs()));
    let exponents: Vec<[u64; 1]> = jobs.iter().map(|(key, _)| [key.exponent]).collect();
    let mut powers: Vec<Power<'_>> = jobs
        .iter()
        .zip(&exponents)
        .zip(&mut results)
        .map(|(((key, base), exponent), result)| Power { modulus: &key.modulus, base, exponent, result })
        .collect();
    lanes::power_vartime(&mut powers);
    results
}

fn modulus_of(key: &PrivateKey) -> &Modulus {
    &key.public.modulus
}

fn slices<'a>(numbers: impl IntoIterator<Item = &'a Number>) -> Vec<&'a [u64]> {
    numbers.into_iter().map(|number| number.as_slice()).collect()
}

/// `a · b` for every job, modulo the number of its key that `modulus` selects, all in lanes together.
fn multiply(modulus: fn(&PrivateKey) -> &Modulus, jobs: &[PrivateJob<'_>], a: &[Number], b: &[&[u64]]) -> Vec<Number> {
    let mut results = integer::zeros(jobs.iter().map(|job| modulus(job.key).limbs()));
    let mut products: Vec<Product<'_>> = jobs
        .iter()
        .zip(a.iter().zip(b))
        .zip(&mut results)
        .map(|((job, (a, b)), result)| Product { modulus: modulus(job.key), a, b, result })
        .collect();
    lanes::multiply(&mut products);
    results
}

/// A random number for each job.
fn randoms(jobs: &[PrivateJob<'_>]) -> Result<Vec<Number>, Error> {
    // Below 2^(bits − 1), so below the modulus. The probability that a number is 0, or divisible by p, is negligible; if so, the check
    // fails.
    random::numbers(jobs.iter().map(|job| job.key.public.modulus.bits() - 1))
}

/// r^(e − 1) for every job. The time reveals e, which is public.
fn blinding_powers(jobs: &[PrivateJob<'_>], randoms: &[Number]) -> Vec<Number> {
    let mut results = integer::zeros(jobs.iter().map(|job| job.key.public.modulus.limbs()));
    let exponents: Vec<[u64; 1]> = jobs.iter().map(|job| [job.key.public.exponent - 1]).collect();
    let mut powers: Vec<Power<'_>> = jobs
        .iter()
        .zip(&exponents)
        .zip(randoms.iter().zip(&mut results))
        .map(|((job, exponent), (base, result))| Power { modulus: &job.key.public.modulus, base, exponent, result })
        .collect();
    lanes::power_vartime(&mut powers);
    results
}

/// c^(d − 1) modulo p and modulo q for every job, all in lanes together.
fn halves(
    jobs: &[PrivateJob<'_>],
    blinded: &[Number],
    tamper: &mut impl FnMut(usize, FaultPoint, &mut [u64]),
) -> Vec<(Number, Number)> {
    let of = |half: fn(&PrivateKey) -> &Half| integer::zeros(jobs.iter().map(move |job| half(job.key).prime.limbs()));
    let p: fn(&PrivateKey) -> &Half = |key| &key.secret.p;
    let q: fn(&PrivateKey) -> &Half = |key| &key.secret.q;
    let (mut results_p, mut results_q) = (of(p), of(q));
    let mut powers = Vec::with_capacity(2 * jobs.len());
    for (half, results) in [(p, &mut results_p), (q, &mut results_q)] {
        for ((job, base), result) in jobs.iter().zip(blinded).zip(results) {
            let half = half(job.key);
            powers.push(Power { modulus: &half.prime, base, exponent: &half.less_one, result });
        }
    }
    lanes::power(&mut powers);
    for (index, (x_p, x_q)) in results_p.iter_mut().zip(&mut results_q).enumerate() {
        tamper(index, FaultPoint::HalfP, x_p);
        tamper(index, FaultPoint::HalfQ, x_q);
    }
    results_p.into_iter().zip(results_q).collect()
}

/// The number below n that is `x_p` modulo p and `x_q` modulo q (Garner): x_q + q · ((x_p − x_q) / q mod p).
fn join(jobs: &[PrivateJob<'_>], halves: &[(Number, Number)]) -> Vec<Number> {
    let differences: Vec<Number> =
        jobs.iter().zip(halves).map(|(job, (x_p, x_q))| difference(&job.key.secret.p.prime, x_p, x_q)).collect();
    let coefficients = slices(jobs.iter().map(|job| &job.key.secret.coefficient));
    let factors = multiply(|key| &key.secret.p.prime, jobs, &differences, &coefficients);
    jobs.iter()
        .zip(factors.iter().zip(halves))
        .map(|(job, (factor, (_, x_q)))| {
            let mut joined = integer::multiply(factor, job.key.secret.q.prime.as_limbs());
            // At most (p − 1) · q + q − 1 = n − 1.
            integer::add_assign(&mut joined, x_q);
            joined.truncate(job.key.public.modulus.limbs());
            joined
        })
        .collect()
}

/// A number with the length of p that is congruent to `x_p − x_q` modulo p. It may be above p, because the product after it accepts any
/// number.
fn difference(p: &Modulus, x_p: &[u64], x_q: &[u64]) -> Number {
    if x_q.len() != x_p.len() || p.bits() < 64 * x_p.len() {
        return Zeroizing::new(p.subtract(x_p, x_q));
    }
    // The highest bit of p is set, so 2 p is above every x_q.
    let mut difference = Zeroizing::new(x_p.to_vec());
    let borrow = add::subtract_assign(&mut difference, x_q);
    let carry = add::add_masked(&mut difference, p.as_limbs(), borrow.mask());
    add::add_masked(&mut difference, p.as_limbs(), (borrow & (carry ^ 1)).mask());
    difference
}
