//! An age header's recipient stanzas: making them, their number, their types, and the identity that opens one. A container's header
//! is an age file, too.

use std::cell::RefCell;
use std::io::{self, BufRead, Read};

use age::{DecryptError, Decryptor, EncryptError, Encryptor, Identity, Recipient};
use age_core::format::{FileKey, Stanza};
use tress_terminal::blocked::blocked;

use crate::keys::Identities;
use crate::{Error, ErrorKind};

/// Largest number of recipient stanzas in a header. It bounds the cost of a hostile header, since each identity tries each stanza. The
/// limit [`MAX_AGE_FILE_BYTES`](super::MAX_AGE_FILE_BYTES) is reached earlier: 662 recipients for X25519 fit with every name.
pub const MAX_RECIPIENTS: usize = 1024;
/// Stanza type of age's passphrase recipients.
const SCRYPT: &str = "scrypt";

/// Makes the header for these recipients.
pub(super) fn encryptor<'a>(recipients: impl Iterator<Item = &'a dyn Recipient>) -> Result<Encryptor, Error> {
    // Checked before a stanza is made for each.
    let recipients: Vec<_> = recipients.take(MAX_RECIPIENTS + 1).collect();
    if recipients.len() > MAX_RECIPIENTS {
        return Err(too_many());
    }
    blocked(|| Encryptor::with_recipients(recipients.into_iter())).map_err(encrypt_error)
}

pub(super) fn too_many() -> Error {
    Error::new(ErrorKind::HeaderTooLarge).with_detail("too many recipients")
}

/// The types of the stanzas in a header that the payload's salt follows.
///
/// # Errors
/// `HeaderTooLarge` for too many stanzas, `HeaderDamaged`, `Truncated`.
pub(super) fn types(age_file: &[u8]) -> Result<Vec<String>, Error> {
    if count(age_file) > MAX_RECIPIENTS {
        return Err(too_many());
    }
    if !have_final_lines(age_file) {
        return Err(Error::new(ErrorKind::HeaderDamaged).with_detail("a recipient's stanza lacks its last line"));
    }
    let seen = StanzaTypes::default();
    // The dummy identity matches nothing; it only records the stanza types.
    match decryptor(age_file)?.decrypt(std::iter::once(&seen as &dyn Identity)) {
        Err(DecryptError::NoMatchingKeys) => Ok(seen.0.into_inner()),
        Err(error) => Err(decrypt_error(error)),
        Ok(_) => Err(ErrorKind::HeaderDamaged.into()),
    }
}

/// These types without the dummies of age implementations.
pub(super) fn without_grease(types: &[String]) -> Vec<String> {
    types.iter().filter(|kind| !kind.ends_with("-grease")).cloned().collect()
}

/// Opens an age file with this identity, after the header's MAC was verified. `types` are those of its stanzas.
pub(super) fn open<'a>(age_file: &'a [u8], types: &[String], identity: &dyn Identity) -> Result<impl Read + 'a, Error> {
    let decryptor = decryptor(age_file)?;
    blocked(|| decryptor.decrypt(std::iter::once(identity))).map_err(|error| match error {
        DecryptError::DecryptionFailed if types.iter().any(|kind| kind == SCRYPT) => ErrorKind::WrongPassphrase.into(),
        DecryptError::NoMatchingKeys if types.iter().any(|kind| kind == SCRYPT) => {
            Error::new(ErrorKind::NoMatchingKey).with_detail("it is encrypted with a passphrase")
        }
        // Of an identity: the header itself is in memory.
        DecryptError::Io(error) => error.into(),
        error => decrypt_error(error),
    })
}

fn decryptor(age_file: &[u8]) -> Result<Decryptor<Header<'_>>, Error> {
    Decryptor::new_buffered(Header(age_file)).map_err(decrypt_error)
}

/// An age file that gives its whole header as one line, because age's parser starts again at every line.
struct Header<'a>(&'a [u8]);

impl Read for Header<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl BufRead for Header<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.0)
    }

    fn consume(&mut self, bytes: usize) {
        self.0.consume(bytes);
    }

    fn read_until(&mut self, _: u8, lines: &mut Vec<u8>) -> io::Result<usize> {
        let mac = self.0.windows(4).position(|four| four == b"\n---").map_or(0, |end| end + 1);
        let end = self.0[mac..].iter().position(|&byte| byte == b'\n').map_or(self.0.len(), |end| mac + end + 1);
        lines.extend_from_slice(&self.0[..end]);
        self.consume(end);
        Ok(end)
    }
}

fn encrypt_error(error: EncryptError) -> Error {
    let kind = match error {
        EncryptError::Io(error) => return error.into(),
        EncryptError::MissingRecipients => ErrorKind::NoRecipients,
        EncryptError::MixedRecipientAndPassphrase | EncryptError::IncompatibleRecipients { .. } => {
            ErrorKind::MixedRecipients
        }
        #[cfg(feature = "plugin")]
        EncryptError::Plugin(_) | EncryptError::PluginResolve(_) => ErrorKind::Plugin,
        _ => ErrorKind::BadRecipient,
    };
    Error::new(kind).with_source(error)
}

fn decrypt_error(error: DecryptError) -> Error {
    let kind = match &error {
        DecryptError::NoMatchingKeys => ErrorKind::NoMatchingKey,
        DecryptError::ExcessiveWork { .. } => ErrorKind::WorkFactorTooHigh,
        DecryptError::KeyDecryptionFailed => ErrorKind::WrongPassphrase,
        #[cfg(feature = "plugin")]
        DecryptError::Plugin(_) | DecryptError::PluginResolve(_) => ErrorKind::Plugin,
        // The age file is in memory, so an I/O error means that it is truncated.
        _ => ErrorKind::HeaderDamaged,
    };
    Error::new(kind).with_source(error)
}

/// Counts the lines that begin like a stanza, up to the end of the age header.
pub(super) fn count(age_file: &[u8]) -> usize {
    age_file
        .split(|&byte| byte == b'\n')
        .take_while(|line| !line.starts_with(b"---"))
        .filter(|line| line.starts_with(b"->"))
        .count()
}

/// Whether the body of every stanza ends in a line of fewer than 64 characters, which may be empty, as age's specification requires.
/// age's parser accepts the next stanza or the MAC as the end.
fn have_final_lines(age_file: &[u8]) -> bool {
    let mut is_open = false;
    for line in age_file.split(|&byte| byte == b'\n') {
        if line.starts_with(b"->") || line.starts_with(b"---") {
            if is_open || line.starts_with(b"---") {
                return !is_open;
            }
            is_open = true;
        } else if line.len() < 64 {
            is_open = false;
        }
    }
    true
}

/// An identity that opens nothing and records the types of the stanzas.
#[derive(Default)]
struct StanzaTypes(RefCell<Vec<String>>);

impl Identity for StanzaTypes {
    fn unwrap_stanza(&self, _: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        None
    }

    fn unwrap_stanzas(&self, stanzas: &[Stanza]) -> Option<Result<FileKey, DecryptError>> {
        self.0.replace(stanzas.iter().map(|stanza| stanza.tag.clone()).collect());
        None
    }
}

/// Several identities as one. `age` stops at the first one that fails, so of two passphrases it would try only the first. Here a failed
/// decryption continues with the next identity, and any other error is final.
pub(super) struct EachIdentity<'a>(pub(super) &'a Identities);

impl Identity for EachIdentity<'_> {
    fn unwrap_stanza(&self, stanza: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        self.first(|identity| identity.unwrap_stanza(stanza))
    }

    fn unwrap_stanzas(&self, stanzas: &[Stanza]) -> Option<Result<FileKey, DecryptError>> {
        self.first(|identity| identity.unwrap_stanzas(stanzas))
    }
}

impl EachIdentity<'_> {
    fn first(
        &self,
        unwrap: impl Fn(&dyn Identity) -> Option<Result<FileKey, DecryptError>>,
    ) -> Option<Result<FileKey, DecryptError>> {
        let mut failed = false;
        for identity in self.0.members() {
            match unwrap(identity) {
                None => {}
                Some(Err(DecryptError::DecryptionFailed)) => failed = true,
                Some(result) => return Some(result),
            }
        }
        failed.then_some(Err(DecryptError::DecryptionFailed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `stanza_missing_body` and `stanza_missing_final_line` of age's test vectors, and the valid stanzas that they derive from.
    #[test]
    fn bodies_end_in_a_short_line() {
        let (full, short) = ("A".repeat(64), "A".repeat(43));
        let cases = [
            (format!("-> a\n{short}\n--- mac\n"), true),
            (format!("-> a\n\n-> b\n{full}\n{short}\n--- mac\n"), true),
            (format!("-> a\n{full}\n\n--- mac\n->"), true),
            ("-> a\n--- mac\n".into(), false),
            (format!("-> a\n-> b\n{short}\n--- mac\n"), false),
            (format!("-> a\n{short}\n-> b\n{full}\n--- mac\n"), false),
        ];
        for (header, expected) in cases {
            assert_eq!(have_final_lines(format!("age-encryption.org/v1\n{header}").as_bytes()), expected, "{header}");
        }
    }
}
