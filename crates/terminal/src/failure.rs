//! Errors of a command: one line that names the file and the cause, one hint where we know a remedy, and the exit status.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io;
use std::path::Path;

pub use crate::shown::foreign;
use crate::shown::{given, is_hidden};

/// The operation failed: wrong key, damaged input, I/O.
pub const FAILED: u8 = 1;
/// The command line is invalid.
pub const WRONG_USE: u8 = 2;

/// Done, but something was left out, and named.
pub const LEFT_OUT: u8 = 3;

/// An error as a command prints it.
#[derive(Debug)]
pub struct Failure {
    /// The exit status.
    pub status: u8,
    /// The file and what went wrong with it: `big.tress: no such file or directory`.
    pub message: String,
    /// What the user can do about it, where we know it.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure with exit status [`FAILED`].
    pub fn failed(message: impl Into<String>) -> Failure {
        Failure { status: FAILED, message: without_number(message.into()), hint: None }
    }

    /// A failure with exit status [`WRONG_USE`].
    pub fn wrong_use(message: impl Into<String>) -> Failure {
        Failure { status: WRONG_USE, ..Failure::failed(message) }
    }

    /// A result that lacks something, with exit status [`LEFT_OUT`].
    pub fn left_out(message: impl Into<String>) -> Failure {
        Failure { status: LEFT_OUT, ..Failure::failed(message) }
    }

    /// An I/O error of a file that the command itself opens (keys, passphrases, results).
    pub fn io(path: &Path, error: &io::Error) -> Failure {
        let failure = Failure::failed(format!("{}: {}", name(path), cause(error)));
        if error.kind() == io::ErrorKind::IsADirectory { failure.hint("name a file inside it") } else { failure }
    }

    /// An error of standard output.
    pub fn stdout(error: &io::Error) -> Failure {
        Failure::io(Path::new("standard output"), error)
    }

    /// Adds a hint.
    pub fn hint(self, hint: impl Into<String>) -> Failure {
        Failure { hint: Some(hint.into()), ..self }
    }

    /// Drops the hint that recommends --force if the user gave --force already.
    pub fn with_force(mut self, force: bool) -> Failure {
        if force {
            self.hint.take_if(|hint| hint.starts_with("--force"));
        }
        self
    }

    /// Prints the error to standard error. A closed standard error is ignored.
    pub fn print(&self) {
        let what = if self.status == LEFT_OUT { "note" } else { "error" };
        let mut text = format!("{}: {what}: {}\n", crate::program(), escape(&self.message));
        if let Some(hint) = &self.hint {
            text.push_str(&format!("hint: {}\n", escape(hint)));
        }
        let _ = io::Write::write_all(&mut io::stderr().lock(), text.as_bytes());
    }
}

/// The cause of an I/O error in words: the text of the system, or of the error inside.
pub fn cause(error: &io::Error) -> String {
    match (error.raw_os_error(), error.get_ref().map(ToString::to_string)) {
        (Some(number), _) => lower_first(without_number(io::Error::from_raw_os_error(number).to_string())),
        // Not a context that a library wrapped around the system's error: it names the file again.
        (None, Some(text)) if !text.contains(" (os error ") => text,
        _ => error.kind().to_string(),
    }
}

fn lower_first(text: String) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

/// Removes the number that the standard library appends to the system's message, and the full stop of Windows.
fn without_number(mut message: String) -> String {
    if let Some(start) = message.rfind(" (os error ")
        && message.ends_with(')')
    {
        message.truncate(start);
        message.truncate(message.trim_end_matches('.').len());
    }
    message
}

/// The name of a file in messages.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { given(path) }
}

/// Prefixes of secret keys, which a user may have pasted in place of a file name or a recipient.
const SECRETS: [&str; 2] = ["AGE-SECRET-KEY-", "TRESS-NOISE-KEY-"];

/// Replaces secret keys: errors repeat arguments, and end up in logs.
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

/// Escapes control characters and everything that reorders or hides text, and removes secret keys. Untrusted text must go through
/// [`foreign`] first.
pub fn escape(text: &str) -> impl fmt::Display + '_ {
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
    fn control_characters_are_escaped() {
        let wild = "a\x1b[2Jb\nc\u{202e}d\u{9b}é\u{61c}\u{ad}\u{e0041}C:\\n";
        assert_eq!(escape(wild).to_string(), "a\\u{1b}[2Jb\\nc\\u{202e}d\\u{9b}é\\u{61c}\\u{ad}\\u{e0041}C:\\n");
    }

    #[test]
    fn the_systems_number_is_left_out() {
        assert_eq!(without_number("a: no (os error 2)".into()), "a: no");
        assert_eq!(without_number("a (os error 2): b".into()), "a (os error 2): b");
    }

    #[test]
    fn causes_of_io_errors() {
        let (kind, system) = (io::ErrorKind::NotFound, io::Error::from_raw_os_error(2));
        let wrapped = io::Error::new(kind, format!("{system} at path b"));
        assert_eq!(cause(&io::Error::new(kind, "descriptor 7 is not open")), "descriptor 7 is not open");
        assert_eq!([cause(&kind.into()), cause(&wrapped)], [kind.to_string(), kind.to_string()]);
        let shown = cause(&system);
        assert!(
            shown.starts_with(char::is_lowercase) && !shown.contains("os error") && !shown.ends_with('.'),
            "{shown}"
        );
    }

    #[test]
    fn secret_keys_are_not_repeated() {
        let text = "a AGE-SECRET-KEY-1QQ: b, age-secret-key-pq-1xx/c TRESS-NOISE-KEY-1ZZ";
        let shown = "a AGE-SECRET-KEY-...: b, age-secret-key-.../c TRESS-NOISE-KEY-...";
        assert_eq!(escape(text).to_string(), shown);
    }
}
