//! Sequences of calls of the C interface, as a program in C might make them: in any order, with handles that are live or NULL,
//! after failures and after the end, with NULL, no bytes and absurd lengths. Every call has to say what it came to, hand out NULL
//! when it fails, and never find a defect of its own; what is encrypted comes back.
//!
//! Handles that were freed are not used: C's callers vouch for that, and nothing could check it.

mod ciphers;
mod containers;
mod memory;
mod signatures;

use std::ffi::{CStr, c_int};

use tress_c::tress_status::{self, *};
use tress_c::{tress_last_error, tress_status_text};

use crate::input::Input;

/// Calls of one input.
const MOST_CALLS: usize = 48;

/// Panics when a call breaks its word.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (mut containers, mut signatures) = (containers::State::default(), signatures::State::default());
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

/// Checks what every call keeps, and passes its status on.
fn told(status: tress_status) -> tress_status {
    assert_ne!(status, TRESS_INTERNAL);
    assert_ne!(text(status), c"unknown code");
    if status != TRESS_OK {
        // SAFETY: a text of this thread that ends with NUL.
        let last = unsafe { CStr::from_ptr(tress_last_error()) };
        assert!(!last.to_str().expect("UTF-8").is_empty());
    }
    status
}

fn text(status: tress_status) -> &'static CStr {
    // SAFETY: the text of a code is valid for ever.
    unsafe { CStr::from_ptr(tress_status_text(status as c_int)) }
}

/// The same for a call that hands out a handle.
fn made<T>(status: tress_status, handle: *mut T) -> tress_status {
    assert_eq!(told(status) == TRESS_OK, !handle.is_null(), "{status:?}");
    status
}

/// A call on a handle that is NULL says so, unless a length is absurd.
fn on<T>(handle: *const T, status: tress_status) -> tress_status {
    assert!(!handle.is_null() || matches!(status, TRESS_NULL | TRESS_LENGTH), "{status:?} for NULL");
    told(status)
}
