//! What a caller of `send` chooses, and what it gets to know.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::STALL_TIME;
use tress_container::Error;
use tress_container::Threads;
use tress_container::keys::Address;

/// How workers and writers wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Synchronisation {
    /// Point to point: everyone waits only for what it needs itself.
    #[default]
    Counter,
    /// In stages: all workers and writers meet after each batch.
    Barrier,
}

/// How to send.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SendOptions {
    /// `HOST:PORT`.
    pub to: String,
    /// The receiver's address, whose key is the only one that is talked to.
    pub receiver: Address,
    /// Data connections.
    pub streams: u16,
    /// Most bytes in a second.
    pub rate_bytes_per_s: Option<u64>,
    /// Threads that read and seal.
    pub threads: Threads,
    /// Hold each of these to this rate, to see what a slower machine would do.
    pub compute_bytes_per_s: Option<u64>,
    /// Bytes of a stage, in whole chunks; otherwise as planned. At most 16 MiB.
    pub stage_bytes: Option<u64>,
    /// How these and the connections wait for each other.
    pub synchronisation: Synchronisation,
    /// Seal all of a file before anything of it is sent: to compare with, and at most 1 GiB.
    pub sequential: bool,
    /// The receiver stores a container: what is none already is sealed to the receiver first.
    pub keep_sealed: bool,
    /// Have the receiver forget what it holds of an earlier version.
    pub restart: bool,
    /// The name of what comes from standard input.
    pub stdin_name: String,
    /// Write a trace in Chrome's format to this file.
    pub trace: Option<PathBuf>,
    /// Silence after which the receiver counts as gone.
    pub stall_time: Duration,
}

impl SendOptions {
    /// One connection, no limit, everything else as the command has it.
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
            stdin_name: "stdin".into(),
            trace: None,
            stall_time: STALL_TIME,
        }
    }
}

/// What a sender tells whoever runs it.
#[derive(Debug)]
#[non_exhaustive]
pub enum SendEvent<'a> {
    /// A symbolic link inside a folder is not sent.
    Skipped {
        /// Its path.
        link: &'a Path,
    },
    /// One more file or folder was not sent, after the first one, whose error `send` returns.
    Failed {
        /// Which one, and why.
        error: &'a Error,
    },
}

/// What was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SendReport {
    /// Files that the receiver has confirmed.
    pub files: u64,
    /// Of these, files that it had already.
    pub complete_before: u64,
    /// Symbolic links inside folders, which are not sent.
    pub skipped: u64,
    /// Plaintext that was sent.
    pub bytes_sent: u64,
    /// Time from the call to the return.
    pub elapsed: Duration,
}
