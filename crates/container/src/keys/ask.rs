//! Questions that an identity asks its user.

use std::io;
use std::sync::Arc;

use age::secrecy::SecretString;
use age::{Callbacks, DecryptError, Identity};
use age_core::format::{FileKey, Stanza};
use tress_lanes::fork::ForkMutex;
use zeroize::Zeroizing;

use super::passphrase::{OTHER_FORM, other_forms};

/// Answers the questions of encrypted identities and plugins. `None` means no answer, and then the identity opens nothing. Questions are
/// asked while a header is opened, on the thread that opens it. A closure answers only questions for passphrases and other secrets.
pub trait Ask: Send + Sync {
    /// The passphrase, or another secret, that `question` asks for.
    fn secret(&self, question: &str) -> Option<Zeroizing<String>>;

    /// Text that may be visible while it is typed.
    fn text(&self, _question: &str) -> Option<String> {
        None
    }

    /// A choice between `yes` and `no`, if there is a second one.
    fn confirm(&self, _question: &str, _yes: &str, _no: Option<&str>) -> Option<bool> {
        None
    }

    /// Shows a message, such as what to do with a hardware key.
    fn show(&self, _message: &str) {}
}

impl<F: Fn(&str) -> Option<Zeroizing<String>> + Send + Sync> Ask for F {
    fn secret(&self, question: &str) -> Option<Zeroizing<String>> {
        self(question)
    }
}

/// An [`Ask`] in the form that age takes.
#[derive(Clone)]
pub(super) struct AskCallbacks(Arc<dyn Ask>);

impl AskCallbacks {
    pub(super) fn new(ask: impl Ask + 'static) -> Self {
        Self(Arc::new(ask))
    }
}

impl Callbacks for AskCallbacks {
    fn display_message(&self, message: &str) {
        self.0.show(message);
    }

    fn confirm(&self, message: &str, yes: &str, no: Option<&str>) -> Option<bool> {
        self.0.confirm(message, yes, no)
    }

    fn request_public_string(&self, description: &str) -> Option<String> {
        self.0.text(description)
    }

    fn request_passphrase(&self, description: &str) -> Option<SecretString> {
        self.0.secret(description).map(|secret| secret.as_str().into())
    }
}

/// Identities that a passphrase encrypts.
pub(super) trait Locked {
    type Unlocked: Identity;

    /// Asks for the passphrase.
    const QUESTION: &str;

    /// Whether one of the identities may open this stanza: if not, its user is not asked.
    fn may_open(&self, _: &Stanza) -> bool {
        true
    }

    /// Whether there is memory for the passphrase.
    fn check_memory(&self) -> io::Result<()> {
        Ok(())
    }

    /// Decrypts the identities.
    ///
    /// # Errors
    /// `KeyDecryptionFailed` for another passphrase.
    fn unlock(&self, passphrase: &str, ask: &AskCallbacks) -> Result<Self::Unlocked, DecryptError>;
}

/// Identities with a passphrase, used by one thread at a time. The right passphrase is asked for once.
pub(super) struct LockedIdentity<L: Locked> {
    locked: L,
    ask: AskCallbacks,
    /// `None` until the right passphrase was typed.
    unlocked: ForkMutex<Option<L::Unlocked>>,
}

impl<L: Locked> LockedIdentity<L> {
    pub(super) fn new(ask: AskCallbacks, locked: L) -> Self {
        Self { locked, ask, unlocked: ForkMutex::new(None) }
    }

    /// Asks for the passphrase. A keyboard may type it in another Unicode form than it was encrypted with. `None` without an answer.
    fn unlock(&self) -> Option<Result<L::Unlocked, DecryptError>> {
        if let Err(error) = self.locked.check_memory() {
            return Some(Err(error.into()));
        }
        let passphrase = self.ask.0.secret(L::QUESTION)?;
        let mut unlocked = self.locked.unlock(&passphrase, &self.ask);
        for form in other_forms(&passphrase) {
            if matches!(unlocked, Err(DecryptError::KeyDecryptionFailed)) {
                self.ask.0.show(OTHER_FORM);
                unlocked = self.locked.unlock(&form, &self.ask);
            }
        }
        Some(unlocked)
    }
}

impl<L: Locked> Identity for LockedIdentity<L> {
    fn unwrap_stanza(&self, stanza: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        self.unwrap_stanzas(std::slice::from_ref(stanza))
    }

    // After a panic it opens nothing any more, and neither in a process that was forked while another thread used it.
    fn unwrap_stanzas(&self, stanzas: &[Stanza]) -> Option<Result<FileKey, DecryptError>> {
        if !stanzas.iter().any(|stanza| self.locked.may_open(stanza)) {
            return None;
        }
        let mut unlocked = self.unlocked.lock().ok()?;
        if unlocked.is_none() {
            match self.unlock()? {
                Ok(identity) => *unlocked = Some(identity),
                // The next file asks again.
                Err(error) => return Some(Err(error)),
            }
        }
        unlocked.as_ref()?.unwrap_stanzas(stanzas)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::ErrorKind::{self, NoMatchingKey, WrongPassphrase};
    use crate::commands::EncryptOptions;
    use crate::keys::{Identities, KeyPair, Recipients};
    use crate::streaming::{decrypt_bytes, encrypt_bytes};

    /// Gives these answers one after the other.
    #[derive(Clone)]
    struct Answers(Arc<Mutex<Vec<Option<&'static str>>>>);

    impl Ask for Answers {
        fn secret(&self, _: &str) -> Option<Zeroizing<String>> {
            let mut answers = self.0.lock().unwrap();
            assert!(!answers.is_empty(), "asked again");
            answers.remove(0).map(|answer| Zeroizing::new(answer.into()))
        }
    }

    /// Opens a file for these recipients as often as results are expected, and uses up the answers.
    fn opens(locked: &[u8], to: &[&str], answers: &[Option<&'static str>], expected: &[Option<ErrorKind>]) {
        let recipients: Recipients = to.iter().map(|text| text.parse::<Recipients>().unwrap()).collect();
        let container = encrypt_bytes(b"plain", &recipients, &EncryptOptions::default()).unwrap();
        let answers = Answers(Arc::new(Mutex::new(answers.into())));
        let identities = Identities::from_file_asking(locked, answers.clone()).unwrap();
        for expected in expected {
            let opened = decrypt_bytes(&container, &identities, 1.into());
            assert_eq!(opened.err().map(|error| error.kind).as_ref(), expected.as_ref(), "{to:?}");
        }
        assert!(answers.0.lock().unwrap().is_empty());
    }

    /// The passphrase is that of the test data, U+00E9 or U+0065 U+0301.
    #[test]
    fn questions_end_with_the_right_answer() {
        let mut passphrase = age::scrypt::Recipient::new("caf\u{e9}".into());
        passphrase.set_work_factor(4);
        let pair = KeyPair::generate().unwrap();
        let file = age::encrypt(&passphrase, pair.to_identity_file_text().as_bytes()).unwrap();
        let to_pair = &*pair.recipient().to_string();
        let (none, wrong, right) = (None, Some("cafe"), Some("caf\u{e9}"));
        let results = [Some(NoMatchingKey), Some(WrongPassphrase), None, None];
        opens(&file, &[to_pair, to_pair], &[none, wrong, right], &results);
        #[cfg(feature = "ssh")]
        {
            let key = include_bytes!("testdata/ssh_ed25519_locked");
            let ours = include_str!("testdata/ssh_ed25519.pub");
            // From the tests of crate `age`.
            let other = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHsKLqeplhpW+uObz5dvMgjz1OxfM/XXUB+VHtZ6isGN";
            opens(key, &[to_pair, other, ours, ours], &[right], &[None, None]);
            opens(key, &[to_pair, other, ours, ours], &[none, wrong, Some("cafe\u{301}")], &results);
            opens(key, &[to_pair, other], &[], &[Some(NoMatchingKey)]);
        }
    }
}
