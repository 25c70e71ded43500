//! The functions that the command, the C library and Python call: encrypt, decrypt, rewrap, inspect. Each returns when its output is
//! complete and verified, or fails and leaves nothing behind.

mod control;
mod decrypt;
mod encrypt;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod fault_walk;
mod filter;
mod inspect;
mod open;
#[cfg(all(test, unix))]
mod power_tests;
mod raw;
mod read;
mod rewrap;
#[cfg(test)]
mod standard_tests;
mod store;
#[cfg(test)]
mod thread_tests;
#[cfg(test)]
mod tree_fault_tests;
#[cfg(all(test, unix))]
mod tree_power_tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

#[doc(hidden)]
pub use encrypt::encrypt_to_pipe;

pub use control::Control;
pub use decrypt::{DecryptOptions, decrypt};
pub use encrypt::{EncryptOptions, encrypt, encrypt_skipping};
pub use inspect::{Inspection, inspect};
pub use raw::{RAW_CCM_MAX_BYTES, RawCcm, RawDirection, RawMode, raw, raw_advised_bytes, raw_ccm};
pub use read::read;
pub use rewrap::rewrap;
pub use store::{store, store_private};

/// Largest number of threads of one call, whatever the caller asks for: each thread has a buffer, and the caller may be wrong.
pub const MAX_THREADS: usize = 1024;

/// Where a command reads from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input, of any type. A regular file is read from its current position.
    Stdin,
    /// A file, FIFO or device, or a folder when encrypting. The name of an open descriptor, such as `/dev/fd/3`, is read like standard
    /// input.
    Path(PathBuf),
}

impl Source {
    /// The path to name in messages.
    #[doc(hidden)]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Source::Stdin => None,
            Source::Path(path) => Some(path),
        }
    }

    /// The number of the open descriptor that this is, if it is one.
    pub(crate) fn descriptor(&self) -> Option<u32> {
        self.path().map_or(Some(0), tress_terminal::descriptor::number)
    }
}

/// Where a command writes to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sink {
    /// Standard output, as a stream. A terminal accepts text only.
    Stdout,
    /// A path that appears only when the output is complete. If it exists and is neither a regular file nor a folder (a device, a FIFO),
    /// the output is streamed into it. So it is into an open descriptor, for a name such as `/dev/stdout` or `/dev/fd/3`.
    Path {
        /// The path. A symlink is followed, unless another user may have planted it in a folder that everybody may write to.
        path: PathBuf,
        /// Replaces an existing file. The new file gets the permissions of a file of the same user; to root, also the owner and permissions
        /// of another user's file in a folder that only root can write to. Otherwise only its owner may read the new file.
        force: bool,
    },
}

impl Sink {
    /// The path to name in messages.
    #[doc(hidden)]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Sink::Stdout => None,
            Sink::Path { path, .. } => Some(path),
        }
    }
}

/// Statistics of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Bytes read: plaintext when encrypting, container when decrypting.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Number of chunks sealed or verified.
    pub chunks: u64,
    /// Time from the call to its return.
    pub elapsed: Duration,
}
