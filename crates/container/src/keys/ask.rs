//! Questions that an identity asks its user.

use std::sync::Arc;

use age::Callbacks;
use age::secrecy::SecretString;
use zeroize::Zeroizing;

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
pub(super) struct AskCallbacks(pub(super) Arc<dyn Ask>);

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
