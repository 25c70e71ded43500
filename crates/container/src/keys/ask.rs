//! Questions that an identity asks its user.

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
pub(super) struct AskCallbacks(Arc<dyn Ask>, Arc<ForkMutex<Forms>>);

/// Other Unicode forms of the passphrase of an identity: a keyboard may type another one than it was encrypted with.
#[derive(Default)]
struct Forms {
    /// The answer to the next question, in place of the user's.
    next: Option<Zeroizing<String>>,
    /// The forms that are left. `None` before the first question.
    others: Option<Vec<Zeroizing<String>>>,
}

impl AskCallbacks {
    pub(super) fn new(ask: impl Ask + 'static) -> Self {
        Self(Arc::new(ask), Arc::new(ForkMutex::new(Forms::default())))
    }

    /// Answers the next question with another form of the first answer. `None` if no form is left.
    fn turn(&self) -> Option<()> {
        let mut forms = self.1.lock().ok()?;
        forms.next = Some(forms.others.as_mut()?.pop()?);
        self.0.show(OTHER_FORM);
        Some(())
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
        let next = self.1.lock().ok()?.next.take();
        let secret = next.or_else(|| self.0.secret(description))?;
        self.1.lock().ok()?.others.get_or_insert_with(|| other_forms(&secret).into_iter().rev().collect());
        Some(secret.as_str().into())
    }
}

/// An identity with a passphrase, used by one thread at a time.
pub(super) struct LockedIdentity<I, M> {
    current: ForkMutex<Option<I>>,
    ask: AskCallbacks,
    /// Makes it again for another attempt.
    make: M,
}

impl<I: Identity, M: Fn(AskCallbacks) -> Option<I>> LockedIdentity<I, M> {
    pub(super) fn new(ask: AskCallbacks, make: M) -> Self {
        Self { current: ForkMutex::new(make(ask.clone())), ask, make }
    }
}

impl<I: Identity, M: Fn(AskCallbacks) -> Option<I>> Identity for LockedIdentity<I, M> {
    fn unwrap_stanza(&self, stanza: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        self.unwrap_stanzas(std::slice::from_ref(stanza))
    }

    // After a panic it opens nothing any more, and neither in a process that was forked while another thread used it.
    fn unwrap_stanzas(&self, stanzas: &[Stanza]) -> Option<Result<FileKey, DecryptError>> {
        let mut current = self.current.lock().ok()?;
        let mut opened = current.as_ref()?.unwrap_stanzas(stanzas);
        while matches!(opened, Some(Err(DecryptError::KeyDecryptionFailed))) && self.ask.turn().is_some() {
            *current = (self.make)(self.ask.clone());
            opened = current.as_ref()?.unwrap_stanzas(stanzas);
        }
        *self.ask.1.lock().ok()? = Forms::default();
        opened
    }
}
