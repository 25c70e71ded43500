//! The error type of this crate: a typed kind, the file that it is about if known, and the cause.
//!
//! Programs and tests match [`ErrorKind`]. The text is for people.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tress_terminal::shown;

/// Kind of an error: one variant for each failure that a user can distinguish or act on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A system call failed, among others because of a full disk, an unreadable input or a closed pipe.
    #[error("{}", io_text(*.0))]
    Io(io::ErrorKind),

    /// The input does not begin like a file in a format that is known.
    #[error("neither a tress container nor an age file")]
    NotAContainer,
    /// The input is in another format than the one that was asked for, or in one that cannot do what was asked.
    #[error("wrong format")]
    OtherFormat,
    /// The text around an age file is damaged.
    #[error("armor is damaged")]
    ArmorDamaged,
    /// The first line names a version that this program does not know.
    #[error("unknown container version")]
    UnknownVersion,
    /// The first line names an AEAD that this program does not know.
    #[error("unknown AEAD in the container")]
    UnknownAead,
    /// The age file in the header does not parse, its MAC does not match, or its content is malformed.
    #[error("header is damaged")]
    HeaderDamaged,
    /// The header's length or its number of recipients exceeds the format's limit. 662 recipients for X25519 always fit.
    #[error("header is larger than the format allows")]
    HeaderTooLarge,
    /// A byte between the age file and the payload is not zero.
    #[error("header padding is not zero")]
    HeaderPadding,
    /// The AEAD in the first line differs from the one in the header's sealed content.
    #[error("first line and header name different AEADs")]
    AeadMismatch,
    /// No identity opens the container.
    #[error("no identity matches a recipient of this file")]
    NoMatchingKey,
    /// The passphrase does not open the container, or its stanza is damaged. The two cannot be distinguished.
    #[error("wrong passphrase")]
    WrongPassphrase,
    /// The passphrase stanza's work factor exceeds the accepted limit, or a given work factor is not 1 to 22.
    #[error("passphrase work factor is outside the allowed range")]
    WorkFactorTooHigh,
    /// The payload's commitment does not follow from the input key, the salt and the first line.
    #[error("payload does not belong to this header (commitment mismatch)")]
    Commitment,
    /// A chunk failed authentication: damaged, moved, duplicated, extended, or from another file.
    #[error("chunk {chunk} is damaged")]
    ChunkDamaged {
        /// Number of the first chunk that failed, from 0.
        chunk: u64,
    },
    /// The input ends before the file in it does.
    #[error("file is truncated")]
    Truncated,
    /// The payload has, or would have, more than 2^37 chunks.
    #[error("too large: more than 2^37 chunks")]
    TooManyChunks,

    /// A range ends before it starts, or past the end of the plaintext.
    #[error("range is out of bounds")]
    RangeOutOfBounds,
    /// The output exists, and replacing it was not requested.
    #[error("output already exists")]
    OutputExists,
    /// The output is the input, or is inside it.
    #[error("output is the input or is inside it")]
    OutputIsInput,
    /// Refused to write a container to a terminal.
    #[error("refusing to write binary data to a terminal")]
    BinaryToTerminal,
    /// A signal or another thread cancelled the run.
    #[error("interrupted")]
    Interrupted,
    /// The system does not let this process start another thread.
    #[error("system refused to start a thread (a limit of processes?)")]
    NoThread,
    /// The input changed while it was read.
    #[error("input changed while it was being read")]
    InputChanged,

    /// The tar stream inside a tree container does not parse.
    #[error("tree archive is damaged")]
    TreeDamaged,
    /// An entry's name is absolute, contains `..`, or is not allowed on this system.
    #[error("tree entry has a forbidden name")]
    TreePath,
    /// A symbolic link of the tree points out of it.
    #[error("link points outside the tree")]
    TreeLink,
    /// An entry is neither a file, a folder nor a symbolic link.
    #[error("file type is not supported")]
    TreeSpecialFile,
    /// Two entries have the same name, or names that differ only in case where the file system ignores case.
    #[error("duplicate entry in the tree")]
    TreeDuplicate,

    /// A recipient does not parse, or this build does not support its type.
    #[error("malformed or unsupported recipient")]
    BadRecipient,
    /// An identity does not parse, or this build does not support its type.
    #[error("malformed or unsupported identity")]
    BadIdentity,
    /// A key file does not hold exactly 16 or 32 bytes.
    #[error("key file must hold exactly 16 or 32 bytes")]
    KeyFileLength,
    /// A passphrase is empty, too long or not UTF-8.
    #[error("invalid passphrase")]
    BadPassphrase,
    /// No recipient was given.
    #[error("no recipients")]
    NoRecipients,
    /// These recipients cannot be in one container: a passphrase must be the only recipient.
    #[error("these recipients cannot be combined")]
    MixedRecipients,
    /// An age plugin is missing or failed.
    #[error("age plugin failed")]
    Plugin,
    /// A name cannot be stored in a container.
    #[error("name is not allowed")]
    BadName,
    /// A cipher or mode rejected its parameters, its data or its tag.
    #[error("{0}")]
    Cipher(tress_cipher::Error),
    /// A message that has to be in memory exceeds the limit.
    #[error("message is too long")]
    MessageTooLong,
    /// The peer uses another version of the protocol, or another protocol.
    #[error("peer uses another protocol version or is not tress")]
    PeerVersion,
    /// The handshake failed: the peer does not hold the expected key, or the messages were changed in transit.
    #[error("receiver does not have the key of this tress1 address")]
    WrongPeer,
    /// The peer sent or accepted nothing for too long.
    #[error("peer stopped responding")]
    Stalled,
    /// A connection was lost.
    #[error("connection was lost")]
    Disconnected,
    /// The peer violated the protocol.
    #[error("peer violated the protocol")]
    Protocol,
    /// The peer refused, for this reason.
    #[error("refused: {0}")]
    Refused(Refusal),
    /// This side refused, for this reason.
    #[error("refused: {0}")]
    Declined(Refusal),

    /// Any other usage error.
    #[error("invalid use")]
    Usage,
}

/// Why a receiver refused a sender or one of its requests. Both sides show these texts. The variants have the numbers of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The sender is not in the receiver's allow file.
    #[error("receiver does not accept this sender")]
    NotAdmitted = 1,
    /// The ticket of a data connection is not, or no longer, valid.
    #[error("session ticket is not valid")]
    Ticket,
    /// Too many connections, streams or open files.
    #[error("too many connections or transfers at the same time")]
    TooMany,
    /// The name is not allowed at the receiver.
    #[error("name is not allowed at the receiver")]
    Name,
    /// The name exists at the receiver.
    #[error("name already exists at the receiver")]
    Exists,
    /// The receiver holds a part of another or an older input of this name.
    #[error("receiver has part of another version of this file")]
    OtherVersion,
    /// A newer transfer of this file replaced this one.
    #[error("a newer transfer of the same file replaced this one")]
    TakenOver,
    /// No space is left at the receiver.
    #[error("no space left at the receiver")]
    NoSpace,
    /// The receiver's size limit for this sender is exceeded.
    #[error("receiver's quota for this sender is exceeded")]
    Quota,
    /// The receiver's disk or system failed.
    #[error("receiver cannot write to its disk")]
    Io,
    /// The receiver reported a protocol violation by this side.
    #[error("sender violated the protocol")]
    Protocol,
    /// The receiver is shutting down.
    #[error("receiver is shutting down")]
    Stopping,
}

impl ErrorKind {
    /// Whether the caller's keys, names or parameters are invalid (exit status 2). Otherwise the operation failed (exit status 1).
    pub fn is_usage(&self) -> bool {
        use tress_cipher::Error as Cipher;
        match self {
            Self::Cipher(error) => !matches!(
                error,
                Cipher::Authentication
                    | Cipher::Padding
                    | Cipher::DataLength
                    | Cipher::MessageTooLong
                    | Cipher::CounterExhausted
            ),
            Self::BinaryToTerminal
            | Self::BadRecipient
            | Self::BadIdentity
            | Self::KeyFileLength
            | Self::BadPassphrase
            | Self::NoRecipients
            | Self::MixedRecipients
            | Self::BadName
            | Self::Usage => true,
            _ => false,
        }
    }
}

/// Our text where it is clearer than the system's.
fn plain_text(kind: io::ErrorKind) -> Option<&'static str> {
    Some(match kind {
        io::ErrorKind::NotFound => "no such file or directory",
        io::ErrorKind::IsADirectory => "is a folder",
        io::ErrorKind::NotADirectory => "is not a folder",
        io::ErrorKind::StorageFull => "no space left on device",
        io::ErrorKind::BrokenPipe => "pipe is closed",
        _ => return None,
    })
}

fn io_text(kind: io::ErrorKind) -> String {
    plain_text(kind).map_or_else(|| kind.to_string(), str::to_string)
}

#[doc(hidden)]
pub fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

/// An error: its kind, the file that it is about, and its cause.
///
/// It survives a conversion to [`io::Error`] and back: `io::Error::from` wraps it, and `Error::from` unwraps it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Error {
    /// Kind of the error.
    pub kind: ErrorKind,
    /// The file that the error is about, if known.
    ///
    /// For an error inside a tree that is unpacked, the path in the tree, which is untrusted; at a receiver, the sender's path.
    pub path: Option<PathBuf>,
    /// Whether `path` is untrusted.
    is_inside: bool,
    /// The container that the tree is in, when known.
    container: Option<PathBuf>,
    detail: Option<String>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// Makes an error of this kind that names no file.
    pub fn new(kind: ErrorKind) -> Self {
        Self { kind, path: None, is_inside: false, container: None, detail: None, source: None }
    }

    /// Names the file, unless one is named already: the innermost caller knows best.
    #[must_use]
    pub fn at(mut self, path: impl AsRef<Path>) -> Self {
        if self.path.is_none() {
            self.path = Some(path.as_ref().to_path_buf());
        }
        self
    }

    /// Names a path inside a tree or of a sender, which is untrusted, unless a path is named already.
    #[must_use]
    #[doc(hidden)]
    pub fn at_entry(mut self, path: PathBuf) -> Self {
        self.is_inside |= self.path.is_none();
        self.at(path)
    }

    /// Names the container in which the error happened, in addition to the path inside its tree if there is one. An interruption did not
    /// happen there.
    #[must_use]
    pub(crate) fn in_container(mut self, container: &Path) -> Self {
        if self.kind == ErrorKind::Interrupted {
            return self;
        }
        if !self.is_inside {
            return self.at(container);
        }
        self.container.get_or_insert_with(|| container.to_path_buf());
        self
    }

    /// Adds a detail that the kind does not express, such as a line number or a limit. It must not contain secrets.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Puts a location, such as a line number, in front of the detail.
    #[must_use]
    pub(crate) fn at_location(mut self, place: &str) -> Self {
        self.detail = Some(match self.detail {
            Some(detail) => format!("{place}: {detail}"),
            None => place.into(),
        });
        self
    }

    /// Adds the number of other failures.
    #[must_use]
    #[doc(hidden)]
    pub fn with_more(self, others: u64) -> Self {
        let before = self.detail.as_ref().map_or(String::new(), |detail| format!("{detail}; "));
        self.with_detail(format!("{before}{others} more failed"))
    }

    /// The system's own message, in lower case and without its number, or the message of a wrapped error without a system number. Many
    /// system errors have no kind in the standard library.
    fn system_text(&self) -> Option<String> {
        let ErrorKind::Io(kind) = self.kind else { return None };
        if plain_text(kind).is_some() {
            return None;
        }
        let error = self.source.as_ref()?.downcast_ref::<io::Error>()?;
        Some(match error.raw_os_error() {
            Some(number) => {
                let text = io::Error::from_raw_os_error(number).to_string();
                lower_first(text.split(" (os error").next()?.trim_end_matches('.'))
            }
            None => error.to_string(),
        })
    }

    /// Whether an object of the caller has failed, in place of the system.
    pub(crate) fn is_raised(&self) -> bool {
        let cause = self.source.as_ref().and_then(|source| source.downcast_ref::<io::Error>());
        matches!(self.kind, ErrorKind::Io(_)) && cause.is_some_and(|error| error.raw_os_error().is_none())
    }

    /// Keeps the cause for [`StdError::source`].
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into().into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(container) = &self.container {
            write!(f, "{}: ", shown::given(container))?;
        }
        if let Some(path) = &self.path {
            let shown = if self.is_inside { shown::foreign(path) } else { shown::given(path) };
            write!(f, "{shown}: ")?;
        }
        match self.system_text() {
            Some(text) => f.write_str(&text)?,
            None => write!(f, "{}", self.kind)?,
        }
        match &self.detail {
            Some(detail) => write!(f, ": {detail}"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind)
    }
}

impl From<tress_cipher::Error> for Error {
    fn from(error: tress_cipher::Error) -> Self {
        Self::new(ErrorKind::Cipher(error))
    }
}

impl From<io::Error> for Error {
    /// Unwraps an error of this crate, or makes one of kind `Io`.
    fn from(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(|error| Self::new(ErrorKind::Io(error.kind())).with_source(error))
    }
}

impl From<Error> for io::Error {
    /// The system's kind if there is one, `InvalidInput` for usage errors, `InvalidData` for everything else.
    fn from(error: Error) -> Self {
        let kind = match &error.kind {
            ErrorKind::Io(kind) => *kind,
            kind if kind.is_usage() => io::ErrorKind::InvalidInput,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_path_stays_and_errors_have_one_line() {
        let error = Error::new(ErrorKind::Truncated).at("a\nb").at("c");
        assert_eq!(error.path.as_deref(), Some(Path::new("a\nb")));
        assert!(!error.to_string().contains('\n'));
    }

    #[test]
    fn the_system_is_quoted_where_no_kind_fits() {
        // EIO on every Unix; Windows has another text for its number 5.
        let text = Error::from(io::Error::from_raw_os_error(5)).at("disk").to_string();
        assert!(text.starts_with("disk: ") && !text.contains("os error"), "{text}");
        assert!(!cfg!(unix) || text == "disk: input/output error", "{text}");
    }

    #[test]
    fn io_errors_return_the_wrapped_error() {
        for (error, kind) in [
            (Error::new(ErrorKind::ChunkDamaged { chunk: 7 }).at("a").with_detail("b"), io::ErrorKind::InvalidData),
            // A kind that callers would retry forever.
            (ErrorKind::Interrupted.into(), io::ErrorKind::InvalidData),
            (ErrorKind::Usage.into(), io::ErrorKind::InvalidInput),
            (io::Error::from_raw_os_error(2).into(), io::ErrorKind::NotFound),
        ] {
            let text = format!("{error:?}");
            let carried = io::Error::from(error);
            assert_eq!(carried.kind(), kind);
            assert_eq!(format!("{:?}", Error::from(carried)), text);
        }
    }

    #[test]
    fn wrong_use_and_failure_differ() {
        assert!(ErrorKind::NoRecipients.is_usage());
        assert!(ErrorKind::Cipher(tress_cipher::Error::NonceLength).is_usage());
        assert!(!ErrorKind::Cipher(tress_cipher::Error::Padding).is_usage());
        assert!(!ErrorKind::NoMatchingKey.is_usage());
        // The same command may succeed with other files.
        for kind in [ErrorKind::OutputExists, ErrorKind::OutputIsInput, ErrorKind::RangeOutOfBounds] {
            assert!(!kind.is_usage());
        }
        assert!(!ErrorKind::Io(io::ErrorKind::NotFound).is_usage());
    }
}
