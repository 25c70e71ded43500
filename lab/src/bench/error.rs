//! Why a measurement did not happen.

use std::{fmt, io, path::PathBuf};

/// Why a measurement did not happen.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A peer with this name does not exist (a peer that is only not installed is told in the document).
    UnknownPeer(String),
    /// No row has a name that the filter matches.
    NothingMatches,
    /// Our side refused: for example a backend that this machine lacks.
    Cipher(tress_cipher::Error),
    /// The same of keys and signatures.
    Sign(tress_sign::Error),
    /// The same of arithmetic.
    Modular(tress_modular::Error),
    /// Numbers of so many bits are not measured.
    Size(usize),
    /// A peer refused to do what its wrapper asked for.
    Peer(&'static str, tress_peers::Error),
    /// A peer's output differs from ours, so that a comparison of times would mean nothing.
    Disagreement {
        /// The row's name.
        row: String,
        /// The peer's name.
        peer: &'static str,
    },
    /// Threads could not be made, or ended.
    Threads(io::Error),
    /// A command that was to be timed could not be run, or failed.
    Command {
        /// The command's name.
        program: String,
        /// What it said.
        message: String,
    },
    /// There is too little space for the files of the command rows.
    Space {
        /// The folder.
        path: PathBuf,
        /// Bytes that are needed.
        needed_bytes: u64,
    },
    /// Files for the command rows could not be made.
    Files(io::Error),
    /// A record that another version of the schema wrote.
    Schema {
        /// The record's path.
        path: PathBuf,
        /// Its version.
        schema: u32,
        /// The version that this program reads.
        reads: u32,
    },
    /// Two records that say nothing about each other.
    NotComparable {
        /// In what they differ.
        what: &'static str,
    },
    /// A record that this run cannot go on with.
    NotResumable {
        /// The record's path.
        path: PathBuf,
        /// In what it differs.
        what: &'static str,
    },
    /// A file where a record should go holds something else, which is not replaced.
    NoRecord(PathBuf),
    /// No row is of the kind that is asked for.
    NoSuchRow(String),
    /// The record could not be read or written.
    Record {
        /// The record's path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A record that holds medians only, where samples are needed.
    NoSamples {
        /// The record's path.
        path: PathBuf,
        /// The commit that has the samples.
        commit: String,
    },
    /// The result could not be written.
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
                | Error::Size(_)
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownPeer(name) => {
                let known: Vec<_> = tress_peers::list().iter().map(|peer| peer.name).collect();
                write!(f, "unknown peer {name}: use {}, age, cp or all", known.join(", "))
            }
            Error::NothingMatches => f.write_str("no benchmark matches this pattern"),
            Error::Cipher(error) => error.fmt(f),
            Error::Sign(error) => error.fmt(f),
            Error::Modular(error) => error.fmt(f),
            Error::Size(bits) => write!(f, "{bits} bits: the length must be a multiple of 64 from 128 to 8192"),
            Error::Peer(peer, error) => write!(f, "{peer}: {error}"),
            Error::Disagreement { row, peer } => write!(f, "{row}: the output of {peer} differs from ours"),
            Error::Threads(error) => write!(f, "cannot start a thread: {error}"),
            Error::Command { program, message } => write!(f, "{program}: {message}"),
            Error::Space { path, needed_bytes } => {
                write!(f, "{}: needs {} MiB of free space", path.display(), needed_bytes >> 20)
            }
            Error::Files(error) => write!(f, "cannot create files for the measurement: {error}"),
            Error::Schema { path, schema, reads } => {
                write!(f, "{}: the record has schema {schema}, this version of tress reads {reads}", path.display())
            }
            Error::NotComparable { what } => write!(f, "the records cannot be compared: different {what}"),
            Error::NotResumable { path, what } => {
                write!(f, "{}: cannot resume this record: different {what}", path.display())
            }
            Error::NoRecord(path) => write!(f, "{}: not replaced, because it is not a bench record", path.display()),
            Error::NoSuchRow(why) => f.write_str(why),
            Error::Record { path, error } => write!(f, "{}: {error}", path.display()),
            Error::NoSamples { path, commit } => {
                write!(f, "{}: the record holds medians only, its samples are in commit {commit}", path.display())
            }
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
