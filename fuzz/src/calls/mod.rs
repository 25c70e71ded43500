//! Sequences of calls of the C interface, as a program in C might make them: in any order, with live handles or NULL, after
//! failures and after the end, with NULL, no bytes and absurd lengths. Every call must return a status with a message, return a
//! NULL handle if it fails, and never report an internal error. Decrypting gives the data that was encrypted.
//!
//! Freed handles are not used: callers in C guarantee that, and the library cannot check it.

mod ciphers;
mod containers;
mod memory;
mod signatures;

use std::ffi::{CStr, c_int};

use tress_c::tress_status::{self, *};
use tress_c::{tress_last_error, tress_status_text};

use crate::input::Input;

/// Largest number of calls for one input.
const MOST_CALLS: usize = 48;

/// Panics if a call violates its contract.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (mut containers, mut signatures) =
        (containers::ContainerCalls::default(), signatures::SignatureCalls::default());
    for _ in 0..MOST_CALLS {
        if input.is_empty() {
            break;
        }
        match input.byte() % 8 {
            0..=3 => containers.call(&mut input),
            4 | 5 => ciphers::call(&mut input),
            _ => signatures.call(&mut input),
        }
    }
}

/// Checks the contract of every call, and returns its status.
fn checked(status: tress_status) -> tress_status {
    assert_ne!(status, TRESS_INTERNAL);
    assert_ne!(text(status), c"unknown code");
    if status != TRESS_OK {
        // SAFETY: the library returns a text of this thread that ends with NUL.
        let last = unsafe { CStr::from_ptr(tress_last_error()) };
        assert!(!last.to_str().expect("UTF-8").is_empty());
    }
    status
}

fn text(status: tress_status) -> &'static CStr {
    // SAFETY: the library returns a static text that ends with NUL.
    unsafe { CStr::from_ptr(tress_status_text(status as c_int)) }
}

/// Checks a call that creates a handle.
fn checked_new<T>(status: tress_status, handle: *mut T) -> tress_status {
    assert_eq!(checked(status) == TRESS_OK, !handle.is_null(), "{status:?}");
    status
}

/// Checks a call on a handle: NULL must give an error.
fn checked_on<T>(handle: *const T, status: tress_status) -> tress_status {
    assert!(!handle.is_null() || matches!(status, TRESS_NULL | TRESS_LENGTH), "{status:?} for NULL");
    checked(status)
}
