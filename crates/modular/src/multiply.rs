//! Multiplication row by row, which the paper implements: each digit of one factor times the whole other factor.

use crate::Limb;

/// `product = a · b`. The product has as many digits as both factors together. n² products of digits.
///
/// # Panics
/// If the product has another length.
#[inline]
pub fn rows<L: Limb>(a: &[L], b: &[L], product: &mut [L]) {
    assert_eq!(product.len(), a.len() + b.len());
    if let (Ok(a), Ok(b)) = (a.try_into(), b.try_into()) {
        return four_rows(a, b, product);
    }
    product.fill(L::ZERO);
    for (i, &factor) in b.iter().enumerate() {
        let row = &mut product[i..=i + a.len()];
        row[a.len()] = multiply_add_row(a, factor, row);
    }
}

/// The product of two numbers of four digits, all of which stay in registers.
fn four_rows<L: Limb>(a: &[L; 4], b: &[L; 4], product: &mut [L]) {
    let mut digits = [L::ZERO; 8];
    for i in 0..4 {
        digits[i + 4] = multiply_add_row(a, b[i], &mut digits[i..i + 4]);
    }
    product.copy_from_slice(&digits);
}

/// Adds `a · factor` to the lowest digits of `sum`; returns the carry.
#[inline(always)]
pub fn multiply_add_row<L: Limb>(a: &[L], factor: L, sum: &mut [L]) -> L {
    let mut carry = L::ZERO;
    for (digit, &of_a) in sum.iter_mut().zip(a) {
        (*digit, carry) = of_a.multiply_add(factor, *digit, carry);
    }
    carry
}
