//! Generates keys by FIPS 186-5, A.1.1 and A.1.3: random probable primes, e = 65537.

use std::sync::Arc;

use tress_modular::{Modulus, prime};
use zeroize::Zeroizing;

use super::{Half, MAX_BITS, MIN_SIGN_BITS, PrivateKey, PrivateValues, PublicKey};
use crate::Error;
use crate::integer::{self, Number};
use crate::random;

/// F4, a prime.
const PUBLIC_EXPONENT: u64 = 65537;

pub(super) fn generate(bits: usize) -> Result<PrivateKey, Error> {
    // The two primes have half the length each.
    if !(MIN_SIGN_BITS..=MAX_BITS).contains(&bits) || !bits.is_multiple_of(2) {
        return Err(Error::ModulusLength);
    }
    let prime = || -> Result<Number, Error> {
        let suits = |candidate: &[u64]| *integer::remainder(candidate, &[PUBLIC_EXPONENT]) != [1];
        Ok(Zeroizing::new(prime::random_prime(bits / 2, suits, &mut |bytes: &mut [u8]| random::fill(bytes))?))
    };
    loop {
        let (p, q) = (prime()?, prime()?);
        // A.1.3, step 5.4: primes that are close together are found by Fermat's method. The greater one becomes p.
        let (p, q) = if integer::is_less(&p, &q) { (q, p) } else { (p, q) };
        let mut distance = p.clone();
        tress_modular::add::subtract_assign(&mut distance, &q);
        if integer::bits(&distance) <= bits / 2 - 100 {
            continue;
        }
        if let Some(key) = from_primes(&p, &q)? {
            return Ok(key);
        }
    }
}

/// Makes a key from two primes; `None` if d is too short (A.1.1, step 3).
fn from_primes(p: &[u64], q: &[u64]) -> Result<Option<PrivateKey>, Error> {
    let public = PublicKey::from_limbs(&integer::multiply(p, q), PUBLIC_EXPONENT)?;
    let (before_p, before_q) = (integer::less_one(p), integer::less_one(q));
    let d = inverse(&least_common_multiple(&before_p, &before_q));
    if integer::bits(&d) <= public.bits() / 2 {
        return Ok(None);
    }
    let half = |prime: &[u64], order: &[u64]| -> Result<Half, Error> {
        let prime = Modulus::new(prime).map_err(|_| Error::Fault)?;
        Ok(Half::new(prime, integer::remainder(&d, order)))
    };
    let (p, q) = (half(p, &before_p)?, half(q, &before_q)?);
    let coefficient = Zeroizing::new(p.prime.inverse(q.prime.as_limbs()).ok_or(Error::Fault)?);
    Ok(Some(PrivateKey { public, secret: Arc::new(PrivateValues { d, p, q, coefficient }) }))
}

/// `1 / 65537` modulo an order that 65537 does not divide: a multiple of the order plus 1, chosen to be divisible by 65537, divided by
/// 65537.
fn inverse(order: &[u64]) -> Number {
    let rest = integer::remainder(order, &[PUBLIC_EXPONENT])[0];
    // −1 / rest modulo 65537, by Fermat's theorem.
    let mut factor = PUBLIC_EXPONENT - 1;
    for _ in 0..PUBLIC_EXPONENT - 2 {
        factor = factor * rest % PUBLIC_EXPONENT;
    }
    let mut product = integer::multiply(order, &[factor]);
    integer::add_assign(&mut product, &[1]);
    let mut quotient = divide(&product, &[PUBLIC_EXPONENT]);
    quotient.truncate(order.len());
    quotient
}

/// Divides bit by bit, and returns the quotient.
fn divide(value: &[u64], divisor: &[u64]) -> Number {
    let mut quotient = Zeroizing::new(vec![0; value.len()]);
    integer::divide(value, divisor, |position, bit| quotient[position / 64] |= bit << (position % 64));
    quotient
}

/// The least common multiple of p − 1 and q − 1.
fn least_common_multiple(a: &[u64], b: &[u64]) -> Number {
    let divisor = greatest_common_divisor(a, b);
    integer::multiply(a, &divide(b, &divisor))
}

/// The binary algorithm, for two numbers that are not 0. Its time depends on the numbers, but it runs once in the life of a key, so no
/// measurement can be repeated.
fn greatest_common_divisor(a: &[u64], b: &[u64]) -> Number {
    use tress_modular::add;
    let (mut a, mut b) = (Zeroizing::new(a.to_vec()), Zeroizing::new(b.to_vec()));
    let mut twos = 0;
    while (a[0] | b[0]) & 1 == 0 {
        add::halve(&mut a, 0);
        add::halve(&mut b, 0);
        twos += 1;
    }
    while !integer::is_zero(&b) {
        while a[0] & 1 == 0 {
            add::halve(&mut a, 0);
        }
        while b[0] & 1 == 0 {
            add::halve(&mut b, 0);
        }
        if integer::is_less(&b, &a) {
            std::mem::swap(&mut a, &mut b);
        }
        add::subtract_assign(&mut b, &a);
    }
    for _ in 0..twos {
        add::double(&mut a);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_and_inverses() {
        assert_eq!(*greatest_common_divisor(&[2 * 2 * 3 * 7, 0], &[2 * 2 * 2 * 7 * 11, 0]), [28, 0]);
        assert_eq!(*least_common_multiple(&[12], &[18]), [36, 0]);
        // 3 · 2^64 + 5 = 55340232221128654853
        assert_eq!(*divide(&[5, 3], &[10]), [5_534_023_222_112_865_485, 0]);
        // 65537 · 61 = 3997757, and 61 · 65537 is 1 modulo 3997756.
        assert_eq!(*inverse(&[3_997_756]), [61]);
    }
}
