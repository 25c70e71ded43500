//! Finely integrated product scanning: column by column. The memory of the product holds the digits of the quotient at first.

use crate::multiply::Column;
use crate::{Limb, add};

/// `product = a · b / R` modulo `modulus`.
pub fn fips<L: Limb>(a: &[L], b: &[L], modulus: &[L], inverse: L, product: &mut [L]) {
    let n = modulus.len();
    // Ensures that the sum of 2 n products of digits fits into three digits.
    assert!(n > 0 && n <= 1 << 14 && a.len() == n && b.len() == n && product.len() == n);
    let mut column = Column::ZERO;
    for i in 0..n {
        for j in 0..i {
            column.add_product(a[j], b[i - j]);
            column.add_product(product[j], modulus[i - j]);
        }
        column.add_product(a[i], b[0]);
        product[i] = column.low().multiply_low(inverse);
        column.add_product(product[i], modulus[0]);
        column.shift();
    }
    for i in n..2 * n {
        for j in i - n + 1..n {
            column.add_product(a[j], b[i - j]);
            column.add_product(product[j], modulus[i - j]);
        }
        product[i - n] = column.shift();
    }
    add::subtract_once(product, column.low(), modulus);
}
