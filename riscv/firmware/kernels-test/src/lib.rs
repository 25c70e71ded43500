//! Start code and system calls for 32-bit RISC-V Linux programs, which QEMU's user emulation runs.
//!
//! A program defines `main`, whose result is its exit code.
#![no_std]

use core::arch::{asm, global_asm};

global_asm!(
    ".globl _start",
    "_start:",
    ".option push",
    ".option norelax",
    "la gp, __global_pointer$",
    ".option pop",
    "andi sp, sp, -16",
    "call main",
    "li a7, 93",
    "ecall",
);

/// Calls Linux's read(0) or write(1) until all bytes are transferred. Returns `false` at the end of the input.
fn transfer(number: usize, file: isize, mut data: *mut u8, mut length: usize) -> bool {
    while length > 0 {
        let mut done = file;
        // SAFETY: the caller owns the memory. The call changes only a0 and that memory.
        unsafe { asm!("ecall", inlateout("a0") done, in("a1") data, in("a2") length, in("a7") number) };
        if done <= 0 {
            return false;
        }
        // SAFETY: `done` bytes have been transferred, so the result is within or at the end of the buffer.
        data = unsafe { data.add(done as usize) };
        length -= done as usize;
    }
    true
}

/// Fills `bytes` from standard input. Returns `false` at its end.
pub fn read(bytes: &mut [u8]) -> bool {
    transfer(63, 0, bytes.as_mut_ptr(), bytes.len())
}

/// Writes `bytes` to standard output.
pub fn write(bytes: &[u8]) -> bool {
    transfer(64, 1, bytes.as_ptr().cast_mut(), bytes.len())
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    write(b"panic\n");
    // SAFETY: Linux's exit(101), which does not return.
    unsafe { asm!("ecall", in("a0") 101, in("a7") 93, options(noreturn)) }
}
