//! PKCS #8 keys encrypted with a passphrase: PBES2 (RFC 8018) with PBKDF2 or scrypt and AES-CBC, as OpenSSL writes them.

use std::{fmt, hint};

use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt as _, KeyInit, KeyIvInit as _};
use der::asn1::{AnyRef, OctetStringRef};
use der::{Decode as _, Tag};
use pbkdf2::pbkdf2_hmac;
use sha2::{Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
use zeroize::Zeroizing;

use super::{PrivateKey, read};
use crate::Error;
use crate::asn1::{self, Algorithm};

/// Rounds of PBKDF2 that take about as long as scrypt with the work factor 0.
const ROUNDS: u64 = 5;
/// Limit for the memory of scrypt at any work factor: 1 GiB for N = 2^20 and r = 8, and 1 MiB for the blocks besides these.
const MAX_SCRYPT_BYTES: u128 = (1 << 30) + (1 << 20);

/// An encrypted private key.
#[derive(Clone)]
pub struct EncryptedKey {
    der: Vec<u8>,
    work_factor: u8,
}

impl EncryptedKey {
    /// The default limit for the work factor: about five seconds and 1 GiB of memory, as for containers.
    pub const DEFAULT_LIMIT: u8 = 20;
    /// The highest limit. Reading refuses a key above it.
    pub const HIGHEST_LIMIT: u8 = 23;

    /// Parses the part that needs no passphrase.
    pub(super) fn new(der: &[u8]) -> Result<Self, Error> {
        let work_factor = Sealed::parse(der)?.work_factor();
        if work_factor > Self::HIGHEST_LIMIT {
            return Err(Error::WorkFactorTooHigh);
        }
        Ok(Self { der: der.to_vec(), work_factor })
    }

    /// The cost of decryption: the binary logarithm, rounded up, of scrypt's N with r = 8 and p = 1, or of a fifth of the rounds of PBKDF2.
    #[must_use]
    pub fn work_factor(&self) -> u8 {
        self.work_factor
    }

    /// Decrypts the key, if its work factor is at most [`Self::DEFAULT_LIMIT`].
    ///
    /// # Errors
    /// Those of [`Self::decrypt_up_to`].
    pub fn decrypt(&self, passphrase: &[u8]) -> Result<PrivateKey, Error> {
        self.decrypt_up_to(passphrase, Self::DEFAULT_LIMIT)
    }

    /// Decrypts the key, if its work factor is at most `max_work_factor`, which is 1 to [`Self::HIGHEST_LIMIT`].
    ///
    /// # Errors
    /// `WorkFactorTooHigh`, also for another limit; `Memory`; `WrongPassphrase`; `UnknownEncryption`;
    /// the errors of reading the decrypted key.
    pub fn decrypt_up_to(&self, passphrase: &[u8], max_work_factor: u8) -> Result<PrivateKey, Error> {
        if !(1..=Self::HIGHEST_LIMIT).contains(&max_work_factor) || self.work_factor > max_work_factor {
            return Err(Error::WorkFactorTooHigh);
        }
        let plain = Sealed::parse(&self.der)?.decrypt(passphrase)?;
        match read::private(&plain) {
            // One wrong passphrase in 256 gives a valid padding, but not a SEQUENCE of exactly this length.
            Err(Error::MalformedKey) if !is_sequence(&plain) => Err(Error::WrongPassphrase),
            outcome => outcome,
        }
    }
}

/// `pbkdf2_hmac` with some hash function: passphrase, salt, rounds, key.
type Pbkdf2 = fn(&[u8], &[u8], u32, &mut [u8]);

/// An EncryptedPrivateKeyInfo (RFC 5958, section 3).
struct Sealed<'a> {
    salt: &'a [u8],
    derivation: Derivation,
    key_bytes: usize,
    iv: &'a [u8],
    data: &'a [u8],
}

enum Derivation {
    /// The function, the bytes of its digest, and the rounds.
    Pbkdf2(Pbkdf2, usize, u32),
    /// N, r, p.
    Scrypt(u64, u32, u32),
}

impl<'a> Sealed<'a> {
    fn parse(der: &'a [u8]) -> Result<Self, Error> {
        let (algorithm, data) = asn1::encrypted_private_key_info(der).map_err(|_| Error::MalformedKey)?;
        let parameters = algorithm.parameters.filter(|_| algorithm.identifier == asn1::PBES2);
        parameters.and_then(|parameters| Self::parse_parameters(parameters, data).ok()).ok_or(Error::UnknownEncryption)
    }

    /// Reads PBES2-params (RFC 8018, A.4), PBKDF2-params (A.2) and scrypt-params (RFC 7914, section 7).
    fn parse_parameters(parameters: AnyRef<'a>, data: &'a [u8]) -> der::Result<Self> {
        let unknown = || der::Error::from(Tag::Sequence.value_error());
        let (kdf, cipher) =
            parameters.sequence(|reader| der::Result::Ok((Algorithm::decode(reader)?, Algorithm::decode(reader)?)))?;
        let key_bytes = match cipher.identifier.strip_prefix(asn1::AES) {
            Some([2]) => 16,
            Some([22]) => 24,
            Some([42]) => 32,
            _ => return Err(unknown()),
        };
        let iv = cipher.parameters.ok_or_else(unknown)?.decode_as::<&OctetStringRef>()?.as_bytes();
        let (salt, derivation, length) = kdf.parameters.ok_or_else(unknown)?.sequence(|reader| {
            let salt = <&OctetStringRef>::decode(reader)?.as_bytes();
            let derivation = match kdf.identifier {
                asn1::SCRYPT => Derivation::Scrypt(u64::decode(reader)?, u32::decode(reader)?, u32::decode(reader)?),
                asn1::PBKDF2 => {
                    let rounds = u32::decode(reader)?;
                    let length = Option::<u16>::decode(reader)?;
                    let (derive, digest_bytes) = hmac(Option::decode(reader)?).ok_or_else(unknown)?;
                    return Ok((salt, Derivation::Pbkdf2(derive, digest_bytes, rounds), length));
                }
                _ => return Err(unknown()),
            };
            Ok((salt, derivation, Option::<u16>::decode(reader)?))
        })?;
        let valid = match derivation {
            Derivation::Pbkdf2(_, _, rounds) => rounds > 0,
            Derivation::Scrypt(n, r, p) => n > 1 && n.is_power_of_two() && r > 0 && p > 0,
        };
        if !valid || iv.len() != 16 || length.is_some_and(|length| usize::from(length) != key_bytes) {
            return Err(unknown());
        }
        Ok(Self { salt, derivation, key_bytes, iv, data })
    }

    fn work_factor(&self) -> u8 {
        let units = match self.derivation {
            Derivation::Pbkdf2(_, digest_bytes, rounds) => {
                (u64::from(rounds) * self.key_bytes.div_ceil(digest_bytes) as u64).div_ceil(ROUNDS).into()
            }
            Derivation::Scrypt(n, r, p) => {
                if scrypt_bytes(n, r, p) > MAX_SCRYPT_BYTES {
                    return u8::MAX;
                }
                // Besides N rounds, each of the p · r blocks takes the time of five rounds of PBKDF2, a unit, and more for a long salt.
                let n = u128::from(n).max(8 + self.salt.len() as u128 / 16);
                (n * u128::from(r) * u128::from(p)).div_ceil(8)
            }
        };
        units.next_power_of_two().ilog2() as u8
    }

    fn decrypt(&self, passphrase: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut key = Zeroizing::new([0; 32]);
        let key = &mut key[..self.key_bytes];
        match self.derivation {
            Derivation::Pbkdf2(derive, _, rounds) => derive(passphrase, self.salt, rounds, key),
            Derivation::Scrypt(n, r, p) => {
                check_memory(scrypt_bytes(n, r, p))?;
                let costs = scrypt::Params::new(n.ilog2() as u8, r, p).map_err(|_| Error::UnknownEncryption)?;
                scrypt::scrypt(passphrase, self.salt, &costs, key).map_err(|_| Error::UnknownEncryption)?;
            }
        }
        let mut buffer = Zeroizing::new(self.data.to_vec());
        let length = match self.key_bytes {
            16 => decrypt::<aes::Aes128Dec>(key, self.iv, &mut buffer),
            24 => decrypt::<aes::Aes192Dec>(key, self.iv, &mut buffer),
            _ => decrypt::<aes::Aes256Dec>(key, self.iv, &mut buffer),
        };
        buffer.truncate(length.ok_or(Error::WrongPassphrase)?);
        Ok(buffer)
    }
}

/// The memory that crate `scrypt` allocates: N and p blocks of 128 · r bytes, and one for a copy.
fn scrypt_bytes(n: u64, r: u32, p: u32) -> u128 {
    128 * u128::from(r) * (u128::from(n) + u128::from(p) + 1)
}

/// Checks that there is memory for scrypt. Without it, crate `scrypt` would abort the process.
fn check_memory(bytes: u128) -> Result<(), Error> {
    let mut block = Vec::<u8>::new();
    let reserved = block.try_reserve_exact(usize::try_from(bytes).unwrap_or(usize::MAX));
    // The compiler may leave out an allocation that it sees unused, and assume that it succeeds.
    hint::black_box(&mut block);
    reserved.map_err(|_| Error::Memory)
}

/// PBKDF2 with the HMAC of this identifier (RFC 8018, B.1), by default with SHA-1, and the bytes of its digest.
fn hmac(algorithm: Option<Algorithm<'_>>) -> Option<(Pbkdf2, usize)> {
    let number = match algorithm {
        None => 7,
        Some(Algorithm { parameters: Some(parameters), .. }) if !parameters.is_null() => return None,
        Some(algorithm) => u8::from_be_bytes(algorithm.identifier.strip_prefix(asn1::HMAC)?.try_into().ok()?),
    };
    Some(match number {
        7 => (pbkdf2_hmac::<sha1::Sha1>, 20),
        8 => (pbkdf2_hmac::<Sha224>, 28),
        9 => (pbkdf2_hmac::<Sha256>, 32),
        10 => (pbkdf2_hmac::<Sha384>, 48),
        11 => (pbkdf2_hmac::<Sha512>, 64),
        12 => (pbkdf2_hmac::<Sha512_224>, 28),
        13 => (pbkdf2_hmac::<Sha512_256>, 32),
        _ => return None,
    })
}

/// Decrypts in place and returns the length without padding.
fn decrypt<C: BlockCipherDecrypt + KeyInit>(key: &[u8], iv: &[u8], buffer: &mut [u8]) -> Option<usize> {
    let mode = cbc::Decryptor::<C>::new_from_slices(key, iv).ok()?;
    mode.decrypt_padded::<Pkcs7>(buffer).ok().map(<[u8]>::len)
}

/// Whether this is exactly one SEQUENCE.
fn is_sequence(der: &[u8]) -> bool {
    use der::Tagged as _;
    AnyRef::from_der(der).is_ok_and(|any| any.tag() == Tag::Sequence)
}

impl fmt::Debug for EncryptedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("encrypted private key")
    }
}
