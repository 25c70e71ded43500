//! Montgomery's multiplication, a · b / R modulo an odd N with R = b^n, in the five arrangements of Koç, Acar and Kaliski. Constant time.
//!
//! P. L. Montgomery, Modular multiplication without trial division, Mathematics of Computation 44 (1985); Ç. K. Koç,
//! T. Acar, B. S. Kaliski, Analyzing and comparing Montgomery multiplication algorithms, IEEE Micro 16 (1996).
//!
//! In all of them one factor must be below the modulus, the other may have any value, and the product is below the modulus. `inverse` is −1
//! / N modulo b, from [`negative_inverse`]. They panic if lengths differ. A product takes 2 n² + n products of digits.

mod cihs;
mod fios;
mod fips;
mod sos;

pub use cihs::cihs;
pub use fios::fios;
pub use fips::fips;
pub use sos::{reduce, sos};
pub use tress_modular::parts::{cios, negative_inverse};

use super::{Ring, check_odd};
use tress_modular::parts::prepare;

use crate::{Error, Limb};

/// Order of the rows or columns of product and reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// Separated: the whole product, then the reduction.
    Sos,
    /// Rows of product and reduction alternate: the paper's Algorithm 2.
    Cios,
    /// One loop over the digits for both rows.
    Fios,
    /// Column by column.
    Fips,
    /// The lower triangle of the product, then rows of the reduction alternate with columns of the upper triangle.
    Cihs,
}

impl Arrangement {
    /// All five, in the order of the article.
    pub const ALL: [Arrangement; 5] =
        [Arrangement::Sos, Arrangement::Cios, Arrangement::Fios, Arrangement::Fips, Arrangement::Cihs];

    /// The name in the article.
    pub const fn name(self) -> &'static str {
        match self {
            Arrangement::Sos => "SOS",
            Arrangement::Cios => "CIOS",
            Arrangement::Fios => "FIOS",
            Arrangement::Fips => "FIPS",
            Arrangement::Cihs => "CIHS",
        }
    }
}

/// Multiplication of numbers in Montgomery form, x R modulo N.
#[derive(Clone, Copy, Debug)]
pub struct Montgomery<'a, L> {
    modulus: &'a [L],
    inverse: L,
    /// R modulo N
    one: &'a [L],
    /// R² modulo N
    square: &'a [L],
    arrangement: Arrangement,
}

impl<'a, L: Limb> Montgomery<'a, L> {
    /// Computes R and R² modulo N into memory of 2 n digits, with n digits of scratch memory. Constant time for a secret modulus, except
    /// for its length in bits.
    pub fn new(
        modulus: &'a [L],
        arrangement: Arrangement,
        powers: &'a mut [L],
        scratch: &mut [L],
    ) -> Result<Self, Error> {
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
        Ok(Montgomery { modulus, inverse, one, square, arrangement })
    }

    /// −1 / N modulo b.
    pub fn inverse(&self) -> L {
        self.inverse
    }

    /// `form = value · R` modulo N, for any value of n digits: converts to Montgomery form.
    pub fn enter(&self, value: &[L], form: &mut [L], scratch: &mut [L]) {
        self.multiply(value, self.square, form, scratch);
    }

    /// `value = form / R` modulo N: converts from Montgomery form.
    pub fn leave(&self, form: &[L], value: &mut [L], scratch: &mut [L]) {
        let n = self.modulus.len();
        let whole = &mut scratch[..2 * n];
        whole[..n].copy_from_slice(form);
        whole[n..].fill(L::ZERO);
        reduce(whole, self.modulus, self.inverse, value);
    }
}

impl<L: Limb> Ring<L> for Montgomery<'_, L> {
    fn modulus(&self) -> &[L] {
        self.modulus
    }

    fn scratch(&self) -> usize {
        2 * self.modulus.len()
    }

    fn multiply(&self, a: &[L], b: &[L], product: &mut [L], scratch: &mut [L]) {
        match self.arrangement {
            Arrangement::Sos => sos(a, b, self.modulus, self.inverse, product, scratch),
            Arrangement::Cios => cios(a, b, self.modulus, self.inverse, product),
            Arrangement::Fios => fios(a, b, self.modulus, self.inverse, product),
            Arrangement::Fips => fips(a, b, self.modulus, self.inverse, product),
            Arrangement::Cihs => cihs(a, b, self.modulus, self.inverse, product),
        }
    }

    fn square(&self, a: &[L], product: &mut [L], scratch: &mut [L]) {
        if self.arrangement == Arrangement::Sos {
            // SOS is the only arrangement in which a square costs less than a product.
            let whole = &mut scratch[..2 * self.modulus.len()];
            crate::multiply::square::three_steps(a, whole);
            reduce(whole, self.modulus, self.inverse, product);
        } else {
            self.multiply(a, a, product, scratch);
        }
    }

    fn one(&self, one: &mut [L]) {
        one.copy_from_slice(self.one);
    }
}
