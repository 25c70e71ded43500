//! How a study fails.

use std::{
    io,
    path::{Path, PathBuf},
};

/// A failure.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No study has this name.
    #[error("unknown study {0}: use {known} or all", known = known_studies())]
    UnknownStudy(String),
    /// No part of the study has this name; these are there.
    #[error("unknown part {0}: the parts are {known}", known = .1.join(", "))]
    UnknownPart(String, Vec<&'static str>),
    /// A cipher refused; a bug.
    #[error(transparent)]
    Cipher(#[from] tress_cipher::Error),
    /// Arithmetic refused; a bug.
    #[error(transparent)]
    Modular(#[from] tress_modular::Error),
    /// A record of other systems is none.
    #[error("{}, line {line}: {why}", path.display())]
    Record {
        /// Which.
        path: PathBuf,
        /// Where.
        line: usize,
        /// Why.
        why: String,
    },
    /// Two ways of computing the same differ; a bug.
    #[error("{0}: two computations of the same value differ")]
    Disagreement(String),
    /// A simulation; a bug.
    #[error("simulation: {0}")]
    Simulation(#[from] tress_sim::Error),
    /// A program that is simulated did not do what it should; a bug.
    #[error("simulated program: {0}")]
    Program(String),
    /// The system has no more threads.
    #[error("cannot start a thread: {0}")]
    Threads(String),
    /// A program that is measured failed, or printed what cannot be.
    #[error("measured program: {0}")]
    Worker(String),
    /// A file or folder of the study.
    #[error("{}: {error}", path.display())]
    Files {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The page could not be written.
    #[error(transparent)]
    Output(io::Error),
}

impl Error {
    pub(super) fn files(path: &Path, error: io::Error) -> Error {
        Error::Files { path: path.to_path_buf(), error }
    }

    /// Whether the caller asked for what there is not, as opposed to something that failed.
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::UnknownStudy(_) | Error::UnknownPart(..))
    }
}

impl From<tress_container::Error> for Error {
    fn from(error: tress_container::Error) -> Error {
        Error::Threads(error.to_string())
    }
}

fn known_studies() -> String {
    super::all().iter().map(|study| study.name).collect::<Vec<_>>().join(", ")
}
