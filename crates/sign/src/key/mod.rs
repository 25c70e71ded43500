//! Keys of all schemes, and key files: PKCS #1, PKCS #8 (encrypted keys are only read), SubjectPublicKeyInfo, OpenSSL's own for DSA (only
//! read), as DER and PEM.

mod encrypted;
mod pem;
mod read;
mod write;

pub use encrypted::EncryptedKey;
pub use read::KeyFile;

use crate::{discrete, rsa};

/// A private key.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PrivateKey {
    /// For PKCS #1 v1.5 and PSS.
    Rsa(rsa::PrivateKey),
    /// For DSA.
    Dsa(discrete::PrivateKey<discrete::Dsa>),
    /// For Schnorr signatures.
    Schnorr(discrete::PrivateKey<discrete::Schnorr>),
}

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublicKey {
    /// For PKCS #1 v1.5 and PSS.
    Rsa(rsa::PublicKey),
    /// For DSA.
    Dsa(discrete::PublicKey<discrete::Dsa>),
    /// For Schnorr signatures.
    Schnorr(discrete::PublicKey<discrete::Schnorr>),
}

impl PrivateKey {
    /// The corresponding public key.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        match self {
            Self::Rsa(key) => PublicKey::Rsa(key.public_key().clone()),
            Self::Dsa(key) => PublicKey::Dsa(key.public_key().clone()),
            Self::Schnorr(key) => PublicKey::Schnorr(key.public_key().clone()),
        }
    }
}
