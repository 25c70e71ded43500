//! The entry of all harts: sets the global pointer, the trap handler and a stack. Hart 0 then prepares memory.

use core::arch::global_asm;

use crate::{exit::exit, harts};

// a0 holds the hart's number throughout.
global_asm!(
    ".pushsection .start,\"ax\"",
    ".globl _start",
    "_start:",
    "csrw mie, zero",
    "la t0, {trap}",
    "csrw mtvec, t0",
    ".option push",
    ".option norelax",
    "la gp, __global_pointer$",
    ".option pop",
    "csrr a0, mhartid",
    // Harts without a stack sleep.
    "lui t0, %hi(__harts)",
    "addi t0, t0, %lo(__harts)",
    "bgeu a0, t0, 9f",
    "lui t0, %hi(__stack_bytes)",
    "addi t0, t0, %lo(__stack_bytes)",
    "la sp, __stacks_start",
    "mv t1, a0",
    "7:",
    "add sp, sp, t0",
    "addi t1, t1, -1",
    "bgez t1, 7b",
    "bnez a0, 4f",
    // Copies .data, unless it is already in place.
    "la t0, __data_load",
    "la t1, __data_start",
    "la t2, __data_end",
    "beq t0, t1, 2f",
    "1:",
    "bgeu t1, t2, 2f",
    "lw t3, 0(t0)",
    "sw t3, 0(t1)",
    "addi t0, t0, 4",
    "addi t1, t1, 4",
    "j 1b",
    // Clears .bss.
    "2:",
    "la t0, __bss_start",
    "la t1, __bss_end",
    "3:",
    "bgeu t0, t1, 5f",
    "sw zero, 0(t0)",
    "addi t0, t0, 4",
    "j 3b",
    // The other harts wait until hart 0 has prepared memory.
    "4:",
    "la t0, {prepared}",
    "li t1, {magic}",
    "6:",
    "lw t2, 0(t0)",
    "bne t1, t2, 6b",
    "fence r, rw",
    "j 8f",
    "5:",
    "la t0, {prepared}",
    "li t1, {magic}",
    "fence rw, w",
    "sw t1, 0(t0)",
    "8:",
    "mv ra, zero",
    "j {enter}",
    "9:",
    "wfi",
    "j 9b",
    ".popsection",
    trap = sym crate::trap::tress_trap,
    prepared = sym PREPARED,
    magic = const MAGIC,
    enter = sym enter,
);

const MAGIC: u32 = 0x7274_6573;

/// [`MAGIC`] after memory is prepared. Memory holds arbitrary values after a reset, so a single bit would not be enough.
#[unsafe(link_section = ".noinit")]
static PREPARED: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);

unsafe extern "C" {
    /// The program's function, from `entry!` or C.
    safe fn main() -> i32;
}

extern "C" fn enter(hart: usize) -> ! {
    floating_point();
    #[cfg(feature = "hifive1-revb")]
    crate::board::set_up();
    if hart == 0 { exit(main()) } else { harts::work(hart) }
}

/// Turns on the floating-point registers, which are off after a reset.
fn floating_point() {
    #[cfg(target_feature = "f")]
    // SAFETY: changes only mstatus.FS and the floating-point flags, which no code relies on yet.
    unsafe {
        core::arch::asm!("csrs mstatus, {initial}", "csrw fcsr, zero", initial = in(reg) 1 << 13, options(nomem, nostack));
    }
}
