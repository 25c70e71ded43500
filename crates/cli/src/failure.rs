//! How the command fails: one line that names the file and the cause, one hint where we know what helps, and a status.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
    io,
    path::Path,
};

pub(crate) use tress_container::shown::foreign;
use tress_container::{Error, ErrorKind, Refusal, shown::is_hidden};

/// The operation failed: wrong key, damaged input, I/O.
pub(crate) const FAILED: u8 = 1;
/// The command was used wrongly.
pub(crate) const WRONG_USE: u8 = 2;

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: u8,
    message: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn failed(message: impl Into<String>) -> Failure {
        Failure { status: FAILED, message: without_number(message.into()), hint: None }
    }

    pub(crate) fn wrong_use(message: impl Into<String>) -> Failure {
        Failure { status: WRONG_USE, ..Failure::failed(message) }
    }

    /// An I/O error of a file that the command itself opens (keys, passphrases, results).
    pub(crate) fn io(path: &Path, error: &io::Error) -> Failure {
        // Without what others may have wrapped around it.
        let bare = error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error);
        Error::from(bare).at(name(path)).into()
    }

    /// An error of keys and signatures, about this file or thing.
    pub(crate) fn signing(error: tress_sign::Error, about: impl fmt::Display) -> Failure {
        let status = if error.is_usage() { WRONG_USE } else { FAILED };
        Failure { status, message: format!("{about}: {error}"), hint: signing_hint(error).map(str::to_string) }
    }

    /// An error of a simulated program or machine.
    pub(crate) fn simulation(error: &tress_sim::Error, program: &Path) -> Failure {
        let hint = match &error.kind {
            tress_sim::ErrorKind::Unhandled(_) => Some("a program that handles traps sets mtvec"),
            tress_sim::ErrorKind::SegmentOutside { .. } => {
                Some("the linker script must fit the machine's memory; without --machine there is more memory")
            }
            tress_sim::ErrorKind::WrongXlen { .. } => {
                Some("fe310 and e31 run RV32 only; --machine raptor, or no --machine, runs RV32 and RV64")
            }
            tress_sim::ErrorKind::NotExecutable => Some("link it without -shared and -pie, and with a linker script"),
            tress_sim::ErrorKind::Interrupted => Some("--limit N stops it after N instructions"),
            tress_sim::ErrorKind::NoSymbol(_) => {
                Some("nm shows the program's symbols; ADDRESS+BYTES names bytes without one")
            }
            _ => None,
        };
        let failure = Failure::failed(format!("{}: {error}", name(program)));
        Failure { hint: hint.map(str::to_string), ..failure }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Failure {
        Failure { hint: Some(hint.into()), ..self }
    }

    /// Says what it was needed for. A passphrase of a key has no option of its own.
    pub(crate) fn about(self, name: &str) -> Failure {
        let message = format!("{name}: its passphrase cannot be asked for: {}", self.message);
        Failure { message, hint: Some("run it on a terminal".into()), ..self }
    }

    /// Without the advice to use --force where that was used already.
    pub(crate) fn with_force(mut self, force: bool) -> Failure {
        if force {
            self.hint.take_if(|hint| hint.starts_with("--force"));
        }
        self
    }

    /// Prints it to standard error. A standard error that is gone is no reason to panic.
    pub(crate) fn print(&self) {
        let mut text = format!("tress: error: {}\n", escape(&self.message));
        if let Some(hint) = &self.hint {
            text.push_str(&format!("hint: {}\n", escape(hint)));
        }
        let _ = io::Write::write_all(&mut io::stderr().lock(), text.as_bytes());
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        if matches!(error.kind, ErrorKind::NoMatchingKey | ErrorKind::WrongPassphrase)
            && let Some(failure) = crate::prompt::unanswered()
        {
            return failure;
        }
        let status = if error.kind.is_usage() { WRONG_USE } else { FAILED };
        Failure { status, message: error.to_string(), hint: hint(&error.kind).map(str::to_string) }
    }
}

/// What helps, where we know it.
fn hint(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::NoRecipients => {
            "add a recipient: -r RECIPIENT, -R FILE, -p, --passphrase-file FILE or --key-file FILE"
        }
        ErrorKind::MixedRecipients => "a passphrase cannot be combined with other recipients",
        ErrorKind::NoMatchingKey => "it was encrypted to other recipients: try another identity",
        ErrorKind::BadRecipient => {
            "a recipient is age1..., tress1... or an SSH public key; -R takes a file of recipients"
        }
        ErrorKind::BadIdentity => "an identity file comes from tress keygen, age-keygen or ssh-keygen",
        ErrorKind::Cipher(tress_cipher::Error::BackendUnavailable(_)) => {
            "tress ciphers lists the backends that are available; TRESS_CPU takes some away"
        }
        ErrorKind::OutputExists => "--force replaces it",
        ErrorKind::Io(io::ErrorKind::IsADirectory) => "name a file inside it",
        ErrorKind::BinaryToTerminal => "write to a file with -o, or redirect standard output",
        ErrorKind::RangeOutOfBounds => "tress inspect shows the length of the plaintext",
        ErrorKind::UnknownVersion | ErrorKind::UnknownAead => "a newer version of tress may read it",
        ErrorKind::Disconnected | ErrorKind::Stalled | ErrorKind::Refused(Refusal::NoSpace | Refusal::Stopping) => {
            "run the same command again: files continue where they stopped"
        }
        ErrorKind::PeerVersion => "check HOST:PORT, and use the same version of tress on both sides",
        ErrorKind::WrongPeer => "check -r: tress keygen --public prints the address of the receiver's identity",
        ErrorKind::Refused(Refusal::NotAdmitted) => {
            "the receiver's allow file needs your address; tress keygen --public prints it"
        }
        ErrorKind::Refused(Refusal::Exists) => "the receiver replaces no file: rename yours, or remove the one there",
        ErrorKind::Refused(Refusal::OtherVersion) => "--restart sends the file from its beginning",
        ErrorKind::Declined(Refusal::Quota) => "--quota SIZE sets the limit",
        ErrorKind::InputChanged => "do not modify the input while it is being read",
        _ => return None,
    })
}

fn signing_hint(error: tress_sign::Error) -> Option<&'static str> {
    use tress_sign::Error as Sign;
    Some(match error {
        Sign::Encrypted => "provide the passphrase: -p, --passphrase-file FILE or --passphrase-fd N",
        Sign::NotPublic => "tress keygen --public prints the public key",
        Sign::MalformedKey | Sign::UnknownPem | Sign::MultiPrime | Sign::UnknownAlgorithm => {
            "supported are RSA, DSA and tress Schnorr keys, as PKCS #8, PKCS #1 or SubjectPublicKeyInfo"
        }
        Sign::UnknownEncryption => "convert it: openssl pkcs8 -topk8 -v2 aes-256-cbc -v2prf hmacWithSHA256",
        _ => return None,
    })
}

/// The message without the number that the standard library adds to the system's own words.
fn without_number(mut message: String) -> String {
    if let Some(start) = message.rfind(" (os error ")
        && message.ends_with(')')
    {
        message.truncate(start);
    }
    message
}

/// How messages call a file.
pub(crate) fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

/// What a secret key begins with that somebody may have pasted where a file or a recipient belongs.
const SECRETS: [&str; 2] = ["AGE-SECRET-KEY-", "TRESS-NOISE-KEY-"];

/// The text without secret keys: errors repeat arguments, and go to logs.
fn without_secrets(text: &str) -> Cow<'_, str> {
    let start_of = |text: &str| {
        let upper = text.to_ascii_uppercase();
        SECRETS.iter().filter_map(|secret| upper.find(secret).map(|start| start + secret.len())).min()
    };
    let Some(mut end) = start_of(text) else { return Cow::Borrowed(text) };
    let (mut shown, mut rest) = (String::new(), text);
    loop {
        shown.push_str(&rest[..end]);
        shown.push_str("...");
        rest = rest[end..].trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '-');
        match start_of(rest) {
            Some(next) => end = next,
            None => return Cow::Owned(shown + rest),
        }
    }
}

/// The text without anything that a terminal obeys or that reorders or hides what follows, and without secret keys. What comes from
/// others goes through [`foreign`] first.
pub(crate) fn escape(text: &str) -> impl fmt::Display + '_ {
    struct Escaped<'a>(Cow<'a, str>);
    impl fmt::Display for Escaped<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            for letter in self.0.chars() {
                if is_hidden(letter) {
                    write!(f, "{}", letter.escape_default())?;
                } else {
                    f.write_char(letter)?;
                }
            }
            Ok(())
        }
    }
    Escaped(without_secrets(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_but_letters() {
        let wild = "a\x1b[2Jb\nc\u{202e}d\u{9b}é\u{61c}\u{ad}\u{e0041}C:\\n";
        assert_eq!(escape(wild).to_string(), "a\\u{1b}[2Jb\\nc\\u{202e}d\\u{9b}é\\u{61c}\\u{ad}\\u{e0041}C:\\n");
    }

    #[test]
    fn the_systems_number_is_left_out() {
        assert_eq!(without_number("a: no (os error 2)".into()), "a: no");
        assert_eq!(without_number("a (os error 2): b".into()), "a (os error 2): b");
    }

    #[test]
    fn secret_keys_are_not_repeated() {
        let text = "a AGE-SECRET-KEY-1QQ: b, age-secret-key-pq-1xx/c TRESS-NOISE-KEY-1ZZ";
        let shown = "a AGE-SECRET-KEY-...: b, age-secret-key-.../c TRESS-NOISE-KEY-...";
        assert_eq!(escape(text).to_string(), shown);
    }
}
