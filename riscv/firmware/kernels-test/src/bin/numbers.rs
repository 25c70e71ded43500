//! `Modulus` as a filter: reads numbers and an operation, and writes results. `riscv/firmware/kernels-test/numbers.py`
//! compares them with Python's results.
//!
//! A request is a byte for the operation and three numbers: the modulus and two operands. A number is its length in
//! 64-bit digits (one byte) and these digits, little-endian. The answer has as many digits as the modulus.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::vec;
use alloc::vec::Vec;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::{Cell, UnsafeCell};
use core::ptr;

use tress_kernels_test::{read, write};
use tress_modular::Modulus;

/// An allocator that frees all memory between requests.
struct Heap {
    used: Cell<usize>,
    memory: UnsafeCell<[u64; WORDS]>,
}

const WORDS: usize = 1 << 16;

// SAFETY: there is only one thread.
unsafe impl Sync for Heap {}

#[global_allocator]
static HEAP: Heap = Heap { used: Cell::new(0), memory: UnsafeCell::new([0; WORDS]) };

// SAFETY: allocations are aligned to 8 bytes, inside the memory, and do not overlap between requests.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (start, words) = (self.used.get(), layout.size().div_ceil(8));
        if layout.align() > 8 || words > WORDS - start {
            return ptr::null_mut();
        }
        self.used.set(start + words);
        // SAFETY: `start` is inside the memory.
        unsafe { self.memory.get().cast::<u64>().add(start).cast() }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

fn number() -> Option<Vec<u64>> {
    let mut length = [0];
    if !read(&mut length) {
        return None;
    }
    let mut digits = vec![0u64; length[0].into()];
    let mut bytes = vec![0; 8 * digits.len()];
    let is_whole = read(&mut bytes);
    for (digit, bytes) in digits.iter_mut().zip(bytes.chunks_exact(8)) {
        *digit = u64::from_le_bytes(bytes.try_into().ok()?);
    }
    is_whole.then_some(digits)
}

/// Answers a request, or returns `None` at the end of the input.
fn answer() -> Option<()> {
    let mut operation = [0];
    if !read(&mut operation) {
        return None;
    }
    let (modulus, a, b) = (number()?, number()?, number()?);
    let modulus = Modulus::new(&modulus).ok()?;
    let result = match operation[0] {
        b'*' => modulus.multiply(&a, &b),
        b'^' => modulus.power(&a, &b),
        b'v' => modulus.power_vartime(&a, &b),
        b'%' => modulus.reduce(&a),
        b'/' => modulus.inverse(&a).unwrap_or(vec![0; modulus.limbs()]),
        _ => return None,
    };
    result.iter().all(|digit| write(&digit.to_le_bytes())).then_some(())
}

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    while answer().is_some() {
        // No allocation of a request is left.
        HEAP.used.set(0);
    }
    0
}
