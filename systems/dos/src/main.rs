//! The paper's tables 2 to 5 under MS-DOS: a .COM program in 16-bit real mode, digits of 16 bits or, with the
//! feature `digits-32`, of 32.
//!
//! Writes lines of digit bits, number bits, operation, runs, elapsed ticks of the BIOS clock (18.2 a second).
#![no_std]
#![no_main]

use core::arch::{asm, global_asm};

use tress_modular::Limb;
use tress_modular::power::{binary_vartime, montgomery_binary_vartime};
use tress_modular::reduce::montgomery::Arrangement;
use tress_modular::reduce::{Classical, Montgomery};
use tress_modular_times::{BITS, Clock, Operation, Time, measure};

// DOS loads one segment at 0x100, with the stack at its end and the upper half of registers undefined. Compiled code has
// 32-bit addresses, calls and returns.
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
    table::<u16>();
    #[cfg(feature = "digits-32")]
    table::<u32>();
}

fn table<L: Limb>() {
    if !agrees::<L>() {
        write(b"wrong\r\n");
        return;
    }
    // Enough for each of the operations with digits of 16 bits.
    let mut memory = [L::ZERO; 1024];
    for bits in BITS {
        for operation in Operation::PAPER {
            let needed = operation.memory::<L>(bits);
            let Some(memory) = memory.get_mut(..needed) else {
                write(b"no memory\r\n");
                continue;
            };
            match measure(operation, bits, &mut Ticks, memory) {
                Ok(Time { runs, elapsed }) => {
                    for number in [L::BITS, bits as u32] {
                        write_number(number);
                        write(b" ");
                    }
                    write(operation.name().as_bytes());
                    write(b" ");
                    write_number(runs);
                    write(b" ");
                    write_number(elapsed as u32);
                    write(b"\r\n");
                }
                Err(_) => write(b"refused\r\n"),
            }
        }
    }
}

/// Whether a power modulo 2^128 − 159 is the same by Montgomery's and by classical reduction, and not only 0 or 1: this
/// system's code computes what it should.
fn agrees<L: Limb>() -> bool {
    let n = 128 / L::BITS as usize;
    let digits = |fill: L| {
        let mut number = [fill; 8];
        number[0] = L::from_u64(0u64.wrapping_sub(159));
        number
    };
    let (modulus, exponent, base) = (digits(L::MAX), digits(L::from_u64(0x1234)), digits(L::from_u64(77)));
    let (modulus, exponent, base) = (&modulus[..n], &exponent[..n], &base[..n]);
    let (mut powers, mut scratch, mut results) = ([L::ZERO; 16], [L::ZERO; 64], [[L::ZERO; 8]; 2]);
    let [first, second] = &mut results;
    let (first, second) = (&mut first[..n], &mut second[..n]);
    let done = Montgomery::new(modulus, Arrangement::Cios, &mut powers[..2 * n], &mut scratch)
        .and_then(|ring| montgomery_binary_vartime(&ring, base, exponent, first, &mut scratch))
        .and_then(|()| binary_vartime(&Classical::new(modulus)?, base, exponent, second, &mut scratch));
    done.is_ok() && first == second && first[n - 1] != L::ZERO
}

/// The count of the BIOS, at 0040:006c.
struct Ticks;

impl Clock for Ticks {
    const UNIT: &'static str = "BIOS ticks";
    const ENOUGH: u64 = 9;

    fn now(&mut self) -> u64 {
        let ticks: u32;
        // SAFETY: reads the BIOS data area, which is there in real mode; es is put back.
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
        // SAFETY: function 2 of DOS writes the character in dl and changes al.
        unsafe { asm!("int 0x21", inout("eax") 0x0200u32 => _, in("edx") u32::from(byte)) };
    }
}

fn write_number(number: u32) {
    if number >= 10 {
        write_number(number / 10);
    }
    write(&[b'0' + (number % 10) as u8]);
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    write(b"panic\r\n");
    // SAFETY: ends the program with 1.
    unsafe { asm!("mov ax, 0x4c01", "int 0x21", options(noreturn)) }
}
