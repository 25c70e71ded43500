//! Finely integrated operand scanning: one loop over the digits adds a row of the product and a row of the reduction. Each row has its own
//! carry, whereas in the article one carry is propagated through the sum.

use crate::{Limb, add};

/// `product = a · b / R` modulo `modulus`.
pub fn fios<L: Limb>(a: &[L], b: &[L], modulus: &[L], inverse: L, product: &mut [L]) {
    let n = modulus.len();
    assert!(n > 0 && a.len() == n && b.len() == n && product.len() == n);
    product.fill(L::ZERO);
    let mut top = L::ZERO;
    for &factor in b {
        let (digit, mut carry) = a[0].multiply_add(factor, product[0], L::ZERO);
        let quotient = digit.multiply_low(inverse);
        let (_, mut carry_of_reduction) = quotient.multiply_add(modulus[0], digit, L::ZERO);
        for j in 1..n {
            let digit;
            (digit, carry) = a[j].multiply_add(factor, product[j], carry);
            (product[j - 1], carry_of_reduction) = quotient.multiply_add(modulus[j], digit, carry_of_reduction);
        }
        let (sum, first) = carry.add(carry_of_reduction, L::ZERO);
        let (sum, second) = sum.add(top, L::ZERO);
        product[n - 1] = sum;
        (top, _) = first.add(second, L::ZERO);
    }
    add::subtract_once(product, top, modulus);
}
