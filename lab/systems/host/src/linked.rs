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
    ($digit:ty, $bits:literal) => {
        const _: () = {
            mod foreign {
                unsafe extern "C" {
                    #[link_name = concat!("tress_add_", $bits)]
                    pub fn add(a: *const $digit, b: *const $digit, sum: *mut $digit, n: usize);
                    #[link_name = concat!("tress_subtract_", $bits)]
                    pub fn subtract(a: *const $digit, b: *const $digit, difference: *mut $digit, n: usize);
                    #[link_name = concat!("tress_multiply_", $bits)]
                    pub fn multiply(a: *const $digit, b: *const $digit, product: *mut $digit, n: usize);
                    #[link_name = concat!("tress_square_", $bits)]
                    pub fn square(a: *const $digit, square: *mut $digit, n: usize);
                    #[link_name = concat!("tress_reduce_", $bits)]
                    pub fn reduce(value: *mut $digit, modulus: *const $digit, n: usize) -> i32;
                    #[link_name = concat!("tress_montgomery_", $bits)]
                    pub fn montgomery(
                        a: *const $digit,
                        b: *const $digit,
                        modulus: *const $digit,
                        inverse: $digit,
                        product: *mut $digit,
                        n: usize,
                    );
                    #[link_name = concat!("tress_power_", $bits)]
                    pub fn power(
                        base: *const $digit,
                        exponent: *const $digit,
                        modulus: *const $digit,
                        result: *mut $digit,
                        n: usize,
                        scratch: *mut $digit,
                        scratch_n: usize,
                    ) -> i32;
                    #[link_name = concat!("tress_montgomery_power_", $bits)]
                    pub fn montgomery_power(
                        base: *const $digit,
                        exponent: *const $digit,
                        modulus: *const $digit,
                        result: *mut $digit,
                        n: usize,
                        scratch: *mut $digit,
                        scratch_n: usize,
                    ) -> i32;
                }
            }

            impl Calls<$digit> for Linked {
                #[inline(always)]
                fn add(a: &[$digit], b: &[$digit], sum: &mut [$digit]) {
                    assert!(a.len() == sum.len() && b.len() == sum.len());
                    // SAFETY: all three have `n` digits, as asserted.
                    unsafe { foreign::add(a.as_ptr(), b.as_ptr(), sum.as_mut_ptr(), sum.len()) }
                }

                #[inline(always)]
                fn subtract(a: &[$digit], b: &[$digit], difference: &mut [$digit]) {
                    assert!(a.len() == difference.len() && b.len() == difference.len());
                    // SAFETY: all three have `n` digits, as asserted.
                    unsafe { foreign::subtract(a.as_ptr(), b.as_ptr(), difference.as_mut_ptr(), difference.len()) }
                }

                #[inline(always)]
                fn multiply(a: &[$digit], b: &[$digit], product: &mut [$digit]) {
                    assert!(b.len() == a.len() && product.len() == 2 * a.len());
                    // SAFETY: the factors have `n` digits and the product `2 * n`, as asserted.
                    unsafe { foreign::multiply(a.as_ptr(), b.as_ptr(), product.as_mut_ptr(), a.len()) }
                }

                #[inline(always)]
                fn square(a: &[$digit], square: &mut [$digit]) {
                    assert!(square.len() == 2 * a.len());
                    // SAFETY: `a` has `n` digits and the square `2 * n`, as asserted.
                    unsafe { foreign::square(a.as_ptr(), square.as_mut_ptr(), a.len()) }
                }

                #[inline(always)]
                fn reduce(value: &mut [$digit], modulus: &[$digit]) -> Result<(), Error> {
                    assert!(value.len() == 2 * modulus.len());
                    // SAFETY: the modulus has `n` digits and the value `2 * n`, as asserted.
                    result(unsafe { foreign::reduce(value.as_mut_ptr(), modulus.as_ptr(), modulus.len()) })
                }

                #[inline(always)]
                fn montgomery(a: &[$digit], b: &[$digit], modulus: &[$digit], inverse: $digit, product: &mut [$digit]) {
                    let n = modulus.len();
                    assert!(a.len() == n && b.len() == n && product.len() == n);
                    let (a, b) = (a.as_ptr(), b.as_ptr());
                    // SAFETY: all four have `n` digits, as asserted.
                    unsafe { foreign::montgomery(a, b, modulus.as_ptr(), inverse, product.as_mut_ptr(), n) }
                }

                operations!(power of $digit);
                operations!(montgomery_power of $digit);
            }
        };
    };
    ($name:ident of $digit:ty) => {
        #[inline(always)]
        fn $name(
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
                foreign::$name(base, exponent, modulus, power.as_mut_ptr(), n, scratch.as_mut_ptr(), scratch.len())
            })
        }
    };
}

operations!(u16, "16");
operations!(u32, "32");
operations!(u64, "64");
