//! Probable primes: tests and generation by FIPS 186-5, appendices B.3 and A.1.3. A test consists of Miller and Rabin's test with random
//! bases, then Lucas's test. No composite number is known that passes both, even with one base (R. Baillie, S. S. Wagstaff, Lucas
//! pseudoprimes, Mathematics of Computation 35, 1980).

use alloc::vec;
use alloc::vec::Vec;

mod lucas;

use zeroize::{Zeroize, Zeroizing};

use crate::{Error, Modulus, add, reveal};

/// Number of rounds of Miller and Rabin's test for a random candidate of this length (FIPS 186-5, table B.1): an error below 2^−100 from
/// 512 bits on, 2^−112 from 1024, 2^−128 from 1536. A candidate from an untrusted source needs 64.
pub const fn rounds(bits: usize) -> usize {
    match bits {
        0..512 => 64,
        512..1024 => 7,
        1024..1536 => 5,
        _ => 4,
    }
}

/// Why it could not be determined whether a number is a prime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrimeError<E> {
    /// The number has more than 8192 bits. This does not mean that it is composite.
    TooLong,
    /// The source of randomness failed.
    Random(E),
}

impl<E> From<E> for PrimeError<E> {
    fn from(error: E) -> Self {
        Self::Random(error)
    }
}

/// Whether the number is probably a prime, with an error of at most 4^−rounds: it has no small divisors, and passes Miller and Rabin's test
/// with random bases (FIPS 186-5, B.3.1) and Lucas's test (B.3.3). `fill` fills memory with random bytes.
///
/// For a prime N, the time depends on its length, on how often 2 divides N − 1, and on the first small number whose Jacobi symbol is −1.
/// For other numbers it may depend on more.
///
/// # Errors
/// `TooLong` for more than 8192 bits; `Random` with the error of `fill`.
pub fn is_probable_prime<E>(
    candidate: &[u64],
    rounds: usize,
    fill: &mut impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<bool, PrimeError<E>> {
    let modulus = match Modulus::new(candidate) {
        Ok(modulus) => modulus,
        Err(Error::OneDigit) => return Ok(is_prime_of_one_digit(candidate[0])),
        Err(Error::Even) => return Ok(candidate[0] == 2 && candidate[1..].iter().all(|&digit| digit == 0)),
        Err(Error::TooLong) => return Err(PrimeError::TooLong),
        // 0, or no digits.
        Err(_) => return Ok(false),
    };
    Ok(!has_small_divisor(modulus.as_limbs()) && passes(&modulus, rounds, fill)?)
}

/// Miller and Rabin's test, then Lucas's, for a number without small divisors.
fn passes<E>(modulus: &Modulus, rounds: usize, fill: &mut impl FnMut(&mut [u8]) -> Result<(), E>) -> Result<bool, E> {
    let n = modulus.limbs();
    let mut one = vec![0; n];
    one[0] = 1;
    // N − 1 = 2^twos · odd
    let mut minus_one = Zeroizing::new(modulus.as_limbs().to_vec());
    minus_one[0] -= 1;
    let mut odd = minus_one.clone();
    let mut twos = 0;
    while reveal(odd[0] & 1) == 0 {
        add::halve(&mut odd, 0);
        twos += 1;
    }
    for _ in 0..rounds {
        let base = Zeroizing::new(random_base(modulus, &minus_one, fill)?);
        let mut power = Zeroizing::new(modulus.power(&base, &odd));
        let mut passed = add::is_equal(&power, &one) | add::is_equal(&power, &minus_one);
        for _ in 1..twos {
            power = Zeroizing::new(modulus.multiply(&power, &power));
            passed |= add::is_equal(&power, &minus_one);
        }
        if reveal(passed) == 0 {
            return Ok(false);
        }
    }
    Ok(lucas::is_probable_prime(modulus))
}

/// A random number from 2 to N − 2.
fn random_base<E>(
    modulus: &Modulus,
    minus_one: &[u64],
    fill: &mut impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<Vec<u64>, E> {
    let mut base = vec![0; modulus.limbs()];
    let mut one = vec![0; modulus.limbs()];
    one[0] = 1;
    loop {
        random_bits(&mut base, modulus.bits(), fill)?;
        if reveal(add::is_less(&one, &base) & add::is_less(&base, minus_one)) == 1 {
            return Ok(base);
        }
    }
}

/// Sets the lowest `bits` bits of the number to random values, and all others to 0.
fn random_bits<E>(number: &mut [u64], bits: usize, fill: &mut impl FnMut(&mut [u8]) -> Result<(), E>) -> Result<(), E> {
    let mut bytes = [0; 8];
    for digit in number.iter_mut() {
        fill(&mut bytes)?;
        *digit = u64::from_le_bytes(bytes);
    }
    bytes.zeroize();
    let top = bits.div_ceil(64);
    number[top..].fill(0);
    number[top - 1] &= u64::MAX >> (64 * top - bits);
    Ok(())
}

/// A random prime of exactly this many bits, 128 to 8192, that `accept` accepts. FIPS 186-5, A.1.3, generates the factors of an RSA modulus
/// in this way; as there, the lower bound is 2^(bits − 1) · √2.
///
/// `accept` is called before the expensive tests. It sees the candidate, and checks for example whether the public exponent is coprime to
/// the candidate − 1. Its time may reveal candidates that were rejected.
///
/// ```no_run
/// use std::{fs::File, io::Read};
///
/// let mut system = File::open("/dev/urandom")?;
/// let prime = tress_modular::prime::random_prime(1024, |_| true, &mut |bytes| system.read_exact(bytes))?;
/// assert_eq!(prime.len(), 16);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Panics
/// If the number of bits is not 128 to 8192.
pub fn random_prime<E>(
    bits: usize,
    mut accept: impl FnMut(&[u64]) -> bool,
    fill: &mut impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<Vec<u64>, E> {
    assert!((128..=8192).contains(&bits), "primes of 128 to 8192 bits");
    // The highest 64 bits of √2 · 2^(bits − 1), rounded up.
    const SQUARE_ROOT: u64 = 0xb504_f333_f9de_6485;
    let mut candidate = Zeroizing::new(vec![0; bits.div_ceil(64)]);
    loop {
        random_bits(&mut candidate, bits, fill)?;
        candidate[0] |= 1;
        let mut top = 0;
        for position in bits - 64..bits {
            top |= add::bit(&candidate, position) << (position + 64 - bits);
        }
        let big_enough = reveal(add::is_less(&[SQUARE_ROOT - 1], &[top])) == 1;
        if big_enough
            && !has_small_divisor(&candidate)
            && accept(&candidate)
            && passes(&Modulus::new(&candidate).expect("odd, of 128 to 8192 bits"), rounds(bits), fill)?
        {
            return Ok(core::mem::take(&mut *candidate));
        }
    }
}

/// Upper bound of the odd primes that are tried as divisors.
const SMALL: usize = 1 << 11;
const SMALL_PRIMES: usize = 308;

/// The odd primes below `SMALL`.
const PRIMES: [u16; SMALL_PRIMES] = {
    let mut composite = [false; SMALL];
    let (mut primes, mut count, mut i) = ([0; SMALL_PRIMES], 0, 3);
    while i < SMALL {
        if !composite[i] {
            primes[count] = i as u16;
            count += 1;
            let mut multiple = i * i;
            while multiple < SMALL {
                composite[multiple] = true;
                multiple += 2 * i;
            }
        }
        i += 2;
    }
    assert!(count == SMALL_PRIMES);
    primes
};

/// Whether a small odd prime divides the number, which must have more than one digit. No division instruction processes the number.
fn has_small_divisor(number: &[u64]) -> bool {
    PRIMES.iter().any(|prime| reveal(crate::Limb::is_zero(small_remainder(number, u64::from(*prime)))) == 1)
}

/// The number modulo a public divisor below 2^32, by multiplication with a reciprocal.
fn small_remainder(number: &[u64], divisor: u64) -> u64 {
    let reciprocal = u64::MAX / divisor;
    let mut rest = 0u64;
    for &digit in number.iter().rev() {
        for half in [digit >> 32, digit & 0xffff_ffff] {
            let value = (rest << 32) | half;
            let quotient = ((u128::from(value) * u128::from(reciprocal)) >> 64) as u64;
            // The quotient is at most 1 too small.
            rest = value - quotient * divisor;
            let (less, borrow) = rest.overflowing_sub(divisor);
            rest = crate::Limb::select(crate::Limb::mask(u64::from(borrow)), rest, less);
        }
    }
    rest
}

/// Trial by division, for small numbers only.
fn is_prime_of_one_digit(number: u64) -> bool {
    // These bases suffice for all numbers below 2^64 (Sorenson and Webster, Strong pseudoprimes to twelve prime bases).
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if number < 2 || BASES.contains(&number) {
        return number >= 2;
    }
    if BASES.iter().any(|base| number.is_multiple_of(*base)) {
        return false;
    }
    let multiply = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(number)) as u64;
    let twos = (number - 1).trailing_zeros();
    BASES.iter().all(|&base| {
        let (mut power, mut square, mut exponent) = (1, base, (number - 1) >> twos);
        while exponent > 0 {
            if exponent & 1 == 1 {
                power = multiply(power, square);
            }
            square = multiply(square, square);
            exponent >>= 1;
        }
        let mut passed = power == 1;
        for _ in 0..twos {
            passed |= power == number - 1;
            power = multiply(power, power);
        }
        passed
    })
}
