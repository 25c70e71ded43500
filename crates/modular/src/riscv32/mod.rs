//! Arithmetic in assembly for 32-bit RISC-V with multiplication (RV32IM), on numbers of 32-bit digits. [`Modulus`](crate::Modulus) uses it
//! there. The functions here provide the paper's operations without a heap.
//!
//! Products, squares and Montgomery's multiplication support numbers of whole blocks of eight digits (256 bits, 512, and so on: all usual
//! sizes of keys and of their primes); for other lengths they use portable code. Sums and differences support any length. Constant time if
//! the processor's `mul` and `mulhu` are, as on SiFive's E31. Uses at most 128 bytes of stack.

use crate::multiply::{rows, square};
use crate::reduce::montgomery::{cios, negative_inverse, prepare};
use crate::reduce::{Ring, check_odd};
use crate::{Error, add};

core::arch::global_asm!(include_str!("digits.S"), options(raw));

// SAFETY: the signatures are those in the assembly file.
unsafe extern "C" {
    fn tress_modular_add(sum: *mut u32, a: *const u32, b: *const u32, n: usize) -> u32;
    fn tress_modular_subtract(difference: *mut u32, a: *const u32, b: *const u32, n: usize) -> u32;
    fn tress_modular_multiply(t: *mut u32, a: *const u32, b: *const u32, n: usize);
    fn tress_modular_square(t: *mut u32, a: *const u32, doubled: *mut u32, n: usize);
    fn tress_modular_reduce(t: *mut u32, modulus: *const u32, result: *mut u32, n: usize, inverse: u32);
}

/// Number of digits in a block.
const BLOCK: usize = 8;

/// Whether the assembly supports numbers of this many digits.
pub(crate) const fn fits(digits: usize) -> bool {
    digits > 0 && digits.is_multiple_of(BLOCK)
}

/// Number of digits of scratch memory that [`square()`](fn@square) and a product of [`Montgomery`] need.
pub const fn scratch_digits(digits: usize) -> usize {
    3 * digits + 2
}

/// `sum = a + b`; returns the carry.
///
/// # Panics
/// If lengths differ.
#[inline]
pub fn add(a: &[u32], b: &[u32], sum: &mut [u32]) -> u32 {
    assert!(a.len() == sum.len() && b.len() == sum.len());
    // SAFETY: all three slices have the length that is passed.
    unsafe { tress_modular_add(sum.as_mut_ptr(), a.as_ptr(), b.as_ptr(), sum.len()) }
}

/// `difference = a − b`; returns the borrow.
///
/// # Panics
/// If lengths differ.
#[inline]
pub fn subtract(a: &[u32], b: &[u32], difference: &mut [u32]) -> u32 {
    assert!(a.len() == difference.len() && b.len() == difference.len());
    // SAFETY: all three slices have the length that is passed.
    unsafe { tress_modular_subtract(difference.as_mut_ptr(), a.as_ptr(), b.as_ptr(), difference.len()) }
}

/// `product = a · b`, for factors of equal length; the product has as many digits as both.
///
/// # Panics
/// If a length is wrong.
#[inline]
pub fn multiply(a: &[u32], b: &[u32], product: &mut [u32]) {
    let n = a.len();
    assert!(b.len() == n && product.len() == 2 * n);
    if !fits(n) {
        return rows(a, b, product);
    }
    // SAFETY: the lengths were asserted, and n is a positive multiple of 8.
    unsafe { tress_modular_multiply(product.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n) }
}

/// `result = a²`, which has twice as many digits, with [`scratch_digits`] digits of scratch memory.
///
/// # Panics
/// If a length is wrong.
#[inline]
pub fn square(a: &[u32], result: &mut [u32], scratch: &mut [u32]) {
    let n = a.len();
    assert!(result.len() == 2 * n && scratch.len() >= scratch_digits(n));
    if !fits(n) {
        return square::three_steps(a, result);
    }
    // SAFETY: `scratch` has the asserted length, and n is a positive multiple of 8.
    unsafe { square_into(a, scratch) };
    result.copy_from_slice(&scratch[..2 * n]);
}

/// Writes the square to the lowest digits of the scratch memory.
///
/// # Safety
/// `a` has a positive multiple of 8 digits, and `scratch` at least [`scratch_digits`] digits.
#[inline]
unsafe fn square_into(a: &[u32], scratch: &mut [u32]) {
    let (t, doubled) = scratch.split_at_mut(2 * a.len() + 1);
    // SAFETY: `t` has 2 n + 1 digits and `doubled` n + 1, because `scratch` has [`scratch_digits`]; the caller guarantees n.
    unsafe { tress_modular_square(t.as_mut_ptr(), a.as_ptr(), doubled.as_mut_ptr(), a.len()) }
}

/// `a = a · b / R` modulo N, or `a = a² / R` without `b`. The result is congruent to this; if one factor is below N, one subtraction at
/// most reduces it below N. `inverse` is −1 / N modulo b.
///
/// # Panics
/// If a length is wrong or not a positive multiple of eight.
#[inline]
pub(crate) fn montgomery(a: &mut [u32], b: Option<&[u32]>, modulus: &[u32], inverse: u32, scratch: &mut [u32]) {
    let n = modulus.len();
    assert!(fits(n) && a.len() == n && b.is_none_or(|b| b.len() == n) && scratch.len() >= scratch_digits(n));
    // SAFETY: the lengths were asserted: n digits, a positive multiple of 8, for the factors, the modulus and the result, and 2 n for the
    // product.
    unsafe {
        match b {
            Some(b) => tress_modular_multiply(scratch.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n),
            None => square_into(a, scratch),
        }
        tress_modular_reduce(scratch.as_mut_ptr(), modulus.as_ptr(), a.as_mut_ptr(), n, inverse);
    }
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
