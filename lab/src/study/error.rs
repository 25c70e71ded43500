//! Errors of a study.

use std::io;
use std::path::{Path, PathBuf};

/// An error of a study.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No study has this name.
    #[error("unknown study {0}: use {known} or all", known = known_studies())]
    UnknownStudy(String),
    /// No part of the study has this name; the second field lists the parts.
    #[error("unknown part {0}: the parts are {known}", known = .1.join(", "))]
    UnknownPart(String, Vec<&'static str>),
    /// The chosen parts of this study simulate no machine of the user's.
    #[error("study {0}: the parts to run simulate no other machine, so --machine and --set have no effect")]
    NoMachine(&'static str),
    /// A setting of the user's machine is wrong.
    #[error("{0}")]
    Setting(String),
    /// The user's machine cannot be read, is invalid, or cannot run the study's programs.
    #[error("{0}")]
    Machine(String),
    /// The cipher library returned an error, which is a bug.
    #[error(transparent)]
    Cipher(#[from] tress_cipher::Error),
    /// The arithmetic library returned an error, which is a bug.
    #[error(transparent)]
    Modular(#[from] tress_modular::Error),
    /// A record of other systems is invalid.
    #[error("{}, line {line}: {why}", path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// The line's number.
        line: usize,
        /// The reason.
        why: String,
    },
    /// Two computations of the same value differ, which is a bug.
    #[error("{0}: two computations of the same value differ")]
    Disagreement(String),
    /// A simulation failed, which is a bug.
    #[error("simulation: {0}")]
    Simulation(#[from] tress_sim::Error),
    /// The simulated program failed or gave a wrong output, which is a bug.
    #[error("simulated program: {0}")]
    Program(String),
    /// The system cannot start a thread.
    #[error("cannot start a thread: {0}")]
    Threads(String),
    /// A measured program failed, or printed impossible values.
    #[error("measured program: {0}")]
    Worker(String),
    /// A file or folder of the study cannot be read or written.
    #[error("{}: {error}", path.display())]
    Files {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
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

    /// Whether the caller asked for something that does not exist, as opposed to a failure.
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::UnknownStudy(_) | Error::UnknownPart(..) | Error::NoMachine(_) | Error::Setting(_))
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
