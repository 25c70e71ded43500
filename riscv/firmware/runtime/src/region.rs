//! Marks that show the simulator which region of a program a hart executes. They are hints (`slti x0, x0, N`, which the
//! ISA manual reserves for custom use), so they have no effect on hardware.

use core::arch::asm;

/// The region of idle harts, which the runtime marks. Regions of programs begin at 2.
pub const WAIT: i32 = 1;

/// Marks the beginning of region `N`, 1 to 2047, for this hart. It lasts until the next mark. 0 means no region.
#[inline(always)]
pub fn mark<const N: i32>() {
    const { assert!(N >= 0 && N < 2048) };
    // SAFETY: a hint without effect. Not `nomem`, so that memory accesses do not move across it.
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
