//! RSA signatures: PKCS #1 v1.5 and PSS (RFC 8017), with keys of two primes.
//!
//! Only digests are signed; [`crate::Scheme`] determines the hash function.

mod check;
mod generate;
mod identifier;
pub(crate) mod operation;
pub(crate) mod pkcs1v15;
pub(crate) mod pss;
mod sign;

use std::fmt;
use std::sync::Arc;

use tress_modular::Modulus;
use zeroize::Zeroizing;

pub(crate) use identifier::RsaIdentifier;
pub use sign::SaltLength;
pub(crate) use sign::{Padding, RsaSignJob, RsaVerifyJob, sign_batch, verify_batch};

use crate::Error;
use crate::integer::{self, Number};

/// Shortest modulus for verifying, in bits.
pub const MIN_VERIFY_BITS: usize = 1024;
/// Shortest modulus for signing, in bits.
pub const MIN_SIGN_BITS: usize = 2048;
/// Longest modulus, in bits.
pub const MAX_BITS: usize = 8192;

/// A public key, n and e. Cloning it is cheap.
#[derive(Clone)]
pub struct PublicKey {
    modulus: Arc<Modulus>,
    exponent: u64,
    identifier: RsaIdentifier,
}

impl PublicKey {
    /// Makes a key from big-endian numbers.
    ///
    /// # Errors
    /// `ModulusTooShort` below 1024 bits, `ModulusTooLong` above 8192, `ModulusEven`; `PublicExponent` unless e is odd,
    /// at least 3 and at most 64 bits long.
    pub fn new(modulus: &[u8], exponent: &[u8]) -> Result<Self, Error> {
        let exponent = integer::from_bytes(exponent);
        if integer::bits(&exponent) > 64 {
            return Err(Error::PublicExponent);
        }
        // Checked before the number is converted, because it may have any length.
        let stripped = &modulus[modulus.iter().take_while(|byte| **byte == 0).count()..];
        if stripped.len() * 8 > MAX_BITS {
            return Err(Error::ModulusTooLong);
        }
        Self::from_limbs(&integer::from_bytes(stripped), exponent.first().copied().unwrap_or(0))
    }

    fn from_limbs(modulus: &[u64], exponent: u64) -> Result<Self, Error> {
        if integer::bits(modulus) < MIN_VERIFY_BITS {
            return Err(Error::ModulusTooShort);
        }
        if integer::bits(modulus) > MAX_BITS {
            return Err(Error::ModulusTooLong);
        }
        if exponent < 3 || exponent.is_multiple_of(2) {
            return Err(Error::PublicExponent);
        }
        // The length is valid, so this is the only remaining cause.
        let modulus = Modulus::new(modulus).map_err(|_| Error::ModulusEven)?;
        Ok(Self { modulus: Arc::new(modulus), exponent, identifier: RsaIdentifier::Any })
    }

    /// Length of the modulus in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.modulus.bits()
    }

    /// Length of a signature in bytes.
    #[must_use]
    pub fn signature_bytes(&self) -> usize {
        self.bits().div_ceil(8)
    }

    /// n, big-endian.
    #[must_use]
    pub fn modulus(&self) -> Vec<u8> {
        integer::to_bytes(self.modulus.as_limbs(), self.signature_bytes()).to_vec()
    }

    /// e.
    #[must_use]
    pub fn exponent(&self) -> u64 {
        self.exponent
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        (self.exponent, self.identifier) == (other.exponent, other.identifier)
            && self.modulus.as_limbs() == other.modulus.as_limbs()
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RSA public key of {} bits", self.bits())
    }
}

/// The numbers of a private key as in PKCS #1, big-endian.
#[derive(Clone, Copy)]
pub struct PrivateParts<'a> {
    /// n
    pub modulus: &'a [u8],
    /// e
    pub public_exponent: &'a [u8],
    /// d
    pub private_exponent: &'a [u8],
    /// p
    pub prime1: &'a [u8],
    /// q
    pub prime2: &'a [u8],
    /// d mod (p − 1)
    pub exponent1: &'a [u8],
    /// d mod (q − 1)
    pub exponent2: &'a [u8],
    /// 1 / q mod p
    pub coefficient: &'a [u8],
}

/// A private key with two primes. Wiped when the last clone is dropped; cloning is cheap.
#[derive(Clone)]
pub struct PrivateKey {
    public: PublicKey,
    secret: Arc<PrivateValues>,
}

struct PrivateValues {
    d: Number,
    p: Half,
    q: Half,
    /// 1 / q mod p
    coefficient: Number,
}

/// The values for one prime.
struct Half {
    prime: Modulus,
    /// d mod (prime − 1)
    exponent: Number,
    /// The exponent minus 1, for the blinded power ([`operation`]).
    less_one: Number,
}

impl PrivateKey {
    /// Makes a key from its numbers.
    ///
    /// # Errors
    /// The errors of [`PublicKey::new`], where the minimum is 2048 bits; `EqualPrimes`, `WrongPrimes`, `WrongPrivateValues` if the numbers
    /// do not match.
    pub fn new(parts: &PrivateParts<'_>) -> Result<Self, Error> {
        let public = PublicKey::new(parts.modulus, parts.public_exponent)?;
        if public.bits() < MIN_SIGN_BITS {
            return Err(Error::ModulusTooShort);
        }
        check::private_key(public, parts)
    }

    /// Generates a key with a modulus of `bits` bits, an even number from 2048 to 8192, and e = 65537.
    ///
    /// ```no_run
    /// let key = tress_sign::PrivateKey::Rsa(tress_sign::rsa::PrivateKey::generate(3072)?);
    /// std::fs::write("key.pem", key.to_pem())?; // With the permissions of any new file.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `ModulusLength` for other lengths; `Random` when the system has no randomness.
    pub fn generate(bits: usize) -> Result<Self, Error> {
        generate::generate(bits)
    }

    /// The corresponding public key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    pub(crate) fn with_identifier(self, identifier: RsaIdentifier) -> Self {
        Self { public: self.public.with_identifier(identifier), ..self }
    }

    /// d, p, q, d mod (p − 1), d mod (q − 1), 1 / q mod p, each without leading zeros, but at least one byte long.
    pub(crate) fn private_values(&self) -> [Zeroizing<Vec<u8>>; 6] {
        let secret = &self.secret;
        let numbers: [&[u64]; 6] = [
            &secret.d,
            secret.p.prime.as_limbs(),
            secret.q.prime.as_limbs(),
            &secret.p.exponent,
            &secret.q.exponent,
            &secret.coefficient,
        ];
        numbers.map(|number| integer::to_bytes(number, integer::bits(number).div_ceil(8).max(1)))
    }
}

impl Half {
    fn new(prime: Modulus, exponent: Number) -> Self {
        let less_one = integer::less_one(&exponent);
        Self { prime, exponent, less_one }
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RSA private key of {} bits", self.public.bits())
    }
}
