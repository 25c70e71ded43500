//! Errors of a report.

use std::io;
use std::path::{Path, PathBuf};

/// An error of a report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder cannot be read.
    #[error("{}: {error}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The folder holds neither studies nor records.
    #[error("{}: no studies and no bench records", .0.display())]
    Nothing(PathBuf),
    /// All studies and records in the folder are unusable.
    #[error("{}: no usable study or record ({note})", path.display())]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// The reason for the first file.
        note: String,
    },
    /// The page could not be rendered, which is a bug.
    #[error("cannot write the page: {0}")]
    Page(String),
}

impl Error {
    pub(super) fn folder(path: &Path, error: io::Error) -> Error {
        Error::Folder { path: path.to_path_buf(), error }
    }
}
