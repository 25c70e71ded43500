//! Batches of exponentiations or products, in parallel lanes.
//!
//! With AVX-512 IFMA eight jobs share a register. Their moduli may differ, but must have similar lengths. Jobs are sorted by length. The
//! few powers of a length that are left run in pairs, up to 2078 bits. Other jobs that are left, and jobs without those instructions, run
//! one after the other.

use crate::{Limb as _, Modulus, reveal};

mod comb;
#[cfg(target_arch = "x86_64")]
mod groups;
#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma;

pub use comb::{Comb, CombPower};

/// One exponentiation: `result = base ^ exponent` modulo the modulus. Numbers may have any length, except the result, which has the length
/// of the modulus.
pub struct Power<'a> {
    /// Modulus; each job may have its own.
    pub modulus: &'a Modulus,
    /// Base.
    pub base: &'a [u64],
    /// Exponent. Its length in digits is public.
    pub exponent: &'a [u64],
    /// Destination of the result: [`Modulus::limbs`] digits.
    pub result: &'a mut [u64],
}

/// One product: `result = a · b` modulo the modulus. Numbers may have any length, except the result, which has the length of the modulus.
pub struct Product<'a> {
    /// Modulus; each job may have its own.
    pub modulus: &'a Modulus,
    /// First factor.
    pub a: &'a [u64],
    /// Second factor.
    pub b: &'a [u64],
    /// Destination of the result: [`Modulus::limbs`] digits.
    pub result: &'a mut [u64],
}

/// The backend of lanes on this machine, `ifma`, if there is one.
pub fn backend() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    if crate::cpu::Ifma::detect().is_some() {
        return Some("ifma");
    }
    None
}

/// Computes all powers. Constant time: the time depends only on lengths.
///
/// ```
/// use tress_modular::{Modulus, lanes::{self, Power}};
///
/// let modulus = Modulus::new(&[97, 1])?; // 2^64 + 97
/// let (mut three, mut five) = ([0; 2], [0; 2]);
/// lanes::power(&mut [
///     Power { modulus: &modulus, base: &[3], exponent: &[4], result: &mut three },
///     Power { modulus: &modulus, base: &[5], exponent: &[3], result: &mut five },
/// ]);
/// assert_eq!((three, five), ([81, 0], [125, 0]));
/// # Ok::<(), tress_modular::Error>(())
/// ```
///
/// # Panics
/// If a result does not have as many digits as its modulus.
pub fn power(jobs: &mut [Power<'_>]) {
    check(jobs.iter().map(|job| (job.modulus, &*job.result)));
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = crate::cpu::Ifma::detect() {
        return groups::power(token, jobs, ifma::Exponents::Secret);
    }
    jobs.iter_mut().for_each(power_one);
}

/// Computes all powers with public exponents. The time depends on the exponents.
///
/// # Panics
/// If a result does not have as many digits as its modulus.
pub fn power_vartime(jobs: &mut [Power<'_>]) {
    check(jobs.iter().map(|job| (job.modulus, &*job.result)));
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = crate::cpu::Ifma::detect() {
        return groups::power(token, jobs, ifma::Exponents::Public);
    }
    jobs.iter_mut().for_each(power_one_vartime);
}

/// Computes all products. Constant time: the time depends only on lengths.
///
/// # Panics
/// If a result does not have as many digits as its modulus.
pub fn multiply(jobs: &mut [Product<'_>]) {
    check(jobs.iter().map(|job| (job.modulus, &*job.result)));
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = crate::cpu::Ifma::detect() {
        return groups::multiply(token, jobs);
    }
    jobs.iter_mut().for_each(multiply_one);
}

/// Computes all powers of combs. Constant time: the time depends only on lengths. Jobs with the same comb share lanes.
///
/// # Panics
/// If a result does not have as many digits as its modulus, or an exponent has more bits than its comb was made for.
pub fn power_by_comb(jobs: &mut [CombPower<'_>]) {
    check(jobs.iter().map(|job| (job.comb.modulus(), &*job.result)));
    let fits = |job: &CombPower<'_>| {
        let bits = job.comb.bits();
        // The bits after the end of the comb in the digit where it ends; none if it ends at the end of a digit. The exponent may be secret,
        // but that these bits are zero is not.
        let beyond = job.exponent.get(bits / 64).map_or(0, |digit| digit >> (bits % 64));
        job.exponent.len() <= bits.div_ceil(64) && reveal(beyond.is_zero()) == 1
    };
    assert!(jobs.iter().all(fits), "an exponent that is too long");
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = crate::cpu::Ifma::detect() {
        return groups::power_by_comb(token, jobs);
    }
    jobs.iter_mut().for_each(comb_one);
}

fn comb_one(job: &mut CombPower<'_>) {
    job.comb.power_one(job.exponent, job.result);
}

fn check<'a>(mut results: impl Iterator<Item = (&'a Modulus, &'a [u64])>) {
    assert!(results.all(|(modulus, result)| result.len() == modulus.limbs()), "a result of another length");
}

fn multiply_one(job: &mut Product<'_>) {
    let mut result = job.modulus.multiply(job.a, job.b);
    job.result.copy_from_slice(&result);
    zeroize::Zeroize::zeroize(&mut result);
}

fn power_one(job: &mut Power<'_>) {
    let mut result = job.modulus.power(job.base, job.exponent);
    job.result.copy_from_slice(&result);
    zeroize::Zeroize::zeroize(&mut result);
}

fn power_one_vartime(job: &mut Power<'_>) {
    let mut result = job.modulus.power_vartime(job.base, job.exponent);
    job.result.copy_from_slice(&result);
    zeroize::Zeroize::zeroize(&mut result);
}
