//! How the operations of the paper's tables are called: inlined into the measuring loop, or through the C interface
//! of a library, for programs with their own [`Calls`].

use tress_arithmetic::multiply::{self, square};
use tress_arithmetic::power::{binary_vartime, montgomery_binary_vartime};
use tress_arithmetic::reduce::montgomery::cios;
use tress_arithmetic::reduce::{Classical, Montgomery, divide_vartime};
use tress_arithmetic::{Error, Limb, add};

/// The operations of the paper's tables, on numbers of n digits.
pub trait Calls<L: Limb> {
    /// `sum = a + b`
    fn add(a: &[L], b: &[L], sum: &mut [L]);
    /// `difference = a − b` in two's complement
    fn subtract(a: &[L], b: &[L], difference: &mut [L]);
    /// `product = a · b` by rows; 2 n digits
    fn multiply(a: &[L], b: &[L], product: &mut [L]);
    /// `square = a²` in three steps; 2 n digits
    fn square(a: &[L], square: &mut [L]);
    /// `value = value` modulo N by classical division; 2 n digits
    fn reduce(value: &mut [L], modulus: &[L]) -> Result<(), Error>;
    /// `product = a · b / R` modulo N; `inverse` is −1 / N modulo b
    fn montgomery(a: &[L], b: &[L], modulus: &[L], inverse: L, product: &mut [L]);
    /// `result = base ^ exponent` modulo N by Algorithm 3 and classical division; scratch memory of 3 n digits
    fn power(base: &[L], exponent: &[L], modulus: &[L], result: &mut [L], scratch: &mut [L]) -> Result<(), Error>;
    /// `result = base ^ exponent` modulo N by Algorithm 4, whose first steps are the set-up; scratch memory of 7 n digits
    fn montgomery_power(
        base: &[L],
        exponent: &[L],
        modulus: &[L],
        result: &mut [L],
        scratch: &mut [L],
    ) -> Result<(), Error>;
}

/// Direct calls, which the compiler inlines.
pub struct Inlined;

impl<L: Limb> Calls<L> for Inlined {
    #[inline(always)]
    fn add(a: &[L], b: &[L], sum: &mut [L]) {
        add::add(a, b, sum);
    }

    #[inline(always)]
    fn subtract(a: &[L], b: &[L], difference: &mut [L]) {
        add::subtract_complement(a, b, difference);
    }

    #[inline(always)]
    fn multiply(a: &[L], b: &[L], product: &mut [L]) {
        multiply::rows(a, b, product);
    }

    #[inline(always)]
    fn square(a: &[L], square: &mut [L]) {
        square::three_steps(a, square);
    }

    #[inline(always)]
    fn reduce(value: &mut [L], modulus: &[L]) -> Result<(), Error> {
        divide_vartime(value, modulus, None).map(drop)
    }

    #[inline(always)]
    fn montgomery(a: &[L], b: &[L], modulus: &[L], inverse: L, product: &mut [L]) {
        cios(a, b, modulus, inverse, product);
    }

    #[inline(always)]
    fn power(base: &[L], exponent: &[L], modulus: &[L], result: &mut [L], scratch: &mut [L]) -> Result<(), Error> {
        binary_vartime(&Classical::new(modulus)?, base, exponent, result, scratch)
    }

    #[inline(always)]
    fn montgomery_power(
        base: &[L],
        exponent: &[L],
        modulus: &[L],
        result: &mut [L],
        scratch: &mut [L],
    ) -> Result<(), Error> {
        let Some((powers, scratch)) = scratch.split_at_mut_checked(2 * modulus.len()) else {
            return Err(Error::Length);
        };
        let ring = Montgomery::new(modulus, powers, scratch)?;
        montgomery_binary_vartime(&ring, base, exponent, result, scratch)
    }
}

/// Passes the C interface of a library with these operations to a macro, after the given tokens. An argument is a pointer
/// to a multiple of n digits, or one digit. After the arguments follow n, and scratch memory with its length. The result
/// is 0 on success. Names end with the bits of a digit, as in `tress_add_64`.
#[macro_export]
macro_rules! c_interface {
    ($then:ident: $($given:tt)*) => {
        $then! {
            $($given)*
            add(a: const 1, b: const 1, sum: mut 1)
            subtract(a: const 1, b: const 1, difference: mut 1)
            multiply(a: const 1, b: const 1, product: mut 2)
            square(a: const 1, square: mut 2)
            reduce(value: mut 2, modulus: const 1) -> i32
            montgomery(a: const 1, b: const 1, modulus: const 1, inverse: digit 1, product: mut 1)
            power(base: const 1, exponent: const 1, modulus: const 1, result: mut 1; scratch) -> i32
            montgomery_power(base: const 1, exponent: const 1, modulus: const 1, result: mut 1; scratch) -> i32
        }
    };
}

/// The type of an argument in [`c_interface`].
#[macro_export]
macro_rules! c_type {
    (const $digit:ty) => { *const $digit };
    (mut $digit:ty) => { *mut $digit };
    (digit $digit:ty) => { $digit };
}
