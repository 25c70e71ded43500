//! Many exponentiations at once.
//!
//! With AVX-512 IFMA eight of them share a register, whatever their moduli, as long as those are of about one length.
//! Jobs are sorted by length; where one is left of a length (or two, with public exponents), or without those instructions, they go one by one.

use crate::Modulus;

#[cfg(all(target_arch = "x86_64", not(tress_without_avx512)))]
mod groups;
#[cfg(all(target_arch = "x86_64", not(tress_without_avx512)))]
pub(crate) mod ifma;

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

/// Does all jobs, in constant time for everything but lengths.
///
/// # Panics
/// If a result has not as many digits as its modulus.
pub fn power(jobs: &mut [Power<'_>]) {
    check(jobs);
    #[cfg(all(target_arch = "x86_64", not(tress_without_avx512)))]
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
    check(jobs);
    #[cfg(all(target_arch = "x86_64", not(tress_without_avx512)))]
    if let Some(token) = crate::cpu::Ifma::detect() {
        return groups::power(token, jobs, ifma::Exponents::Public);
    }
    jobs.iter_mut().for_each(alone_vartime);
}

fn check(jobs: &[Power<'_>]) {
    assert!(jobs.iter().all(|job| job.result.len() == job.modulus.limbs()), "a result of another length");
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
