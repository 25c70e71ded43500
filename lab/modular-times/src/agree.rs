//! A check that this system computes correct results, because its times mean nothing otherwise.

use tress_arithmetic::Limb;
use tress_arithmetic::reduce::montgomery::negative_inverse;

use crate::Calls;

/// 2^128 − 159, the largest prime of 128 bits; the low word first.
const MODULUS: [u64; 2] = [0u64.wrapping_sub(159), u64::MAX];
const BASE: [u64; 2] = [0xfedc_ba98_7654_3210, 0x0123_4567_89ab_cdef];
const EXPONENT: [u64; 2] = [0x0fed_cba9_8765_4321, 0x1234_5678_9abc_def0];
/// R modulo N, where R is 2^128.
const ONE: [u64; 2] = [159, 0];
/// Python's `pow(BASE, EXPONENT, MODULUS)` and `pow(BASE, 2, MODULUS)`.
const POWER: [u64; 2] = [0x0076_11fa_fd0f_d731, 0xaae9_4cce_9dbd_de23];
const SQUARE: [u64; 2] = [0x5228_5d01_25dc_351a, 0x42f6_469a_57e5_aa0b];

/// Whether every operation of the paper's tables gives the result of Python, or inverts another operation that does.
pub fn agrees<L: Limb, P: Calls<L>>() -> bool {
    let n = (128 / L::BITS) as usize;
    let numbers = [MODULUS, BASE, EXPONENT, ONE, POWER, SQUARE].map(digits::<L>);
    let [modulus, base, exponent, one, power, square] = numbers.each_ref().map(|number| &number[..n]);
    let (mut result, mut double, mut other) = ([L::ZERO; 8], [L::ZERO; 16], [L::ZERO; 16]);
    let (result, double, other) = (&mut result[..n], &mut double[..2 * n], &mut other[..2 * n]);
    let mut scratch = [L::ZERO; 7 * 8];

    let is_power = P::power(base, exponent, modulus, result, &mut scratch[..7 * n]).is_ok() && result == power;
    result.fill(L::ZERO);
    let is_montgomery_power =
        P::montgomery_power(base, exponent, modulus, result, &mut scratch[..7 * n]).is_ok() && result == power;
    P::montgomery(base, one, modulus, negative_inverse(modulus[0]), result);
    let is_montgomery = result == base;
    // Twice the base has no carry.
    P::add(base, base, result);
    P::subtract(result, base, &mut double[..n]);
    let is_difference = result != base && double[..n] == *base;
    P::multiply(base, base, double);
    P::square(base, other);
    let is_square = double == other;
    let is_rest = P::reduce(double, modulus).is_ok() && double[..n] == *square;
    is_power && is_montgomery_power && is_montgomery && is_difference && is_square && is_rest
}

fn digits<L: Limb>(words: [u64; 2]) -> [L; 8] {
    let per_word = (64 / L::BITS) as usize;
    let mut digits = [L::ZERO; 8];
    for (i, digit) in digits.iter_mut().enumerate().take(2 * per_word) {
        *digit = L::from_u64(words[i / per_word] >> ((i % per_word) as u32 * L::BITS));
    }
    digits
}
