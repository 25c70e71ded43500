//! Lucas's test with Selfridge's parameters (FIPS 186-5, B.3.3; Baillie, Wagstaff 1980).
//!
//! D is the first of 5, −7, 9, −11, … with (D / N) = −1; P = 1, Q = (1 − D) / 4. A prime N divides U of N + 1, where
//! U_(2k) = U_k V_k, V_(2k) = (V_k² + D U_k²) / 2, and one step up U' = (U + V) / 2, V' = (V + D U) / 2.

use alloc::vec;

use zeroize::Zeroizing;

use super::small_remainder;
use crate::{Limb, Modulus, add, reveal};

/// Limit of the search for D. A square has no such D, so the search is interrupted to test for squares. It is practically impossible that
/// another number reaches the limit, because every candidate for D fits with a probability of one half.
const MOST: u64 = 10_000;
/// Number of candidates for D before the number is tested for being a square.
const BEFORE_SQUARES: u64 = 40;

/// (D / N) for a small odd D with its sign, and an odd N. By reciprocity it depends only on N modulo |D| and N modulo 4.
fn jacobi(magnitude: u64, is_negative: bool, n: &[u64]) -> i32 {
    let low = reveal(n[0] & 3);
    // (−1 / N), and the sign of the law of reciprocity.
    let mut sign = if is_negative && low == 3 { -1 } else { 1 };
    if magnitude % 4 == 3 && low == 3 {
        sign = -sign;
    }
    // Evaluates all remainders, so that the time depends only on the symbol.
    let rest = small_remainder(n, magnitude);
    let symbol = (0..magnitude)
        .map(|other| (rest ^ other).is_zero().mask() & i64::from(small_jacobi(other, magnitude)).cast_unsigned())
        .fold(0, |symbol, one| symbol | one);
    sign * reveal(symbol).cast_signed() as i32
}

/// (a / n) for an odd n.
fn small_jacobi(mut a: u64, mut n: u64) -> i32 {
    let mut sign = 1;
    a %= n;
    while a != 0 {
        while a.is_multiple_of(2) {
            a /= 2;
            if matches!(n % 8, 3 | 5) {
                sign = -sign;
            }
        }
        core::mem::swap(&mut a, &mut n);
        if a % 4 == 3 && n % 4 == 3 {
            sign = -sign;
        }
        a %= n;
    }
    if n == 1 { sign } else { 0 }
}

/// Whether the number is a square. Random candidates practically never reach this test.
fn is_square_vartime(n: &[u64]) -> bool {
    // Finds the largest root whose square is not above n, bit by bit.
    let length = n.len();
    let mut root = Zeroizing::new(vec![0u64; length]);
    let mut square = Zeroizing::new(vec![0u64; 2 * length]);
    for position in (0..add::bits_vartime(n).div_ceil(2)).rev() {
        root[position / 64] |= 1 << (position % 64);
        crate::multiply::rows(&root, &root, &mut square);
        if add::compare_vartime(&square, n).is_gt() {
            root[position / 64] ^= 1 << (position % 64);
        }
    }
    crate::multiply::rows(&root, &root, &mut square);
    add::compare_vartime(&square, n).is_eq()
}

/// Half of a number modulo N.
fn halve(value: &mut [u64], modulus: &Modulus) {
    let odd = (value[0] & 1).mask();
    let carry = add::add_masked(value, modulus.as_limbs(), odd);
    add::halve(value, carry);
}

/// Whether an odd number without small divisors passes Lucas's test. The time reveals D.
pub(super) fn is_probable_prime(modulus: &Modulus) -> bool {
    let n = modulus.as_limbs();
    let mut found = None;
    for (i, magnitude) in (5..MOST).step_by(2).enumerate() {
        if i as u64 == BEFORE_SQUARES && is_square_vartime(n) {
            return false;
        }
        match jacobi(magnitude, i % 2 == 1, n) {
            -1 => {
                found = Some((magnitude, i % 2 == 1));
                break;
            }
            // D and N have a common divisor, which is smaller than N.
            0 => return false,
            _ => {}
        }
    }
    let Some((magnitude, is_negative)) = found else { return false };
    let d = Zeroizing::new(if is_negative { modulus.subtract(&[0], &[magnitude]) } else { vec![magnitude] });

    // N + 1, which may be one digit longer than N.
    let mut exponent = Zeroizing::new(vec![0; n.len() + 1]);
    exponent[..n.len()].copy_from_slice(n);
    let mut one = vec![0; exponent.len()];
    one[0] = 1;
    add::add_assign(&mut exponent, &one);
    // U_0 = 0 and V_0 = 2. Every bit doubles the index, and a set bit adds one.
    let mut u = Zeroizing::new(vec![0; n.len()]);
    let mut v = Zeroizing::new(modulus.reduce(&[2]));
    for position in (0..modulus.bits() + 1).rev() {
        let squares = [&v, &u].map(|number| Zeroizing::new(modulus.multiply(number, number)));
        u = Zeroizing::new(modulus.multiply(&u, &v));
        v = Zeroizing::new(modulus.add(&squares[0], &Zeroizing::new(modulus.multiply(&squares[1], &d))));
        halve(&mut v, modulus);
        let mut up = [
            Zeroizing::new(modulus.add(&u, &v)),
            Zeroizing::new(modulus.add(&v, &Zeroizing::new(modulus.multiply(&u, &d)))),
        ];
        let mask = add::bit(&exponent, position).mask();
        for (number, up) in [&mut u, &mut v].into_iter().zip(&mut up) {
            halve(up, modulus);
            select(mask, up, number);
        }
    }
    reveal(add::is_zero(&u)) == 1
}

/// `number = other` if the mask is all ones.
fn select(mask: u64, other: &[u64], number: &mut [u64]) {
    for (number, other) in number.iter_mut().zip(other) {
        *number = Limb::select(mask, *other, *number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(number: u128) -> bool {
        is_probable_prime(&Modulus::new(&[number as u64, (number >> 64) as u64]).unwrap())
    }

    /// Products of twin primes p and p + 2 with p = 2 modulo 5 pass: D is 5, and both divide U of (p + 1)² = N + 1. Miller and Rabin's test
    /// rejects them.
    #[test]
    fn products_of_twin_primes_pass() {
        assert!(passes(1_000_000_000_000_006_676_000_000_000_011_142_243));
        assert!(passes(1_000_000_000_000_008_896_000_000_000_019_784_703));
        // Nearby odd numbers that 3 does not divide fail.
        assert!(!passes(1_000_000_000_000_006_676_000_000_000_011_142_245));
    }

    /// Strong pseudoprimes to the bases 2 to 37 and 2 to 41 (OEIS A014233), and a square.
    #[test]
    fn strong_pseudoprimes_fail() {
        for composite in [318_665_857_834_031_151_167_461, 3_317_044_064_679_887_385_961_981] {
            assert!(!passes(composite), "{composite}");
        }
        // (2^61 − 1)²
        assert!(!passes(((1 << 61) - 1) * ((1 << 61) - 1)));
        assert!(passes((1 << 127) - 1) && passes((1 << 89) - 1) && passes((1 << 107) - 1));
    }

    #[test]
    fn symbols() {
        // Compared with the squares modulo 15, 21 and 35.
        assert_eq!([1, 2, 7, 11, 3, 14].map(|a| small_jacobi(a, 15)), [1, 1, -1, -1, 0, -1]);
        // (5 / N) is 1 for N = ±1 modulo 5; (−7 / N) for N = 1, 2, 4 modulo 7; (−11 / N) for N = 1, 3, 4, 5, 9 modulo 11.
        for n in (101u64..400).step_by(2) {
            let of = |residues: &[u64], modulus| match n % modulus {
                0 => 0,
                rest => {
                    if residues.contains(&rest) {
                        1
                    } else {
                        -1
                    }
                }
            };
            assert_eq!(jacobi(5, false, &[n, 0]), of(&[1, 4], 5), "{n}");
            assert_eq!(jacobi(7, true, &[n, 0]), of(&[1, 2, 4], 7), "{n}");
            assert_eq!(jacobi(11, true, &[n, 0]), of(&[1, 3, 4, 5, 9], 11), "{n}");
        }
    }
}
