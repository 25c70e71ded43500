//! Identity files: age's own, identity files encrypted with a passphrase, and SSH private keys.

use std::fmt;
use std::io::{self, BufRead};
use std::sync::Arc;

use age::{DecryptError, Identity, IdentityFile};
use age_core::format::{FileKey, Stanza};
use zeroize::Zeroizing;

use super::ask::{AskCallbacks, Locked, LockedIdentity};
use super::lines::{POST_QUANTUM, key_lines, read_key_file};
use super::list::list;
use super::post_quantum::PostQuantumIdentity;
#[cfg(feature = "ssh")]
use super::ssh;
use super::{Ask, CobblestoneKey, KeyPair, LARGEST_WORK_FACTOR, MAX_WORK_FACTOR, RawKey, other_forms, passphrase};
use crate::formats::Format;
use crate::{Error, ErrorKind};

/// Secrets that open files, tried in order. `extend` and `collect` join lists. Clones share the secrets, which are wiped when the
/// last clone is dropped.
#[derive(Clone, Default)]
pub struct Identities {
    members: Vec<Arc<Box<dyn Identity + Send + Sync>>>,
    keys: Vec<Arc<CobblestoneKey>>,
}

list!(Identities, Identity);

impl Identities {
    /// The format of the files that they open, if it has no magic by which it is recognised.
    pub(crate) fn format(&self) -> Option<Format> {
        self.keys().next().map(CobblestoneKey::format)
    }

    /// Reads all identities of an identity file: age's types (one per line, `#` comments), or one SSH private key (feature `ssh`). Fails
    /// for a file that needs a passphrase; see [`from_file_asking`](Self::from_file_asking).
    ///
    /// # Errors
    /// `BadIdentity`, with the line number if there is one; `Plugin` when a plugin's program is missing; `Io`.
    pub fn from_file(reader: impl BufRead) -> Result<Self, Error> {
        read(reader, None)
    }

    /// Reads an identity file like [`from_file`](Self::from_file). `ask` answers plugins' questions, and gives the passphrase of an
    /// encrypted SSH key or of an identity file that `age -p` encrypted.
    ///
    /// # Errors
    /// The same as [`from_file`](Self::from_file).
    pub fn from_file_asking(reader: impl BufRead, ask: impl Ask + 'static) -> Result<Self, Error> {
        read(reader, Some(AskCallbacks::new(ask)))
    }

    /// Makes an identity from a passphrase; rejects work factors above [`MAX_WORK_FACTOR`].
    ///
    /// # Errors
    /// `BadPassphrase` for an empty one.
    pub fn from_passphrase(passphrase: &str) -> Result<Self, Error> {
        Self::from_passphrase_up_to(passphrase, MAX_WORK_FACTOR)
    }

    /// Makes an identity from a passphrase; rejects work factors above `max_work_factor`.
    ///
    /// # Errors
    /// `BadPassphrase` for an empty one; `WorkFactorTooHigh` outside 1 to [`LARGEST_WORK_FACTOR`].
    pub fn from_passphrase_up_to(passphrase: &str, max_work_factor: u8) -> Result<Self, Error> {
        Self::passphrase(passphrase, max_work_factor, |_| ())
    }

    /// Makes an identity from a passphrase of a user who waits: it accepts work factors up to [`LARGEST_WORK_FACTOR`]. Calls `note` with a
    /// message when the passphrase does not fit and is tried in its other Unicode form, which takes as long again.
    ///
    /// # Errors
    /// The same as [`from_passphrase`](Self::from_passphrase).
    pub fn from_passphrase_noting(passphrase: &str, note: fn(&str)) -> Result<Self, Error> {
        Self::passphrase(passphrase, LARGEST_WORK_FACTOR, note)
    }

    fn passphrase(passphrase: &str, max_work_factor: u8, note: fn(&str)) -> Result<Self, Error> {
        passphrase::check(passphrase, max_work_factor)?;
        let identity = |form: &str| {
            let mut identity = age::scrypt::Identity::new(form.into());
            identity.set_max_work_factor(max_work_factor);
            identity
        };
        let others = other_forms(passphrase).iter().map(|form| identity(form)).collect();
        Ok(Self::one(PassphraseIdentity { typed: identity(passphrase), others, max_work_factor, note }))
    }
}

/// A passphrase. A keyboard may type it in another Unicode form than the one that the container was made with.
struct PassphraseIdentity {
    typed: age::scrypt::Identity,
    others: Vec<age::scrypt::Identity>,
    max_work_factor: u8,
    note: fn(&str),
}

impl Identity for PassphraseIdentity {
    fn unwrap_stanza(&self, stanza: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        // Larger factors are refused before they need memory.
        let factor = stanza.args.get(1).and_then(|factor| factor.parse().ok()).filter(|&n| n <= self.max_work_factor);
        if let Err(error) = passphrase::check_memory(factor.unwrap_or(0)) {
            return Some(Err(error.into()));
        }
        let mut opened = self.typed.unwrap_stanza(stanza);
        for other in &self.others {
            if matches!(opened, Some(Err(DecryptError::DecryptionFailed))) {
                (self.note)(passphrase::OTHER_FORM);
                opened = other.unwrap_stanza(stanza);
            }
        }
        opened
    }
}

impl From<&KeyPair> for Identities {
    fn from(pair: &KeyPair) -> Self {
        Self::one(pair.identity().clone())
    }
}

impl From<KeyPair> for Identities {
    fn from(pair: KeyPair) -> Self {
        Self::from(&pair)
    }
}

impl From<PostQuantumIdentity> for Identities {
    fn from(identity: PostQuantumIdentity) -> Self {
        Self::one(identity)
    }
}

impl From<CobblestoneKey> for Identities {
    fn from(key: CobblestoneKey) -> Self {
        Self::key(key)
    }
}

impl From<RawKey> for Identities {
    fn from(key: RawKey) -> Self {
        Self::one(key.0)
    }
}

fn read(reader: impl BufRead, ask: Option<AskCallbacks>) -> Result<Identities, Error> {
    let bytes = read_key_file(reader, ErrorKind::BadIdentity)?;
    if Format::recognise(&bytes) == Some(Format::Age) {
        return encrypted(&bytes, ask);
    }
    if bytes.starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----") {
        return Err(bad("identity file is encrypted and armored; decrypt it with age first"));
    }
    if bytes.starts_with(b"-----BEGIN ") {
        return ssh_key(&bytes, ask);
    }
    // For age, which does not ignore spaces. The capacity suffices: growing would leave a copy behind.
    let mut text = Zeroizing::new(String::with_capacity(bytes.len() + 1));
    let (mut lines, mut ours) = (0, Identities::default());
    for (number, line) in key_lines(&bytes, &ErrorKind::BadIdentity)? {
        (lines..number).skip(1).for_each(|_| text.push('\n'));
        lines = number;
        if line.starts_with(POST_QUANTUM) {
            let identity =
                PostQuantumIdentity::parse(line).ok_or_else(|| bad(format!("invalid data on line {number}")))?;
            ours.extend([Identities::one(identity)]);
        } else if !line.starts_with('#') {
            // A comment may hold the Noise key, and age does not wipe its lines.
            text.push_str(line);
        }
        text.push('\n');
    }
    let file = IdentityFile::from_buffer(text.as_bytes()).map_err(|error| {
        // age's error names the line, but does not show it.
        bad(error.to_string()).with_source(error)
    })?;
    let identities = match ask {
        Some(ask) => file.with_callbacks(ask).into_identities(),
        None => file.into_identities(),
    };
    let identities = identities.map_err(|error| Error::new(ErrorKind::Plugin).with_source(error))?;
    if identities.is_empty() && ours.is_empty() {
        return Err(bad("file contains no identity"));
    }
    ours.extend(identities.into_iter().map(|identity| Identities::one(FileIdentity(identity))));
    Ok(ours)
}

fn encrypted(bytes: &[u8], ask: Option<AskCallbacks>) -> Result<Identities, Error> {
    let Some(ask) = ask else {
        return Err(bad("identity file is encrypted and a passphrase cannot be entered here"));
    };
    // The bytes are ciphertext, so this copy needs no wiping.
    let bytes = bytes.to_vec();
    if !age::Decryptor::new(&bytes[..]).map_err(damaged)?.is_scrypt() {
        return Err(bad("identity file is encrypted, but not with a passphrase"));
    }
    // The second line is `-> scrypt SALT FACTOR`. Larger factors are refused before they need memory.
    let factor = bytes.split(|&byte| byte == b'\n').nth(1).and_then(|line| line.rsplit(|&byte| byte == b' ').next());
    let factor =
        factor.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok()).filter(|&n| n <= MAX_WORK_FACTOR);
    Ok(Identities::one(LockedIdentity::new(ask, EncryptedFile { bytes, work_factor: factor })))
}

/// An identity file that a passphrase encrypts.
struct EncryptedFile {
    bytes: Vec<u8>,
    work_factor: Option<u8>,
}

impl Locked for EncryptedFile {
    type Unlocked = UnlockedFile;

    const QUESTION: &str = "Type passphrase for encrypted identity";

    fn check_memory(&self) -> io::Result<()> {
        passphrase::check_memory(self.work_factor.unwrap_or(0))
    }

    fn unlock(&self, passphrase: &str, ask: &AskCallbacks) -> Result<UnlockedFile, DecryptError> {
        let mut passphrase = age::scrypt::Identity::new(passphrase.into());
        passphrase.set_max_work_factor(MAX_WORK_FACTOR);
        let text = age::Decryptor::new(&self.bytes[..])
            .and_then(|file| file.decrypt(std::iter::once(&passphrase as &dyn Identity)))
            .and_then(|text| Ok(read_key_file(text, ErrorKind::BadIdentity).map_err(io::Error::from)?))
            .map_err(|error| match error {
                DecryptError::DecryptionFailed => DecryptError::KeyDecryptionFailed,
                DecryptError::ExcessiveWork { .. } => error,
                error => io::Error::from(damaged(error)).into(),
            })?;
        Ok(UnlockedFile(read(&text[..], Some(ask.clone())).map_err(io::Error::from)?))
    }
}

/// The identities of such a file.
struct UnlockedFile(Identities);

impl Identity for UnlockedFile {
    fn unwrap_stanza(&self, stanza: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        self.unwrap_stanzas(std::slice::from_ref(stanza))
    }

    fn unwrap_stanzas(&self, stanzas: &[Stanza]) -> Option<Result<FileKey, DecryptError>> {
        self.0.members().find_map(|identity| identity.unwrap_stanzas(stanzas))
    }
}

/// An identity of a file. An I/O error of it is one of the pipes to its plugin.
struct FileIdentity(Box<dyn Identity + Send + Sync>);

impl Identity for FileIdentity {
    fn unwrap_stanza(&self, stanza: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        self.unwrap_stanzas(std::slice::from_ref(stanza))
    }

    fn unwrap_stanzas(&self, stanzas: &[Stanza]) -> Option<Result<FileKey, DecryptError>> {
        self.0.unwrap_stanzas(stanzas).map(|opened| {
            opened.map_err(|error| match error {
                DecryptError::Io(error) => io::Error::from(Error::new(ErrorKind::Plugin).with_source(error)).into(),
                error => error,
            })
        })
    }
}

#[cfg(feature = "ssh")]
fn ssh_key(pem: &[u8], ask: Option<AskCallbacks>) -> Result<Identities, Error> {
    ssh::identity(pem, ask).map(Identities::boxed)
}

#[cfg(not(feature = "ssh"))]
fn ssh_key(_: &[u8], _: Option<AskCallbacks>) -> Result<Identities, Error> {
    Err(bad("this build has no SSH support"))
}

fn damaged(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    bad(format!("encrypted identity file is damaged: {error}")).with_source(error)
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
        Identities::from_file(text.as_bytes()).unwrap_err().kind
    }

    #[test]
    fn age_identity_files_parse() {
        let text = format!("# created: today\n\n{IDENTITY}\n{IDENTITY}\r\n");
        assert_eq!(Identities::from_file(text.as_bytes()).unwrap().len(), 2);
    }

    #[test]
    fn post_quantum_identities_are_among_the_others() {
        let pq = "AGE-SECRET-KEY-PQ-1XX76JRALNLXDMEW0CRK45QMCCH4X06SE84UN3VPM33W6HWDX0H3SK3ZQFR";
        assert_eq!(Identities::from_file(format!("{pq}\n{IDENTITY}\n").as_bytes()).unwrap().len(), 2);
        for file in [format!("{pq}\nnonsense\n"), format!("# mine\n{pq}Q\n")] {
            let error = Identities::from_file(file.as_bytes()).unwrap_err();
            assert!(error.to_string().contains("line 2"), "{error}");
        }
    }

    #[test]
    fn ssh_private_keys_parse() {
        let result = Identities::from_file(&include_bytes!("testdata/ssh_ed25519")[..]);
        if cfg!(feature = "ssh") {
            assert_eq!(result.unwrap().len(), 1);
        } else {
            assert_eq!(result.unwrap_err().kind, ErrorKind::BadIdentity);
        }
    }

    /// An identity file encrypted with a passphrase, whose key derivation has this work factor (2^`work_factor` KiB of memory).
    fn encrypted_with(work_factor: u8) -> Vec<u8> {
        let (salt, body) = ("A".repeat(22), "A".repeat(43));
        let header = format!("age-encryption.org/v1\n-> scrypt {salt} {work_factor}\n{body}\n--- {body}\n");
        [header.as_bytes(), &[0; 64]].concat()
    }

    #[test]
    fn the_work_of_a_foreign_identity_file_is_bounded() {
        use crate::format::{Aead, Content, ContentType, Header};
        let recipients = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p".parse().unwrap();
        let content = Content::generate(Aead::Aes128Ccm, ContentType::File, None).unwrap();
        let header = Header::seal(&content, &recipients).unwrap();
        let header = Header::read(&mut header.as_slice()).unwrap();
        for work_factor in [MAX_WORK_FACTOR + 1, 40, 63] {
            let answer = |_: &str| Some(Zeroizing::new("secret".into()));
            let identities = Identities::from_file_asking(encrypted_with(work_factor).as_slice(), answer).unwrap();
            // With a higher limit, the largest would take longer than a test may.
            let error = header.open(&identities).unwrap_err();
            assert_eq!(error.kind, ErrorKind::WorkFactorTooHigh, "{work_factor}");
        }
    }

    /// Damage of an encrypted identity file is not reported as damage of the file to decrypt.
    #[test]
    fn a_damaged_encrypted_identity_file_is_called_that() {
        use crate::commands::EncryptOptions;
        use crate::streaming::{decrypt_bytes, encrypt_bytes};

        let pair = KeyPair::generate().unwrap();
        let container = encrypt_bytes(b"x", &pair.recipient().into(), &EncryptOptions::default()).unwrap();
        let mut passphrase = age::scrypt::Recipient::new("secret".into());
        passphrase.set_work_factor(4);
        let encrypted = |text: &str| age::encrypt(&passphrase, text.as_bytes()).unwrap();
        let whole = encrypted(&pair.to_identity_file_text());
        // It may hold everything that a plain one may.
        let pq = PostQuantumIdentity::generate().unwrap().to_identity_file_text();
        let more = encrypted(&format!("{} \n{} \r\n", *pq, pair.to_identity_file_text().trim_end()));
        let (cut, mut flipped) = (whole[..whole.len() - 1].to_vec(), whole.clone());
        *flipped.last_mut().unwrap() ^= 1;
        for (file, secret, expected) in [
            (whole.clone(), "secret", None),
            (more, "secret", None),
            (whole, "other", Some(ErrorKind::WrongPassphrase)),
            (cut, "secret", Some(ErrorKind::BadIdentity)),
            (flipped, "secret", Some(ErrorKind::BadIdentity)),
            (encrypted("no key"), "secret", Some(ErrorKind::BadIdentity)),
        ] {
            let answer = move |_: &str| Some(Zeroizing::new(secret.to_owned()));
            let identities = Identities::from_file_asking(&file[..], answer).unwrap();
            let opened = decrypt_bytes(&container, &identities, 1.into());
            assert_eq!(opened.err().map(|error| error.kind), expected);
        }
    }

    /// Threads share one list, and the user is asked once for the passphrase of an encrypted identity file.
    #[test]
    fn an_encrypted_identity_file_opens_on_all_threads() {
        use crate::commands::EncryptOptions;
        use crate::streaming::{decrypt_bytes, encrypt_bytes};
        use std::sync::atomic::{AtomicU32, Ordering};

        static QUESTIONS: AtomicU32 = AtomicU32::new(0);
        let mut passphrase = age::scrypt::Recipient::new("secret".into());
        passphrase.set_work_factor(4);
        let pair = KeyPair::generate().unwrap();
        let file = age::encrypt(&passphrase, pair.to_identity_file_text().as_bytes()).unwrap();
        let answer = |_: &str| {
            QUESTIONS.fetch_add(1, Ordering::Relaxed);
            Some(Zeroizing::new("secret".into()))
        };
        let identities = Identities::from_file_asking(&file[..], answer).unwrap();
        let container = encrypt_bytes(b"plain", &(&pair).into(), &EncryptOptions::default()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                let (identities, container) = (identities.clone(), &container);
                scope.spawn(move || assert_eq!(decrypt_bytes(container, &identities, 1.into()).unwrap(), b"plain"));
            }
        });
        assert_eq!(QUESTIONS.load(Ordering::Relaxed), 1);
        assert_eq!(format!("{identities:?}"), "Identities(1)");
    }

    /// The two forms of `é` are those of The Unicode Standard, chapter 3.11: U+00E9, and U+0065 U+0301.
    #[test]
    fn a_passphrase_opens_in_both_unicode_forms() {
        use crate::commands::EncryptOptions;
        use crate::streaming::{decrypt_bytes, encrypt_bytes};
        use std::sync::atomic::{AtomicU32, Ordering};

        static NOTES: AtomicU32 = AtomicU32::new(0);
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}");
        for (made, typed, tries) in [
            (composed, composed, Some(0)),
            (composed, decomposed, Some(1)),
            (decomposed, composed, Some(1)),
            ("\u{d55c}", "\u{1112}\u{1161}\u{11ab}", Some(1)),
            (composed, "cafe", None),
        ] {
            let recipients = crate::keys::Recipients::from_passphrase_with_work_factor(made, 4).unwrap();
            let container = encrypt_bytes(b"plain", &recipients, &EncryptOptions::default()).unwrap();
            let note = |_: &str| {
                NOTES.fetch_add(1, Ordering::Relaxed);
            };
            let identities = Identities::from_passphrase_noting(typed, note).unwrap();
            let opened = decrypt_bytes(&container, &identities, 1.into());
            assert_eq!(opened.is_ok().then_some(NOTES.swap(0, Ordering::Relaxed)), tries, "{typed:?} for {made:?}");
            // A file of identities that this passphrase encrypts. It is asked for until it is right.
            let pair = KeyPair::generate().unwrap();
            let mut file = age::scrypt::Recipient::new(made.into());
            file.set_work_factor(4);
            let file = age::encrypt(&file, pair.to_identity_file_text().as_bytes()).unwrap();
            let answer = move |_: &str| {
                NOTES.fetch_add(1, Ordering::Relaxed);
                Some(Zeroizing::new(typed.to_owned()))
            };
            let identities = Identities::from_file_asking(&file[..], answer).unwrap();
            let container = encrypt_bytes(b"plain", &(&pair).into(), &EncryptOptions::default()).unwrap();
            for _ in 0..2 {
                let opened = decrypt_bytes(&container, &identities, 1.into());
                assert_eq!(opened.is_ok(), tries.is_some(), "{typed:?} for {made:?}");
            }
            assert_eq!(NOTES.swap(0, Ordering::Relaxed), if tries.is_some() { 1 } else { 2 });
        }
    }

    #[test]
    fn everything_else_is_refused_without_being_shown() {
        assert_eq!(kind(""), ErrorKind::BadIdentity);
        assert_eq!(kind("# nothing\n"), ErrorKind::BadIdentity);
        assert_eq!(kind("age-encryption.org/v1\n"), ErrorKind::BadIdentity);
        assert_eq!(kind("-----BEGIN PRIVATE KEY-----\n"), ErrorKind::BadIdentity);
        let error = Identities::from_file(format!("{IDENTITY}\nAGE-SECRET-KEY-1OOPS\n").as_bytes()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::BadIdentity);
        assert!(error.to_string().contains("line 2"));
        assert!(!format!("{error} {error:?}").contains("OOPS"));
    }
}
