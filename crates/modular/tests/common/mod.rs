//! Numbers for tests: conversions to the independent library, random numbers, and numbers where carries propagate far.
#![allow(dead_code)]

use std::convert::Infallible;

use num_bigint::BigUint;
use tress_modular::Limb;

/// Converts from digits of any size.
pub(crate) fn number<L: Limb>(digits: &[L]) -> BigUint {
    let mut number = BigUint::ZERO;
    for digit in digits.iter().rev() {
        number = (number << L::BITS) | BigUint::from(digit.to_u64());
    }
    number
}

/// Converts to exactly this many digits. The number must fit.
pub(crate) fn to_limbs<L: Limb>(number: &BigUint, digits: usize) -> Vec<L> {
    assert!(number.bits() <= digits as u64 * u64::from(L::BITS), "{number} does not fit");
    let words = number.to_u64_digits();
    let per_word = (64 / L::BITS) as usize;
    (0..digits)
        .map(|i| L::from_u64(words.get(i / per_word).copied().unwrap_or(0) >> (i % per_word * L::BITS as usize)))
        .collect()
}

/// xorshift64*, so that every run is the same.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(0x9e37_79b9_7f4a_7c15 ^ seed)
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn digits<L: Limb>(&mut self, count: usize) -> Vec<L> {
        (0..count).map(|_| L::from_u64(self.word() >> 7)).collect()
    }

    /// A random number below the limit.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        ((self.word() >> 11) % limit as u64) as usize
    }

    /// A random odd number with the highest bit set.
    pub(crate) fn odd<L: Limb>(&mut self, count: usize) -> Vec<L> {
        let mut digits = self.digits::<L>(count);
        digits[0] = digits[0] | L::ONE;
        digits[count - 1] = digits[count - 1] | (L::ONE << (L::BITS - 1));
        digits
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.iter_mut().for_each(|byte| *byte = (self.word() >> 32) as u8);
        Ok(())
    }
}

/// Odd moduli of exactly this many digits: the largest and the smallest, long runs of ones and zeros, random ones.
pub(crate) fn boundary_moduli<L: Limb>(digits: usize, random: &mut Random) -> Vec<Vec<L>> {
    let mut smallest = vec![L::ZERO; digits];
    (smallest[0], smallest[digits - 1]) = (L::ONE, L::ONE);
    let mut half = smallest.clone();
    half[digits - 1] = L::ONE << (L::BITS - 1);
    let mut ones_below = vec![L::MAX; digits];
    ones_below[digits - 1] = L::ONE;
    let mut ones_above = vec![L::ZERO; digits];
    (ones_above[0], ones_above[digits - 1]) = (L::ONE, L::MAX);
    let mut low_bits = vec![L::MAX; digits];
    low_bits[0] = L::ONE;
    let mut shorter = random.odd::<L>(digits);
    shorter[digits - 1] = L::from_u64(5);
    vec![vec![L::MAX; digits], smallest, half, ones_below, ones_above, low_bits, shorter, random.odd(digits)]
}

/// Values below the modulus: 0, 1, 2, the largest ones, neighbours of powers of two near the middle, random ones.
pub(crate) fn values_below(modulus: &BigUint, random: &mut Random) -> Vec<BigUint> {
    let bits = modulus.bits();
    let power = |exponent: u64| BigUint::from(1u32) << exponent;
    let mut values = vec![
        BigUint::ZERO,
        1u32.into(),
        2u32.into(),
        modulus - 1u32,
        modulus - 2u32,
        modulus >> 1u32,
        power(bits - 1) - 1u32,
        power(bits / 2),
        power(bits / 2) - 1u32,
    ];
    for _ in 0..3 {
        values.push(number(&random.digits::<u64>(bits.div_ceil(64) as usize + 1)) % modulus);
    }
    values
}

/// All ones, zeros, one, runs of ones, and random digits.
pub(crate) fn numbers<L: Limb>(digits: usize, random: &mut Random) -> Vec<Vec<L>> {
    let mut one = vec![L::ZERO; digits];
    one[0] = L::ONE;
    let mut numbers = boundary_moduli(digits, random);
    numbers.extend([one, vec![L::ZERO; digits], random.digits(digits), random.digits(digits)]);
    numbers
}
