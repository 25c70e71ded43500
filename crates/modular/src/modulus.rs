//! The modulus of signature schemes, with 64-bit digits, public or secret.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use zeroize::{Zeroize, Zeroizing};

use crate::inverse::{divsteps, divsteps_scratch};
#[cfg(target_arch = "x86_64")]
use crate::lanes::ifma::PreparedModulus;
use crate::montgomery::{leading_zeros, negative_inverse, prepare};
use crate::one::{self, MontgomeryMultiplier};
use crate::{Error, Limb, add, reveal};

/// Longest modulus in bits.
const MAX_BITS: usize = 8192;

/// An odd modulus of 2 to 128 digits, prepared for Montgomery's multiplication.
///
/// Numbers are little-endian slices of 64-bit digits. Results have [`limbs`](Self::limbs) digits and are below the modulus. Operands may
/// have any length and any value; those longer than the modulus cost a reduction. Except for functions with `_vartime` in their name, the
/// time depends only on lengths, even for a secret modulus. The modulus is wiped when it is dropped; the caller has to wipe results.
#[derive(Clone)]
pub struct Modulus {
    modulus: Vec<u64>,
    bits: usize,
    /// −1 / N modulo 2^64
    inverse: u64,
    /// R modulo N, which is 1 in Montgomery form.
    one: Vec<u64>,
    /// R² modulo N, for conversion to Montgomery form.
    square: Vec<u64>,
    /// The values for lanes, if the machine has lanes.
    #[cfg(target_arch = "x86_64")]
    in_lanes: Option<PreparedModulus>,
}

impl Modulus {
    /// Prepares a modulus. Removes leading zeros; from here on, its length in bits is public.
    pub fn new(modulus: &[u64]) -> Result<Self, Error> {
        if modulus.is_empty() {
            return Err(Error::Empty);
        }
        let length = modulus.iter().rposition(|&digit| reveal(digit.is_zero()) == 0).ok_or(Error::Zero)? + 1;
        if length > MAX_BITS / 64 {
            return Err(Error::TooLong);
        }
        if reveal(modulus[0] & 1) == 0 {
            return Err(Error::Even);
        }
        if length == 1 {
            return Err(Error::OneDigit);
        }
        let modulus = modulus[..length].to_vec();
        let bits = 64 * length - reveal(leading_zeros(modulus[length - 1])) as usize;
        let inverse = negative_inverse(modulus[0]);
        let (mut one, mut square) = (vec![0; length], vec![0; length]);
        let mut montgomery = MontgomeryMultiplier::new(&modulus, inverse);
        prepare(&modulus, &mut one, &mut square, |value| montgomery.square_below(value));
        drop(montgomery);
        let prepared = Modulus {
            bits,
            inverse,
            one,
            square,
            #[cfg(target_arch = "x86_64")]
            in_lanes: None,
            modulus,
        };
        #[cfg(target_arch = "x86_64")]
        let prepared = prepared.with_lanes();
        Ok(prepared)
    }

    /// Adds the values for lanes, if the machine has lanes.
    #[cfg(target_arch = "x86_64")]
    fn with_lanes(mut self) -> Self {
        if crate::cpu::Ifma::detect().is_some() {
            let montgomery = |a: &[u64], b: &[u64], product: &mut [u64]| self.montgomery(a, b, product);
            self.in_lanes = PreparedModulus::new(self.bits, &self.square, montgomery);
        }
        self
    }

    /// `product = a · b / R`.
    fn montgomery(&self, a: &[u64], b: &[u64], product: &mut [u64]) {
        product.copy_from_slice(a);
        MontgomeryMultiplier::new(&self.modulus, self.inverse).multiply_below(product, b);
    }

    /// Length of the modulus in bits.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The backend that multiplies modulo this number, one product at a time: `adx` (MULX, ADCX and ADOX), `riscv32` or `portable`.
    pub fn backend(&self) -> &'static str {
        crate::one::backend(self.limbs())
    }

    /// Length of the modulus in digits.
    pub fn limbs(&self) -> usize {
        self.modulus.len()
    }

    /// The modulus.
    pub fn as_limbs(&self) -> &[u64] {
        &self.modulus
    }

    /// The values for lanes, if the machine has lanes and the modulus is long enough.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn in_lanes(&self) -> Option<&PreparedModulus> {
        self.in_lanes.as_ref()
    }

    /// R modulo N, which is 1 in Montgomery form.
    pub(crate) fn montgomery_one(&self) -> &[u64] {
        &self.one
    }

    /// −1 / N modulo 2^64.
    pub(crate) fn negative_inverse(&self) -> u64 {
        self.inverse
    }

    /// Whether the number is below the modulus. The result is public.
    pub fn is_reduced(&self, value: &[u64]) -> bool {
        let (low, high) = value.split_at(value.len().min(self.limbs()));
        let mut padded = Zeroizing::new(vec![0; self.limbs()]);
        padded[..low.len()].copy_from_slice(low);
        reveal(add::is_less(&padded, &self.modulus) & add::is_zero(high)) == 1
    }

    /// `value` modulo N, for a value of any length.
    pub fn reduce(&self, value: &[u64]) -> Vec<u64> {
        let n = self.limbs();
        let mut result = vec![0; n];
        let mut digits = Zeroizing::new(vec![0; n]);
        let mut shifted = Zeroizing::new(vec![0; n]);
        let parts = value.chunks(n);
        let last = parts.len().saturating_sub(1);
        for (i, part) in parts.enumerate().rev() {
            // result = result · R + part, where both terms are below N; initially the first term is 0.
            if i < last {
                self.montgomery(&result, &self.square, &mut shifted);
            }
            digits.fill(0);
            digits[..part.len()].copy_from_slice(part);
            self.montgomery(&digits, &self.one, &mut result);
            self.add_assign(&mut result, &shifted);
        }
        result
    }

    /// Returns as many digits as the modulus has. A longer number is reduced below the modulus; a shorter one keeps its value.
    pub(crate) fn fitted(&self, value: &[u64]) -> Zeroizing<Vec<u64>> {
        if value.len() > self.limbs() {
            return Zeroizing::new(self.reduce(value));
        }
        let mut padded = Zeroizing::new(vec![0; self.limbs()]);
        padded[..value.len()].copy_from_slice(value);
        padded
    }

    fn add_assign(&self, a: &mut [u64], b: &[u64]) {
        let carry = add::add_assign(a, b);
        add::subtract_once(a, carry, &self.modulus);
    }

    /// `a + b` modulo N.
    pub fn add(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let mut sum = self.reduce(a);
        let b = Zeroizing::new(self.reduce(b));
        self.add_assign(&mut sum, &b);
        sum
    }

    /// `a − b` modulo N.
    pub fn subtract(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let mut difference = self.reduce(a);
        let b = Zeroizing::new(self.reduce(b));
        let borrow = add::subtract_assign(&mut difference, &b);
        add::add_masked(&mut difference, &self.modulus, borrow.mask());
        difference
    }

    /// `a · b` modulo N.
    pub fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let mut product = vec![0; self.limbs()];
        let mut form = Zeroizing::new(vec![0; self.limbs()]);
        self.montgomery(&self.fitted(a), &self.square, &mut form);
        self.montgomery(&self.fitted(b), &form, &mut product);
        product
    }

    /// `base ^ exponent` modulo N; 1 for the exponent 0. The time depends on the length of the exponent in digits, including leading zeros,
    /// and on nothing else.
    pub fn power(&self, base: &[u64], exponent: &[u64]) -> Vec<u64> {
        self.power_by(one::power, base, exponent)
    }

    /// `base ^ exponent` modulo N; 1 for the exponent 0. The time depends on the exponent.
    pub fn power_vartime(&self, base: &[u64], exponent: &[u64]) -> Vec<u64> {
        self.power_by(one::power_vartime, base, exponent)
    }

    /// Converts to Montgomery form, computes the power, and converts back.
    fn power_by(&self, power: one::PowerFunction, base: &[u64], exponent: &[u64]) -> Vec<u64> {
        let mut montgomery = MontgomeryMultiplier::new(&self.modulus, self.inverse);
        let mut form = self.fitted(base);
        montgomery.multiply_below(&mut form, &self.square);
        let power = power(&mut montgomery, &form, exponent, &self.one);
        let mut result = vec![0; self.limbs()];
        result[0] = 1;
        montgomery.multiply_below(&mut result, &power);
        result
    }

    /// `1 / value` modulo N, or `None` if they have a common divisor. Whether they do is public.
    pub fn inverse(&self, value: &[u64]) -> Option<Vec<u64>> {
        let value = Zeroizing::new(self.reduce(value));
        let mut result = vec![0; self.limbs()];
        let mut scratch = Zeroizing::new(vec![0; divsteps_scratch(self.limbs())]);
        let exists = divsteps(&value, &self.modulus, &mut result, &mut scratch);
        (reveal(exists) == 1).then_some(result)
    }
}

impl Drop for Modulus {
    fn drop(&mut self) {
        self.modulus.zeroize();
        self.inverse.zeroize();
        self.one.zeroize();
        self.square.zeroize();
    }
}

impl fmt::Debug for Modulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Modulus of {} bits", self.bits)
    }
}
