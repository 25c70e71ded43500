//! How a report fails.

use std::{
    io,
    path::{Path, PathBuf},
};

/// A failure.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder cannot be read.
    #[error("{}: {error}", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The folder holds neither studies nor records.
    #[error("{}: no studies and no bench records", .0.display())]
    Nothing(PathBuf),
    /// Nor is what looks like them any use.
    #[error("{}: no usable study or record ({note})", path.display())]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// What is wrong with the first file.
        note: String,
    },
    /// The page could not be made; a bug.
    #[error("cannot write the page: {0}")]
    Page(String),
}

impl Error {
    pub(super) fn folder(path: &Path, error: io::Error) -> Error {
        Error::Folder { path: path.to_path_buf(), error }
    }
}
