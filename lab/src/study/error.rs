//! How a study fails.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

/// A failure.
#[derive(Debug)]
pub enum Error {
    /// No study has this name.
    UnknownStudy(String),
    /// No part of the study has this name; these are there.
    UnknownPart(String, Vec<&'static str>),
    /// A cipher refused; a bug.
    Cipher(tress_cipher::Error),
    /// Arithmetic refused; a bug.
    Modular(tress_modular::Error),
    /// A record of other systems is none.
    Record {
        /// Which.
        path: PathBuf,
        /// Where.
        line: usize,
        /// Why.
        why: String,
    },
    /// Two ways of computing the same differ; a bug.
    Disagreement(String),
    /// A simulation; a bug.
    Simulation(tress_sim::Error),
    /// A program that is simulated did not do what it should; a bug.
    Program(String),
    /// The system has no more threads.
    Threads(String),
    /// A program that is measured failed, or printed what cannot be.
    Worker(String),
    /// A file or folder of the study.
    Files {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The page could not be written.
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownStudy(name) => {
                let known: Vec<&str> = super::all().iter().map(|study| study.name).collect();
                write!(f, "unknown study {name}: use {} or all", known.join(", "))
            }
            Error::UnknownPart(name, known) => write!(f, "unknown part {name}: the parts are {}", known.join(", ")),
            Error::Cipher(error) => error.fmt(f),
            Error::Modular(error) => error.fmt(f),
            Error::Record { path, line, why } => write!(f, "{}, line {line}: {why}", path.display()),
            Error::Disagreement(what) => write!(f, "{what}: two computations of the same value differ"),
            Error::Simulation(error) => write!(f, "simulation: {error}"),
            Error::Program(what) => write!(f, "simulated program: {what}"),
            Error::Threads(why) => write!(f, "cannot start a thread: {why}"),
            Error::Worker(why) => write!(f, "measured program: {why}"),
            Error::Files { path, error } => write!(f, "{}: {error}", path.display()),
            Error::Output(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<tress_cipher::Error> for Error {
    fn from(error: tress_cipher::Error) -> Error {
        Error::Cipher(error)
    }
}

impl From<tress_container::Error> for Error {
    fn from(error: tress_container::Error) -> Error {
        Error::Threads(error.to_string())
    }
}

impl From<tress_sim::Error> for Error {
    fn from(error: tress_sim::Error) -> Error {
        Error::Simulation(error)
    }
}

impl From<tress_modular::Error> for Error {
    fn from(error: tress_modular::Error) -> Error {
        Error::Modular(error)
    }
}
