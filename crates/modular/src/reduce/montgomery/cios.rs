//! Coarsely integrated operand scanning: rows of the product and rows of the reduction alternate. This is the paper's Algorithm 2.

use crate::{Limb, add};

/// `product = a · b / R` modulo the odd `modulus`; `inverse` is −1 / N modulo b. One factor must be below the modulus, the other may have
/// any value. Constant time.
///
/// 2 n² + n products of digits.
#[inline(always)]
pub fn cios<L: Limb>(a: &[L], b: &[L], modulus: &[L], inverse: L, product: &mut [L]) {
    let n = modulus.len();
    assert!(n > 0 && a.len() == n && b.len() == n && product.len() == n);
    product.fill(L::ZERO);
    // The digit above the product. Between rows the sum is below a + N, which is less than 2 R, so this digit is 0 or 1.
    let mut top = L::ZERO;
    for i in 0..n {
        let mut carry = L::ZERO;
        for j in 0..n {
            (product[j], carry) = a[j].multiply_add(b[i], product[j], carry);
        }
        let (high, higher) = top.add(carry, L::ZERO);

        let quotient = product[0].multiply_low(inverse);
        (_, carry) = quotient.multiply_add(modulus[0], product[0], L::ZERO);
        for j in 1..n {
            (product[j - 1], carry) = quotient.multiply_add(modulus[j], product[j], carry);
        }
        let (last, carry) = high.add(carry, L::ZERO);
        product[n - 1] = last;
        (top, _) = higher.add(carry, L::ZERO);
    }
    add::subtract_once(product, top, modulus);
}
