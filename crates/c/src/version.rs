//! Which library this is.

use std::ffi::{c_char, c_int};

/// Number of this header's interface. It grows when a program that was compiled before would no longer work; it is the
/// number in the shared library's name.
pub const TRESS_ABI: c_int = 0;

/// The library's version, such as "0.2.0". Any thread; never fails; the text is valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn tress_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// `TRESS_ABI` of the library that the program runs with. Any thread; never fails.
#[unsafe(no_mangle)]
pub extern "C" fn tress_abi() -> c_int {
    TRESS_ABI
}
