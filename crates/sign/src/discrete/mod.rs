//! Signatures based on the discrete logarithm: [`Dsa`] (FIPS 186-4) and [`Schnorr`], in the same groups.
//!
//! A key belongs to one of the two schemes: by its type here, and by its algorithm identifier in files. Using one key and one nonce with
//! both schemes would reveal the key: two equations with two unknowns. So the derivation of nonces includes the scheme's name.

mod group;
mod key;
mod nonce;
mod sign;

pub use group::{Group, GroupSize};
pub use key::{PrivateKey, PublicKey};
pub(crate) use sign::{AnyPrivate, AnyPublic, DiscreteSignJob, DiscreteVerifyJob, sign_batch, verify_batch};
#[cfg(test)]
pub(crate) use sign::{sign_batch_with, sign_with};

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Dsa {}
    impl Sealed for super::Schnorr {}
}

/// Scheme of a key: [`Dsa`] or [`Schnorr`].
pub trait Kind: sealed::Sealed + Copy + std::fmt::Debug + 'static {
    /// Name of the scheme in messages.
    const NAME: &'static str;
}

/// DSA: FIPS 186-4, section 4, with nonces by RFC 6979, to which fresh randomness is added (its section 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dsa;

/// Schnorr signatures: challenge and response, where the challenge includes the public key (`docs/explanation/signatures.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schnorr;

impl Kind for Dsa {
    const NAME: &'static str = "DSA";
}

impl Kind for Schnorr {
    const NAME: &'static str = "Schnorr";
}
