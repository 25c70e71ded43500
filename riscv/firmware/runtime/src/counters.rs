//! The counters of machine mode, the lower halves of RV32's: differences of runs below 2^32 cycles are right.

use core::arch::asm;

/// Cycles since some moment.
#[inline(always)]
pub fn cycles() -> usize {
    let count;
    // SAFETY: reads a counter. Memory is not touched, but what comes before must not move behind it.
    unsafe { asm!("csrr {}, mcycle", out(reg) count, options(nostack)) };
    count
}

/// Instructions that this hart has retired since some moment.
#[inline(always)]
pub fn instructions() -> usize {
    let count;
    // SAFETY: as above.
    unsafe { asm!("csrr {}, minstret", out(reg) count, options(nostack)) };
    count
}

/// The number of this hart.
#[inline(always)]
pub fn hart() -> usize {
    let number;
    // SAFETY: reads a constant.
    unsafe { asm!("csrr {}, mhartid", out(reg) number, options(nomem, nostack, pure)) };
    number
}
