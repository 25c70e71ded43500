//! Errors of measurements and records.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No peer has this name. (A peer that is not installed is no error: the document lists it.)
    #[error("unknown peer {0}: use {known}, age, cp or all", known = known_peers())]
    UnknownPeer(String),
    #[error("no benchmark matches this pattern")]
    NothingMatches,
    /// The cipher library returned an error, for example for a backend that this machine lacks.
    #[error(transparent)]
    Cipher(#[from] tress_cipher::Error),
    #[error(transparent)]
    Sign(tress_sign::Error),
    #[error(transparent)]
    Modular(tress_modular::Error),
    #[error("{0}: {1}")]
    Peer(&'static str, tress_peers::Error),
    /// A peer's output differs from ours, so that a comparison of times would mean nothing.
    #[error("{row}: the output of {peer} differs from ours")]
    Disagreement { row: String, peer: &'static str },
    #[error("cannot start a thread: {0}")]
    Threads(io::Error),
    #[error("{program}: {message}")]
    Command {
        program: String,
        /// What the command printed, or the system's error.
        message: String,
    },
    #[error("{}: needs {} MiB of free space", path.display(), needed_bytes >> 20)]
    Space { path: PathBuf, needed_bytes: u64 },
    #[error("cannot create files for the measurement: {0}")]
    Files(io::Error),
    #[error("{}: the record has schema {schema}, this version of tress reads {reads}", path.display())]
    Schema { path: PathBuf, schema: u32, reads: u32 },
    #[error("the records cannot be compared: different {what}")]
    NotComparable { what: &'static str },
    #[error("{}: cannot resume this record: different {what}", path.display())]
    NotResumable { path: PathBuf, what: &'static str },
    #[error("{}: not replaced, because it is not a bench record", .0.display())]
    NoRecord(PathBuf),
    #[error("{0}")]
    NoSuchRow(String),
    /// Other programs use the machine, and the record would be about them, too. The share of the cores that this one had.
    #[error("the machine is busy: bench had {:.0} % of the cores in the last second, so it records nothing", 100.0 * .0)]
    Busy(f64),
    #[error("{}: {error}", path.display())]
    Record { path: PathBuf, error: io::Error },
    #[error("{}: the record holds medians only, its samples are in commit {commit}", path.display())]
    NoSamples { path: PathBuf, commit: String },
    #[error(transparent)]
    Output(io::Error),
}

impl Error {
    pub(crate) fn of_thread(error: tress_container::Error) -> Error {
        Error::Threads(io::Error::other(error))
    }

    /// Whether the caller asked for something that does not exist, as opposed to a measurement that failed.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Error::UnknownPeer(_)
                | Error::NothingMatches
                | Error::NoSuchRow(_)
                | Error::NotComparable { .. }
                | Error::NotResumable { .. }
                | Error::Cipher(tress_cipher::Error::BackendUnavailable(_))
        )
    }
}

fn known_peers() -> String {
    tress_peers::list().iter().map(|peer| peer.name).collect::<Vec<_>>().join(", ")
}
