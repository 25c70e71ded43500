//! The counters of machine mode. On RV32 they are the lower halves, so differences are correct below 2^32.

use core::arch::asm;

/// Cycles since an arbitrary time.
#[inline(always)]
pub fn cycles() -> usize {
    let count;
    // SAFETY: only reads a counter. Not `nomem`, so that earlier memory accesses do not move behind it.
    unsafe { asm!("csrr {}, mcycle", out(reg) count, options(nostack)) };
    count
}

/// Instructions that this hart has retired since an arbitrary time.
#[inline(always)]
pub fn instructions() -> usize {
    let count;
    // SAFETY: only reads a counter, as above.
    unsafe { asm!("csrr {}, minstret", out(reg) count, options(nostack)) };
    count
}

/// The number of this hart.
#[inline(always)]
pub fn hart() -> usize {
    let number;
    // SAFETY: only reads a constant.
    unsafe { asm!("csrr {}, mhartid", out(reg) number, options(nomem, nostack, pure)) };
    number
}
