//! Powers: the exponentiations that section 3.3 of the paper implements or mentions.
//!
//! They work in any [`Ring`], take a time that depends on the exponent, and reject the exponent zero: they start from the base, as the
//! paper does.

mod binary;
mod fixed_base;
mod montgomery_binary;
mod r_ary;
mod table;

pub use binary::{binary_scratch, binary_vartime};
pub use fixed_base::{FixedBase, fixed_base_digits};
pub use montgomery_binary::{montgomery_binary_scratch, montgomery_binary_vartime};
pub use r_ary::{r_ary_scratch, r_ary_vartime};
pub use table::{PowerTable, power_table_digits};

use crate::reduce::Ring;
use crate::{Error, Limb, add};

/// A number that is squared and multiplied in place.
struct Accumulator<'a, L, R: ?Sized> {
    ring: &'a R,
    value: &'a mut [L],
    /// n digits for the next value.
    next: &'a mut [L],
    scratch: &'a mut [L],
}

impl<'a, L: Limb, R: Ring<L> + ?Sized> Accumulator<'a, L, R> {
    /// Takes n digits of scratch memory and those that the ring needs. The caller has checked the lengths.
    fn new(ring: &'a R, value: &'a mut [L], scratch: &'a mut [L]) -> Self {
        let (next, scratch) = scratch.split_at_mut(value.len());
        Accumulator { ring, value, next, scratch }
    }

    fn square(&mut self) {
        self.ring.square(self.value, self.next, self.scratch);
        self.value.copy_from_slice(self.next);
    }

    fn multiply(&mut self, factor: &[L]) {
        self.ring.multiply(self.value, factor, self.next, self.scratch);
        self.value.copy_from_slice(self.next);
    }
}

/// Checks the common requirements of all exponentiations, and returns the exponent's length in bits.
fn check<L: Limb>(
    ring: &(impl Ring<L> + ?Sized),
    base: &[L],
    exponent: &[L],
    result: &[L],
    scratch: &[L],
    scratch_digits: usize,
) -> Result<usize, Error> {
    ring.check(base)?;
    if result.len() != base.len() || scratch.len() < scratch_digits {
        return Err(Error::Length);
    }
    match add::bits_vartime(exponent) {
        0 => Err(Error::ZeroExponent),
        bits => Ok(bits),
    }
}

/// `count` bits of the number from `position` on, at most 16; bits beyond its end are 0.
fn window<L: Limb>(number: &[L], position: usize, count: usize) -> usize {
    (0..count).rev().fold(0, |window, i| (window << 1) | add::bit(number, position + i).to_u64() as usize)
}
