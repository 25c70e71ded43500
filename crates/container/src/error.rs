//! The one error type of this crate: a typed kind, the file it is about when known, and what lies beneath.
//!
//! Programs and tests match [`ErrorKind`]; the text is for people.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tress_terminal::shown;

/// What went wrong. One variant for each failure that a user can tell apart or act on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The system refused a call; no space left, unreadable input and a closed pipe are among these.
    #[error("{}", io_text(*.0))]
    Io(io::ErrorKind),

    /// The input does not begin like a container.
    #[error("not a tress container")]
    NotAContainer,
    /// The first line names a version that this program does not know.
    #[error("unknown container version")]
    UnknownVersion,
    /// The first line names an AEAD that this program does not know.
    #[error("unknown AEAD in the container")]
    UnknownAead,
    /// The age file in the header does not parse, its MAC does not match, or its content is malformed.
    #[error("header is damaged")]
    HeaderDamaged,
    /// The header's length, or its number of recipients, is beyond the format's limit. 662 recipients for X25519 always fit.
    #[error("header is larger than the format allows")]
    HeaderTooLarge,
    /// A byte between the age file and the payload is not zero.
    #[error("header padding is not zero")]
    HeaderPadding,
    /// The AEAD in the first line is not the one that the header's sealed part names.
    #[error("first line and header name different AEADs")]
    AeadMismatch,
    /// No identity opens the container.
    #[error("no identity matches a recipient of this container")]
    NoMatchingKey,
    /// The passphrase does not open the container, or its stanza is damaged: nobody can tell these apart.
    #[error("wrong passphrase")]
    WrongPassphrase,
    /// Opening the passphrase stanza would take more work than this program is willing to do, or a given work factor is not 1 to 20.
    #[error("passphrase work factor is outside the allowed range")]
    WorkFactorTooHigh,
    /// The payload's commitment is not the one that the input key, salt and first line give.
    #[error("payload does not belong to this header (commitment mismatch)")]
    Commitment,
    /// A chunk failed authentication: damaged, moved, duplicated, extended, or from another file.
    #[error("chunk {chunk} is damaged")]
    ChunkDamaged {
        /// Number of the first such chunk, from 0.
        chunk: u64,
    },
    /// The input ends before the container does.
    #[error("container is truncated")]
    Truncated,
    /// The payload would have, or has, more than 2^37 chunks.
    #[error("too large: more than 2^37 chunks")]
    TooManyChunks,

    /// A range ends before it starts, or past the end of the plaintext.
    #[error("range is out of bounds")]
    RangeOutOfBounds,
    /// The output exists already, and replacing it was not asked for.
    #[error("output already exists")]
    OutputExists,
    /// The output is the input.
    #[error("output is the input or is inside it")]
    OutputIsInput,
    /// A container would be written to a terminal.
    #[error("refusing to write binary data to a terminal")]
    BinaryToTerminal,
    /// A signal, or another thread, asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The system does not let this process start one more thread.
    #[error("system refused to start a thread (a limit of processes?)")]
    NoThread,
    /// The input changed while it was read.
    #[error("input changed while it was being read")]
    InputChanged,

    /// The tar stream inside a tree container does not parse.
    #[error("tree archive is damaged")]
    TreeDamaged,
    /// An entry's name is absolute, has `..`, or cannot be a name here.
    #[error("tree entry has a forbidden name")]
    TreePath,
    /// A link of the tree leads out of it.
    #[error("link points outside the tree")]
    TreeLink,
    /// An entry is neither file, folder nor link.
    #[error("file type is not supported")]
    TreeSpecialFile,
    /// Two entries have one name (or differ in case only, where the file system folds it).
    #[error("duplicate entry in the tree")]
    TreeDuplicate,

    /// A recipient does not parse, or its kind is not supported by this build.
    #[error("malformed or unsupported recipient")]
    BadRecipient,
    /// An identity does not parse, or its kind is not supported by this build.
    #[error("malformed or unsupported identity")]
    BadIdentity,
    /// A key file has to hold exactly 16 or 32 bytes.
    #[error("key file must hold exactly 16 or 32 bytes")]
    KeyFileLength,
    /// A passphrase is empty, too long or not UTF-8.
    #[error("invalid passphrase")]
    BadPassphrase,
    /// No recipient was given.
    #[error("no recipients")]
    NoRecipients,
    /// These recipients cannot stand in one container: a passphrase stands alone.
    #[error("these recipients cannot be combined")]
    MixedRecipients,
    /// An age plugin is missing or failed.
    #[error("age plugin failed")]
    Plugin,
    /// A name cannot be stored in a container.
    #[error("name is not allowed")]
    BadName,
    /// A cipher or mode refused its parameters, its data or its tag.
    #[error("{0}")]
    Cipher(tress_cipher::Error),
    /// A message that has to be held in memory is longer than the limit.
    #[error("message is too long")]
    MessageTooLong,
    /// The other end of a connection speaks another version of the protocol, or none that we know.
    #[error("peer uses another protocol version or is not tress")]
    PeerVersion,
    /// The handshake failed: the other end does not hold the key that was expected, or something on the way meddled.
    #[error("receiver does not have the key of this tress1 address")]
    WrongPeer,
    /// The other end was silent, or took nothing, for too long.
    #[error("peer stopped responding")]
    Stalled,
    /// A connection was cut.
    #[error("connection was lost")]
    Disconnected,
    /// The other end broke the protocol.
    #[error("peer violated the protocol")]
    Protocol,
    /// The other end refused, and says why.
    #[error("refused: {0}")]
    Refused(Refusal),
    /// This end refused.
    #[error("refused: {0}")]
    Declined(Refusal),

    /// Any other wrong use.
    #[error("invalid use")]
    Usage,
}

/// Why a receiver refused a sender, or something of it. The texts are read at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The sender is not in the receiver's allow file.
    #[error("receiver does not accept this sender")]
    NotAdmitted,
    /// The ticket of a data connection is of no use (any more).
    #[error("session ticket is not valid")]
    Ticket,
    /// Too many connections, streams or open files.
    #[error("too many connections or transfers at the same time")]
    TooMany,
    /// The name cannot be made there.
    #[error("name is not allowed at the receiver")]
    Name,
    /// The name exists there already.
    #[error("name already exists at the receiver")]
    Exists,
    /// It holds a part of an input of this name that was another one, or has changed since.
    #[error("receiver has part of an earlier version of this file")]
    OtherVersion,
    /// Another transfer took this one's place.
    #[error("a newer transfer of the same file replaced this one")]
    TakenOver,
    /// No space is left there.
    #[error("no space left at the receiver")]
    NoSpace,
    /// A limit on the size of what it takes.
    #[error("receiver's quota for this sender is exceeded")]
    Quota,
    /// Its disk, or its system, failed.
    #[error("receiver cannot write to its disk")]
    Io,
    /// It says that this end broke the protocol.
    #[error("sender violated the protocol")]
    Protocol,
    /// It is about to stop.
    #[error("receiver is shutting down")]
    Stopping,
}

impl ErrorKind {
    /// Whether the caller's keys, names or parameters are of no use in themselves (exit status 2), as opposed to
    /// something that failed (exit status 1).
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

/// Our words where they are plainer than the system's.
fn plain_text(kind: io::ErrorKind) -> Option<&'static str> {
    Some(match kind {
        io::ErrorKind::NotFound => "no such file or folder",
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

/// A failure: what, about which file, and why.
///
/// It passes through [`io::Error`] unchanged: `io::Error::from` puts it inside, `Error::from` takes it out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Error {
    /// What went wrong.
    pub kind: ErrorKind,
    /// The file that it is about, when known.
    ///
    /// For what is wrong inside a tree that is unpacked, it is the path in the tree, which comes from whoever made it.
    pub path: Option<PathBuf>,
    /// Set where `path` is one inside a tree.
    is_inside: bool,
    /// The container that the tree is in, when known.
    container: Option<PathBuf>,
    detail: Option<String>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of this kind, about no file yet.
    pub fn new(kind: ErrorKind) -> Self {
        Self { kind, path: None, is_inside: false, container: None, detail: None, source: None }
    }

    /// Names the file, unless one is named already: who knows first knows best.
    #[must_use]
    pub fn at(mut self, path: impl AsRef<Path>) -> Self {
        if self.path.is_none() {
            self.path = Some(path.as_ref().to_path_buf());
        }
        self
    }

    /// Names a path inside a tree, unless a path is named already.
    #[must_use]
    pub(crate) fn at_entry(mut self, path: PathBuf) -> Self {
        self.is_inside |= self.path.is_none();
        self.at(path)
    }

    /// Names the container that this happened in, besides the path inside its tree if there is one.
    #[must_use]
    pub(crate) fn in_container(mut self, container: &Path) -> Self {
        if !self.is_inside {
            return self.at(container);
        }
        self.container.get_or_insert_with(|| container.to_path_buf());
        self
    }

    /// Adds what the kind alone cannot say: a line number, a limit. Never a secret.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Puts where it was, such as a line, before what else there is to say.
    #[must_use]
    pub(crate) fn on(mut self, place: &str) -> Self {
        self.detail = Some(match self.detail {
            Some(detail) => format!("{place}: {detail}"),
            None => place.into(),
        });
        self
    }

    /// Names others of which the same is true.
    #[must_use]
    pub(crate) fn also(self, names: &str) -> Self {
        let before = self.detail.as_ref().map_or(String::new(), |detail| format!("{detail}; "));
        self.with_detail(format!("{before}also {names}"))
    }

    /// Says that so many others failed as well.
    #[must_use]
    #[doc(hidden)]
    pub fn with_more(self, others: u64) -> Self {
        let before = self.detail.as_ref().map_or(String::new(), |detail| format!("{detail}; "));
        self.with_detail(format!("{before}{others} more failed"))
    }

    /// The words of the system, lower case and without its number, or of whoever made the error: many have no kind of their own.
    fn system_text(&self) -> Option<String> {
        let ErrorKind::Io(kind) = self.kind else { return None };
        if plain_text(kind).is_some() {
            return None;
        }
        let error = self.source.as_ref()?.downcast_ref::<io::Error>()?;
        Some(match error.raw_os_error() {
            Some(number) => lower_first(io::Error::from_raw_os_error(number).to_string().split(" (os error").next()?),
            None => error.to_string(),
        })
    }

    /// Keeps the error beneath for [`StdError::source`].
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into().into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(container) = &self.container {
            write!(f, "{}: ", shown::given(&container.to_string_lossy()))?;
        }
        if let Some(path) = &self.path {
            let path = path.to_string_lossy();
            let shown = if self.is_inside { shown::foreign(&path) } else { shown::given(&path) };
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
    /// The error of this crate that is inside, or one of kind `Io`.
    fn from(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(|error| Self::new(ErrorKind::Io(error.kind())).with_source(error))
    }
}

impl From<Error> for io::Error {
    /// With the kind that the system gave, `InvalidInput` for wrong use, `InvalidData` for everything else.
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
    fn the_first_path_stays_and_one_error_is_one_line() {
        let error = Error::new(ErrorKind::Truncated).at("a\nb").at("c");
        assert_eq!(error.path.as_deref(), Some(Path::new("a\nb")));
        assert!(!error.to_string().contains('\n'));
    }

    #[test]
    fn the_system_is_quoted_where_no_kind_fits() {
        // EIO on every Unix; Windows has other words for its number 5.
        let text = Error::from(io::Error::from_raw_os_error(5)).at("disk").to_string();
        assert!(text.starts_with("disk: ") && !text.contains("os error"), "{text}");
        assert!(!cfg!(unix) || text == "disk: input/output error", "{text}");
    }

    #[test]
    fn an_io_error_gives_back_what_it_carries() {
        for (error, kind) in [
            (Error::new(ErrorKind::ChunkDamaged { chunk: 7 }).at("a").with_detail("b"), io::ErrorKind::InvalidData),
            // A kind that callers would retry for ever.
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
        // The same command succeeds with other files.
        for kind in [ErrorKind::OutputExists, ErrorKind::OutputIsInput, ErrorKind::RangeOutOfBounds] {
            assert!(!kind.is_usage());
        }
        assert!(!ErrorKind::Io(io::ErrorKind::NotFound).is_usage());
    }
}
