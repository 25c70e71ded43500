//! Montgomery's multiplication, a · b / R modulo an odd N with R = b^n, in which rows of the product and of the reduction alternate: the
//! paper's Algorithm 2, coarsely integrated operand scanning in Koç, Acar and Kaliski. Constant time.
//!
//! P. L. Montgomery, Modular multiplication without trial division, Mathematics of Computation 44 (1985); Ç. K. Koç,
//! T. Acar, B. S. Kaliski, Analyzing and comparing Montgomery multiplication algorithms, IEEE Micro 16 (1996).
//!
//! One factor must be below the modulus, the other may have any value, and the product is below the modulus. `inverse` is −1 / N modulo b,
//! from [`negative_inverse`]. A product takes 2 n² + n products of digits.

pub use tress_modular::parts::{cios, negative_inverse};

use super::{Ring, check_odd};
use tress_modular::parts::prepare;

use crate::{Error, Limb};

/// Multiplication of numbers in Montgomery form, x R modulo N.
#[derive(Clone, Copy, Debug)]
pub struct Montgomery<'a, L> {
    modulus: &'a [L],
    inverse: L,
    /// R modulo N
    one: &'a [L],
    /// R² modulo N
    square: &'a [L],
}

impl<'a, L: Limb> Montgomery<'a, L> {
    /// Computes R and R² modulo N into memory of 2 n digits, with n digits of scratch memory. Constant time for a secret modulus, except
    /// for its length in bits.
    pub fn new(modulus: &'a [L], powers: &'a mut [L], scratch: &mut [L]) -> Result<Self, Error> {
        check_odd(modulus)?;
        let n = modulus.len();
        if powers.len() != 2 * n || scratch.len() < n {
            return Err(Error::Length);
        }
        let inverse = negative_inverse(modulus[0]);
        let (one, square) = powers.split_at_mut(n);
        let other = &mut scratch[..n];
        prepare(modulus, one, square, |value| {
            cios(value, value, modulus, inverse, other);
            value.copy_from_slice(other);
        });
        Ok(Montgomery { modulus, inverse, one, square })
    }

    /// `form = value · R` modulo N, for any value of n digits: converts to Montgomery form.
    pub fn enter(&self, value: &[L], form: &mut [L], scratch: &mut [L]) {
        self.multiply(value, self.square, form, scratch);
    }

    /// `value = form / R` modulo N: converts from Montgomery form.
    pub fn leave(&self, form: &[L], value: &mut [L], scratch: &mut [L]) {
        let one = &mut scratch[..self.modulus.len()];
        one.fill(L::ZERO);
        one[0] = L::ONE;
        cios(form, one, self.modulus, self.inverse, value);
    }
}

impl<L: Limb> Ring<L> for Montgomery<'_, L> {
    fn modulus(&self) -> &[L] {
        self.modulus
    }

    fn scratch(&self) -> usize {
        self.modulus.len()
    }

    fn multiply(&self, a: &[L], b: &[L], product: &mut [L], _: &mut [L]) {
        cios(a, b, self.modulus, self.inverse, product);
    }

    fn one(&self, one: &mut [L]) {
        one.copy_from_slice(self.one);
    }
}
