//! No program here expects a trap: the handler says what happened and ends the run.

use core::arch::global_asm;

use crate::{console, exit::exit};

/// The lowest exit code of a trap: the cause is added.
const TRAP: i32 = 64;

unsafe extern "C" {
    /// What `mtvec` points to.
    pub(crate) fn tress_trap() -> !;
}

// On a boundary of four bytes, since the lower bits of mtvec say something else. One trap is told; another while telling it
// ends at once. The stack may be what has failed, but there is no other.
global_asm!(
    ".pushsection .text.tress_trap,\"ax\"",
    ".balign 4",
    ".globl tress_trap",
    "tress_trap:",
    "la t0, 1f",
    "csrw mtvec, t0",
    "csrr a0, mcause",
    "csrr a1, mepc",
    "csrr a2, mtval",
    "andi sp, sp, -16",
    "j {report}",
    ".balign 4",
    "1:",
    "li a0, {twice}",
    "j {exit}",
    ".popsection",
    report = sym report,
    exit = sym end,
    twice = const TRAP + 32,
);

extern "C" fn end(code: i32) -> ! {
    exit(code)
}

extern "C" fn report(cause: usize, place: usize, value: usize) -> ! {
    console::write("trap: cause ");
    console::write_number(cause);
    console::write(" at ");
    console::write_hexadecimal(place);
    console::write(", value ");
    console::write_hexadecimal(value);
    console::write("\n");
    exit(TRAP + (cause & 31) as i32)
}
