//! The trap handler. No program here expects traps, so it reports the trap and ends the run.

use core::arch::global_asm;

use crate::{console, exit::exit};

/// The lowest exit code for traps. The cause is added to it.
const TRAP: i32 = 64;

unsafe extern "C" {
    /// The trap handler, for `mtvec`.
    pub(crate) fn tress_trap() -> !;
}

// Aligned to four bytes, because the lower bits of mtvec have another meaning. The first trap is reported; a trap
// during that report ends the run immediately. The stack may be the cause of the trap, but there is no other stack.
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
