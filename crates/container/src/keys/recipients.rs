//! Recipients, parsed from text.

use std::collections::HashSet;
use std::fmt;
use std::io::BufRead;
use std::str::FromStr;
use std::sync::Arc;

use age::EncryptError;
use age_core::format::{FileKey, Stanza};

use super::address::{LOW_ORDER, RECIPIENT_PREFIX, decode, has_low_order};
use super::lines::{is_ssh_type, key_lines, read_key_file};
use super::list::list;
use super::post_quantum::{PostQuantumIdentity, PostQuantumRecipient};
#[cfg(feature = "ssh")]
use super::ssh;
use super::{Address, CobblestoneKey, KeyPair, RawKey, Recipient, WORK_FACTOR, passphrase};
use crate::{Error, ErrorKind};

/// The recipients that a file is encrypted to. `extend` and `collect` join lists; clones are cheap.
///
/// Parses from the text of one recipient: `age1…` (X25519, post-quantum and age's tagged types), `tress1…` (an [`Address`]), `ssh-ed25519
/// …` and
/// `ssh-rsa …` (feature `ssh`), or a plugin's `age1NAME1…` (feature `plugin`).
#[derive(Clone, Default)]
pub struct Recipients {
    members: Vec<Arc<Box<dyn age::Recipient + Send + Sync>>>,
    keys: Vec<Arc<CobblestoneKey>>,
}

list!(Recipients, Recipient);

impl Recipients {
    /// The key of a format without recipients, which must then be the only one.
    pub(crate) fn sole_key(&self) -> Result<Option<&CobblestoneKey>, Error> {
        match self.keys().next() {
            Some(_) if self.len() > 1 => {
                Err(Error::new(ErrorKind::MixedRecipients).with_detail("a Cobblestone file has one key"))
            }
            key => Ok(key),
        }
    }

    /// Reads all recipients of a file: one per line, ignoring empty lines and lines that begin with `#`.
    ///
    /// # Errors
    /// The errors of parsing one, with the line number; `NoRecipients` if the file has no recipients; `Io`.
    pub fn from_file(reader: impl BufRead) -> Result<Self, Error> {
        Self::read(reader, |_, _| false)
    }

    /// Reads recipients like [`from_file`](Self::from_file), but leaves out SSH keys of types with which nobody can decrypt, such as
    /// those on hardware, as `age` does. Calls `skipped` with the line and the type of each.
    ///
    /// # Errors
    /// The same as [`from_file`](Self::from_file).
    pub fn from_file_skipping(reader: impl BufRead, mut skipped: impl FnMut(usize, &str)) -> Result<Self, Error> {
        Self::read(reader, |number, kind| {
            let cannot_decrypt = (kind.starts_with("ecdsa-sha2-nistp") || kind.starts_with("sk-")) && is_ssh_type(kind);
            if cannot_decrypt {
                skipped(number, kind);
            }
            cannot_decrypt
        })
    }

    fn read(reader: impl BufRead, mut skips: impl FnMut(usize, &str) -> bool) -> Result<Self, Error> {
        let bytes = read_key_file(reader, ErrorKind::BadRecipient)?;
        let mut recipients = Self::default();
        for (number, line) in key_lines(&bytes, &ErrorKind::BadRecipient)? {
            if line.starts_with('#') || skips(number, line.split_whitespace().next().unwrap_or_default()) {
                continue;
            }
            let numbered = |error: Error| error.at_location(&format!("line {number}"));
            recipients.extend([line.parse::<Self>().map_err(numbered)?]);
        }
        if recipients.is_empty() { Err(ErrorKind::NoRecipients.into()) } else { Ok(recipients) }
    }

    /// Reads an identity file, or an SSH private key, and takes the recipients that belong to its identities: to encrypt to oneself.
    ///
    /// # Errors
    /// `BadIdentity` with the line number, among others for an identity whose recipient does not follow from it; `BadRecipient` for an SSH
    /// key whose public key is refused; `Io`.
    pub fn from_identity_file(reader: impl BufRead) -> Result<Self, Error> {
        let bytes = read_key_file(reader, ErrorKind::BadIdentity)?;
        let bad = |detail: String| Error::new(ErrorKind::BadIdentity).with_detail(detail);
        #[cfg(feature = "ssh")]
        if bytes.starts_with(b"-----BEGIN ") {
            return ssh::recipient_of(&bytes).map(Self::one);
        }
        let mut recipients = Self::default();
        for (number, line) in key_lines(&bytes, &ErrorKind::BadIdentity)? {
            if line.starts_with('#') {
                continue;
            }
            recipients.extend([match line.parse::<age::x25519::Identity>() {
                Ok(identity) => Self::one(identity.to_public()),
                Err(_) => match PostQuantumIdentity::parse(line) {
                    Some(identity) => Self::one(identity.recipient()),
                    None => return Err(bad(format!("line {number}: the recipient of this identity is not known"))),
                },
            }]);
        }
        if recipients.is_empty() { Err(bad("file contains no identity".into())) } else { Ok(recipients) }
    }

    /// Makes a recipient from a passphrase, which must be the container's only recipient.
    ///
    /// # Errors
    /// `BadPassphrase` for an empty one.
    pub fn from_passphrase(passphrase: &str) -> Result<Self, Error> {
        Self::from_passphrase_with_work_factor(passphrase, WORK_FACTOR)
    }

    /// Like [`from_passphrase`](Self::from_passphrase), with another work factor. Each step below [`WORK_FACTOR`] halves the cost of
    /// guessing: for tests.
    ///
    /// # Errors
    /// `BadPassphrase` for an empty one; `WorkFactorTooHigh` outside 1 to [`LARGEST_WORK_FACTOR`](super::LARGEST_WORK_FACTOR).
    pub fn from_passphrase_with_work_factor(passphrase: &str, work_factor: u8) -> Result<Self, Error> {
        passphrase::check(passphrase, work_factor)?;
        let mut recipient = age::scrypt::Recipient::new(passphrase.into());
        recipient.set_work_factor(work_factor);
        Ok(Self::one(PassphraseRecipient(recipient, work_factor)))
    }
}

/// A passphrase with this work factor.
struct PassphraseRecipient(age::scrypt::Recipient, u8);

impl age::Recipient for PassphraseRecipient {
    fn wrap_file_key(&self, file_key: &FileKey) -> Result<(Vec<Stanza>, HashSet<String>), EncryptError> {
        passphrase::check_memory(self.1)?;
        self.0.wrap_file_key(file_key)
    }
}

impl From<Recipient> for Recipients {
    fn from(recipient: Recipient) -> Self {
        Self::one(recipient.0)
    }
}

impl From<&Address> for Recipients {
    fn from(address: &Address) -> Self {
        address.recipient().into()
    }
}

impl From<&KeyPair> for Recipients {
    fn from(pair: &KeyPair) -> Self {
        pair.recipient().into()
    }
}

impl From<PostQuantumRecipient> for Recipients {
    fn from(recipient: PostQuantumRecipient) -> Self {
        Self::one(recipient)
    }
}

impl From<CobblestoneKey> for Recipients {
    fn from(key: CobblestoneKey) -> Self {
        Self::key(key)
    }
}

impl From<RawKey> for Recipients {
    fn from(key: RawKey) -> Self {
        Self::one(key.0)
    }
}

impl FromStr for Recipients {
    type Err = Error;

    /// # Errors
    /// `BadRecipient`; `Plugin` when the plugin's program is not installed. The error never contains the text, which may be a secret given
    /// by mistake.
    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let begins = |prefix: &str| text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
        if begins("tress1") {
            return Ok((&text.parse::<Address>()?).into());
        }
        if ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"].iter().any(|kind| text.starts_with(kind)) {
            return ssh_key(text);
        }
        if let Ok(recipient) = text.parse::<age::x25519::Recipient>() {
            let refused = decode(text, RECIPIENT_PREFIX).is_none_or(has_low_order);
            return if refused { Err(bad(LOW_ORDER)) } else { Ok(Self::one(recipient)) };
        }
        if let Ok(recipient) = text.parse::<age::tag::Recipient>() {
            return Ok(Self::one(recipient));
        }
        if let Ok(recipient) = text.parse::<age::tagpq::Recipient>() {
            return Ok(Self::one(recipient));
        }
        if let Some(recipient) = PostQuantumRecipient::parse(text) {
            return Ok(Self::one(recipient));
        }
        if begins("AGE-") {
            return Err(bad("this is a secret identity; use its recipient instead"));
        }
        plugin(text)
    }
}

const EXPECTED: &str = "expected age1, tress1, ssh-ed25519 or ssh-rsa";

fn bad(detail: impl Into<String>) -> Error {
    Error::new(ErrorKind::BadRecipient).with_detail(detail)
}

#[cfg(feature = "ssh")]
fn ssh_key(text: &str) -> Result<Recipients, Error> {
    ssh::recipient(text).map(Recipients::one)
}

#[cfg(not(feature = "ssh"))]
fn ssh_key(_: &str) -> Result<Recipients, Error> {
    Err(bad("this build has no SSH support"))
}

#[cfg(feature = "plugin")]
fn plugin(text: &str) -> Result<Recipients, Error> {
    let Ok(recipient) = text.parse::<age::plugin::Recipient>() else { return Err(bad(EXPECTED)) };
    let name = recipient.plugin().to_owned();
    match age::plugin::RecipientPluginV1::new(&name, &[recipient], &[], age::NoCallbacks) {
        Ok(recipient) => Ok(Recipients::one(PluginRecipient(recipient, name))),
        Err(error) => Err(Error::new(ErrorKind::Plugin)
            .with_detail(format!("age-plugin-{name} is not in PATH"))
            .with_source(error)),
    }
}

/// A recipient of the plugin with this name.
#[cfg(feature = "plugin")]
struct PluginRecipient(age::plugin::RecipientPluginV1<age::NoCallbacks>, String);

#[cfg(feature = "plugin")]
impl age::Recipient for PluginRecipient {
    fn wrap_file_key(&self, file_key: &FileKey) -> Result<(Vec<Stanza>, HashSet<String>), EncryptError> {
        self.0.wrap_file_key(file_key).map_err(|error| {
            let failed = Error::new(ErrorKind::Plugin).with_detail(format!("age-plugin-{}", self.1)).with_source(error);
            EncryptError::Io(failed.into())
        })
    }
}

#[cfg(not(feature = "plugin"))]
fn plugin(_: &str) -> Result<Recipients, Error> {
    Err(bad(EXPECTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> ErrorKind {
        text.parse::<Recipients>().unwrap_err().kind
    }

    #[test]
    fn every_kind_of_recipient_parses() {
        // The first is from age's documentation; the SSH keys were made by ssh-keygen for this test.
        assert!("age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p".parse::<Recipients>().is_ok());
        #[cfg(feature = "ssh")]
        assert!(include_str!("testdata/ssh_ed25519.pub").parse::<Recipients>().is_ok());
    }

    #[test]
    fn malformed_recipients_are_refused() {
        for text in ["", "x", "age1", "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8q", "tress1qqqq"] {
            assert_eq!(kind(text), ErrorKind::BadRecipient, "{text}");
        }
        assert_eq!(kind("ssh-ed25519 AAAA"), ErrorKind::BadRecipient);
        #[cfg(feature = "ssh")]
        for named in
            ["ssh-dss", "ecdsa-sha2-nistp256", "sk-ssh-ed25519@openssh.com", "ssh-ed25519-cert-v01@openssh.com"]
        {
            let error = format!("{named} AAAA comment").parse::<Recipients>().unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }

    /// The coordinates of all points of low order, with those above the prime: <https://cr.yp.to/ecdh.html>.
    #[test]
    fn points_of_low_order_are_refused() {
        use age_core::primitives::bech32_encode;
        let address = |first: &[u8], second: &[u8]| {
            bech32_encode(bech32::Hrp::parse_unchecked("tress"), &[&[1], first, second].concat())
        };
        let good = [9; 32];
        assert!(address(&good, &good).parse::<Recipients>().is_ok());
        for u in [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ] {
            let point = base16ct::lower::decode_vec(u).unwrap();
            let recipient = bech32_encode(RECIPIENT_PREFIX, &point);
            for text in [recipient.to_uppercase(), recipient, address(&point, &good), address(&good, &point)] {
                assert_eq!(kind(&text), ErrorKind::BadRecipient, "{u}");
            }
        }
    }

    #[test]
    fn an_identity_in_a_recipients_place_is_not_repeated() {
        let secret = "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33";
        let error = secret.parse::<Recipients>().unwrap_err();
        assert_eq!(error.kind, ErrorKind::BadRecipient);
        assert!(!format!("{error} {error:?}").contains("GQ9778"));
    }

    #[test]
    fn a_recipients_file_has_comments_and_numbered_errors() {
        let good = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
        let text = format!("# team\n\n{good}\r\n  {good}  \n");
        assert_eq!(Recipients::from_file(text.as_bytes()).unwrap().len(), 2);
        let error = Recipients::from_file(format!("{good}\n\nnonsense\n").as_bytes()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::BadRecipient);
        assert!(error.to_string().contains("line 3"));
        let empty = Recipients::from_file("# nobody\n".as_bytes()).unwrap_err();
        assert_eq!(empty.kind, ErrorKind::NoRecipients);
    }
}
