//! Arithmetic in assembly for 32-bit RISC-V with multiplication (RV32IM), on numbers of 32-bit digits. [`Modulus`](crate::Modulus) uses it
//! there.
//!
//! Products, squares and Montgomery's multiplication support numbers of whole blocks of eight digits (256 bits, 512, and
//! so on: all usual sizes of keys and of their primes). Sums and differences support any length. Constant time if the
//! processor's `mul` and `mulhu` are, as on SiFive's E31. Uses at most 128 bytes of stack.

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
pub const fn fits(digits: usize) -> bool {
    digits > 0 && digits.is_multiple_of(BLOCK)
}

/// Number of digits of scratch memory that [`square`] and [`montgomery`] need.
pub const fn scratch_digits(digits: usize) -> usize {
    3 * digits + 2
}

/// `sum = a + b`; returns the carry. Only `lab/arithmetic` uses this and [`subtract`].
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

/// `product = a · b`, for factors of n digits, in the lowest 2 n digits of `product`.
///
/// # Panics
/// If a length is wrong or not a positive multiple of eight.
#[inline]
pub fn multiply(a: &[u32], b: &[u32], product: &mut [u32]) {
    let n = a.len();
    assert!(fits(n) && b.len() == n && product.len() >= 2 * n);
    // SAFETY: the lengths were asserted, and n is a positive multiple of 8.
    unsafe { tress_modular_multiply(product.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n) }
}

/// `a²` in the lowest 2 n digits of the scratch memory of [`scratch_digits`] digits.
///
/// # Panics
/// If a length is wrong or not a positive multiple of eight.
#[inline]
pub fn square(a: &[u32], scratch: &mut [u32]) {
    let n = a.len();
    assert!(fits(n) && scratch.len() >= scratch_digits(n));
    let (t, doubled) = scratch.split_at_mut(2 * n + 1);
    // SAFETY: the lengths were asserted: `t` has 2 n + 1 digits and `doubled` n + 1, and n is a positive multiple of 8.
    unsafe { tress_modular_square(t.as_mut_ptr(), a.as_ptr(), doubled.as_mut_ptr(), n) }
}

/// `a = a · b / R` modulo N, or `a = a² / R` without `b`. The result is congruent to this; if one factor is below N, one subtraction at
/// most reduces it below N. `inverse` is −1 / N modulo b.
///
/// # Panics
/// If a length is wrong or not a positive multiple of eight.
#[inline]
pub fn montgomery(a: &mut [u32], b: Option<&[u32]>, modulus: &[u32], inverse: u32, scratch: &mut [u32]) {
    let n = modulus.len();
    assert!(fits(n) && a.len() == n && scratch.len() >= scratch_digits(n));
    match b {
        Some(b) => multiply(a, b, scratch),
        None => square(a, scratch),
    }
    // SAFETY: the lengths were asserted: n digits, a positive multiple of 8, for the modulus and the result, and 2 n for the product.
    unsafe { tress_modular_reduce(scratch.as_mut_ptr(), modulus.as_ptr(), a.as_mut_ptr(), n, inverse) }
}
