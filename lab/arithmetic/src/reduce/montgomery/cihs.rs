//! Coarsely integrated hybrid scanning: the lower triangle of the product by rows, then alternately a row of the reduction and the next
//! column of the upper triangle.

use crate::multiply::{Column, multiply_add_row};
use crate::{Limb, add};

/// `product = a · b / R` modulo `modulus`.
pub fn cihs<L: Limb>(a: &[L], b: &[L], modulus: &[L], inverse: L, product: &mut [L]) {
    let n = modulus.len();
    assert!(n > 0 && n <= 1 << 14 && a.len() == n && b.len() == n && product.len() == n);
    product.fill(L::ZERO);
    // Column n and above, which receive the carries of all rows.
    let mut top = Column::ZERO;
    for i in 0..n {
        let carry = multiply_add_row(&a[..n - i], b[i], &mut product[i..]);
        top.add_product(carry, L::ONE);
    }
    for i in 0..n {
        let quotient = product[0].multiply_low(inverse);
        let (_, mut carry) = quotient.multiply_add(modulus[0], product[0], L::ZERO);
        for j in 1..n {
            (product[j - 1], carry) = quotient.multiply_add(modulus[j], product[j], carry);
        }
        top.add_product(carry, L::ONE);
        // Column n + i.
        for j in i + 1..n {
            top.add_product(b[j], a[n - j + i]);
        }
        product[n - 1] = top.shift();
    }
    add::subtract_once(product, top.low(), modulus);
}
