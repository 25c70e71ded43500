//! The functions that `tress_runtime.h` and `pthread.h` declare.
#![no_std]

#[cfg(target_has_atomic = "32")]
pub mod pthread;

use core::ffi::{CStr, c_char, c_int};

use runtime::{console, counters, harts};

/// Writes a string that ends with a zero byte.
///
/// # Safety
/// `text` points to a string that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_print(text: *const c_char) {
    // SAFETY: the caller guarantees that `text` ends with a zero byte.
    console::write_bytes(unsafe { CStr::from_ptr(text) }.to_bytes());
}

/// Writes a number.
#[unsafe(no_mangle)]
pub extern "C" fn tress_print_number(number: usize) {
    console::write_number(number);
}

/// Ends the run.
#[unsafe(no_mangle)]
pub extern "C" fn tress_exit(code: c_int) -> ! {
    runtime::exit(code)
}

/// The number of this hart.
#[unsafe(no_mangle)]
pub extern "C" fn tress_hart() -> usize {
    counters::hart()
}

/// Starts a function on another hart.
#[unsafe(no_mangle)]
pub extern "C" fn tress_spawn(hart: usize, function: extern "C" fn(usize), argument: usize) {
    harts::spawn(hart, function, argument);
}

/// Waits until a hart has finished its function.
#[unsafe(no_mangle)]
pub extern "C" fn tress_join(hart: usize) {
    harts::join(hart);
}

/// Waits until this many harts have arrived at the barrier. Returns 1 to the last of them, 0 to the others.
#[cfg(target_has_atomic = "32")]
#[unsafe(no_mangle)]
pub extern "C" fn tress_barrier_wait(barrier: &harts::Barrier, count: usize) -> c_int {
    barrier.wait(count).into()
}
