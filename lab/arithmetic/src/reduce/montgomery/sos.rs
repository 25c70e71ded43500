//! Separated operand scanning: the whole product, then n rows of the reduction.

use crate::multiply::{multiply_add_row, rows};
use crate::{Limb, add};

/// `product = a · b / R` modulo `modulus`, with 2 n digits of scratch memory.
pub fn sos<L: Limb>(a: &[L], b: &[L], modulus: &[L], inverse: L, product: &mut [L], scratch: &mut [L]) {
    let n = modulus.len();
    assert!(a.len() == n && b.len() == n && product.len() == n);
    let whole = &mut scratch[..2 * n];
    rows(a, b, whole);
    reduce(whole, modulus, inverse, product);
}

/// `result = value / R` modulo `modulus`, for a value of 2 n digits below R N, which is overwritten. n² + n products of digits.
pub fn reduce<L: Limb>(value: &mut [L], modulus: &[L], inverse: L, result: &mut [L]) {
    let n = modulus.len();
    assert!(n > 0 && value.len() == 2 * n && result.len() == n);
    // The carry is kept for the digit that receives the next row's carry, so that no carry is propagated further.
    let mut waiting = L::ZERO;
    for i in 0..n {
        let quotient = value[i].multiply_low(inverse);
        let carry = multiply_add_row(modulus, quotient, &mut value[i..i + n]);
        (value[i + n], waiting) = value[i + n].add(carry, waiting);
    }
    result.copy_from_slice(&value[n..]);
    add::subtract_once(result, waiting, modulus);
}
