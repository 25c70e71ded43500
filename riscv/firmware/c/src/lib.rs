//! What `tress_runtime.h` declares.
#![no_std]

use core::ffi::{CStr, c_char, c_int};

use runtime::{console, counters, harts};

/// Writes a text that ends with a zero.
///
/// # Safety
/// `text` points to such a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tress_print(text: *const c_char) {
    // SAFETY: as the caller says.
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

/// Begins a function on another hart.
#[unsafe(no_mangle)]
pub extern "C" fn tress_spawn(hart: usize, function: extern "C" fn(usize), argument: usize) {
    harts::spawn(hart, function, argument);
}

/// Waits until a hart has done its work.
#[unsafe(no_mangle)]
pub extern "C" fn tress_join(hart: usize) {
    harts::join(hart);
}

/// Waits until this many harts have come to the barrier.
#[cfg(target_has_atomic = "32")]
#[unsafe(no_mangle)]
pub extern "C" fn tress_barrier_wait(barrier: &harts::Barrier, count: usize) {
    barrier.wait(count);
}
