//! Signatures that rest on the discrete logarithm: [`Dsa`] (FIPS 186-4) and [`Schnorr`], in the same groups.
//!
//! A key belongs to one of the two, by its type here and by its algorithm identifier in files. One key and one nonce
//! under both schemes would give the key away: two equations, two unknowns. So the derivation of nonces takes the
//! scheme's name as well.

mod group;
mod key;
mod nonce;
mod published;
mod sign;

pub use group::{Group, GroupSize};
pub use key::{PrivateKey, PublicKey};
pub(crate) use sign::{AnyPrivate, AnyPublic, SignJob, VerifyJob, sign_batch, verify_batch};
#[cfg(test)]
pub(crate) use sign::{sign_batch_with, sign_with};

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Dsa {}
    impl Sealed for super::Schnorr {}
}

/// What a key is for: [`Dsa`] or [`Schnorr`].
pub trait Kind: sealed::Sealed + Copy + std::fmt::Debug + 'static {
    /// The scheme's name in messages.
    const NAME: &'static str;
}

/// DSA: FIPS 186-4, section 4, with nonces by RFC 6979 and fresh randomness in them (its section 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dsa;

/// Schnorr signatures: the challenge and the response, key-prefixed (`docs/explanation/signatures.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schnorr;

impl Kind for Dsa {
    const NAME: &'static str = "DSA";
}

impl Kind for Schnorr {
    const NAME: &'static str = "Schnorr";
}
