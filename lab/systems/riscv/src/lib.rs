//! Support for programs on SiFive's FE310 without an operating system: start code, a clock, a console, and an exit.
//!
//! A program defines `run`, which returns `true` on success. It writes to UART 0 and ends by semihosting.
#![no_std]

pub mod heap;

use core::arch::{asm, global_asm};

use tress_modular_times::Clock;

global_asm!(
    ".pushsection .start,\"ax\"",
    ".global _start",
    "_start:",
    "la sp, stack_end",
    "call {begin}",
    "j .",
    ".popsection",
    begin = sym begin,
);

unsafe extern "Rust" {
    safe fn run() -> bool;
}

extern "C" fn begin() -> ! {
    // SAFETY: writes the transmit control register of UART 0 (SiFive FE310-G000 manual, chapter 18), which enables transmission.
    unsafe { UART.add(2).write_volatile(1) };
    heap::begin();
    exit(run())
}

/// A counter of the processor: cycles, or instructions with the feature `instructions`.
#[derive(Debug)]
pub struct Counter;

impl Clock for Counter {
    #[cfg(feature = "instructions")]
    const UNIT: &'static str = "instructions";
    #[cfg(not(feature = "instructions"))]
    const UNIT: &'static str = "cycles";
    /// Many times the wait of the first run for code from flash.
    const ENOUGH: u64 = 200_000;

    fn now(&mut self) -> u64 {
        let (mut high, mut low, mut again): (u32, u32, u32);
        loop {
            // SAFETY: reads machine-mode counters.
            #[cfg(feature = "instructions")]
            unsafe {
                asm!("csrr {0}, minstreth", "csrr {1}, minstret", "csrr {2}, minstreth", out(reg) high, out(reg) low, out(reg) again);
            }
            // SAFETY: reads machine-mode counters.
            #[cfg(not(feature = "instructions"))]
            unsafe {
                asm!("csrr {0}, mcycleh", "csrr {1}, mcycle", "csrr {2}, mcycleh", out(reg) high, out(reg) low, out(reg) again);
            }
            // If the high half is unchanged, the low half did not wrap around between the readings.
            if high == again {
                return u64::from(high) << 32 | u64::from(low);
            }
        }
    }
}

/// UART 0.
const UART: *mut u32 = 0x1001_3000 as *mut u32;

/// Writes a byte to the console.
pub fn put(byte: u8) {
    // SAFETY: accesses the transmit data register; its highest bit is set while there is no room.
    unsafe {
        while UART.read_volatile() >> 31 == 1 {}
        UART.write_volatile(byte.into());
    }
}

/// Writes a text to the console.
pub fn write(text: &str) {
    for byte in text.bytes() {
        put(byte);
    }
}

/// Ends the program by semihosting's SYS_EXIT.
fn exit(good: bool) -> ! {
    // ADP_Stopped_ApplicationExit, or ADP_Stopped_RunTimeErrorUnknown.
    let reason: u32 = if good { 0x20026 } else { 0x20023 };
    // SAFETY: the sequence of RISC-V semihosting, which does not return.
    unsafe {
        asm!(
            ".option push",
            ".option norvc",
            ".balign 16",
            "slli x0, x0, 0x1f",
            "ebreak",
            "srai x0, x0, 7",
            ".option pop",
            in("a0") 0x18,
            in("a1") reason,
        );
    }
    #[expect(clippy::empty_loop, reason = "there is nothing left to do")]
    loop {}
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    write("panic\n");
    exit(false)
}
