//! Version of the library and of its interface.

use std::ffi::{c_char, c_int};

/// Number of the binary interface of this header. It changes when programs that were compiled with an older header would no
/// longer work. It is the number in the shared library's name.
pub const TRESS_ABI: c_int = 0;

/// Returns the version of the library, such as "0.3.0". Any thread; never fails; the text is static.
#[unsafe(no_mangle)]
pub extern "C" fn tress_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Returns `TRESS_ABI` of the library that the program runs with. Any thread; never fails.
#[unsafe(no_mangle)]
pub extern "C" fn tress_abi() -> c_int {
    TRESS_ABI
}
