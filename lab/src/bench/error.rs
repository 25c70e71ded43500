//! Why a measurement did not happen.

use std::{io, path::PathBuf};

/// Why a measurement did not happen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A peer with this name does not exist (a peer that is only not installed is told in the document).
    #[error("unknown peer {0}: use {known}, age, cp or all", known = known_peers())]
    UnknownPeer(String),
    /// No row has a name that the filter matches.
    #[error("no benchmark matches this pattern")]
    NothingMatches,
    /// Our side refused: for example a backend that this machine lacks.
    #[error(transparent)]
    Cipher(#[from] tress_cipher::Error),
    /// The same of keys and signatures.
    #[error(transparent)]
    Sign(tress_sign::Error),
    /// The same of arithmetic.
    #[error(transparent)]
    Modular(tress_modular::Error),
    /// A peer refused to do what its wrapper asked for.
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
    /// Threads could not be made, or ended.
    #[error("cannot start a thread: {0}")]
    Threads(io::Error),
    /// A command that was to be timed could not be run, or failed.
    #[error("{program}: {message}")]
    Command {
        /// The command's name.
        program: String,
        /// What it said.
        message: String,
    },
    /// There is too little space for the files of the command rows.
    #[error("{}: needs {} MiB of free space", path.display(), needed_bytes >> 20)]
    Space {
        /// The folder.
        path: PathBuf,
        /// Bytes that are needed.
        needed_bytes: u64,
    },
    /// Files for the command rows could not be made.
    #[error("cannot create files for the measurement: {0}")]
    Files(io::Error),
    /// A record that another version of the schema wrote.
    #[error("{}: the record has schema {schema}, this version of tress reads {reads}", path.display())]
    Schema {
        /// The record's path.
        path: PathBuf,
        /// Its version.
        schema: u32,
        /// The version that this program reads.
        reads: u32,
    },
    /// Two records that say nothing about each other.
    #[error("the records cannot be compared: different {what}")]
    NotComparable {
        /// In what they differ.
        what: &'static str,
    },
    /// A record that this run cannot go on with.
    #[error("{}: cannot resume this record: different {what}", path.display())]
    NotResumable {
        /// The record's path.
        path: PathBuf,
        /// In what it differs.
        what: &'static str,
    },
    /// A file where a record should go holds something else, which is not replaced.
    #[error("{}: not replaced, because it is not a bench record", .0.display())]
    NoRecord(PathBuf),
    /// No row is of the kind that is asked for.
    #[error("{0}")]
    NoSuchRow(String),
    /// The record could not be read or written.
    #[error("{}: {error}", path.display())]
    Record {
        /// The record's path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A record that holds medians only, where samples are needed.
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
    /// A measurement that the system gave no thread.
    pub(crate) fn of_thread(error: tress_container::Error) -> Error {
        Error::Threads(io::Error::other(error))
    }

    /// Whether the caller asked for something that does not exist, rather than a measurement having failed.
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
