//! The operations of the paper's tables behind a C interface, at every digit size. The object code is the same in a
//! static and in a shared library, and is never inlined.
//!
//! Numbers are arrays of n digits, the lowest first. Functions that can fail return 0 on success.

use core::slice::{from_raw_parts, from_raw_parts_mut};

use tress_arithmetic::Error;
use tress_modular_times::{Calls, Inlined};

fn code(result: Result<(), Error>) -> i32 {
    i32::from(result.is_err())
}

macro_rules! operations {
    ($digit:ty, $bits:literal) => {
        const _: () = {
            /// `sum = a + b`
            ///
            /// # Safety
            /// All three must be valid for `n` digits, and no other code may use `sum` during the call.
            #[unsafe(export_name = concat!("tress_add_", $bits))]
            #[inline(never)]
            pub unsafe extern "C" fn add(a: *const $digit, b: *const $digit, sum: *mut $digit, n: usize) {
                // SAFETY: guaranteed by the caller.
                let (a, b, sum) = unsafe { (from_raw_parts(a, n), from_raw_parts(b, n), from_raw_parts_mut(sum, n)) };
                Inlined::add(a, b, sum);
            }

            /// `difference = a − b`
            ///
            /// # Safety
            /// All three must be valid for `n` digits, and no other code may use `difference` during the call.
            #[unsafe(export_name = concat!("tress_subtract_", $bits))]
            #[inline(never)]
            pub unsafe extern "C" fn subtract(a: *const $digit, b: *const $digit, difference: *mut $digit, n: usize) {
                // SAFETY: guaranteed by the caller.
                let (a, b) = unsafe { (from_raw_parts(a, n), from_raw_parts(b, n)) };
                // SAFETY: guaranteed by the caller.
                Inlined::subtract(a, b, unsafe { from_raw_parts_mut(difference, n) });
            }

            /// `product = a · b`
            ///
            /// # Safety
            /// The factors must be valid for `n` digits and the product for `2 * n`. No other code may use `product` during the call.
            #[unsafe(export_name = concat!("tress_multiply_", $bits))]
            #[inline(never)]
            pub unsafe extern "C" fn multiply(a: *const $digit, b: *const $digit, product: *mut $digit, n: usize) {
                // SAFETY: guaranteed by the caller.
                let (a, b) = unsafe { (from_raw_parts(a, n), from_raw_parts(b, n)) };
                // SAFETY: guaranteed by the caller.
                Inlined::multiply(a, b, unsafe { from_raw_parts_mut(product, 2 * n) });
            }

            /// `square = a²`
            ///
            /// # Safety
            /// `a` must be valid for `n` digits and the square for `2 * n`. No other code may use `square` during the call.
            #[unsafe(export_name = concat!("tress_square_", $bits))]
            #[inline(never)]
            pub unsafe extern "C" fn square(a: *const $digit, square: *mut $digit, n: usize) {
                // SAFETY: guaranteed by the caller.
                Inlined::square(unsafe { from_raw_parts(a, n) }, unsafe { from_raw_parts_mut(square, 2 * n) });
            }

            /// `value = value` modulo N
            ///
            /// # Safety
            /// The modulus must be valid for `n` digits and the value for `2 * n`. No other code may use `value` during the call.
            #[unsafe(export_name = concat!("tress_reduce_", $bits))]
            #[inline(never)]
            pub unsafe extern "C" fn reduce(value: *mut $digit, modulus: *const $digit, n: usize) -> i32 {
                // SAFETY: guaranteed by the caller.
                code(Inlined::reduce(unsafe { from_raw_parts_mut(value, 2 * n) }, unsafe {
                    from_raw_parts(modulus, n)
                }))
            }

            /// `product = a · b / R` modulo N; `inverse` is −1 / N modulo b
            ///
            /// # Safety
            /// All four must be valid for `n` digits, and no other code may use `product` during the call.
            #[unsafe(export_name = concat!("tress_montgomery_", $bits))]
            #[inline(never)]
            pub unsafe extern "C" fn montgomery(
                a: *const $digit,
                b: *const $digit,
                modulus: *const $digit,
                inverse: $digit,
                product: *mut $digit,
                n: usize,
            ) {
                // SAFETY: guaranteed by the caller.
                let (a, b) = unsafe { (from_raw_parts(a, n), from_raw_parts(b, n)) };
                // SAFETY: guaranteed by the caller.
                let (modulus, product) = unsafe { (from_raw_parts(modulus, n), from_raw_parts_mut(product, n)) };
                Inlined::montgomery(a, b, modulus, inverse, product);
            }

            operations!($digit, power, concat!("tress_power_", $bits));
            operations!($digit, montgomery_power, concat!("tress_montgomery_power_", $bits));
        };
    };
    ($digit:ty, $name:ident, $symbol:expr) => {
        /// `result = base ^ exponent` modulo N
        ///
        /// # Safety
        /// The first four must be valid for `n` digits, and `scratch` for `scratch_n`. No other code may use `result`
        /// and `scratch` during the call.
        #[unsafe(export_name = $symbol)]
        #[inline(never)]
        pub unsafe extern "C" fn $name(
            base: *const $digit,
            exponent: *const $digit,
            modulus: *const $digit,
            result: *mut $digit,
            n: usize,
            scratch: *mut $digit,
            scratch_n: usize,
        ) -> i32 {
            // SAFETY: guaranteed by the caller.
            let (base, exponent) = unsafe { (from_raw_parts(base, n), from_raw_parts(exponent, n)) };
            // SAFETY: guaranteed by the caller.
            let (modulus, result) = unsafe { (from_raw_parts(modulus, n), from_raw_parts_mut(result, n)) };
            // SAFETY: guaranteed by the caller.
            let scratch = unsafe { from_raw_parts_mut(scratch, scratch_n) };
            code(Inlined::$name(base, exponent, modulus, result, scratch))
        }
    };
}

operations!(u16, "16");
operations!(u32, "32");
operations!(u64, "64");
