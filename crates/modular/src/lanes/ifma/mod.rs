//! Eight exponentiations at once with AVX-512 IFMA, in radix 2^52: Montgomery's multiplication on eight numbers side by
//! side, each slot of a register with a modulus, a base and an exponent of its own.
//!
//! The idea of digits of 52 bits is S. Gueron's and V. Krasnov's (Software implementation of modular exponentiation, using
//! advanced vector instructions architectures, WAIFI 2012); constant time by the same instructions for all values and by
//! reading whole tables.

mod comb;
mod digits;
mod montgomery;
mod power;
mod prepared;
mod product;
mod ring;
mod ten;
mod twenty;

pub(crate) use comb::comb_digits;
pub(crate) use digits::{Digit, LANES};
pub(crate) use power::{Exponents, Lane, memory_digits};
pub(crate) use prepared::Prepared;
pub(crate) use product::{Factors, product_digits};
pub(crate) use ring::longest;

use super::Comb;
use crate::cpu::Ifma;

/// Raises each lane's base to its exponent. `results` has the limbs of all lanes, one lane after the other, and `memory`
/// [`memory_digits`] digits and holds secrets afterwards.
///
/// # Panics
/// If moduli, bases or results have not the lengths that [`Lane`] demands.
pub(crate) fn power(
    _: Ifma,
    lanes: &[Lane<'_>; LANES],
    blocks: usize,
    exponents: Exponents,
    memory: &mut [Digit],
    results: &mut [u64],
) {
    // SAFETY: the token is the proof of AVX-512 F and IFMA.
    unsafe { power::power(lanes, blocks, exponents, memory, results) }
}

/// Multiplies each lane's factors. `results` has the limbs of all lanes, one lane after the other, and `memory`
/// [`product_digits`] digits and holds secrets afterwards.
///
/// # Panics
/// If moduli, factors or results have not the lengths that [`Factors`] demands.
pub(crate) fn product(_: Ifma, lanes: &[Factors<'_>; LANES], blocks: usize, memory: &mut [Digit], results: &mut [u64]) {
    // SAFETY: the token is the proof of AVX-512 F and IFMA.
    unsafe { product::product(lanes, blocks, memory, results) }
}

/// Raises the comb's base to each lane's exponent. `results` has the limbs of all lanes, one lane after the other, and
/// `memory` [`comb_digits`] digits and holds secrets afterwards.
pub(crate) fn comb(
    _: Ifma,
    comb: &Comb,
    exponents: [&[u64]; LANES],
    blocks: usize,
    memory: &mut [Digit],
    results: &mut [u64],
) {
    // SAFETY: the token is the proof of AVX-512 F and IFMA.
    unsafe { comb::power(comb, exponents, blocks, memory, results) }
}
