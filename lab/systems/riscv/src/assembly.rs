//! The operations of the paper's tables in assembly, except classical division, which is compiled Rust.

use tress_arithmetic::power::binary_vartime;
use tress_arithmetic::reduce::Ring as _;
use tress_arithmetic::riscv32::{self, Montgomery, scratch_digits};
use tress_arithmetic::{Error, add};
use tress_modular_times::{BITS, Calls, Inlined};

/// Number of digits of the longest numbers.
const DIGITS: usize = BITS[BITS.len() - 1] / 32;

pub(crate) struct Assembly;

impl Calls<u32> for Assembly {
    fn add(a: &[u32], b: &[u32], sum: &mut [u32]) {
        riscv32::add(a, b, sum);
    }

    fn subtract(a: &[u32], b: &[u32], difference: &mut [u32]) {
        riscv32::subtract(a, b, difference);
    }

    fn multiply(a: &[u32], b: &[u32], product: &mut [u32]) {
        riscv32::multiply(a, b, product);
    }

    fn square(a: &[u32], square: &mut [u32]) {
        let mut scratch = [0; scratch_digits(DIGITS)];
        riscv32::square(a, square, &mut scratch);
    }

    fn reduce(value: &mut [u32], modulus: &[u32]) -> Result<(), Error> {
        Inlined::reduce(value, modulus)
    }

    fn montgomery(a: &[u32], b: &[u32], modulus: &[u32], inverse: u32, product: &mut [u32]) {
        let mut scratch = [0; scratch_digits(DIGITS)];
        riscv32::multiply_below(a, b, modulus, inverse, product, &mut scratch);
    }

    fn power(
        base: &[u32],
        exponent: &[u32],
        modulus: &[u32],
        result: &mut [u32],
        scratch: &mut [u32],
    ) -> Result<(), Error> {
        Inlined::power(base, exponent, modulus, result, scratch)
    }

    fn montgomery_power(
        base: &[u32],
        exponent: &[u32],
        modulus: &[u32],
        result: &mut [u32],
        scratch: &mut [u32],
    ) -> Result<(), Error> {
        let n = modulus.len();
        let (powers, rest) = scratch.split_at_mut_checked(2 * n).ok_or(Error::Length)?;
        // A product needs more scratch memory than the caller has.
        let mut memory = [0; scratch_digits(DIGITS) + DIGITS];
        let ring = Montgomery::new(modulus, powers, &mut memory)?;
        let form = rest.get_mut(..n).ok_or(Error::Length)?;
        ring.enter(base, form, &mut memory);
        binary_vartime(&ring, form, exponent, result, &mut memory)?;
        form.copy_from_slice(result);
        ring.leave(form, result, &mut memory);
        debug_assert!(add::is_less(result, ring.modulus()) == 1);
        Ok(())
    }
}
