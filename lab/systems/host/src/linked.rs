//! The operations of the library, through its C interface.

use tress_arithmetic::Error;
use tress_modular_times::{Calls, c_interface, c_type};
#[cfg(feature = "static")]
use tress_times_library as _;

pub struct Linked;

macro_rules! slice_type {
    (const $digit:ty) => {
        &[$digit]
    };
    (mut $digit:ty) => {
        &mut [$digit]
    };
    (digit $digit:ty) => {
        $digit
    };
}

macro_rules! has_digits {
    (digit $digit:ident, $digits:expr) => {
        true
    };
    ($kind:tt $number:ident, $digits:expr) => {
        $number.len() == $digits
    };
}

macro_rules! pointer {
    (const $number:ident) => {
        $number.as_ptr()
    };
    (mut $number:ident) => {
        $number.as_mut_ptr()
    };
    (digit $digit:ident) => {
        $digit
    };
}

macro_rules! returned {
    ($call:expr) => {
        $call
    };
    ($call:expr, i32) => {
        if $call == 0 { Ok(()) } else { Err(Error::Length) }
    };
}

macro_rules! result_type {
    (i32) => { Result<(), Error> };
}

macro_rules! import {
    ($digit:ty, $bits:literal, $(
        $name:ident($first:ident: $first_kind:tt $first_times:literal $(, $argument:ident: $kind:tt $times:literal)*
            $(; $scratch:ident)?) $(-> $code:ident)?
    )*) => {
        const _: () = {
            mod foreign {
                use super::*;

                unsafe extern "C" {
                    $(
                        #[link_name = concat!("tress_", stringify!($name), "_", $bits)]
                        pub fn $name(
                            $first: c_type!($first_kind $digit), $($argument: c_type!($kind $digit),)*
                            n: usize $(, $scratch: *mut $digit, scratch_n: usize)?
                        ) $(-> $code)?;
                    )*
                }
            }

            impl Calls<$digit> for Linked {
                $(
                    #[inline(always)]
                    fn $name(
                        $first: slice_type!($first_kind $digit), $($argument: slice_type!($kind $digit),)*
                        $($scratch: &mut [$digit])?
                    ) $(-> result_type!($code))? {
                        let n = $first.len() / $first_times;
                        assert!($first.len() == $first_times * n $(&& has_digits!($kind $argument, $times * n))*);
                        // SAFETY: the numbers have as many digits as the function uses, as asserted, and the scratch memory
                        // has the length that is passed.
                        returned!(unsafe {
                            foreign::$name(
                                pointer!($first_kind $first), $(pointer!($kind $argument),)*
                                n $(, $scratch.as_mut_ptr(), $scratch.len())?
                            )
                        } $(, $code)?)
                    }
                )*
            }
        };
    };
}

c_interface!(import: u16, "16",);
c_interface!(import: u32, "32",);
c_interface!(import: u64, "64",);
