//! Errors of a report.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}: {error}", path.display())]
    Folder { path: PathBuf, error: io::Error },
    #[error("{}: no studies and no bench records", .0.display())]
    Nothing(PathBuf),
    #[error("{}: no usable study or record ({note})", path.display())]
    Unusable { path: PathBuf, note: String },
    /// The page could not be rendered, which is a bug.
    #[error("cannot write the page: {0}")]
    Page(String),
}

impl Error {
    pub(super) fn folder(path: &Path, error: io::Error) -> Error {
        Error::Folder { path: path.to_path_buf(), error }
    }
}
