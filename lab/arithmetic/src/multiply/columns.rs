//! Multiplication column by column, which the paper mentions: each digit of the product is written once.
//!
//! P. G. Comba, Exponentiation cryptosystems on the IBM PC, IBM Systems Journal 29 (1990).

use super::Column;
use crate::Limb;

/// `product = a · b`. The product has as many digits as both factors together. n² products of digits.
///
/// # Panics
/// If the product has another length, or a factor has more than 2^15 digits.
#[inline]
pub fn columns<L: Limb>(a: &[L], b: &[L], product: &mut [L]) {
    assert_eq!(product.len(), a.len() + b.len());
    // The sum of this many products of digits fits into three digits.
    assert!(a.len().min(b.len()) <= 1 << 15);
    let mut column = Column::ZERO;
    for k in 0..product.len() {
        for i in (k + 1).saturating_sub(b.len())..(k + 1).min(a.len()) {
            column.add_product(a[i], b[k - i]);
        }
        product[k] = column.shift();
    }
}
