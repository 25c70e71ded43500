//! Marks that tell the simulator which part of a program a hart is in. They are hints of the instruction set
//! (`slti x0, x0, N`, which the manual leaves to custom use), so on everything else they do nothing.

use core::arch::asm;

/// The region of harts that have nothing to do; the runtime marks it. Regions of programs begin at 2.
pub const WAIT: i32 = 1;

/// From here on this hart is in region `N`, 1 to 2047, until the next mark; in none where `N` is 0.
#[inline(always)]
pub fn mark<const N: i32>() {
    const { assert!(N >= 0 && N < 2048) };
    // SAFETY: a hint. Not `nomem`, so that work stays on its side.
    unsafe { asm!("slti x0, x0, {}", const N, options(nostack)) };
}

/// Names a region: `name!(2, "key_setup")`. The simulator finds the symbol.
#[macro_export]
macro_rules! region_name {
    ($number:literal, $name:literal) => {
        core::arch::global_asm!(
            concat!(".globl __region_", $number, "_", $name),
            concat!(".set __region_", $number, "_", $name, ", ", $number),
        );
    };
}

region_name!(1, "wait");
