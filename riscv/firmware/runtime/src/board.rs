//! Sets up a HiFive1 Rev B before it can print (SiFive FE310-G002 Manual, chapters on PRCI, GPIO and UART): the core
//! runs from the crystal of 16 MHz, and the UART has its pins, at 115200 baud.
//!
//! Machines that have only memory and UART, such as `e31` and its RTL, trap at the first of these stores. The trap skips
//! the setup, which they do not need.

use core::arch::asm;

/// Sets up clock and console.
pub(crate) fn set_up() {
    // SAFETY: the feature guarantees these devices. A missing device traps to the label, after which the trap handler
    // is restored.
    unsafe {
        asm!(
            "la {value}, 9f",
            "csrrw {handler}, mtvec, {value}",
            // PRCI: hfxosccfg.hfxoscen, wait for hfxoscrdy; pllcfg: pllsel, pllrefsel, pllbypass.
            "li {base}, 0x10008000",
            "li {value}, 0x40000000",
            "sw {value}, 0x4({base})",
            "2: lw {value}, 0x4({base})",
            "bgez {value}, 2b",
            "li {value}, 0x70000",
            "sw {value}, 0x8({base})",
            // UART0: div, 16 MHz / (138 + 1) = 115108 baud.
            "li {base}, 0x10013000",
            "li {value}, 138",
            "sw {value}, 0x18({base})",
            // GPIO: pins 16 and 17 to the first of their functions, iof_sel and iof_en.
            "li {base}, 0x10012000",
            "li {pins}, 0x30000",
            "lw {value}, 0x3c({base})",
            "or {value}, {value}, {pins}",
            "xor {value}, {value}, {pins}",
            "sw {value}, 0x3c({base})",
            "lw {value}, 0x38({base})",
            "or {value}, {value}, {pins}",
            "sw {value}, 0x38({base})",
            ".balign 4",
            "9: csrw mtvec, {handler}",
            base = out(reg) _,
            value = out(reg) _,
            pins = out(reg) _,
            handler = out(reg) _,
            options(nostack),
        );
    }
}
