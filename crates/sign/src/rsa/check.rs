//! Checks that the numbers of a private key match. A key that fails here never signs.
//!
//! It does not check that p and q are primes: if they were not, no signature would pass the check before its release.

use std::sync::Arc;

use tress_modular::{Modulus, reveal};

use super::{Half, PrivateKey, PrivateParts, PrivateValues, PublicKey};
use crate::Error;
use crate::integer::{self, Number};

pub(super) fn private_key(public: PublicKey, parts: &PrivateParts<'_>) -> Result<PrivateKey, Error> {
    let modulus = public.modulus.as_limbs();
    // Values longer than the modulus are rejected, so that the time is bounded by the length of the key.
    let number = |bytes: &[u8], wrong| {
        let number = stripped(bytes);
        if number.len() > modulus.len() { Err(wrong) } else { Ok(number) }
    };
    let p = prime(&number(parts.prime1, Error::WrongPrimes)?)?;
    let q = prime(&number(parts.prime2, Error::WrongPrimes)?)?;
    if integer::is_equal(p.as_limbs(), q.as_limbs()) {
        return Err(Error::EqualPrimes);
    }
    if !integer::is_equal(&integer::multiply(p.as_limbs(), q.as_limbs()), modulus) {
        return Err(Error::WrongPrimes);
    }

    let wrong = Error::WrongPrivateValues;
    let d = number(parts.private_exponent, wrong)?;
    if !integer::is_less(&d, modulus) {
        return Err(wrong);
    }
    let p = half(p, &number(parts.exponent1, wrong)?, &d, public.exponent)?;
    let q = half(q, &number(parts.exponent2, wrong)?, &d, public.exponent)?;
    let coefficient = number(parts.coefficient, wrong)?;
    let is_inverse = integer::is_equal(&p.prime.multiply(&coefficient, q.prime.as_limbs()), &[1]);
    if !(integer::is_less(&coefficient, p.prime.as_limbs()) && is_inverse) {
        return Err(wrong);
    }
    let coefficient = integer::padded(&coefficient[..coefficient.len().min(p.prime.limbs())], p.prime.limbs());
    Ok(PrivateKey { public, secret: Arc::new(PrivateValues { d, p, q, coefficient }) })
}

/// The number without leading zero bytes. Their count is public, because encoders write none.
fn stripped(bytes: &[u8]) -> Number {
    integer::from_bytes(&bytes[bytes.iter().take_while(|byte| reveal(**byte == 0)).count()..])
}

/// A prime must be odd and above 2^64, the lower limit of a `Modulus`. The two primes may have different lengths.
fn prime(prime: &[u64]) -> Result<Modulus, Error> {
    Modulus::new(prime).map_err(|_| Error::WrongPrimes)
}

/// The exponent for one prime must be d reduced, and the inverse of e.
fn half(prime: Modulus, exponent: &[u64], d: &[u64], e: u64) -> Result<Half, Error> {
    let order = integer::less_one(prime.as_limbs());
    let reduced = integer::remainder(d, &order);
    let one = integer::remainder(&integer::multiply(&reduced, &[e]), &order);
    if !(integer::is_equal(exponent, &reduced) && integer::is_equal(&one, &[1])) {
        return Err(Error::WrongPrivateValues);
    }
    Ok(Half::new(prime, reduced))
}
