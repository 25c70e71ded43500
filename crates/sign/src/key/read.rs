//! Reads key files.

use zeroize::Zeroizing;

use super::{EncryptedKey, PrivateKey, PublicKey};
use crate::asn1::{self, Algorithm};
use crate::discrete::{self, Group};
use crate::{Error, rsa};

/// Longer than any accepted key: RSA of 8192 bits in PEM takes about 7000 bytes.
const MAX_BYTES: usize = 64 * 1024;

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
    /// Reads PEM or DER. In PEM the label determines the type: `PRIVATE KEY`, `ENCRYPTED PRIVATE KEY`, `PUBLIC KEY`, `RSA PRIVATE KEY` or
    /// `RSA PUBLIC KEY`. In DER the structure does.
    ///
    /// # Errors
    /// All errors of keys except `Encrypted` and `WrongPassphrase`.
    pub fn read(bytes: &[u8]) -> Result<KeyFile, Error> {
        if bytes.len() > MAX_BYTES {
            return Err(Error::MalformedKey);
        }
        // Every supported structure is a SEQUENCE; no text begins with this byte.
        if bytes.first() == Some(&0x30) {
            return Self::from_der(bytes);
        }
        let (label, der) = unwrap_pem(bytes)?;
        match label.as_str() {
            "PRIVATE KEY" => private(&der).map(KeyFile::Private),
            "PUBLIC KEY" => public(&der).map(KeyFile::Public),
            "ENCRYPTED PRIVATE KEY" => EncryptedKey::new(&der).map(KeyFile::Encrypted),
            "RSA PRIVATE KEY" => rsa_private(&der).map(|key| KeyFile::Private(PrivateKey::Rsa(key))),
            "RSA PUBLIC KEY" => rsa_public(&der).map(|key| KeyFile::Public(PublicKey::Rsa(key))),
            _ => Err(Error::UnknownPem),
        }
    }

    /// Tries all structures. The error is that of the structure that fits best.
    fn from_der(der: &[u8]) -> Result<KeyFile, Error> {
        type ReadKey = fn(&[u8]) -> Result<KeyFile, Error>;
        let mut outcome = Err(Error::MalformedKey);
        let readers: [ReadKey; 5] = [
            |der| private(der).map(KeyFile::Private),
            |der| public(der).map(KeyFile::Public),
            |der| EncryptedKey::new(der).map(KeyFile::Encrypted),
            |der| rsa_private(der).map(|key| KeyFile::Private(PrivateKey::Rsa(key))),
            |der| rsa_public(der).map(|key| KeyFile::Public(PublicKey::Rsa(key))),
        ];
        for read in readers {
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
    /// `NotPrivate`; `Encrypted` if there is no passphrase; `WrongPassphrase`.
    pub fn into_private(self, passphrase: Option<&[u8]>) -> Result<PrivateKey, Error> {
        match self {
            Self::Private(key) => Ok(key),
            Self::Public(_) => Err(Error::NotPrivate),
            Self::Encrypted(key) => key.decrypt(passphrase.ok_or(Error::Encrypted)?),
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

/// The second line of an encrypted key in the PEM format before PKCS #8 (RFC 1421, 4.6.1.1).
const ENCRYPTED_PEM: &[u8] = b"Proc-Type: 4,ENCRYPTED";

/// Decodes PEM (RFC 7468) to its label and content.
fn unwrap_pem(text: &[u8]) -> Result<(String, Zeroizing<Vec<u8>>), Error> {
    let text = without_trailing_spaces(text);
    match pem_rfc7468::decode_vec(&text) {
        Ok((label, der)) => Ok((label.to_owned(), Zeroizing::new(der))),
        Err(pem_rfc7468::Error::HeaderDisallowed)
            if text.windows(ENCRYPTED_PEM.len()).any(|window| window == ENCRYPTED_PEM) =>
        {
            Err(Error::UnknownEncryption)
        }
        Err(_) => Err(Error::MalformedKey),
    }
}

/// Removes white space at the ends of lines, and empty lines at the end, which RFC 7468 (section 2) allows a reader to ignore. Editors and
/// mail programs add them.
fn without_trailing_spaces(text: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut kept = Zeroizing::new(Vec::with_capacity(text.len()));
    for line in text.trim_ascii_end().split_inclusive(|byte| *byte == b'\n') {
        let end = line.len() - line.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
        kept.extend_from_slice(&line[..end]);
        if line.ends_with(b"\n") {
            kept.push(b'\n');
        }
    }
    kept
}

/// Reads PKCS #8.
pub(super) fn private(der: &[u8]) -> Result<PrivateKey, Error> {
    let (algorithm, key) = asn1::private_key_info(der).map_err(malformed)?;
    match algorithm.identifier {
        asn1::RSA_ENCRYPTION => {
            expect_null(&algorithm)?;
            rsa_private(key).map(PrivateKey::Rsa)
        }
        asn1::RSASSA_PSS => {
            let identifier = pss(&algorithm)?;
            rsa_private(key).map(|key| PrivateKey::Rsa(key.with_identifier(identifier)))
        }
        asn1::DSA => {
            discrete::PrivateKey::new(group(&algorithm)?, asn1::number(key).map_err(malformed)?).map(PrivateKey::Dsa)
        }
        asn1::SCHNORR => discrete::PrivateKey::new(group(&algorithm)?, asn1::number(key).map_err(malformed)?)
            .map(PrivateKey::Schnorr),
        _ => Err(Error::UnknownAlgorithm),
    }
}

/// Reads SubjectPublicKeyInfo.
fn public(der: &[u8]) -> Result<PublicKey, Error> {
    let (algorithm, key) = asn1::subject_public_key_info(der).map_err(malformed)?;
    match algorithm.identifier {
        asn1::RSA_ENCRYPTION => {
            expect_null(&algorithm)?;
            rsa_public(key).map(PublicKey::Rsa)
        }
        asn1::RSASSA_PSS => {
            let identifier = pss(&algorithm)?;
            rsa_public(key).map(|key| PublicKey::Rsa(key.with_identifier(identifier)))
        }
        asn1::DSA => {
            discrete::PublicKey::new(group(&algorithm)?, asn1::number(key).map_err(malformed)?).map(PublicKey::Dsa)
        }
        asn1::SCHNORR => {
            discrete::PublicKey::new(group(&algorithm)?, asn1::number(key).map_err(malformed)?).map(PublicKey::Schnorr)
        }
        _ => Err(Error::UnknownAlgorithm),
    }
}

/// RFC 3279, section 2.3.1: the parameters of an RSA key are NULL.
fn expect_null(algorithm: &Algorithm<'_>) -> Result<(), Error> {
    match algorithm.parameters {
        Some(parameters) if parameters.is_null() => Ok(()),
        _ => Err(Error::MalformedKey),
    }
}

/// RFC 4055, section 1.2: a key for PSS only, with one hash function or any.
fn pss(algorithm: &Algorithm<'_>) -> Result<rsa::RsaIdentifier, Error> {
    let Some(parameters) = algorithm.parameters else { return Ok(rsa::RsaIdentifier::Pss) };
    let (hash, least_salt_bytes) =
        asn1::pss_parameters(parameters).map_err(malformed)?.ok_or(Error::UnknownAlgorithm)?;
    Ok(rsa::RsaIdentifier::PssWith { hash, least_salt_bytes })
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

/// Reads RSAPublicKey of PKCS #1.
fn rsa_public(der: &[u8]) -> Result<rsa::PublicKey, Error> {
    let key = pkcs1::RsaPublicKeyRef::try_from(der).map_err(malformed)?;
    rsa::PublicKey::new(key.modulus.as_bytes(), key.public_exponent.as_bytes())
}

fn malformed<E>(_: E) -> Error {
    Error::MalformedKey
}
