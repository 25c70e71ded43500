//! Many exponentiations at once.

use crate::Modulus;

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
    for job in jobs {
        let mut result = job.modulus.power(job.base, job.exponent);
        job.result.copy_from_slice(&result);
        zeroize::Zeroize::zeroize(&mut result);
    }
}

/// Does all jobs; the time shows the exponents.
///
/// # Panics
/// If a result has not as many digits as its modulus.
pub fn power_vartime(jobs: &mut [Power<'_>]) {
    for job in jobs {
        let mut result = job.modulus.power_vartime(job.base, job.exponent);
        job.result.copy_from_slice(&result);
        zeroize::Zeroize::zeroize(&mut result);
    }
}
