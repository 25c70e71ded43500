//! Reads key files.

use super::{EncryptedKey, PrivateKey, PublicKey, pem};
use crate::asn1::{self, Algorithm};
use crate::discrete::{self, Group};
use crate::{Error, UnsupportedKey, integer, rsa};

/// Limit for a file. Longer than any accepted key: RSA of 8192 bits in PEM takes about 7000 bytes.
const MAX_BYTES: usize = 64 * 1024;

/// Reads a structure in DER.
pub(super) type ReadKey = fn(&[u8]) -> Result<KeyFile, Error>;

/// The labels of PEM.
pub(super) const PRIVATE: [(&str, ReadKey); 4] = [
    ("PRIVATE KEY", |der| private(der).map(KeyFile::Private)),
    ("ENCRYPTED PRIVATE KEY", |der| EncryptedKey::new(der).map(KeyFile::Encrypted)),
    ("RSA PRIVATE KEY", |der| rsa_private(der).map(|key| KeyFile::Private(PrivateKey::Rsa(key)))),
    ("DSA PRIVATE KEY", |der| dsa_private(der).map(|key| KeyFile::Private(PrivateKey::Dsa(key)))),
];
pub(super) const PUBLIC: [(&str, ReadKey); 2] = [
    ("PUBLIC KEY", |der| public(der).map(KeyFile::Public)),
    ("RSA PUBLIC KEY", |der| rsa_public(der).map(|key| KeyFile::Public(PublicKey::Rsa(key)))),
];

/// Content of a key file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum KeyFile {
    /// A private key.
    Private(PrivateKey),
    /// A public key.
    Public(PublicKey),
    /// A private key encrypted with a passphrase.
    Encrypted(EncryptedKey),
}

impl KeyFile {
    /// Reads PEM or DER. In PEM the label determines the type: `PRIVATE KEY`, `ENCRYPTED PRIVATE KEY`, `PUBLIC KEY`, `RSA PRIVATE KEY`,
    /// `RSA PUBLIC KEY` or `DSA PRIVATE KEY`. In DER the structure does. In PEM there may be text and blocks of other types around the key,
    /// and public keys beside a private key. All of it has at most 64 KiB.
    ///
    /// # Errors
    /// All errors of keys except `Encrypted` and `WrongPassphrase`, with `MalformedKey` also for more bytes; `Random` when the system has
    /// no randomness to test the primes of a DSA or Schnorr key.
    pub fn read(bytes: &[u8]) -> Result<KeyFile, Error> {
        if bytes.len() > MAX_BYTES {
            return Err(Error::MalformedKey);
        }
        // Every supported structure is a SEQUENCE with a long length; no text begins so.
        if matches!(bytes, [0x30, length, ..] if *length >= 0x80) {
            return Self::from_der(bytes);
        }
        let (read, der) = pem::decode_key(bytes)?;
        read(&der)
    }

    /// Tries all structures. The error is that of the structure that fits best.
    fn from_der(der: &[u8]) -> Result<KeyFile, Error> {
        let mut outcome = Err(foreign(der));
        for (_, read) in PRIVATE.iter().chain(&PUBLIC) {
            match read(der) {
                Ok(file) => return Ok(file),
                Err(Error::MalformedKey) => {}
                Err(error) => outcome = Err(error),
            }
        }
        outcome
    }

    /// Returns the private key, decrypted with the passphrase if it is encrypted.
    ///
    /// # Errors
    /// `NotPrivate`; `Encrypted` if there is no passphrase; the errors of [`EncryptedKey::decrypt`].
    pub fn into_private(self, passphrase: Option<&[u8]>) -> Result<PrivateKey, Error> {
        self.into_private_up_to(passphrase, EncryptedKey::DEFAULT_LIMIT)
    }

    /// As [`Self::into_private`], with another limit for the work factor: [`EncryptedKey::decrypt_up_to`].
    ///
    /// # Errors
    /// Those of [`Self::into_private`].
    pub fn into_private_up_to(self, passphrase: Option<&[u8]>, max_work_factor: u8) -> Result<PrivateKey, Error> {
        match self {
            Self::Private(key) => Ok(key),
            Self::Public(_) => Err(Error::NotPrivate),
            Self::Encrypted(key) => key.decrypt_up_to(passphrase.ok_or(Error::Encrypted)?, max_work_factor),
        }
    }

    /// Returns the public key.
    ///
    /// # Errors
    /// `NotPublic`.
    pub fn into_public(self) -> Result<PublicKey, Error> {
        match self {
            Self::Public(key) => Ok(key),
            Self::Private(_) | Self::Encrypted(_) => Err(Error::NotPublic),
        }
    }
}

/// An AlgorithmIdentifier with what its parameters say.
enum Identified {
    Rsa(rsa::RsaIdentifier),
    Dsa(Group),
    Schnorr(Group),
}

fn identify(algorithm: &Algorithm<'_>) -> Result<Identified, Error> {
    Ok(match algorithm.identifier {
        asn1::RSA_ENCRYPTION => {
            expect_null(algorithm)?;
            Identified::Rsa(rsa::RsaIdentifier::Any)
        }
        asn1::RSASSA_PSS => Identified::Rsa(pss(algorithm)?),
        asn1::DSA => Identified::Dsa(group(algorithm)?),
        asn1::SCHNORR => Identified::Schnorr(group(algorithm)?),
        _ => return Err(Error::UnknownAlgorithm),
    })
}

/// Reads PKCS #8.
pub(super) fn private(der: &[u8]) -> Result<PrivateKey, Error> {
    let (algorithm, key) = asn1::private_key_info(der).map_err(malformed)?;
    let number = || asn1::number(key).map_err(malformed);
    match identify(&algorithm)? {
        Identified::Rsa(identifier) => rsa_private(key).map(|key| PrivateKey::Rsa(key.with_identifier(identifier))),
        Identified::Dsa(group) => discrete::PrivateKey::new(group, number()?).map(PrivateKey::Dsa),
        Identified::Schnorr(group) => discrete::PrivateKey::new(group, number()?).map(PrivateKey::Schnorr),
    }
}

/// Reads SubjectPublicKeyInfo.
fn public(der: &[u8]) -> Result<PublicKey, Error> {
    let (algorithm, key) = asn1::subject_public_key_info(der).map_err(malformed)?;
    let number = || asn1::number(key).map_err(malformed);
    match identify(&algorithm)? {
        Identified::Rsa(identifier) => rsa_public(key).map(|key| PublicKey::Rsa(key.with_identifier(identifier))),
        Identified::Dsa(group) => discrete::PublicKey::new(group, number()?).map(PublicKey::Dsa),
        Identified::Schnorr(group) => discrete::PublicKey::new(group, number()?).map(PublicKey::Schnorr),
    }
}

/// RFC 3279, section 2.3.1: the parameters of an RSA key are NULL. Some programs omit them.
fn expect_null(algorithm: &Algorithm<'_>) -> Result<(), Error> {
    if algorithm.parameters.is_none_or(|parameters| parameters.is_null()) { Ok(()) } else { Err(Error::MalformedKey) }
}

/// RFC 4055, section 1.2: a key for PSS only, with one hash function or any.
fn pss(algorithm: &Algorithm<'_>) -> Result<rsa::RsaIdentifier, Error> {
    let Some(parameters) = algorithm.parameters else { return Ok(rsa::RsaIdentifier::Pss) };
    let (hash, mask_hash, least_salt_bytes) = asn1::pss_parameters(parameters).map_err(malformed)?;
    if mask_hash == asn1::SHA1 {
        return Err(Error::Unsupported(UnsupportedKey::Mgf1Sha1));
    }
    let hash = asn1::hash_of(hash).filter(|hash| asn1::hash_of(mask_hash) == Some(*hash));
    Ok(rsa::RsaIdentifier::PssWith { hash: hash.ok_or(Error::UnknownAlgorithm)?, least_salt_bytes })
}

/// Reads Dss-Parms (RFC 3279, section 2.3.2).
fn group(algorithm: &Algorithm<'_>) -> Result<Group, Error> {
    use der::Encode as _;
    let parameters = algorithm.parameters.ok_or(Error::MalformedKey)?;
    let encoded = parameters.to_der().map_err(malformed)?;
    let [p, q, g] = asn1::numbers::<3>(&encoded).map_err(malformed)?;
    Group::new(p, q, g)
}

/// Reads RSAPrivateKey of PKCS #1.
fn rsa_private(der: &[u8]) -> Result<rsa::PrivateKey, Error> {
    let key = pkcs1::RsaPrivateKeyRef::try_from(der).map_err(malformed)?;
    if key.other_prime_infos.is_some() {
        return Err(Error::MultiPrime);
    }
    rsa::PrivateKey::new(&rsa::PrivateParts {
        modulus: key.modulus.as_bytes(),
        public_exponent: key.public_exponent.as_bytes(),
        private_exponent: key.private_exponent.as_bytes(),
        prime1: key.prime1.as_bytes(),
        prime2: key.prime2.as_bytes(),
        exponent1: key.exponent1.as_bytes(),
        exponent2: key.exponent2.as_bytes(),
        coefficient: key.coefficient.as_bytes(),
    })
}

/// Reads OpenSSL's own structure, which no standard describes: 0, p, q, g, y, x.
fn dsa_private(der: &[u8]) -> Result<discrete::PrivateKey<discrete::Dsa>, Error> {
    let [version, p, q, g, y, x] = asn1::numbers::<6>(der).map_err(malformed)?;
    if version.iter().any(|byte| *byte != 0) {
        return Err(Error::MalformedKey);
    }
    let key = discrete::PrivateKey::new(Group::new(p, q, g)?, x)?;
    let is_its_own = integer::is_equal(&integer::from_bytes(y), key.public_key().y());
    if is_its_own { Ok(key) } else { Err(Error::WrongPublicValue) }
}

/// The error for DER of others. Their outer SEQUENCE has a length of two bytes, or in BER none.
fn foreign(der: &[u8]) -> Error {
    match der {
        // PFX (RFC 7292, section 4), version 3.
        [_, 0x82, _, _, 2, 1, 3, ..] | [_, 0x80, 2, 1, 3, ..] => Error::Unsupported(UnsupportedKey::Pkcs12),
        // A certificate (RFC 5280, 4.1), version 3.
        [_, 0x82, _, _, 0x30, 0x82, _, _, 0xa0, 3, 2, 1, 2, ..] => Error::Unsupported(UnsupportedKey::X509),
        _ => Error::MalformedKey,
    }
}

/// Reads RSAPublicKey of PKCS #1.
fn rsa_public(der: &[u8]) -> Result<rsa::PublicKey, Error> {
    let key = pkcs1::RsaPublicKeyRef::try_from(der).map_err(malformed)?;
    rsa::PublicKey::new(key.modulus.as_bytes(), key.public_exponent.as_bytes())
}

fn malformed<E>(_: E) -> Error {
    Error::MalformedKey
}
