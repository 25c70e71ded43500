//! The paper's tables 2 to 5 under MS-DOS: a .COM program in 16-bit real mode, with digits of 16 bits, or of 32 bits
//! with the feature `digits-32`.
//!
//! Writes lines of digit bits, number bits, operation, runs, elapsed ticks of the BIOS clock (18.2 a second).
#![no_std]
#![no_main]

use core::arch::{asm, global_asm};

use tress_arithmetic::Limb;
use tress_modular_times::{BITS, Clock, Inlined, Operation, agrees, table};

// DOS loads one segment at 0x100, with the stack at its end, and leaves the upper halves of registers undefined.
// Compiled code uses 32-bit addresses, calls and returns.
global_asm!(
    ".pushsection .start,\"ax\"",
    ".global _start",
    "_start:",
    "movzx esp, sp",
    "and esp, 0xfff0",
    "cld",
    "call {main}",
    "mov ax, 0x4c00",
    "int 0x21",
    ".popsection",
    main = sym main,
);

extern "C" fn main() {
    #[cfg(not(feature = "digits-32"))]
    one::<u16>();
    #[cfg(feature = "digits-32")]
    one::<u32>();
}

fn one<L: Limb>() {
    if !agrees::<L, Inlined>() {
        write(b"wrong\r\n");
        return;
    }
    // Enough for each of the operations with digits of 16 bits.
    let mut memory = [L::ZERO; 1024];
    let done = table::<L, Inlined>(&Operation::PAPER, &BITS, 1, &mut Ticks, &mut memory, &mut |line| {
        line.write(&mut put);
    });
    if done.is_err() {
        write(b"refused\r\n");
    }
}

/// The clock of the BIOS, at 0040:006c.
struct Ticks;

impl Clock for Ticks {
    const UNIT: &'static str = "BIOS ticks";
    const ENOUGH: u64 = 9;

    fn now(&mut self) -> u64 {
        let ticks: u32;
        // SAFETY: reads the BIOS data area, which exists in real mode, and restores es.
        unsafe {
            asm!(
                "push es",
                "mov ax, 0x40",
                "mov es, ax",
                "mov eax, dword ptr es:[0x6c]",
                "pop es",
                out("eax") ticks,
            );
        }
        ticks.into()
    }
}

fn write(text: &[u8]) {
    for &byte in text {
        put(byte);
    }
}

fn put(byte: u8) {
    // SAFETY: function 2 of DOS writes the character in dl and changes al.
    unsafe { asm!("int 0x21", inout("eax") 0x0200u32 => _, in("edx") u32::from(byte)) };
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    write(b"panic\r\n");
    // SAFETY: function 4c of DOS ends the program, with exit code 1.
    unsafe { asm!("mov ax, 0x4c01", "int 0x21", options(noreturn)) }
}
