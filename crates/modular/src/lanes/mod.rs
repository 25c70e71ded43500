//! Many exponentiations, or products, at once.
//!
//! With AVX-512 IFMA eight of them share a register, whatever their moduli, as long as those are of about one length.
//! Jobs are sorted by length; where one is left of a length (or two, with public exponents), or without those instructions,
//! they go one by one.

use crate::{Limb as _, Modulus, reveal};

mod comb;
#[cfg(target_arch = "x86_64")]
mod groups;
#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma;

pub use comb::{Comb, CombPower};

/// One exponentiation: `result = base ^ exponent` modulo the modulus. Numbers may have any length but the result, which
/// has the modulus's.
#[derive(Debug)]
pub struct Power<'a> {
    /// The modulus; each job may have its own.
    pub modulus: &'a Modulus,
    /// What is raised.
    pub base: &'a [u64],
    /// To which power. Its length in digits is public.
    pub exponent: &'a [u64],
    /// Where the result goes: [`Modulus::limbs`] digits.
    pub result: &'a mut [u64],
}

/// One product: `result = a · b` modulo the modulus. Numbers may have any length but the result, which has the modulus's.
#[derive(Debug)]
pub struct Product<'a> {
    /// The modulus; each job may have its own.
    pub modulus: &'a Modulus,
    /// A factor.
    pub a: &'a [u64],
    /// The other one.
    pub b: &'a [u64],
    /// Where the result goes: [`Modulus::limbs`] digits.
    pub result: &'a mut [u64],
}

/// The name of what fills lanes on this machine, `ifma`, if anything does.
pub fn backend() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    if crate::cpu::Ifma::detect().is_some() {
        return Some("ifma");
    }
    None
}

/// Does all jobs, in constant time for everything but lengths.
///
/// # Panics
/// If a result has not as many digits as its modulus.
pub fn power(jobs: &mut [Power<'_>]) {
    check(jobs.iter().map(|job| (job.modulus, &*job.result)));
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = crate::cpu::Ifma::detect() {
        return groups::power(token, jobs, ifma::Exponents::Secret);
    }
    jobs.iter_mut().for_each(alone);
}

/// Does all jobs; the time shows the exponents.
///
/// # Panics
/// If a result has not as many digits as its modulus.
pub fn power_vartime(jobs: &mut [Power<'_>]) {
    check(jobs.iter().map(|job| (job.modulus, &*job.result)));
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = crate::cpu::Ifma::detect() {
        return groups::power(token, jobs, ifma::Exponents::Public);
    }
    jobs.iter_mut().for_each(alone_vartime);
}

/// Does all products, in constant time for everything but lengths.
///
/// # Panics
/// If a result has not as many digits as its modulus.
pub fn multiply(jobs: &mut [Product<'_>]) {
    check(jobs.iter().map(|job| (job.modulus, &*job.result)));
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = crate::cpu::Ifma::detect() {
        return groups::multiply(token, jobs);
    }
    jobs.iter_mut().for_each(multiply_alone);
}

/// Does all jobs, in constant time for everything but lengths. Jobs of one comb fill lanes together.
///
/// # Panics
/// If a result has not as many digits as its modulus, or an exponent more bits than the comb is for.
pub fn power_by_comb(jobs: &mut [CombPower<'_>]) {
    check(jobs.iter().map(|job| (job.comb.modulus(), &*job.result)));
    let fits = |job: &CombPower<'_>| {
        let bits = job.comb.bits();
        // The bits of the digit where the comb ends; 0 where that is the end of a digit. They may be secret, that they are zeros
        // is not.
        let beyond = job.exponent.get(bits / 64).map_or(0, |digit| digit >> (bits % 64));
        job.exponent.len() <= bits.div_ceil(64) && reveal(beyond.is_zero()) == 1
    };
    assert!(jobs.iter().all(fits), "an exponent that is too long");
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = crate::cpu::Ifma::detect() {
        return groups::power_by_comb(token, jobs);
    }
    jobs.iter_mut().for_each(comb_alone);
}

fn comb_alone(job: &mut CombPower<'_>) {
    job.comb.power_alone(job.exponent, job.result);
}

fn check<'a>(mut results: impl Iterator<Item = (&'a Modulus, &'a [u64])>) {
    assert!(results.all(|(modulus, result)| result.len() == modulus.limbs()), "a result of another length");
}

fn multiply_alone(job: &mut Product<'_>) {
    let mut result = job.modulus.multiply(job.a, job.b);
    job.result.copy_from_slice(&result);
    zeroize::Zeroize::zeroize(&mut result);
}

fn alone(job: &mut Power<'_>) {
    let mut result = job.modulus.power(job.base, job.exponent);
    job.result.copy_from_slice(&result);
    zeroize::Zeroize::zeroize(&mut result);
}

fn alone_vartime(job: &mut Power<'_>) {
    let mut result = job.modulus.power_vartime(job.base, job.exponent);
    job.result.copy_from_slice(&result);
    zeroize::Zeroize::zeroize(&mut result);
}
