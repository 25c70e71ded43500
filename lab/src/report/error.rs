//! Errors of a report.

use std::io;
use std::path::{Path, PathBuf};

use tress_terminal::shown::given;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}: {error}", given(path))]
    Folder { path: PathBuf, error: io::Error },
    #[error("{}: no studies and no bench records", given(.0))]
    Nothing(PathBuf),
    #[error("{}: no usable study or record ({note})", given(path))]
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
