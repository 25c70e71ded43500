//! Passphrases, by age's scrypt recipient with fixed bounds on its work: age would measure this machine and choose for
//! a second of it, so that a file made on a big machine could not be opened on a small one.

use std::io::Read;

use age::secrecy::{ExposeSecret, SecretString};
use age::{Identity, Recipient, scrypt};
use zeroize::Zeroizing;

use crate::{Error, ErrorKind};

/// scrypt work factor (log2 of N) of what we write: 256 MiB of memory.
pub const WORK_FACTOR: u8 = 18;
/// Largest scrypt work factor that we accept: 1 GiB of memory.
pub const MAX_WORK_FACTOR: u8 = 20;

/// Longest passphrase file, in bytes.
const MAX_PASSPHRASE_BYTES: u64 = 4096;

/// A passphrase as the only recipient.
///
/// # Errors
/// `BadPassphrase` for an empty one.
pub fn passphrase_recipient(passphrase: SecretString) -> Result<Box<dyn Recipient + Send>, Error> {
    passphrase_recipient_with_work_factor(passphrase, WORK_FACTOR)
}

/// The same with another work factor. Below [`WORK_FACTOR`], guessing becomes cheaper by half a step: this is for tests.
///
/// # Errors
/// `BadPassphrase` for an empty one; `WorkFactorTooHigh` outside 1 to [`MAX_WORK_FACTOR`].
pub fn passphrase_recipient_with_work_factor(
    passphrase: SecretString,
    work_factor: u8,
) -> Result<Box<dyn Recipient + Send>, Error> {
    not_empty(&passphrase)?;
    if !(1..=MAX_WORK_FACTOR).contains(&work_factor) {
        return Err(ErrorKind::WorkFactorTooHigh.into());
    }
    let mut recipient = scrypt::Recipient::new(passphrase);
    recipient.set_work_factor(work_factor);
    Ok(Box::new(recipient))
}

/// A passphrase as an identity; refuses work factors above [`MAX_WORK_FACTOR`].
///
/// # Errors
/// `BadPassphrase` for an empty one.
pub fn passphrase_identity(passphrase: SecretString) -> Result<Box<dyn Identity>, Error> {
    passphrase_identity_up_to(passphrase, MAX_WORK_FACTOR)
}

/// A passphrase as an identity; refuses work factors above this one.
///
/// # Errors
/// `BadPassphrase` for an empty one; `WorkFactorTooHigh` outside 1 to [`MAX_WORK_FACTOR`].
pub fn passphrase_identity_up_to(passphrase: SecretString, max_work_factor: u8) -> Result<Box<dyn Identity>, Error> {
    not_empty(&passphrase)?;
    if !(1..=MAX_WORK_FACTOR).contains(&max_work_factor) {
        return Err(ErrorKind::WorkFactorTooHigh.into());
    }
    let mut identity = scrypt::Identity::new(passphrase);
    identity.set_max_work_factor(max_work_factor);
    Ok(Box::new(identity))
}

/// The passphrase in a file or behind a descriptor, less one trailing newline.
///
/// # Errors
/// `BadPassphrase` when it is empty, not UTF-8 or longer than 4096 bytes; `Io`.
pub fn passphrase_file(reader: impl Read) -> Result<SecretString, Error> {
    // One allocation that never grows: a grown vector leaves the passphrase behind in freed memory.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_PASSPHRASE_BYTES as usize + 64));
    reader.take(MAX_PASSPHRASE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_PASSPHRASE_BYTES {
        return Err(Error::new(ErrorKind::BadPassphrase).with_detail("longer than 4096 bytes"));
    }
    let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let text = text.strip_suffix(b"\r").filter(|_| text.len() < bytes.len()).unwrap_or(text);
    let text = std::str::from_utf8(text).map_err(|_| Error::new(ErrorKind::BadPassphrase).with_detail("not UTF-8"))?;
    let passphrase = SecretString::from(text);
    not_empty(&passphrase)?;
    Ok(passphrase)
}

fn not_empty(passphrase: &SecretString) -> Result<(), Error> {
    if passphrase.expose_secret().is_empty() {
        return Err(Error::new(ErrorKind::BadPassphrase).with_detail("empty"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_trailing_newline_is_stripped() {
        for (file, passphrase) in
            [("a b", "a b"), ("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("a\r", "a\r"), (" ä \n", " ä ")]
        {
            assert_eq!(passphrase_file(file.as_bytes()).unwrap().expose_secret(), passphrase);
        }
    }

    #[test]
    fn unusable_passphrases_are_refused() {
        for file in [&b""[..], b"\n", b"\r\n", b"\xff", &[b'x'; 4097]] {
            assert_eq!(passphrase_file(file).unwrap_err().kind, ErrorKind::BadPassphrase);
        }
        for work_factor in [0, MAX_WORK_FACTOR + 1, 64, 255] {
            let result = passphrase_recipient_with_work_factor("p".into(), work_factor);
            assert_eq!(result.err().expect("refused").kind, ErrorKind::WorkFactorTooHigh);
            let result = passphrase_identity_up_to("p".into(), work_factor);
            assert_eq!(result.err().expect("refused").kind, ErrorKind::WorkFactorTooHigh);
        }
    }
}
