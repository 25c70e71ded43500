//! How a report fails.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

/// A failure.
#[derive(Debug)]
pub enum Error {
    /// The folder cannot be read.
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The folder holds neither studies nor records.
    Nothing(PathBuf),
    /// Nor is what looks like them any use.
    Unusable {
        /// The folder.
        path: PathBuf,
        /// What is wrong with the first file.
        note: String,
    },
    /// The page could not be made; a bug.
    Page(String),
}

impl Error {
    pub(super) fn folder(path: &Path, error: io::Error) -> Error {
        Error::Folder { path: path.to_path_buf(), error }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Folder { path, error } => write!(f, "{}: {error}", path.display()),
            Error::Nothing(path) => write!(f, "{}: no studies and no bench records", path.display()),
            Error::Unusable { path, note } => {
                write!(f, "{}: no usable study or record ({note})", path.display())
            }
            Error::Page(why) => write!(f, "cannot write the page: {why}"),
        }
    }
}

impl std::error::Error for Error {}
