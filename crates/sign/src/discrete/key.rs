//! Keys of DSA and Schnorr signatures: y = g^x modulo p.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::{Group, GroupSize, Kind};
use crate::Error;
use crate::integer::{self, Number};
use crate::random;

/// A public key. Cloning is cheap.
pub struct PublicKey<K: Kind> {
    group: Group,
    y: Arc<Vec<u64>>,
    kind: PhantomData<K>,
}

impl<K: Kind> PublicKey<K> {
    /// Makes a key from a big-endian y.
    ///
    /// # Errors
    /// `WrongPublicValue` unless 1 < y < p and y^q = 1 modulo p.
    pub fn new(group: Group, y: &[u8]) -> Result<Self, Error> {
        if y.len() > group.element_bytes() + 1 {
            return Err(Error::WrongPublicValue);
        }
        let y = integer::from_bytes(y);
        let in_range = integer::is_less(&[1], &y) && integer::is_less(&y, group.p().as_limbs());
        if !in_range || !integer::is_equal(&group.p().power_vartime(&y, group.q().as_limbs()), &[1]) {
            return Err(Error::WrongPublicValue);
        }
        let group = group.shared();
        let limbs = group.p().limbs();
        let y = integer::padded(&y[..y.len().min(limbs)], limbs).to_vec();
        Ok(Self { group, y: Arc::new(y), kind: PhantomData })
    }

    /// The parameters p, q and g.
    #[must_use]
    pub fn group(&self) -> &Group {
        &self.group
    }

    pub(crate) fn y(&self) -> &[u64] {
        &self.y
    }

    /// y, big-endian, with the length of p.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        integer::to_bytes(&self.y, self.group.element_bytes()).to_vec()
    }
}

impl<K: Kind> Clone for PublicKey<K> {
    fn clone(&self) -> Self {
        Self { group: self.group.clone(), y: Arc::clone(&self.y), kind: PhantomData }
    }
}

impl<K: Kind> PartialEq for PublicKey<K> {
    fn eq(&self, other: &Self) -> bool {
        self.y == other.y && self.group == other.group
    }
}

impl<K: Kind> Eq for PublicKey<K> {}

impl<K: Kind> fmt::Debug for PublicKey<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} public key of {} bits", K::NAME, self.group.bits())
    }
}

/// A private key. Wiped when the last clone is dropped; cloning is cheap.
pub struct PrivateKey<K: Kind> {
    public: PublicKey<K>,
    x: Arc<Number>,
}

impl<K: Kind> PrivateKey<K> {
    /// Makes a key from a big-endian x.
    ///
    /// # Errors
    /// `WrongPrivateValues` unless 0 < x < q; `WrongGroup` if p or q is not a prime; `Random` when the system has no
    /// randomness to test that.
    pub fn new(group: Group, x: &[u8]) -> Result<Self, Error> {
        if x.len() > group.scalar_bytes() + 1 {
            return Err(Error::WrongPrivateValues);
        }
        let x = integer::from_bytes(x);
        if integer::is_zero(&x) || !integer::is_less(&x, group.q().as_limbs()) {
            return Err(Error::WrongPrivateValues);
        }
        let group = group.shared();
        group.check_primes()?;
        let limbs = group.q().limbs();
        Ok(Self::from_scalar(group, integer::padded(&x[..x.len().min(limbs)], limbs)))
    }

    /// Generates a key in a published group.
    ///
    /// # Errors
    /// `Random` when the system has no randomness.
    pub fn generate(size: GroupSize) -> Result<Self, Error> {
        let group = Group::published(size).clone();
        // FIPS 186-4, B.1.1: 64 more bits than q has, so that all values are almost equally likely; then reduced to 1 to q − 1.
        let limbs = group.q().limbs();
        let seed = random::number(64 * (limbs + 1))?;
        let before = integer::less_one(group.q().as_limbs());
        let mut x = integer::remainder(&seed, &before);
        integer::add_assign(&mut x, &[1]);
        Ok(Self::from_scalar(group, x))
    }

    fn from_scalar(group: Group, x: Number) -> Self {
        let y = Arc::new(group.p().power(group.g(), &x));
        Self { public: PublicKey { group, y, kind: PhantomData }, x: Arc::new(x) }
    }

    /// The corresponding public key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey<K> {
        &self.public
    }

    pub(crate) fn x(&self) -> &[u64] {
        &self.x
    }

    /// x, big-endian, with the length of q.
    pub(crate) fn scalar(&self) -> Zeroizing<Vec<u8>> {
        integer::to_bytes(&self.x, self.public.group.scalar_bytes())
    }
}

impl<K: Kind> Clone for PrivateKey<K> {
    fn clone(&self) -> Self {
        Self { public: self.public.clone(), x: Arc::clone(&self.x) }
    }
}

impl<K: Kind> fmt::Debug for PrivateKey<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} private key of {} bits", K::NAME, self.public.group.bits())
    }
}
