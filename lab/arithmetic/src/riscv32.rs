//! The paper's operations in assembly for 32-bit RISC-V with multiplication (RV32IM), on numbers of 32-bit digits.
//! Products, squares and Montgomery's multiplication use portable code for numbers that are not whole blocks of eight
//! digits.

use tress_modular::parts::prepare;
use tress_modular::riscv32::{self, fits, montgomery};
pub use tress_modular::riscv32::{add, scratch_digits, subtract};

use crate::multiply::{rows, square};
use crate::reduce::montgomery::{cios, negative_inverse};
use crate::reduce::{Ring, check_odd};
use crate::{Error, add};

/// `product = a · b`, for factors of equal length; the product has as many digits as both.
///
/// # Panics
/// If a length is wrong.
#[inline]
pub fn multiply(a: &[u32], b: &[u32], product: &mut [u32]) {
    assert!(b.len() == a.len() && product.len() == 2 * a.len());
    if fits(a.len()) { riscv32::multiply(a, b, product) } else { rows(a, b, product) }
}

/// `result = a²`, which has twice as many digits, with [`scratch_digits`] digits of scratch memory.
///
/// # Panics
/// If a length is wrong.
#[inline]
pub fn square(a: &[u32], result: &mut [u32], scratch: &mut [u32]) {
    assert!(result.len() == 2 * a.len() && scratch.len() >= scratch_digits(a.len()));
    if !fits(a.len()) {
        return square::three_steps(a, result);
    }
    riscv32::square(a, scratch);
    result.copy_from_slice(&scratch[..result.len()]);
}

/// Multiplication of numbers in Montgomery form, x R modulo N. All exponentiations of [`power`](crate::power) can use it.
#[derive(Clone, Copy, Debug)]
pub struct Montgomery<'a> {
    modulus: &'a [u32],
    inverse: u32,
    /// R modulo N
    one: &'a [u32],
    /// R² modulo N
    square: &'a [u32],
}

impl<'a> Montgomery<'a> {
    /// Computes R and R² modulo N into memory of 2 n digits, with [`scratch_digits`] digits of scratch memory. Constant time for a secret
    /// modulus, except for its length in bits.
    pub fn new(modulus: &'a [u32], powers: &'a mut [u32], scratch: &mut [u32]) -> Result<Self, Error> {
        check_odd(modulus)?;
        let n = modulus.len();
        if powers.len() != 2 * n || scratch.len() < scratch_digits(n) {
            return Err(Error::Length);
        }
        let inverse = negative_inverse(modulus[0]);
        let (one, square) = powers.split_at_mut(n);
        prepare(modulus, one, square, |value| square_below(value, modulus, inverse, scratch));
        Ok(Montgomery { modulus, inverse, one, square })
    }

    /// `form = value · R` modulo N, for any value of n digits: converts to Montgomery form.
    pub fn enter(&self, value: &[u32], form: &mut [u32], scratch: &mut [u32]) {
        self.multiply(value, self.square, form, scratch);
    }

    /// `value = form / R` modulo N: converts from Montgomery form.
    pub fn leave(&self, form: &[u32], value: &mut [u32], scratch: &mut [u32]) {
        let n = self.modulus.len();
        value.fill(0);
        value[0] = 1;
        if fits(n) {
            montgomery(value, Some(form), self.modulus, self.inverse, scratch);
            add::subtract_once(value, 0, self.modulus);
        } else {
            let one = &mut scratch[..n];
            one.copy_from_slice(value);
            cios(form, one, self.modulus, self.inverse, value);
        }
    }
}

impl Ring<u32> for Montgomery<'_> {
    fn modulus(&self) -> &[u32] {
        self.modulus
    }

    fn scratch(&self) -> usize {
        scratch_digits(self.modulus.len())
    }

    fn multiply(&self, a: &[u32], b: &[u32], product: &mut [u32], scratch: &mut [u32]) {
        multiply_below(a, b, self.modulus, self.inverse, product, scratch);
    }

    fn square(&self, a: &[u32], product: &mut [u32], scratch: &mut [u32]) {
        product.copy_from_slice(a);
        square_below(product, self.modulus, self.inverse, scratch);
    }

    fn one(&self, one: &mut [u32]) {
        one.copy_from_slice(self.one);
    }
}

/// `product = a · b / R` modulo N, below N, if one of the factors is below N: a single Montgomery multiplication. `inverse` is −1 / N
/// modulo b, from [`negative_inverse`]. Needs [`scratch_digits`] digits of scratch memory.
///
/// # Panics
/// If a length is wrong.
pub fn multiply_below(a: &[u32], b: &[u32], modulus: &[u32], inverse: u32, product: &mut [u32], scratch: &mut [u32]) {
    if !fits(modulus.len()) {
        return cios(a, b, modulus, inverse, product);
    }
    product.copy_from_slice(a);
    montgomery(product, Some(b), modulus, inverse, scratch);
    add::subtract_once(product, 0, modulus);
}

/// `value = value² / R` modulo N, below N, for a value below N.
fn square_below(value: &mut [u32], modulus: &[u32], inverse: u32, scratch: &mut [u32]) {
    let n = modulus.len();
    if fits(n) {
        montgomery(value, None, modulus, inverse, scratch);
        add::subtract_once(value, 0, modulus);
    } else {
        let product = &mut scratch[..n];
        cios(value, value, modulus, inverse, product);
        value.copy_from_slice(product);
    }
}
