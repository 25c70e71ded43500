//! Identity files: age's own, age's encrypted under a passphrase, and SSH private keys.

use std::io::{BufRead, Cursor, Read};

use age::{Callbacks, Identity, IdentityFile, NoCallbacks};
use zeroize::Zeroizing;

use super::{MAX_KEY_LIST_BYTES, MAX_WORK_FACTOR};
use crate::{Error, ErrorKind};

/// All identities of an identity file: age's kinds (one a line, `#` comments), or one SSH private key (feature `ssh`).
/// A file that needs a passphrase is refused; see [`identities_file_with`].
///
/// # Errors
/// `BadIdentity`, with the line's number where there is one; `Plugin` when a plugin's program is missing; `Io`.
pub fn identities_file(reader: impl BufRead) -> Result<Vec<Box<dyn Identity>>, Error> {
    read(reader, None::<NoCallbacks>)
}

/// The same, and where a passphrase is needed (an SSH key with one, an identity file that `age -p` encrypted), or a
/// plugin has a question, `callbacks` is asked.
///
/// # Errors
/// As [`identities_file`].
pub fn identities_file_with(reader: impl BufRead, callbacks: impl Callbacks) -> Result<Vec<Box<dyn Identity>>, Error> {
    read(reader, Some(callbacks))
}

fn read<C: Callbacks>(reader: impl BufRead, callbacks: Option<C>) -> Result<Vec<Box<dyn Identity>>, Error> {
    // One allocation that never grows: a grown vector leaves keys behind in freed memory.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_KEY_LIST_BYTES as usize + 64));
    reader.take(MAX_KEY_LIST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_KEY_LIST_BYTES {
        return Err(bad("file is larger than 1 MiB"));
    }
    if bytes.starts_with(b"age-encryption.org/") {
        return encrypted(&bytes, callbacks);
    }
    if bytes.starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----") {
        return Err(bad("identity file is encrypted and armored; decrypt it with age first"));
    }
    if bytes.starts_with(b"-----BEGIN ") {
        return ssh(&bytes, callbacks);
    }
    let skipped = skip_post_quantum(&mut bytes);
    let file = IdentityFile::from_buffer(&bytes[..]).map_err(|error| {
        // age names the line, and never shows it.
        bad(error.to_string()).with_source(error)
    })?;
    let identities = match callbacks {
        Some(callbacks) => file.with_callbacks(callbacks).into_identities(),
        None => file.into_identities(),
    };
    let identities = identities.map_err(|error| Error::new(ErrorKind::Plugin).with_source(error))?;
    if identities.is_empty() {
        return Err(bad(if skipped {
            "post-quantum identities are not supported"
        } else {
            "file contains no identity"
        }));
    }
    Ok(identities.into_iter().map(|identity| identity as Box<dyn Identity>).collect())
}

/// What age's post-quantum identities begin with, which our library does not know.
const POST_QUANTUM: &[u8] = b"AGE-SECRET-KEY-PQ-1";

/// Makes comments of them, so that the other identities of the file are of use, and numbers of lines stay. Whether there were any.
fn skip_post_quantum(bytes: &mut [u8]) -> bool {
    let mut lines = bytes.split_mut(|&byte| byte == b'\n').filter(|line| line.starts_with(POST_QUANTUM)).peekable();
    let any = lines.peek().is_some();
    lines.for_each(|line| line[0] = b'#');
    any
}

fn encrypted<C: Callbacks>(bytes: &[u8], callbacks: Option<C>) -> Result<Vec<Box<dyn Identity>>, Error> {
    let Some(callbacks) = callbacks else {
        return Err(bad("identity file is encrypted and a passphrase cannot be entered here"));
    };
    // The bytes are ciphertext, so that this copy needs no wiping.
    match age::encrypted::Identity::from_buffer(Cursor::new(bytes.to_vec()), None, callbacks, Some(MAX_WORK_FACTOR)) {
        Ok(Some(identity)) => Ok(vec![Box::new(identity)]),
        Ok(None) => Err(bad("identity file is encrypted, but not with a passphrase")),
        Err(error) => Err(bad("encrypted identity file is damaged").with_source(error)),
    }
}

#[cfg(feature = "ssh")]
fn ssh<C: Callbacks>(bytes: &[u8], callbacks: Option<C>) -> Result<Vec<Box<dyn Identity>>, Error> {
    use age::ssh;
    let identity = ssh::Identity::from_buffer(bytes, None)
        .map_err(|error| bad("not an SSH private key that age can use").with_source(error))?;
    match (identity, callbacks) {
        (identity @ ssh::Identity::Unencrypted(_), _) => Ok(vec![Box::new(identity)]),
        (identity @ ssh::Identity::Encrypted(_), Some(callbacks)) => {
            Ok(vec![Box::new(identity.with_callbacks(callbacks))])
        }
        (ssh::Identity::Encrypted(_), None) => Err(bad("SSH key is encrypted and a passphrase cannot be entered here")),
        (ssh::Identity::Unsupported(_), _) => Err(bad("only ssh-ed25519 and ssh-rsa keys are supported")),
    }
}

#[cfg(not(feature = "ssh"))]
fn ssh<C: Callbacks>(_: &[u8], _: Option<C>) -> Result<Vec<Box<dyn Identity>>, Error> {
    Err(bad("this build has no SSH support"))
}

fn bad(detail: impl Into<String>) -> Error {
    Error::new(ErrorKind::BadIdentity).with_detail(detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    // From age's documentation.
    const IDENTITY: &str = "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33";

    fn kind(text: &str) -> ErrorKind {
        identities_file(text.as_bytes()).err().expect("refused").kind
    }

    #[test]
    fn age_identity_files_parse() {
        let text = format!("# created: today\n\n{IDENTITY}\n{IDENTITY}\r\n");
        assert_eq!(identities_file(text.as_bytes()).unwrap().len(), 2);
    }

    #[test]
    fn a_post_quantum_identity_leaves_the_others_usable() {
        let pq = "AGE-SECRET-KEY-PQ-1QQQQ";
        assert_eq!(identities_file(format!("{pq}\n{IDENTITY}\n").as_bytes()).unwrap().len(), 1);
        let error = identities_file(format!("# mine\n{pq}\n").as_bytes()).err().expect("refused");
        assert_eq!(error.kind, ErrorKind::BadIdentity);
        let error = identities_file(format!("{pq}\nnonsense\n").as_bytes()).err().expect("refused");
        assert!(error.to_string().contains("line 2"), "{error}");
    }

    #[test]
    fn ssh_private_keys_parse() {
        let result = identities_file(&include_bytes!("testdata/ssh_ed25519")[..]);
        if cfg!(feature = "ssh") {
            assert_eq!(result.unwrap().len(), 1);
        } else {
            assert_eq!(result.err().expect("refused").kind, ErrorKind::BadIdentity);
        }
    }

    /// Whoever is asked answers.
    #[derive(Clone)]
    struct Answer;

    impl Callbacks for Answer {
        fn display_message(&self, _: &str) {}

        fn confirm(&self, _: &str, _: &str, _: Option<&str>) -> Option<bool> {
            None
        }

        fn request_public_string(&self, _: &str) -> Option<String> {
            None
        }

        fn request_passphrase(&self, _: &str) -> Option<age::secrecy::SecretString> {
            Some("secret".into())
        }
    }

    /// An identity file under a passphrase whose derivation takes 2^N times 1 KiB.
    fn encrypted_with(work_factor: u8) -> Vec<u8> {
        let (salt, body) = ("A".repeat(22), "A".repeat(43));
        let header = format!("age-encryption.org/v1\n-> scrypt {salt} {work_factor}\n{body}\n--- {body}\n");
        [header.as_bytes(), &[0; 64]].concat()
    }

    #[test]
    fn the_work_of_a_foreign_identity_file_is_bounded() {
        use crate::container::{Aead, Content, ContentType, Header};
        let recipient =
            super::super::recipient("age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p").unwrap();
        let content = Content::generate(Aead::Aes128Ccm, ContentType::File, None).unwrap();
        let header = Header::seal(&content, &[recipient]).unwrap();
        let header = Header::read(&mut header.as_slice()).unwrap();
        for work_factor in [MAX_WORK_FACTOR + 1, 40, 63] {
            let identities = identities_file_with(encrypted_with(work_factor).as_slice(), Answer).unwrap();
            let started = std::time::Instant::now();
            let error = header.open(&identities).unwrap_err();
            assert_eq!(error.kind, ErrorKind::WorkFactorTooHigh, "{work_factor}");
            assert!(started.elapsed() < std::time::Duration::from_secs(1));
        }
    }

    #[test]
    fn everything_else_is_refused_without_being_shown() {
        assert_eq!(kind(""), ErrorKind::BadIdentity);
        assert_eq!(kind("# nothing\n"), ErrorKind::BadIdentity);
        assert_eq!(kind("age-encryption.org/v1\n"), ErrorKind::BadIdentity);
        assert_eq!(kind("-----BEGIN PRIVATE KEY-----\n"), ErrorKind::BadIdentity);
        let error = identities_file(format!("{IDENTITY}\nAGE-SECRET-KEY-1OOPS\n").as_bytes()).err().expect("refused");
        assert_eq!(error.kind, ErrorKind::BadIdentity);
        assert!(error.to_string().contains("line 2"));
        assert!(!format!("{error} {error:?}").contains("OOPS"));
    }
}
