//! Options, events and report of `send`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::wire::limits::STALL_TIME;
use tress_container::keys::Address;
use tress_container::tree::Exclude;
use tress_container::{Error, Threads};

/// How workers and writers wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Synchronisation {
    /// Point to point: a thread waits only for the buffer or batch that it needs itself.
    #[default]
    Counter,
    /// In stages: all workers and writers wait for each other after each stage.
    Barrier,
}

/// Options of [`send`](crate::send).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SendOptions {
    /// The receiver's host and port, as `HOST:PORT`.
    pub to: String,
    /// The receiver's public key. A peer with another key is refused.
    pub receiver: Address,
    /// Number of data connections, at most 64.
    pub streams: u16,
    /// Limit on the bytes sent per second; `None` for no limit.
    pub rate_bytes_per_s: Option<u64>,
    /// Number of threads that read and seal.
    pub threads: Threads,
    /// Limits each of these threads to this rate, in plaintext bytes per second, to measure the behaviour of a slower machine.
    pub compute_bytes_per_s: Option<u64>,
    /// Bytes of a stage, rounded up to whole chunks, at most 16 MiB; `None` lets the planner choose.
    pub stage_bytes: Option<u64>,
    /// How the threads and the connections wait for each other.
    pub synchronisation: Synchronisation,
    /// Seals a whole file, of at most 1 GiB, before sending any of it. For comparison.
    pub sequential: bool,
    /// The receiver stores containers: an input that is neither a container nor an age file is encrypted to the receiver first.
    pub keep_sealed: bool,
    /// The receiver discards what it holds of an earlier version of a file.
    pub restart: bool,
    /// Entries of a folder that are not sent.
    pub exclude: Exclude,
    /// A file whose time of change alone differs, after `chmod` or `mv`, is still the same version.
    pub ignore_ctime: bool,
    /// Name that the receiver gives to standard input.
    pub stdin_name: String,
    /// Writes a trace in Chrome's format to this file.
    pub trace: Option<PathBuf>,
    /// Replaces an existing file with the trace.
    pub replace_trace: bool,
    /// Silence after which the receiver counts as lost.
    pub stall_time: Duration,
}

impl SendOptions {
    /// Returns options with one connection, no rate limit, and the defaults of `tress send` for the rest.
    pub fn new(to: impl Into<String>, receiver: Address) -> Self {
        Self {
            to: to.into(),
            receiver,
            streams: 1,
            rate_bytes_per_s: None,
            threads: Threads::All,
            compute_bytes_per_s: None,
            stage_bytes: None,
            synchronisation: Synchronisation::Counter,
            sequential: false,
            keep_sealed: false,
            restart: false,
            exclude: Exclude::default(),
            ignore_ctime: false,
            stdin_name: "stdin".into(),
            trace: None,
            replace_trace: false,
            stall_time: STALL_TIME,
        }
    }
}

/// An event that [`send_with_events`](crate::send_with_events) reports.
#[derive(Debug)]
#[non_exhaustive]
pub enum SendEvent<'a> {
    /// A symbolic link inside a folder was not sent.
    Skipped {
        /// Path of the link.
        link: &'a Path,
    },
    /// A file or folder was not sent. `send` returns the first such error instead, unless the session fails.
    Failed {
        /// The path and the reason.
        error: &'a Error,
    },
}

/// The result of [`send`](crate::send).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SendReport {
    /// Files that the receiver confirmed.
    pub files: u64,
    /// Of these, files that the receiver already had.
    pub complete_before: u64,
    /// Symbolic links inside folders, which were not sent.
    pub skipped: u64,
    /// Plaintext bytes that were sent.
    pub bytes_sent: u64,
    /// Time from the call to the return.
    pub elapsed: Duration,
}
