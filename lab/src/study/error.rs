//! Errors of a study.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("unknown study {0}: use {known} or all", known = known_studies())]
    UnknownStudy(String),
    /// No part of the study has this name; the second field lists the parts.
    #[error("unknown part {0}: the parts are {known}", known = .1.join(", "))]
    UnknownPart(String, Vec<&'static str>),
    #[error("study {0}: the parts to run simulate no other machine, so --machine and --set have no effect")]
    NoMachine(&'static str),
    #[error("{0}")]
    Setting(String),
    /// The user's machine cannot be read, is invalid, or cannot run the study's programs.
    #[error("{0}")]
    Machine(String),
    #[error(transparent)]
    Cipher(#[from] tress_cipher::Error),
    #[error(transparent)]
    Modular(#[from] tress_modular::Error),
    #[error("{}, line {line}: {why}", path.display())]
    Record { path: PathBuf, line: usize, why: String },
    #[error("{0}: two computations of the same value differ")]
    Disagreement(String),
    #[error("simulation: {0}")]
    Simulation(#[from] tress_sim::Error),
    /// The simulated program failed or gave a wrong output, which is a bug.
    #[error("simulated program: {0}")]
    Program(String),
    #[error("cannot start a thread: {0}")]
    Threads(String),
    #[error("measured program: {0}")]
    Worker(String),
    #[error("{}: {error}", path.display())]
    Files { path: PathBuf, error: io::Error },
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
