//! Converts errors to Python exceptions. Their classes are in `python/tress/_errors.py`, because some derive from several
//! built-in exceptions.

use std::error::Error as StdError;
use std::fmt::Debug;
use std::io;
use std::path::Path;

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError};
use pyo3::prelude::*;
use tress_container::{Error, ErrorKind};

/// A class of `tress._errors`.
#[derive(Clone, Copy)]
pub(crate) enum ExceptionClass {
    TressError,
    WrongKey,
    Damaged,
    InvalidTag,
    InvalidSignature,
    Usage,
    NeedMore,
    OutputExists,
}

impl ExceptionClass {
    const fn name(self) -> &'static str {
        match self {
            Self::TressError => "TressError",
            Self::WrongKey => "WrongKey",
            Self::Damaged => "Damaged",
            Self::InvalidTag => "InvalidTag",
            Self::InvalidSignature => "InvalidSignature",
            Self::Usage => "Usage",
            Self::NeedMore => "NeedMore",
            Self::OutputExists => "OutputExists",
        }
    }

    /// Creates an exception of this class with a message and the name of its kind.
    pub(crate) fn error(self, py: Python<'_>, message: &str, kind: &str) -> PyErr {
        self.with(py, (message, kind))
    }

    /// Creates an exception of this class with these arguments.
    pub(crate) fn with<'py>(self, py: Python<'py>, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
        let exception = py
            .import("tress._errors")
            .and_then(|module| module.getattr(self.name()))
            .and_then(|class| class.call1(arguments));
        match exception {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        }
    }
}

/// Creates an exception for a wrong argument.
pub(crate) fn usage(py: Python<'_>, message: &str) -> PyErr {
    ExceptionClass::Usage.error(py, message, "usage")
}

/// Creates an exception for forged messages of a batch, or of a single message if `indices` is empty.
pub(crate) fn invalid_tag(py: Python<'_>, indices: Vec<usize>) -> PyErr {
    ExceptionClass::InvalidTag.with(py, ("authentication failed", "cipher-authentication", indices))
}

/// Converts an error of `tress-container`.
pub(crate) fn container(py: Python<'_>, error: Error) -> PyErr {
    let class = match &error.kind {
        ErrorKind::Io(_) => return system_error(py, &error),
        ErrorKind::Interrupted => return PyKeyboardInterrupt::new_err(()),
        ErrorKind::Cipher(tress_cipher::Error::Authentication) => return invalid_tag(py, Vec::new()),
        ErrorKind::NoMatchingKey | ErrorKind::WrongPassphrase => ExceptionClass::WrongKey,
        ErrorKind::OutputExists => ExceptionClass::OutputExists,
        ErrorKind::NotAContainer
        | ErrorKind::OtherFormat
        | ErrorKind::ArmorDamaged
        | ErrorKind::UnknownVersion
        | ErrorKind::UnknownAead
        | ErrorKind::HeaderDamaged
        | ErrorKind::HeaderTooLarge
        | ErrorKind::HeaderPadding
        | ErrorKind::AeadMismatch
        | ErrorKind::Commitment
        | ErrorKind::ChunkDamaged { .. }
        | ErrorKind::Truncated
        | ErrorKind::TooManyChunks
        | ErrorKind::TreeDamaged
        | ErrorKind::TreePath
        | ErrorKind::TreeLink
        | ErrorKind::TreeSpecialFile
        | ErrorKind::TreeDuplicate => ExceptionClass::Damaged,
        ErrorKind::RangeOutOfBounds | ErrorKind::MessageTooLong => ExceptionClass::Usage,
        kind if kind.is_usage() => ExceptionClass::Usage,
        _ => ExceptionClass::TressError,
    };
    class.error(py, &error.to_string(), &kind_name(&error.kind))
}

/// Converts an error of `tress-cipher`.
pub(crate) fn cipher(py: Python<'_>, error: tress_cipher::Error) -> PyErr {
    match error {
        tress_cipher::Error::Authentication => invalid_tag(py, Vec::new()),
        // PyCA's message.
        tress_cipher::Error::MessageTooLong => {
            ExceptionClass::Usage.error(py, "Data too long for nonce", &kind_name(&error))
        }
        error => ExceptionClass::Usage.error(py, &error.to_string(), &kind_name(&error)),
    }
}

/// Converts an error of `tress-sign`.
pub(crate) fn signing(py: Python<'_>, error: tress_sign::Error) -> PyErr {
    use tress_sign::Error as Sign;
    let class = match error {
        Sign::WrongPassphrase => ExceptionClass::WrongKey,
        Sign::Mismatch | Sign::MalformedSignature => ExceptionClass::InvalidSignature,
        error if error.is_usage() => ExceptionClass::Usage,
        _ => ExceptionClass::TressError,
    };
    class.error(py, &error.to_string(), &kind_name(&error))
}

/// Converts an I/O error, which may contain an error of `tress-container`.
pub(crate) fn io(py: Python<'_>, error: io::Error) -> PyErr {
    match error.downcast::<Error>() {
        Ok(error) => container(py, error),
        Err(error) => container(py, error.into()),
    }
}

/// Returns an `OSError` with error number, message and file name, which Python turns into a subclass such as `FileNotFoundError`;
/// or the exception that a Python file object has raised.
fn system_error(py: Python<'_>, error: &Error) -> PyErr {
    match cause(error) {
        Some(ErrorCause::Raised(raised)) => raised.clone_ref(py),
        Some(ErrorCause::Number(number)) => {
            let words = py.import("os").and_then(|os| os.call_method1("strerror", (number,))).map(Bound::unbind);
            match words {
                Ok(words) => PyOSError::new_err((number, words, error.path.as_deref().map(path_text))),
                Err(error) => error,
            }
        }
        None if error.kind == ErrorKind::Io(io::ErrorKind::OutOfMemory) => PyMemoryError::new_err(error.to_string()),
        None => PyOSError::new_err(error.to_string()),
    }
}

fn path_text(path: &Path) -> std::ffi::OsString {
    path.as_os_str().to_owned()
}

enum ErrorCause<'a> {
    Raised(&'a PyErr),
    Number(i32),
}

/// Searches the chain of sources of an error for its cause.
fn cause<'a>(error: &'a (dyn StdError + 'static)) -> Option<ErrorCause<'a>> {
    if let Some(raised) = error.downcast_ref::<PyErr>() {
        return Some(ErrorCause::Raised(raised));
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return match error.get_ref() {
            Some(inner) => cause(inner),
            None => error.raw_os_error().map(ErrorCause::Number),
        };
    }
    cause(error.source()?)
}

/// Returns the name of an error kind: `ChunkDamaged { chunk: 3 }` gives `chunk-damaged`.
pub(crate) fn kind_name(kind: &impl Debug) -> String {
    let mut name = String::new();
    for letter in format!("{kind:?}").chars() {
        match letter {
            '(' => name.push('-'),
            letter if letter.is_ascii_uppercase() => {
                if !name.is_empty() && !name.ends_with('-') {
                    name.push('-');
                }
                name.push(letter.to_ascii_lowercase());
            }
            letter if letter.is_ascii_alphanumeric() => name.push(letter),
            _ => break,
        }
    }
    name
}
