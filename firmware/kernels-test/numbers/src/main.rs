//! `Modulus` as a filter: reads numbers and what to do with them, writes results. `../numbers.py` holds them against Python's.
//!
//! `cargo build --release --target riscv32imac-unknown-none-elf`, then `qemu-riscv32` on the program: it makes Linux system
//! calls. A request is a byte for the operation and three numbers, each a length in digits of 64 bits (one byte) and those
//! digits, little-endian: the modulus and two operands. The answer has as many digits as the modulus.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::vec;
use alloc::vec::Vec;
use core::alloc::{GlobalAlloc, Layout};
use core::arch::{asm, global_asm};
use core::cell::{Cell, UnsafeCell};
use core::ptr;

use tress_modular::Modulus;

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

/// Memory that is given back all at once, between requests.
struct Heap {
    used: Cell<usize>,
    memory: UnsafeCell<[u64; WORDS]>,
}

const WORDS: usize = 1 << 16;

// SAFETY: there is one thread.
unsafe impl Sync for Heap {}

#[global_allocator]
static HEAP: Heap = Heap { used: Cell::new(0), memory: UnsafeCell::new([0; WORDS]) };

// SAFETY: what is handed out is aligned to 8, inside of the memory, and not handed out twice between requests.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (start, words) = (self.used.get(), layout.size().div_ceil(8));
        if layout.align() > 8 || words > WORDS - start {
            return ptr::null_mut();
        }
        self.used.set(start + words);
        // SAFETY: inside of the memory.
        unsafe { self.memory.get().cast::<u64>().add(start).cast() }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

/// Linux's read(0) or write(1).
fn transfer(number: usize, mut data: *mut u8, mut length: usize) -> bool {
    while length > 0 {
        let mut done = if number == 63 { 0isize } else { 1 };
        // SAFETY: the memory is the caller's; the call changes a0 and that memory only.
        unsafe { asm!("ecall", inlateout("a0") done, in("a1") data, in("a2") length, in("a7") number) };
        if done <= 0 {
            return false;
        }
        // SAFETY: as much as has been transferred.
        data = unsafe { data.add(done as usize) };
        length -= done as usize;
    }
    true
}

fn read(bytes: &mut [u8]) -> bool {
    transfer(63, bytes.as_mut_ptr(), bytes.len())
}

fn number() -> Option<Vec<u64>> {
    let mut length = [0];
    if !read(&mut length) {
        return None;
    }
    let mut digits = vec![0u64; length[0].into()];
    // SAFETY: so many bytes; any are a number.
    transfer(63, digits.as_mut_ptr().cast(), 8 * digits.len()).then_some(digits)
}

/// Answers a request; nothing at the end of them.
fn answer() -> Option<()> {
    let mut operation = [0];
    if !read(&mut operation) {
        return None;
    }
    let (modulus, a, b) = (number()?, number()?, number()?);
    let modulus = Modulus::new(&modulus).ok()?;
    let mut result = match operation[0] {
        b'*' => modulus.multiply(&a, &b),
        b'^' => modulus.power(&a, &b),
        b'v' => modulus.power_vartime(&a, &b),
        b'%' => modulus.reduce(&a),
        b'/' => modulus.inverse(&a).unwrap_or(vec![0; modulus.limbs()]),
        _ => return None,
    };
    transfer(64, result.as_mut_ptr().cast(), 8 * result.len()).then_some(())
}

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    while answer().is_some() {
        // Nothing of a request is left.
        HEAP.used.set(0);
    }
    0
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: Linux's exit(101), which does not return.
    unsafe { asm!("ecall", in("a0") 101, in("a7") 93, options(noreturn)) }
}
