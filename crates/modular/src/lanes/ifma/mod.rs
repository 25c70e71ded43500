//! Eight exponentiations in parallel with AVX-512 IFMA, in radix 2^52: Montgomery's multiplication in the eight lanes of a register, each
//! of which has its own modulus, base and exponent. Two exponentiations share registers in another way ([`pair`]).
//!
//! Digits of 52 bits are the idea of S. Gueron and V. Krasnov (Software implementation of modular exponentiation, using advanced vector
//! instructions architectures, WAIFI 2012). Constant time, because all values take the same instructions and whole tables are read.

mod comb;
mod digits;
mod montgomery;
mod pair;
mod power;
mod prepared;
mod product;
mod ring;
mod ten;
mod twenty;

pub(crate) use comb::comb_digits;
pub(crate) use digits::{Digit, LANES};
pub(crate) use pair::{BLOCKS, pair_limbs};
pub(crate) use power::{Exponents, PowerInput, memory_digits, pair_digits};
pub(crate) use prepared::PreparedModulus;
pub(crate) use product::{Factors, product_digits};
pub(crate) use ring::longest;

use super::Comb;
use crate::cpu::Ifma;

/// Raises each lane's base to its exponent. `results` holds the limbs of the first lane, then of the next, and so on. `memory` has
/// [`memory_digits`] digits and holds secrets afterwards.
///
/// # Panics
/// If moduli, bases or results do not have the lengths that [`PowerInput`] requires.
pub(crate) fn power(
    _: Ifma,
    lanes: &[PowerInput<'_>; LANES],
    blocks: usize,
    exponents: Exponents,
    memory: &mut [Digit],
    results: &mut [u64],
) {
    // SAFETY: the token `Ifma` proves AVX-512 F and IFMA; the function checks all lengths.
    unsafe { power::power(lanes, blocks, exponents, memory, results) }
}

/// Raises two bases of up to [`pair_limbs`] limbs. Public exponents are equal, and not 0. `results` holds the limbs of the first
/// result, then of the second. `memory` has [`pair_digits`] digits and holds secrets afterwards.
///
/// # Panics
/// If the moduli do not have the same length, or not as many blocks as [`BLOCKS`].
pub(crate) fn power_pair(
    _: Ifma,
    pair: &[PowerInput<'_>; 2],
    blocks: usize,
    exponents: Exponents,
    memory: &mut [Digit],
    results: &mut [u64],
) {
    // SAFETY: the token `Ifma` proves AVX-512 F and IFMA; the function checks all lengths.
    unsafe { power::power_pair(pair, blocks, exponents, memory, results) }
}

/// Multiplies each lane's factors. `results` holds the limbs of the first lane, then of the next, and so on. `memory` has
/// [`product_digits`] digits and holds secrets afterwards.
///
/// # Panics
/// If moduli, factors or results do not have the lengths that [`Factors`] requires.
pub(crate) fn product(_: Ifma, lanes: &[Factors<'_>; LANES], blocks: usize, memory: &mut [Digit], results: &mut [u64]) {
    // SAFETY: the token `Ifma` proves AVX-512 F and IFMA; the function checks all lengths.
    unsafe { product::product(lanes, blocks, memory, results) }
}

/// Raises the comb's base to each lane's exponent. `results` holds the limbs of the first lane, then of the next, and so on. `memory` has
/// [`comb_digits`] digits and holds secrets afterwards.
pub(crate) fn comb(
    _: Ifma,
    comb: &Comb,
    exponents: [&[u64]; LANES],
    blocks: usize,
    memory: &mut [Digit],
    results: &mut [u64],
) {
    // SAFETY: the token `Ifma` proves AVX-512 F and IFMA; the function checks all lengths.
    unsafe { comb::power(comb, exponents, blocks, memory, results) }
}
