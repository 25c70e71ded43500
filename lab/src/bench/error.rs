//! Errors of measurements and records.

use std::io;
use std::path::PathBuf;

/// An error of a measurement or of a record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No peer has this name. (A peer that is not installed is no error: the document lists it.)
    #[error("unknown peer {0}: use {known}, age, cp or all", known = known_peers())]
    UnknownPeer(String),
    /// No row has a name that the filter matches.
    #[error("no benchmark matches this pattern")]
    NothingMatches,
    /// The cipher library returned an error, for example for a backend that this machine lacks.
    #[error(transparent)]
    Cipher(#[from] tress_cipher::Error),
    /// The signature library returned an error.
    #[error(transparent)]
    Sign(tress_sign::Error),
    /// The arithmetic library returned an error.
    #[error(transparent)]
    Modular(tress_modular::Error),
    /// A peer returned an error.
    #[error("{0}: {1}")]
    Peer(&'static str, tress_peers::Error),
    /// A peer's output differs from ours, so that a comparison of times would mean nothing.
    #[error("{row}: the output of {peer} differs from ours")]
    Disagreement {
        /// The row's name.
        row: String,
        /// The peer's name.
        peer: &'static str,
    },
    /// Threads could not be started, or ended early.
    #[error("cannot start a thread: {0}")]
    Threads(io::Error),
    /// A command that was to be timed could not be started, or failed.
    #[error("{program}: {message}")]
    Command {
        /// The command's name.
        program: String,
        /// What the command printed, or the system's error.
        message: String,
    },
    /// There is too little space for the files of the command rows.
    #[error("{}: needs {} MiB of free space", path.display(), needed_bytes >> 20)]
    Space {
        /// The folder that needs the space.
        path: PathBuf,
        /// Bytes of space that the files need.
        needed_bytes: u64,
    },
    /// Files for the command rows could not be made.
    #[error("cannot create files for the measurement: {0}")]
    Files(io::Error),
    /// Another version of the schema wrote the record.
    #[error("{}: the record has schema {schema}, this version of tress reads {reads}", path.display())]
    Schema {
        /// The record's path.
        path: PathBuf,
        /// The record's schema.
        schema: u32,
        /// The schema that this program reads.
        reads: u32,
    },
    /// The two records cannot be compared.
    #[error("the records cannot be compared: different {what}")]
    NotComparable {
        /// The property that differs.
        what: &'static str,
    },
    /// This run cannot resume the record.
    #[error("{}: cannot resume this record: different {what}", path.display())]
    NotResumable {
        /// The record's path.
        path: PathBuf,
        /// The property that differs.
        what: &'static str,
    },
    /// The file for the record holds something else, and is not replaced.
    #[error("{}: not replaced, because it is not a bench record", .0.display())]
    NoRecord(PathBuf),
    /// No row fits the options.
    #[error("{0}")]
    NoSuchRow(String),
    /// Other programs use the machine, and the record would be about them, too. The share of the cores that this one had.
    #[error("the machine is busy: bench had {:.0} % of the cores in the last second, so it records nothing", 100.0 * .0)]
    Busy(f64),
    /// The record could not be read or written.
    #[error("{}: {error}", path.display())]
    Record {
        /// The record's path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The record holds medians only, where samples are needed.
    #[error("{}: the record holds medians only, its samples are in commit {commit}", path.display())]
    NoSamples {
        /// The record's path.
        path: PathBuf,
        /// The commit that has the samples.
        commit: String,
    },
    /// The result could not be written.
    #[error(transparent)]
    Output(io::Error),
}

impl Error {
    /// Wraps the error of a thread that could not be started.
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
        )
    }
}

fn known_peers() -> String {
    tress_peers::list().iter().map(|peer| peer.name).collect::<Vec<_>>().join(", ")
}
