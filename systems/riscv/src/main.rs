//! The paper's tables 2 to 5 on 32-bit RISC-V without an operating system, as on SiFive's FE310: digits of 16, 32, 64 bits.
//!
//! Writes lines of digit bits, number bits, operation, runs, elapsed instructions (with the feature `cycles` cycles) to
//! UART 0, and ends by semihosting.
#![no_std]
#![no_main]

use core::arch::{asm, global_asm};

use tress_modular::Limb;
use tress_modular_times::{BITS, Clock, Inlined, Operation, agrees, table};

global_asm!(
    ".pushsection .start,\"ax\"",
    ".global _start",
    "_start:",
    "la sp, stack_end",
    "call {main}",
    "j .",
    ".popsection",
    main = sym main,
);

extern "C" fn main() -> ! {
    // SAFETY: the transmit control register of UART 0, SiFive FE310-G000 manual, chapter 18: transmission is on.
    unsafe { UART.add(2).write_volatile(1) };
    one::<u16>();
    one::<u32>();
    one::<u64>();
    exit(true)
}

#[inline(never)]
fn one<L: Limb>() {
    if !agrees::<L, Inlined>() {
        write("wrong\n");
        exit(false);
    }
    // Enough for each of the operations with digits of 16 bits; half of the memory with digits of 64.
    let mut memory = [L::ZERO; 1024];
    let done = table::<L, Inlined>(&Operation::PAPER, &BITS, 1, &mut Counter, &mut memory, &mut |line| {
        line.write(&mut put);
    });
    if done.is_err() {
        write("refused\n");
        exit(false);
    }
}

/// A counter of the processor.
struct Counter;

impl Clock for Counter {
    #[cfg(not(feature = "cycles"))]
    const UNIT: &'static str = "instructions";
    #[cfg(feature = "cycles")]
    const UNIT: &'static str = "cycles";
    const ENOUGH: u64 = 50_000;

    fn now(&mut self) -> u64 {
        let (mut high, mut low, mut again): (u32, u32, u32);
        loop {
            // SAFETY: reads machine-mode counters.
            #[cfg(not(feature = "cycles"))]
            unsafe {
                asm!("csrr {0}, minstreth", "csrr {1}, minstret", "csrr {2}, minstreth", out(reg) high, out(reg) low, out(reg) again);
            }
            // SAFETY: reads machine-mode counters.
            #[cfg(feature = "cycles")]
            unsafe {
                asm!("csrr {0}, mcycleh", "csrr {1}, mcycle", "csrr {2}, mcycleh", out(reg) high, out(reg) low, out(reg) again);
            }
            // The low half has not gone over in between.
            if high == again {
                return u64::from(high) << 32 | u64::from(low);
            }
        }
    }
}

/// UART 0.
const UART: *mut u32 = 0x1001_3000 as *mut u32;

fn put(byte: u8) {
    // SAFETY: the transmit data register, whose highest bit says that there is no room.
    unsafe {
        while UART.read_volatile() >> 31 == 1 {}
        UART.write_volatile(byte.into());
    }
}

fn write(text: &str) {
    for byte in text.bytes() {
        put(byte);
    }
}

/// Ends the program by semihosting's SYS_EXIT.
fn exit(good: bool) -> ! {
    // ADP_Stopped_ApplicationExit, or ADP_Stopped_RunTimeErrorUnknown.
    let reason: u32 = if good { 0x20026 } else { 0x20023 };
    // SAFETY: the sequence of RISC-V semihosting, which does not come back.
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
