//! Products and squares (sections 3.1.2 and 3.1.3 of the paper). Constant time.

mod columns;
mod karatsuba;
pub mod square;

pub use columns::columns;
pub use karatsuba::{KARATSUBA_DIGITS, karatsuba, karatsuba_scratch};
pub(crate) use tress_modular::parts::multiply_add_row;
pub use tress_modular::parts::rows;

use crate::Limb;

/// `product = a · b`, by the best method for this length and machine. `a` and `b` have the same length, the product twice that, and the
/// scratch memory at least [`karatsuba_scratch`] digits.
///
/// # Panics
/// If a length is wrong.
pub fn multiply<L: Limb>(a: &[L], b: &[L], product: &mut [L], scratch: &mut [L]) {
    if !L::multiply_blocks(a, b, product) {
        karatsuba(a, b, product, scratch);
    }
}

/// A column: a sum of products, up to three digits long.
#[derive(Clone, Copy)]
pub(crate) struct Column<L>([L; 3]);

impl<L: Limb> Column<L> {
    pub(crate) const ZERO: Self = Column([L::ZERO; 3]);

    #[inline(always)]
    pub(crate) fn add_product(&mut self, a: L, b: L) {
        let [low, middle, high] = &mut self.0;
        let carry;
        (*low, carry) = a.multiply_add(b, *low, L::ZERO);
        let top;
        (*middle, top) = middle.add(carry, L::ZERO);
        (*high, _) = high.add(top, L::ZERO);
    }

    /// All three digits.
    #[inline(always)]
    pub(crate) fn digits(&self) -> [L; 3] {
        self.0
    }

    /// Returns the lowest digit, and shifts the rest to the next column.
    #[inline(always)]
    pub(crate) fn shift(&mut self) -> L {
        let [low, middle, high] = self.0;
        self.0 = [middle, high, L::ZERO];
        low
    }
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
