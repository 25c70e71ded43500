//! Numbers of 64-bit digits as numbers of 32-bit digits, for the assembly for 32-bit RISC-V.

use core::slice;

use crate::riscv32::{self, montgomery, scratch_digits};

/// Whether the assembly supports numbers of this many digits.
pub(super) const fn fits(digits: usize) -> bool {
    riscv32::fits(2 * digits)
}

/// Number of digits of scratch memory for numbers of `digits` digits.
pub(super) const fn scratch(digits: usize) -> usize {
    scratch_digits(2 * digits).div_ceil(2)
}

/// `a = a · b / R` modulo N, or `a = a² / R` without `b`, like [`montgomery`]. `inverse` is −1 / N modulo 2^64.
pub(super) fn multiply(a: &mut [u64], b: Option<&[u64]>, modulus: &[u64], inverse: u64, scratch: &mut [u64]) {
    // The inverse modulo 2^32 is the same number, truncated.
    montgomery(words_mut(a), b.map(words), words(modulus), inverse as u32, words_mut(scratch));
}

/// The halves of digits, the lower one first, as this little-endian processor stores them.
fn words(digits: &[u64]) -> &[u32] {
    // SAFETY: the length in bytes is the same, `u64` is aligned more strictly than `u32`, and every value is valid.
    unsafe { slice::from_raw_parts(digits.as_ptr().cast(), 2 * digits.len()) }
}

fn words_mut(digits: &mut [u64]) -> &mut [u32] {
    // SAFETY: as in `words`.
    unsafe { slice::from_raw_parts_mut(digits.as_mut_ptr().cast(), 2 * digits.len()) }
}
