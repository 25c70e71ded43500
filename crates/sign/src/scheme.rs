//! Schemes, and keys with their scheme, with the traits of the crate `signature`.

use std::fmt;
use std::str::FromStr;

use signature::hazmat::{PrehashSigner, PrehashVerifier};
use signature::{Keypair, SignatureEncoding, Signer, Verifier};
use tress_lanes::wipe_stack;

use crate::batch::{self, SignJob, VerifyJob};
use crate::rsa::{RsaIdentifier, SaltLength};
use crate::{Error, Hash, PrivateKey, PublicKey};

/// A signature scheme: the algorithm and the hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheme {
    /// RSASSA-PSS (RFC 8017) with MGF1.
    RsaPss {
        /// Hash function for the message and for MGF1.
        hash: Hash,
        /// Length of the salt.
        salt: SaltLength,
    },
    /// RSASSA-PKCS1-v1_5 (RFC 8017).
    RsaPkcs1(Hash),
    /// DSA (FIPS 186-4), with nonces by RFC 6979 and fresh randomness. Signatures are DER.
    Dsa(Hash),
    /// Schnorr signatures with SHA-256. A signature consists of the challenge, 32 bytes, and the response, with the length of q.
    Schnorr,
}

impl Scheme {
    /// All schemes, those with SHA-256 first. PSS verifies salts of any length, because OpenSSL makes them as long as possible.
    pub const ALL: &[Scheme] = &[
        Scheme::RsaPss { hash: Hash::Sha256, salt: SaltLength::Any },
        Scheme::RsaPkcs1(Hash::Sha256),
        Scheme::Dsa(Hash::Sha256),
        Scheme::Schnorr,
        Scheme::RsaPss { hash: Hash::Sha384, salt: SaltLength::Any },
        Scheme::RsaPkcs1(Hash::Sha384),
        Scheme::Dsa(Hash::Sha384),
        Scheme::RsaPss { hash: Hash::Sha512, salt: SaltLength::Any },
        Scheme::RsaPkcs1(Hash::Sha512),
        Scheme::Dsa(Hash::Sha512),
    ];

    /// The hash function for messages.
    #[must_use]
    pub const fn hash(self) -> Hash {
        match self {
            Self::RsaPss { hash, .. } | Self::RsaPkcs1(hash) | Self::Dsa(hash) => hash,
            Self::Schnorr => Hash::Sha256,
        }
    }

    /// The default scheme of a key: PSS for RSA, and SHA-256, unless an RSA key names another hash function.
    #[must_use]
    pub const fn of(key: &PublicKey) -> Scheme {
        match key {
            PublicKey::Rsa(key) => match key.identifier() {
                RsaIdentifier::PssWith { hash, .. } => Self::RsaPss { hash, salt: SaltLength::Any },
                RsaIdentifier::Any | RsaIdentifier::Pss => Self::ALL[0],
            },
            PublicKey::Dsa(_) => Self::ALL[2],
            PublicKey::Schnorr(_) => Self::ALL[3],
        }
    }

    /// The name of the scheme, such as `rsa-pss-sha256`, without the salt's length.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RsaPss { hash: Hash::Sha256, .. } => "rsa-pss-sha256",
            Self::RsaPss { hash: Hash::Sha384, .. } => "rsa-pss-sha384",
            Self::RsaPss { hash: Hash::Sha512, .. } => "rsa-pss-sha512",
            Self::RsaPkcs1(Hash::Sha256) => "rsa-pkcs1-sha256",
            Self::RsaPkcs1(Hash::Sha384) => "rsa-pkcs1-sha384",
            Self::RsaPkcs1(Hash::Sha512) => "rsa-pkcs1-sha512",
            Self::Dsa(Hash::Sha256) => "dsa-sha256",
            Self::Dsa(Hash::Sha384) => "dsa-sha384",
            Self::Dsa(Hash::Sha512) => "dsa-sha512",
            Self::Schnorr => "schnorr-sha256",
        }
    }

    /// Checks that a key can be used with this scheme.
    fn check(self, key: &PublicKey) -> Result<(), Error> {
        let fits = match (self, key) {
            (Self::RsaPss { hash, salt }, PublicKey::Rsa(key)) => return key.salt_bytes(hash, salt).map(drop),
            (Self::RsaPkcs1(_), PublicKey::Rsa(key)) => key.identifier() == RsaIdentifier::Any,
            (Self::Dsa(_), PublicKey::Dsa(_)) | (Self::Schnorr, PublicKey::Schnorr(_)) => true,
            _ => false,
        };
        if fits { Ok(()) } else { Err(Error::WrongScheme) }
    }
}

impl fmt::Display for Scheme {
    /// Writes the name, and the salt's length if it is fixed: `rsa-pss-sha256:32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::RsaPss { salt: SaltLength::Bytes(bytes), .. } => write!(f, ":{bytes}"),
            Self::RsaPss { hash, salt: SaltLength::Digest } => write!(f, ":{}", hash.digest_bytes()),
            _ => Ok(()),
        }
    }
}

impl FromStr for Scheme {
    type Err = Error;

    /// Parses the name of one of [`Scheme::ALL`]. For PSS, a suffix `:N` sets the salt's length in bytes: `rsa-pss-sha256:32`.
    ///
    /// # Errors
    /// `UnknownScheme` for other texts. Names are in lower case.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, salt) = text.split_once(':').map_or((text, None), |(name, salt)| (name, Some(salt)));
        let scheme = Self::ALL.iter().copied().find(|scheme| scheme.name() == name).ok_or(Error::UnknownScheme)?;
        match (scheme, salt) {
            (scheme, None) => Ok(scheme),
            // Only digits, because a parsed number could have a sign.
            (Self::RsaPss { hash, .. }, Some(salt)) if salt.bytes().all(|byte| byte.is_ascii_digit()) => {
                let salt = SaltLength::Bytes(salt.parse().map_err(|_| Error::UnknownScheme)?);
                Ok(Self::RsaPss { hash, salt })
            }
            _ => Err(Error::UnknownScheme),
        }
    }
}

/// A signature in its file format: for RSA a number with the length of the modulus, for DSA DER, for Schnorr 60 or 64 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature(Vec<u8>);

impl Signature {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes of the signature.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Signature {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Signature> for Box<[u8]> {
    fn from(signature: Signature) -> Self {
        signature.0.into_boxed_slice()
    }
}

impl From<&[u8]> for Signature {
    /// Accepts any bytes. Verification checks whether they are a signature.
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl SignatureEncoding for Signature {
    type Repr = Box<[u8]>;
}

/// A private key with its scheme.
#[derive(Clone, Debug)]
pub struct SigningKey {
    key: PrivateKey,
    scheme: Scheme,
}

impl SigningKey {
    /// Makes a signing key for this scheme.
    ///
    /// # Errors
    /// `WrongScheme` unless the key fits the scheme and its algorithm identifier allows it; `SaltTooLong` if the salt does not fit into the
    /// key's signatures.
    pub fn new(key: PrivateKey, scheme: Scheme) -> Result<Self, Error> {
        scheme.check(&key.public_key())?;
        Ok(Self { key, scheme })
    }

    /// The private key.
    #[must_use]
    pub fn key(&self) -> &PrivateKey {
        &self.key
    }

    /// The scheme.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Signs digests made with the scheme's hash function, all of them in lanes together.
    ///
    /// # Errors
    /// For each digest: `DigestLength`, `Fault`, `Random`.
    #[must_use]
    pub fn sign_digests<D: AsRef<[u8]>>(&self, digests: &[D]) -> Vec<Result<Signature, Error>> {
        let jobs: Vec<SignJob<'_>> =
            digests.iter().map(|digest| SignJob { key: self, digest: digest.as_ref() }).collect();
        let signatures = batch::sign_share(&jobs);
        wipe_stack();
        signatures
    }
}

impl Keypair for SigningKey {
    type VerifyingKey = VerifyingKey;

    fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey { key: self.key.public_key(), scheme: self.scheme }
    }
}

impl PrehashSigner<Signature> for SigningKey {
    fn sign_prehash(&self, digest: &[u8]) -> Result<Signature, signature::Error> {
        Ok(self.sign_digests(&[digest]).pop().unwrap_or(Err(Error::Fault))?)
    }
}

impl Signer<Signature> for SigningKey {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, signature::Error> {
        self.sign_prehash(&self.scheme.hash().digest(message))
    }
}

/// A public key with its scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    key: PublicKey,
    scheme: Scheme,
}

impl VerifyingKey {
    /// Makes a verifying key for this scheme.
    ///
    /// # Errors
    /// `WrongScheme` unless the key fits the scheme and its algorithm identifier allows it; `SaltTooLong` if the salt does not fit into the
    /// key's signatures.
    pub fn new(key: PublicKey, scheme: Scheme) -> Result<Self, Error> {
        scheme.check(&key)?;
        Ok(Self { key, scheme })
    }

    /// The public key.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// The scheme.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Verifies the signature of a digest.
    ///
    /// # Errors
    /// `MalformedSignature`, `Mismatch`, `DigestLength`.
    pub fn verify_digest(&self, digest: &[u8], signature: &[u8]) -> Result<(), Error> {
        batch::verify_share(&[VerifyJob { key: self, digest, signature }]).pop().unwrap_or(Err(Error::Fault))
    }
}

impl PrehashVerifier<Signature> for VerifyingKey {
    fn verify_prehash(&self, digest: &[u8], signature: &Signature) -> Result<(), signature::Error> {
        Ok(self.verify_digest(digest, signature.as_bytes())?)
    }
}

impl Verifier<Signature> for VerifyingKey {
    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), signature::Error> {
        self.verify_prehash(&self.scheme.hash().digest(message), signature)
    }
}
