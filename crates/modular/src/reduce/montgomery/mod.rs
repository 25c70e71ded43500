//! Montgomery's multiplication, a · b / R modulo N with R = b^n.
//!
//! P. L. Montgomery, Modular multiplication without trial division, Mathematics of Computation 44 (1985).

mod cios;

pub use cios::cios;

use crate::Limb;

/// −1 / `digit` modulo b, for an odd digit.
///
/// Newton's iteration doubles the correct bits; `digit` is its own inverse modulo 8.
pub fn negative_inverse<L: Limb>(digit: L) -> L {
    let mut inverse = digit;
    let mut bits = 3;
    while bits < L::BITS {
        // x = x (2 − d x)
        let (factor, _) = L::from_u64(2).subtract(digit.multiply_low(inverse), L::ZERO);
        inverse = inverse.multiply_low(factor);
        bits *= 2;
    }
    L::ZERO.subtract(inverse, L::ZERO).0
}
