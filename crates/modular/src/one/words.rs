//! Numbers of 64-bit digits as those of 32 bits that assembly for 32-bit RISC-V takes.

use core::slice;

use crate::riscv32::{self, montgomery, scratch_digits};

/// Whether the assembly does numbers of this many digits.
pub(super) const fn fits(digits: usize) -> bool {
    riscv32::fits(2 * digits)
}

/// Digits of scratch memory for numbers of so many.
pub(super) const fn scratch(digits: usize) -> usize {
    scratch_digits(2 * digits).div_ceil(2)
}

/// `a = a · b / R` modulo N, or `a = a² / R` without `b`, as [`montgomery`] has it; `inverse` is −1 / N modulo 2^64.
pub(super) fn multiply(a: &mut [u64], b: Option<&[u64]>, modulus: &[u64], inverse: u64, scratch: &mut [u64]) {
    // Modulo 2^32 it is the same number.
    montgomery(words_mut(a), b.map(words), words(modulus), inverse as u32, words_mut(scratch));
}

/// The halves of digits, the lower one first, as the processor has them in memory.
fn words(digits: &[u64]) -> &[u32] {
    // SAFETY: that many bytes, aligned for more than is needed; every value is valid.
    unsafe { slice::from_raw_parts(digits.as_ptr().cast(), 2 * digits.len()) }
}

fn words_mut(digits: &mut [u64]) -> &mut [u32] {
    // SAFETY: as in `words`.
    unsafe { slice::from_raw_parts_mut(digits.as_mut_ptr().cast(), 2 * digits.len()) }
}
