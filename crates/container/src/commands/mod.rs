//! The functions that the command, the C library and Python call: encrypt, decrypt, rewrap, inspect. Each returns when its output is
//! complete and verified, or fails and leaves nothing behind.

mod decrypt;
mod encrypt;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod fault_walk;
mod filter;
mod inspect;
mod list;
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

use std::path::PathBuf;
use std::time::Duration;

use crate::tree::{LeftOut, Packed};

#[doc(hidden)]
pub use encrypt::encrypt_to_pipe;

pub use crate::control::Control;
pub use crate::sink::Sink;
pub use crate::source::Source;
pub use crate::threads::MAX_THREADS;
pub use decrypt::{DecryptOptions, decrypt};
pub use encrypt::{EncryptOptions, encrypt, encrypt_all};
pub use inspect::{Inspection, inspect, inspect_with};
pub use list::{Listed, list};
pub use raw::{RAW_AEAD_MAX_BYTES, RawAead, RawDirection, RawMode, raw, raw_advised_bytes, raw_aead};
pub use read::read;
pub use rewrap::rewrap;
pub use store::{store, store_private};

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
    /// Entries of the tree that was packed.
    pub packed: Packed,
    /// What unpacking left out of a tree.
    pub left_out: Vec<LeftOut>,
    /// Members of a damaged tree that were not given out, by their untrusted paths.
    pub lost: Vec<PathBuf>,
    /// Places of a damaged tree at which others may be missing.
    pub gaps: u64,
}
