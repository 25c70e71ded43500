//! Raw key files: 16 or 32 bytes that open a container, as another type of age recipient (`docs/reference/formats/container.md`, "Raw key
//! recipients").
//!
//! age's `encrypt[key]` uses a zero nonce, so no key may be used twice: every stanza has a fresh salt, and a wrapping key derived from it.

use std::collections::HashSet;
use std::fmt;

use age::{DecryptError, EncryptError, Identity, Recipient};
use age_core::format::{FILE_KEY_BYTES, FileKey, Stanza};
use age_core::primitives::{aead_decrypt, aead_encrypt, hkdf};
use age_core::secrecy::ExposeSecret;
use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use zeroize::Zeroizing;

use crate::random::fill_random;
use crate::{Error, ErrorKind};

const STANZA_TYPE: &str = "tress-raw-key";
const LABEL: &[u8] = b"tress/v1 raw-key";
const SALT_BYTES: usize = 16;
/// The wrapped file key and its tag.
const BODY_BYTES: usize = FILE_KEY_BYTES + 16;

/// A raw key: both recipient and identity. Wiped on drop, and `Debug` does not show it.
#[derive(Clone)]
pub struct RawKey(pub(super) RawKeySecret);

#[derive(Clone)]
pub(super) struct RawKeySecret(Zeroizing<Vec<u8>>);

/// Reads the raw key in a key file: the whole file, exactly 16 or 32 random bytes. A password is not a raw key: see
/// [`Recipients::from_passphrase`](super::Recipients::from_passphrase).
///
/// # Errors
/// `KeyFileLength`, also for a key in hexadecimal, whose text holds only half as many bits as its length suggests.
pub fn key_file(bytes: &[u8]) -> Result<RawKey, Error> {
    match bytes.len() {
        // Fewer than one in 2^56 random keys look like this.
        16 | 32 if bytes.iter().all(u8::is_ascii_hexdigit) => {
            Err(Error::new(ErrorKind::KeyFileLength).with_detail("it holds hexadecimal text instead of raw bytes"))
        }
        16 | 32 => Ok(RawKey(RawKeySecret(Zeroizing::new(bytes.to_vec())))),
        length => Err(Error::new(ErrorKind::KeyFileLength).with_detail(format!("its length is {length}"))),
    }
}

impl RawKeySecret {
    fn wrapping_key(&self, salt: &[u8; SALT_BYTES]) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(hkdf(salt, LABEL, &self.0))
    }
}

impl Recipient for RawKeySecret {
    fn wrap_file_key(&self, file_key: &FileKey) -> Result<(Vec<Stanza>, HashSet<String>), EncryptError> {
        let mut salt = [0; SALT_BYTES];
        fill_random(&mut salt).map_err(std::io::Error::from)?;
        let stanza = Stanza {
            tag: STANZA_TYPE.to_owned(),
            args: vec![BASE64_STANDARD_NO_PAD.encode(salt)],
            body: aead_encrypt(&self.wrapping_key(&salt), file_key.expose_secret()),
        };
        // No labels: may be combined with any other recipient but a passphrase.
        Ok((vec![stanza], HashSet::new()))
    }
}

impl Identity for RawKeySecret {
    fn unwrap_stanza(&self, stanza: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        if stanza.tag != STANZA_TYPE {
            return None;
        }
        let [salt] = &stanza.args[..] else {
            return Some(Err(DecryptError::InvalidHeader));
        };
        let salt = BASE64_STANDARD_NO_PAD.decode(salt).ok().and_then(|salt| <[u8; SALT_BYTES]>::try_from(salt).ok());
        let Some(salt) = salt.filter(|_| stanza.body.len() == BODY_BYTES) else {
            return Some(Err(DecryptError::InvalidHeader));
        };
        // A stanza that this key does not open belongs to another recipient.
        let unwrapped = Zeroizing::new(aead_decrypt(&self.wrapping_key(&salt), FILE_KEY_BYTES, &stanza.body).ok()?);
        Some(Ok(FileKey::init_with_mut(|file_key| file_key.copy_from_slice(&unwrapped))))
    }
}

impl fmt::Debug for RawKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawKey").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_key() -> FileKey {
        FileKey::init_with_mut(|bytes| bytes.copy_from_slice(b"yellow submarine"))
    }

    fn stanza(key: &RawKey) -> Stanza {
        key.0.wrap_file_key(&file_key()).unwrap().0.remove(0)
    }

    #[test]
    fn only_the_same_key_unwraps() {
        for length in [16, 32] {
            let key = key_file(&vec![1; length]).unwrap();
            let stanza = stanza(&key);
            assert_eq!(key.0.unwrap_stanza(&stanza).unwrap().unwrap().expose_secret(), b"yellow submarine");
            assert!(key_file(&vec![2; length]).unwrap().0.unwrap_stanza(&stanza).is_none());
            // A 16-byte key differs from the 32-byte key that is padded with zeros.
            let mut longer = vec![1; 16];
            longer.resize(32, 0);
            assert!(key_file(&longer).unwrap().0.unwrap_stanza(&stanza).is_none());
        }
    }

    #[test]
    fn salts_are_fresh() {
        let key = key_file(&[1; 16]).unwrap();
        assert_ne!(stanza(&key).args, stanza(&key).args);
    }

    #[test]
    fn malformed_stanzas_are_refused() {
        let key = key_file(&[1; 16]).unwrap();
        let salt = stanza(&key).args[0].clone();
        let malform: [&dyn Fn(&mut Stanza); 6] = [
            &|stanza| stanza.body.push(0),
            &|stanza| stanza.body.truncate(31),
            &|stanza| stanza.args.clear(),
            &|stanza| stanza.args.push("x".into()),
            &|stanza| stanza.args[0] = format!("{salt}=="),
            &|stanza| stanza.args[0].truncate(20),
        ];
        for change in malform {
            let mut stanza = stanza(&key);
            change(&mut stanza);
            assert!(matches!(key.0.unwrap_stanza(&stanza), Some(Err(DecryptError::InvalidHeader))));
        }
        let mut other = stanza(&key);
        other.tag = "X25519".into();
        assert!(key.0.unwrap_stanza(&other).is_none());
    }

    #[test]
    fn hexadecimal_text_is_no_key() {
        for text in [&b"00112233445566778899aabbccddeeff"[..], b"0123456789ABCDEF"] {
            assert_eq!(key_file(text).unwrap_err().kind, ErrorKind::KeyFileLength);
        }
        assert!(key_file(b"0123456789ABCDEG").is_ok());
    }

    #[test]
    fn key_files_of_other_lengths_are_refused() {
        for length in [0, 15, 17, 24, 31, 33, 64] {
            assert_eq!(key_file(&vec![0; length]).unwrap_err().kind, ErrorKind::KeyFileLength);
        }
    }
}
