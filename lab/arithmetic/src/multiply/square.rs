//! Squares: every product of two different digits is computed once and doubled.

use super::karatsuba::{absolute_difference, add_middle};
use super::{KARATSUBA_DIGITS, multiply_add_row};
use crate::{Limb, add};

/// `square = a²` in the paper's three steps: squares of digits, cross products, doubling. Here the doubling comes before the squares are
/// added, so that it doubles only the cross products. n (n + 1) / 2 products of digits.
///
/// # Panics
/// If the square does not have twice as many digits.
#[inline]
pub fn three_steps<L: Limb>(a: &[L], square: &mut [L]) {
    assert_eq!(square.len(), 2 * a.len());
    square.fill(L::ZERO);
    for i in 0..a.len() {
        // The highest digit has no digits above it. Its row is the highest digit of the square, which is 0 up to now.
        let (row, above) = (&mut square[2 * i + 1..], &a[i + 1..]);
        row[above.len()] = multiply_add_row(above, a[i], row);
    }
    add::double(square);
    let mut carry = L::ZERO;
    for (pair, &digit) in square.chunks_exact_mut(2).zip(a) {
        let high;
        (pair[0], high) = digit.multiply_add(digit, pair[0], carry);
        (pair[1], carry) = pair[1].add(high, L::ZERO);
    }
}

/// `square = a²` by Karatsuba's method, which the paper mentions: three squares of half the length. Needs as much scratch memory as
/// [`karatsuba`](super::karatsuba()).
///
/// # Panics
/// If a length is wrong.
pub fn karatsuba<L: Limb>(a: &[L], square: &mut [L], scratch: &mut [L]) {
    let n = a.len();
    assert_eq!(square.len(), 2 * n);
    if n < KARATSUBA_DIGITS {
        three_steps(a, square);
        return;
    }
    let half = n.div_ceil(2);
    let (low, high) = a.split_at(half);
    let (middle, scratch) = scratch.split_at_mut(2 * half);
    absolute_difference(low, high, &mut square[..half]);
    karatsuba(&square[..half], middle, scratch);
    let (square_low, square_high) = square.split_at_mut(2 * half);
    karatsuba(low, square_low, scratch);
    karatsuba(high, square_high, scratch);
    add_middle(square, half, middle, L::MAX, scratch);
}
