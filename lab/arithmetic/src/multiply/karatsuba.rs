//! Karatsuba's multiplication, which the paper mentions: three products of half the length instead of four.
//!
//! A. Karatsuba, Yu. Ofman, Multiplication of multidigit numbers on automata, Soviet Physics Doklady 7 (1963). With
//! a = a₁ B + a₀ and b = b₁ B + b₀, the middle term a₁ b₀ + a₀ b₁ is a₀ b₀ + a₁ b₁ − (a₀ − a₁)(b₀ − b₁).

use super::rows;
use crate::{Limb, add};

/// Number of digits from which a product is split: measured with digits of 64 bits (see the table of the crate).
pub const KARATSUBA_DIGITS: usize = 32;

/// Number of digits of scratch memory that [`karatsuba`] needs.
pub const fn karatsuba_scratch(digits: usize) -> usize {
    if digits < KARATSUBA_DIGITS {
        return 0;
    }
    let half = digits.div_ceil(2);
    let below = karatsuba_scratch(half);
    2 * half + if below > 2 * half { below } else { 2 * half }
}

/// `product = a · b`. `a` and `b` have the same length, the product twice that, and the scratch memory at least [`karatsuba_scratch`]
/// digits. An odd length is split unevenly.
///
/// # Panics
/// If a length is wrong.
pub fn karatsuba<L: Limb>(a: &[L], b: &[L], product: &mut [L], scratch: &mut [L]) {
    let n = a.len();
    assert!(b.len() == n && product.len() == 2 * n);
    if n < KARATSUBA_DIGITS {
        rows(a, b, product);
        return;
    }
    let half = n.div_ceil(2);
    let ((a_low, a_high), (b_low, b_high)) = (a.split_at(half), b.split_at(half));
    let (middle, scratch) = scratch.split_at_mut(2 * half);

    // The memory of the product holds the differences at first.
    let (difference_a, rest) = product.split_at_mut(half);
    let negative_a = absolute_difference(a_low, a_high, difference_a);
    let negative_b = absolute_difference(b_low, b_high, &mut rest[..half]);
    karatsuba(difference_a, &rest[..half], middle, scratch);
    let (low, high) = product.split_at_mut(2 * half);
    karatsuba(a_low, b_low, low, scratch);
    karatsuba(a_high, b_high, high, scratch);
    // Subtract the middle product if both differences have the same sign, otherwise add it.
    add_middle(product, half, middle, !(negative_a ^ negative_b), scratch);
}

/// `difference = |low − high|`. Returns all ones if the difference is negative, else zero. `high` may be one digit shorter.
pub(super) fn absolute_difference<L: Limb>(low: &[L], high: &[L], difference: &mut [L]) -> L {
    let n = high.len();
    let mut borrow = add::subtract(&low[..n], high, &mut difference[..n]);
    for i in n..low.len() {
        (difference[i], borrow) = low[i].subtract(L::ZERO, borrow);
    }
    let negative = borrow.mask();
    let mut carry = borrow;
    for digit in difference {
        (*digit, carry) = (*digit ^ negative).add(L::ZERO, carry);
    }
    negative
}

/// Adds the middle term: the sum of the outer products, minus `middle` if the mask is all ones, otherwise plus `middle`.
pub(super) fn add_middle<L: Limb>(product: &mut [L], half: usize, middle: &[L], subtract: L, scratch: &mut [L]) {
    let sum = &mut scratch[..2 * half];
    let (low, high) = product.split_at(2 * half);
    let mut top = add::add(&low[..high.len()], high, &mut sum[..high.len()]);
    for i in high.len()..2 * half {
        (sum[i], top) = low[i].add(L::ZERO, top);
    }
    let mut carry = subtract & L::ONE;
    for (digit, &of_middle) in sum.iter_mut().zip(middle) {
        (*digit, carry) = digit.add(of_middle ^ subtract, carry);
    }
    (top, _) = top.add(carry, L::ZERO);
    (top, _) = top.subtract(subtract & L::ONE, L::ZERO);
    let (upper, beyond) = product[half..].split_at_mut(2 * half);
    (carry, _) = add::add_assign(upper, sum).add(top, L::ZERO);
    for digit in beyond {
        (*digit, carry) = digit.add(carry, L::ZERO);
    }
}
