//! Turns errors of the libraries into messages and hints.

use std::{fmt, io};

use tress_container::keys::OLD_PEM;
use tress_container::{Error, ErrorKind, Refusal};
use tress_terminal::failure::{FAILED, WRONG_USE};

pub(crate) use tress_terminal::Failure;
pub(crate) use tress_terminal::failure::{escape, foreign, name};

/// The hint after a lost connection.
pub(crate) const RESUMES: &str = "run the same command again: files continue where they stopped";

/// The message, hint and exit status for an error of the library.
pub(crate) fn from_error(error: Error) -> Failure {
    if matches!(error.kind, ErrorKind::NoMatchingKey | ErrorKind::WrongPassphrase)
        && let Some(failure) = crate::prompt::unanswered()
    {
        return failure;
    }
    let status = if error.kind.is_usage() { WRONG_USE } else { FAILED };
    // Only the error of an identity has a cause: that of the container's own passphrase has none.
    let of_identity = error.kind == ErrorKind::WrongPassphrase && std::error::Error::source(&error).is_some();
    let message = match crate::prompt::asked().filter(|_| of_identity) {
        Some(identity) => format!("{identity}: {}", error.kind),
        None => error.to_string(),
    };
    let hint = if message.contains(OLD_PEM) {
        Some("convert a copy of it: ssh-keygen -p -o -f FILE")
    } else if message.ends_with("can be changed by other users") {
        Some("chmod go-w takes that right from them")
    } else if message.ends_with("not a stream") {
        Some("save it to a file first")
    } else if message.ends_with("encrypted with a passphrase") {
        Some("provide it: -p or --passphrase-file FILE")
    } else {
        hint(&error.kind)
    };
    Failure { status, hint: hint.map(str::to_string), message }
}

/// As [`from_error`], for a command that knows formats by their beginning: `--format` is no hint there.
pub(crate) fn without_format(error: Error, what: &str) -> Failure {
    let is_other = error.kind == ErrorKind::NotAContainer;
    let failure = from_error(error);
    if is_other { failure.hint(format!("{what}: a Cobblestone file has none")) } else { failure }
}

/// As [`from_error`], where a recipient must be an address.
pub(crate) fn of_address(error: Error) -> Failure {
    let is_recipient = error.kind == ErrorKind::BadRecipient;
    let failure = from_error(error);
    if is_recipient { failure.hint("tress keygen --public prints the address; it begins with tress1") } else { failure }
}

/// The message, hint and exit status for an error of keys or signatures; `about` is the file or object.
pub(crate) fn signing(error: tress_sign::Error, about: impl fmt::Display) -> Failure {
    let status = if error.is_usage() { WRONG_USE } else { FAILED };
    Failure { status, message: format!("{about}: {error}"), hint: signing_hint(error).map(str::to_string) }
}

/// Names the file whose passphrase was asked for. No option can provide that passphrase.
pub(crate) fn prompt_failed(failure: Failure, name: &str) -> Failure {
    let message = format!("{name}: its passphrase cannot be asked for: {}", failure.message);
    Failure { message, hint: Some("run it on a terminal".into()), ..failure }
}

/// A hint for this kind of error, if there is one.
fn hint(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::NoRecipients => {
            "add a recipient: -r RECIPIENT, -R FILE, -p, --passphrase-file FILE or --key-file FILE"
        }
        ErrorKind::MixedRecipients => "a passphrase and post-quantum recipients cannot be combined with others",
        ErrorKind::NotAContainer => "if it is a Cobblestone file, name its format and key: --format, --key-file",
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
            RESUMES
        }
        ErrorKind::PeerVersion => "check HOST:PORT, and use the same version of tress on both sides",
        ErrorKind::WrongPeer => "check -r: tress keygen --public prints the address of the receiver's identity",
        ErrorKind::Refused(Refusal::NotAdmitted) => {
            "the receiver's allow file needs your address; tress keygen --public prints it"
        }
        ErrorKind::Refused(Refusal::Exists) => {
            "the receiver replaces no file: rename yours, or remove the one there; if two sends ran together, run the command again"
        }
        ErrorKind::Refused(Refusal::Quota) => "the receiver raises --quota, or removes files of yours",
        ErrorKind::Refused(Refusal::OtherVersion) => "--restart sends the file from its beginning",
        ErrorKind::Declined(Refusal::Quota) => "--quota SIZE sets the limit",
        ErrorKind::InputChanged => "do not modify the input while it is being read",
        _ => return None,
    })
}

fn signing_hint(error: tress_sign::Error) -> Option<&'static str> {
    use tress_sign::{Error as Sign, UnsupportedKey};
    Some(match error {
        Sign::Encrypted => "provide the passphrase: -p, --passphrase-file FILE or --passphrase-fd N",
        Sign::NotPublic => "tress keygen --public prints the public key",
        Sign::MalformedKey | Sign::UnknownPem | Sign::MultiPrime | Sign::UnknownAlgorithm => {
            "supported are RSA, DSA and tress Schnorr keys, as PKCS #8, PKCS #1 or SubjectPublicKeyInfo"
        }
        Sign::Unsupported(UnsupportedKey::OpenSsh) => {
            "for RSA, ssh-keygen -p -m PKCS8 -f COPY converts a copy of a key, ssh-keygen -e -m PKCS8 -f KEY.pub prints a public one"
        }
        Sign::Unsupported(UnsupportedKey::Pkcs12) => "extract the key: openssl pkcs12 -nocerts -out key.pem -in FILE",
        Sign::Unsupported(UnsupportedKey::X509) => "extract the public key: openssl x509 -pubkey -noout -in FILE",
        Sign::SeveralKeys => "put each key in a separate file",
        Sign::UnknownEncryption => "convert it: openssl pkcs8 -topk8 -v2 aes-256-cbc -v2prf hmacWithSHA256",
        _ => return None,
    })
}
