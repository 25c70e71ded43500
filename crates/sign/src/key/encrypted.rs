//! PKCS #8 under a passphrase: PBES2 (RFC 8018) with PBKDF2 or scrypt and AES, as OpenSSL writes it.

use std::fmt;

use pkcs8::EncryptedPrivateKeyInfoRef;
use pkcs8::pkcs5::pbes2::Kdf;
use pkcs8::pkcs5::{self, EncryptionScheme};
use zeroize::Zeroizing;

use super::{PrivateKey, read};
use crate::Error;

/// PBKDF2: some ten seconds. OpenSSL writes 2048, OWASP asks for 600,000.
const MAX_ITERATIONS: u32 = 10_000_000;
/// scrypt: 128 · N · r bytes.
const MAX_SCRYPT_BYTES: u64 = 1 << 30;
/// scrypt: N · r · p.
const MAX_SCRYPT_WORK: u64 = 1 << 26;

/// An encrypted private key.
#[derive(Clone)]
pub struct EncryptedKey {
    der: Vec<u8>,
}

impl EncryptedKey {
    /// Reads it as far as it goes without the passphrase.
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

    /// The key.
    ///
    /// # Errors
    /// `WrongPassphrase`; `UnknownEncryption`; or what is wrong with the key inside.
    pub fn decrypt(&self, passphrase: &[u8]) -> Result<PrivateKey, Error> {
        let info = parse(&self.der)?;
        let plain = info.encryption_algorithm.decrypt(passphrase, info.encrypted_data.as_bytes());
        let plain = Zeroizing::new(plain.map_err(|error| match error {
            pkcs5::Error::DecryptFailed => Error::WrongPassphrase,
            // The passphrase has not been tried.
            _ => Error::UnknownEncryption,
        })?);
        match read::private(&plain) {
            // One wrong passphrase in 256 gives a padding that looks right, but no SEQUENCE of just this length.
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

/// Whether it has the shape, whatever the algorithm.
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

/// Whether it is one SEQUENCE and nothing else.
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
