//! Recipients from their text form.

use std::io::{BufRead, Read};

use age::Recipient;

use super::{Address, MAX_KEY_LIST_BYTES};
use crate::{Error, ErrorKind};

/// A recipient from its text: `age1…` (X25519 and age's tagged kinds), `tress1…` (an [`Address`]), `ssh-ed25519 …` and
/// `ssh-rsa …` (feature `ssh`), or a plugin's `age1NAME1…` (feature `plugin`).
///
/// # Errors
/// `BadRecipient`; `Plugin` when the plugin's program is not installed. The text is never part of the error: it may be
/// a secret given in the wrong place.
pub fn recipient(text: &str) -> Result<Box<dyn Recipient + Send>, Error> {
    let text = text.trim();
    if text.starts_with("tress1") {
        return Ok(Box::new(text.parse::<Address>()?.recipient()));
    }
    if text.starts_with("ssh-") {
        return ssh(text);
    }
    if let Ok(recipient) = text.parse::<age::x25519::Recipient>() {
        return Ok(Box::new(recipient));
    }
    if let Ok(recipient) = text.parse::<age::tag::Recipient>() {
        return Ok(Box::new(recipient));
    }
    if let Ok(recipient) = text.parse::<age::tagpq::Recipient>() {
        return Ok(Box::new(recipient));
    }
    let start = text.get(..4).unwrap_or("").to_ascii_uppercase();
    if start == "AGE-" {
        return Err(bad("this is a secret identity; use its recipient instead"));
    }
    plugin(text)
}

/// All recipients of a file: one a line, empty lines and lines that begin with `#` ignored.
///
/// # Errors
/// As [`recipient`], with the line's number; `NoRecipients` when there are none; `Io`.
pub fn recipients_file(reader: impl BufRead) -> Result<Vec<Box<dyn Recipient + Send>>, Error> {
    let mut bytes = Vec::new();
    reader.take(MAX_KEY_LIST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_KEY_LIST_BYTES {
        return Err(bad("file is larger than 1 MiB"));
    }
    let mut recipients = Vec::new();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let numbered = |what: &str| format!("line {}{what}", index + 1);
        let line = std::str::from_utf8(line).map_err(|_| bad(numbered(": not UTF-8")))?.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        recipients.push(recipient(line).map_err(|error| error.on(&numbered("")))?);
    }
    if recipients.is_empty() { Err(ErrorKind::NoRecipients.into()) } else { Ok(recipients) }
}

const EXPECTED: &str = "expected age1, tress1, ssh-ed25519 or ssh-rsa";

fn bad(detail: impl Into<String>) -> Error {
    Error::new(ErrorKind::BadRecipient).with_detail(detail)
}

#[cfg(feature = "ssh")]
fn ssh(text: &str) -> Result<Box<dyn Recipient + Send>, Error> {
    use age::ssh::ParseRecipientKeyError as Refused;
    match text.parse::<age::ssh::Recipient>() {
        Ok(recipient) => Ok(Box::new(recipient)),
        Err(Refused::RsaModulusTooLarge) => Err(bad("RSA key is too large")),
        Err(Refused::RsaModulusTooSmall) => Err(bad("RSA key is smaller than 2048 bits")),
        Err(Refused::Unsupported(_)) => Err(bad("only ssh-ed25519 and ssh-rsa keys are supported")),
        Err(_) => Err(bad("not an SSH public key")),
    }
}

#[cfg(not(feature = "ssh"))]
fn ssh(_: &str) -> Result<Box<dyn Recipient + Send>, Error> {
    Err(bad("this build has no SSH support"))
}

#[cfg(feature = "plugin")]
fn plugin(text: &str) -> Result<Box<dyn Recipient + Send>, Error> {
    let Ok(recipient) = text.parse::<age::plugin::Recipient>() else { return Err(bad(EXPECTED)) };
    let name = recipient.plugin().to_owned();
    match age::plugin::RecipientPluginV1::new(&name, &[recipient], &[], age::NoCallbacks) {
        Ok(recipient) => Ok(Box::new(recipient)),
        Err(error) => Err(Error::new(ErrorKind::Plugin)
            .with_detail(format!("age-plugin-{name} is not in PATH"))
            .with_source(error)),
    }
}

#[cfg(not(feature = "plugin"))]
fn plugin(_: &str) -> Result<Box<dyn Recipient + Send>, Error> {
    Err(bad(EXPECTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> ErrorKind {
        recipient(text).err().expect("refused").kind
    }

    #[test]
    fn every_kind_of_recipient_parses() {
        // The first is from age's documentation; the SSH keys were made by ssh-keygen for this test.
        assert!(recipient("age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p").is_ok());
        #[cfg(feature = "ssh")]
        assert!(recipient(include_str!("testdata/ssh_ed25519.pub")).is_ok());
    }

    #[test]
    fn malformed_recipients_are_refused() {
        for text in ["", "x", "age1", "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8q", "tress1qqqq"] {
            assert_eq!(kind(text), ErrorKind::BadRecipient, "{text}");
        }
        assert_eq!(kind("ssh-ed25519 AAAA"), ErrorKind::BadRecipient);
    }

    #[test]
    fn an_identity_in_a_recipients_place_is_not_repeated() {
        let secret = "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33";
        let error = recipient(secret).err().expect("refused");
        assert_eq!(error.kind, ErrorKind::BadRecipient);
        assert!(!format!("{error} {error:?}").contains("GQ9778"));
    }

    #[test]
    fn a_recipients_file_has_comments_and_numbered_errors() {
        let good = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
        let text = format!("# team\n\n{good}\r\n  {good}  \n");
        assert_eq!(recipients_file(text.as_bytes()).unwrap().len(), 2);
        let error = recipients_file(format!("{good}\n\nnonsense\n").as_bytes()).err().expect("refused");
        assert_eq!(error.kind, ErrorKind::BadRecipient);
        assert!(error.to_string().contains("line 3"));
        let empty = recipients_file("# nobody\n".as_bytes()).err().expect("refused");
        assert_eq!(empty.kind, ErrorKind::NoRecipients);
    }
}
