//! Multiplication row by row, which the paper implements: each digit of one factor times the whole other factor.

use crate::Limb;

/// `product = a · b`. The product has as many digits as both factors together. n² products of digits.
///
/// # Panics
/// If the product has another length.
#[inline]
pub fn rows<L: Limb>(a: &[L], b: &[L], product: &mut [L]) {
    assert_eq!(product.len(), a.len() + b.len());
    product.fill(L::ZERO);
    for (i, &factor) in b.iter().enumerate() {
        let row = &mut product[i..=i + a.len()];
        row[a.len()] = multiply_add_row(a, factor, row);
    }
}

/// Adds `a · factor` to the lowest digits of `sum`; returns the carry.
#[inline(always)]
pub(crate) fn multiply_add_row<L: Limb>(a: &[L], factor: L, sum: &mut [L]) -> L {
    let mut carry = L::ZERO;
    for (digit, &of_a) in sum.iter_mut().zip(a) {
        (*digit, carry) = of_a.multiply_add(factor, *digit, carry);
    }
    carry
}

/// Subtracts `a · factor` from the lowest digits of `difference`; returns the borrow, a whole digit.
#[inline(always)]
pub(crate) fn multiply_subtract_row<L: Limb>(a: &[L], factor: L, difference: &mut [L]) -> L {
    let mut carry = L::ZERO;
    for (digit, &of_a) in difference.iter_mut().zip(a) {
        let (low, high) = of_a.multiply_add(factor, carry, L::ZERO);
        let borrow;
        (*digit, borrow) = digit.subtract(low, L::ZERO);
        // The upper digit of the product is below b − 1.
        (carry, _) = high.add(borrow, L::ZERO);
    }
    carry
}
