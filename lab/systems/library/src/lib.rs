//! The operations of the paper's tables behind a C interface, at every digit size. The object code is the same in a
//! static and in a shared library, and is never inlined.
//!
//! Numbers are arrays of n digits, the lowest first. Functions that can fail return 0 on success.

use core::slice::{from_raw_parts, from_raw_parts_mut};

use tress_modular_times::{Calls, Inlined, c_interface, c_type};

macro_rules! value {
    (const $pointer:ident, $digits:expr) => {
        from_raw_parts($pointer, $digits)
    };
    (mut $pointer:ident, $digits:expr) => {
        from_raw_parts_mut($pointer, $digits)
    };
    (digit $digit:ident, $digits:expr) => {
        $digit
    };
}

macro_rules! returned {
    ($call:expr) => {
        $call
    };
    ($call:expr, i32) => {
        i32::from($call.is_err())
    };
}

macro_rules! export {
    ($digit:ty, $bits:literal, $(
        $name:ident($($argument:ident: $kind:tt $times:literal),* $(; $scratch:ident)?) $(-> $code:ident)?
    )*) => {
        const _: () = {
            $(
                /// [`Calls`] documents the operation.
                ///
                /// # Safety
                /// Pointers must be valid for as many digits as `c_interface` says, and scratch memory for `scratch_n`. No
                /// other code may use memory of `*mut` pointers during the call.
                #[unsafe(export_name = concat!("tress_", stringify!($name), "_", $bits))]
                #[inline(never)]
                pub unsafe extern "C" fn $name(
                    $($argument: c_type!($kind $digit),)* n: usize $(, $scratch: *mut $digit, scratch_n: usize)?
                ) $(-> $code)? {
                    // SAFETY: guaranteed by the caller.
                    returned!(unsafe {
                        Inlined::$name(
                            $(value!($kind $argument, $times * n),)* $(from_raw_parts_mut($scratch, scratch_n))?
                        )
                    } $(, $code)?)
                }
            )*
        };
    };
}

c_interface!(export: u16, "16",);
c_interface!(export: u32, "32",);
c_interface!(export: u64, "64",);
