//! The operations of the library, through its C interface.

use tress_arithmetic::Error;
use tress_modular_times::Calls;
#[cfg(feature = "static")]
use tress_times_library as _;

/// Calls the library.
pub struct Linked;

fn result(code: i32) -> Result<(), Error> {
    if code == 0 { Ok(()) } else { Err(Error::Length) }
}

macro_rules! operations {
    ($digit:ty, $add:ident, $subtract:ident, $multiply:ident, $square:ident, $reduce:ident, $montgomery:ident, $power:ident,
     $montgomery_power:ident) => {
        unsafe extern "C" {
            fn $add(a: *const $digit, b: *const $digit, sum: *mut $digit, n: usize);
            fn $subtract(a: *const $digit, b: *const $digit, difference: *mut $digit, n: usize);
            fn $multiply(a: *const $digit, b: *const $digit, product: *mut $digit, n: usize);
            fn $square(a: *const $digit, square: *mut $digit, n: usize);
            fn $reduce(value: *mut $digit, modulus: *const $digit, n: usize) -> i32;
            fn $montgomery(
                a: *const $digit,
                b: *const $digit,
                modulus: *const $digit,
                inverse: $digit,
                product: *mut $digit,
                n: usize,
            );
            fn $power(
                base: *const $digit,
                exponent: *const $digit,
                modulus: *const $digit,
                result: *mut $digit,
                n: usize,
                scratch: *mut $digit,
                scratch_n: usize,
            ) -> i32;
            fn $montgomery_power(
                base: *const $digit,
                exponent: *const $digit,
                modulus: *const $digit,
                result: *mut $digit,
                n: usize,
                scratch: *mut $digit,
                scratch_n: usize,
            ) -> i32;
        }

        impl Calls<$digit> for Linked {
            #[inline(always)]
            fn add(a: &[$digit], b: &[$digit], sum: &mut [$digit]) {
                assert!(a.len() == sum.len() && b.len() == sum.len());
                // SAFETY: all three have `n` digits, as asserted.
                unsafe { $add(a.as_ptr(), b.as_ptr(), sum.as_mut_ptr(), sum.len()) }
            }

            #[inline(always)]
            fn subtract(a: &[$digit], b: &[$digit], difference: &mut [$digit]) {
                assert!(a.len() == difference.len() && b.len() == difference.len());
                // SAFETY: all three have `n` digits, as asserted.
                unsafe { $subtract(a.as_ptr(), b.as_ptr(), difference.as_mut_ptr(), difference.len()) }
            }

            #[inline(always)]
            fn multiply(a: &[$digit], b: &[$digit], product: &mut [$digit]) {
                assert!(b.len() == a.len() && product.len() == 2 * a.len());
                // SAFETY: the factors have `n` digits and the product `2 * n`, as asserted.
                unsafe { $multiply(a.as_ptr(), b.as_ptr(), product.as_mut_ptr(), a.len()) }
            }

            #[inline(always)]
            fn square(a: &[$digit], square: &mut [$digit]) {
                assert!(square.len() == 2 * a.len());
                // SAFETY: `a` has `n` digits and the square `2 * n`, as asserted.
                unsafe { $square(a.as_ptr(), square.as_mut_ptr(), a.len()) }
            }

            #[inline(always)]
            fn reduce(value: &mut [$digit], modulus: &[$digit]) -> Result<(), Error> {
                assert!(value.len() == 2 * modulus.len());
                // SAFETY: the modulus has `n` digits and the value `2 * n`, as asserted.
                result(unsafe { $reduce(value.as_mut_ptr(), modulus.as_ptr(), modulus.len()) })
            }

            #[inline(always)]
            fn montgomery(a: &[$digit], b: &[$digit], modulus: &[$digit], inverse: $digit, product: &mut [$digit]) {
                let n = modulus.len();
                assert!(a.len() == n && b.len() == n && product.len() == n);
                let (a, b) = (a.as_ptr(), b.as_ptr());
                // SAFETY: all four have `n` digits, as asserted.
                unsafe { $montgomery(a, b, modulus.as_ptr(), inverse, product.as_mut_ptr(), n) }
            }

            operations!($digit, $power, power);
            operations!($digit, $montgomery_power, montgomery_power);
        }
    };
    ($digit:ty, $name:ident, $method:ident) => {
        #[inline(always)]
        fn $method(
            base: &[$digit],
            exponent: &[$digit],
            modulus: &[$digit],
            power: &mut [$digit],
            scratch: &mut [$digit],
        ) -> Result<(), Error> {
            let n = modulus.len();
            assert!(base.len() == n && exponent.len() == n && power.len() == n);
            let (base, exponent, modulus) = (base.as_ptr(), exponent.as_ptr(), modulus.as_ptr());
            // SAFETY: the numbers have `n` digits, as asserted, and the scratch memory has the length that is passed.
            result(unsafe {
                $name(base, exponent, modulus, power.as_mut_ptr(), n, scratch.as_mut_ptr(), scratch.len())
            })
        }
    };
}

operations!(
    u16,
    tress_add_16,
    tress_subtract_16,
    tress_multiply_16,
    tress_square_16,
    tress_reduce_16,
    tress_montgomery_16,
    tress_power_16,
    tress_montgomery_power_16
);
operations!(
    u32,
    tress_add_32,
    tress_subtract_32,
    tress_multiply_32,
    tress_square_32,
    tress_reduce_32,
    tress_montgomery_32,
    tress_power_32,
    tress_montgomery_power_32
);
operations!(
    u64,
    tress_add_64,
    tress_subtract_64,
    tress_multiply_64,
    tress_square_64,
    tress_reduce_64,
    tress_montgomery_64,
    tress_power_64,
    tress_montgomery_power_64
);
