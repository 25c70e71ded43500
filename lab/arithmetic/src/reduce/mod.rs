//! Remainders: the reductions that section 3.2 of the paper implements or mentions.
//!
//! Each implements [`Ring`], in which [`power`](crate::power) computes.

/// Implements [`Ring`] for a type with a function that reduces values of 2 n digits, and the scratch memory of both.
macro_rules! ring_by_reduction {
    ($ring:ident::$reduce:ident, |$n:ident| $scratch:expr) => {
        impl<L: Limb> $crate::reduce::Ring<L> for $ring<'_, L> {
            fn modulus(&self) -> &[L] {
                self.modulus
            }

            fn scratch(&self) -> usize {
                let $n = self.modulus.len();
                $scratch
            }

            fn multiply(&self, a: &[L], b: &[L], product: &mut [L], scratch: &mut [L]) {
                let (whole, scratch) = scratch.split_at_mut(2 * self.modulus.len());
                $crate::multiply::rows(a, b, whole);
                let reduced = self.$reduce(whole, product, scratch);
                debug_assert!(reduced.is_ok());
            }

            fn square(&self, a: &[L], product: &mut [L], scratch: &mut [L]) {
                let (whole, scratch) = scratch.split_at_mut(2 * self.modulus.len());
                $crate::multiply::square::three_steps(a, whole);
                let reduced = self.$reduce(whole, product, scratch);
                debug_assert!(reduced.is_ok());
            }
        }
    };
}

mod barrett;
mod classical;
pub mod montgomery;
mod selby;
mod takagi;

pub use barrett::{Barrett, barrett_scratch};
pub use classical::{Classical, divide_vartime, three_by_two_vartime};
pub use montgomery::Montgomery;
pub use selby::Selby;
pub use takagi::Takagi;

use tress_modular::reveal;

use crate::{Error, Limb, add};

/// Multiplication modulo a number, by one of several methods.
///
/// Elements have as many digits as the modulus and are below it ([`Ring::check`]). An element may represent a number in another form:
/// [`Montgomery`] represents x by x R, and [`Montgomery::enter`] takes any value of n digits.
pub trait Ring<L: Limb> {
    /// The modulus.
    fn modulus(&self) -> &[L];

    /// Number of digits of scratch memory that a product needs.
    fn scratch(&self) -> usize;

    /// `product = a · b`.
    fn multiply(&self, a: &[L], b: &[L], product: &mut [L], scratch: &mut [L]);

    /// `product = a²`.
    fn square(&self, a: &[L], product: &mut [L], scratch: &mut [L]) {
        self.multiply(a, a, product, scratch);
    }

    /// Writes the element that represents 1.
    fn one(&self, one: &mut [L]) {
        one.fill(L::ZERO);
        one[0] = L::ONE;
    }

    /// Checks that an element has the right length and is below the modulus.
    fn check(&self, value: &[L]) -> Result<(), Error> {
        if value.len() != self.modulus().len() {
            return Err(Error::Length);
        }
        if reveal(add::is_less(value, self.modulus())) == L::ZERO {
            return Err(Error::NotReduced);
        }
        Ok(())
    }
}

/// Checks that a modulus has at least two digits, the highest of which is not zero.
pub(crate) fn check<L: Limb>(modulus: &[L]) -> Result<(), Error> {
    let Some(&top) = modulus.last() else { return Err(Error::Empty) };
    if reveal(add::is_zero(modulus)) == L::ONE {
        return Err(Error::Zero);
    }
    if modulus.len() == 1 {
        return Err(Error::OneDigit);
    }
    if reveal(top.is_zero()) == L::ONE {
        return Err(Error::LeadingZero);
    }
    Ok(())
}

/// Checks that a modulus is valid, as [`check`] does, and odd.
pub(crate) fn check_odd<L: Limb>(modulus: &[L]) -> Result<(), Error> {
    check(modulus)?;
    if reveal(modulus[0] & L::ONE) == L::ZERO {
        return Err(Error::Even);
    }
    Ok(())
}
