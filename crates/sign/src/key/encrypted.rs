//! PKCS #8 keys encrypted with a passphrase: PBES2 (RFC 8018) with PBKDF2 or scrypt and AES, as OpenSSL writes them.

use std::fmt;

use pkcs8::EncryptedPrivateKeyInfoRef;
use pkcs8::pkcs5::pbes2::Kdf;
use pkcs8::pkcs5::{self, EncryptionScheme};
use zeroize::Zeroizing;

use super::{PrivateKey, read};
use crate::Error;

/// Limit for PBKDF2 iterations: about ten seconds. OpenSSL uses 2048, OWASP recommends 600,000.
const MAX_ITERATIONS: u32 = 10_000_000;
/// Limit for the memory of scrypt: 128 · N · r bytes.
const MAX_SCRYPT_BYTES: u64 = 1 << 30;
/// Limit for the work of scrypt: N · r · p.
const MAX_SCRYPT_WORK: u64 = 1 << 26;

/// An encrypted private key.
#[derive(Clone)]
pub struct EncryptedKey {
    der: Vec<u8>,
}

impl EncryptedKey {
    /// Parses the part that needs no passphrase.
    pub(super) fn new(der: &[u8]) -> Result<Self, Error> {
        let info = parse(der)?;
        let EncryptionScheme::Pbes2(parameters) = &info.encryption_algorithm else {
            return Err(Error::UnknownEncryption);
        };
        let affordable = match &parameters.kdf {
            Kdf::Pbkdf2(pbkdf2) => (1..=MAX_ITERATIONS).contains(&pbkdf2.iteration_count),
            Kdf::Scrypt(scrypt) => {
                let cost = scrypt.cost_parameter.saturating_mul(u64::from(scrypt.block_size));
                cost.saturating_mul(128) <= MAX_SCRYPT_BYTES
                    && cost.saturating_mul(u64::from(scrypt.parallelization)) <= MAX_SCRYPT_WORK
            }
            _ => return Err(Error::UnknownEncryption),
        };
        if affordable { Ok(Self { der: der.to_vec() }) } else { Err(Error::WorkFactorTooHigh) }
    }

    /// Decrypts the key.
    ///
    /// # Errors
    /// `WrongPassphrase`; `UnknownEncryption`; the errors of reading the decrypted key.
    pub fn decrypt(&self, passphrase: &[u8]) -> Result<PrivateKey, Error> {
        let info = parse(&self.der)?;
        let plain = info.encryption_algorithm.decrypt(passphrase, info.encrypted_data.as_bytes());
        let plain = Zeroizing::new(plain.map_err(|error| match error {
            pkcs5::Error::DecryptFailed => Error::WrongPassphrase,
            // The passphrase was not used yet.
            _ => Error::UnknownEncryption,
        })?);
        match read::private(&plain) {
            // One wrong passphrase in 256 gives a valid padding, but not a SEQUENCE of exactly this length.
            Err(Error::MalformedKey) if !is_sequence(&plain) => Err(Error::WrongPassphrase),
            outcome => outcome,
        }
    }
}

fn parse(der: &[u8]) -> Result<EncryptedPrivateKeyInfoRef<'_>, Error> {
    match EncryptedPrivateKeyInfoRef::try_from(der) {
        Ok(info) => Ok(info),
        Err(_) if is_encrypted(der) => Err(Error::UnknownEncryption),
        Err(_) => Err(Error::MalformedKey),
    }
}

/// Whether this has the structure of an encrypted key, with any algorithm.
fn is_encrypted(der: &[u8]) -> bool {
    use der::asn1::{AnyRef, OctetStringRef};
    use der::{Decode as _, Reader as _, SliceReader, Tag, Tagged as _};
    let shape = |der| -> der::Result<()> {
        let mut reader = SliceReader::new(der)?;
        reader.sequence(|reader| -> der::Result<()> {
            AnyRef::decode(reader)?.tag().assert_eq(Tag::Sequence)?;
            <&OctetStringRef>::decode(reader).map(drop)
        })?;
        reader.finish()
    };
    shape(der).is_ok()
}

/// Whether this is exactly one SEQUENCE.
fn is_sequence(der: &[u8]) -> bool {
    use der::asn1::AnyRef;
    use der::{Decode as _, Tag, Tagged as _};
    AnyRef::from_der(der).is_ok_and(|any| any.tag() == Tag::Sequence)
}

impl fmt::Debug for EncryptedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("encrypted private key")
    }
}
