//! Options of `receive`, and what it reports.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use crate::receive::admission::Limits;
use crate::receive::allow::Allow;
use crate::receive::files::Receipt;
use crate::wire::noise::NoisePublicKey;
use tress_container::Error;

/// Options of [`receive`](crate::receive()).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReceiveOptions {
    /// Address and port to listen on; port 0 lets the system choose a free one.
    pub listen: String,
    /// Folder for all received files. It is made with mode 0700 if it is missing.
    pub folder: PathBuf,
    /// The senders that are accepted.
    pub allow: Allow,
    /// End after one session. Then a refused file makes [`receive`](crate::receive()) return an error.
    pub once: bool,
    /// Limits on connections, sessions and storage.
    pub limits: Limits,
}

impl ReceiveOptions {
    /// Returns options that serve these senders until cancelled, with the limits of `tress receive`.
    pub fn new(listen: impl Into<String>, folder: impl Into<PathBuf>, allow: Allow) -> Self {
        Self { listen: listen.into(), folder: folder.into(), allow, once: false, limits: Limits::default() }
    }
}

/// An event that [`receive`](crate::receive()) reports.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The receiver listens on this address.
    Listening(SocketAddr),
    /// A sender has begun a session.
    Admitted {
        /// The sender's folder, relative to the receiver's folder.
        folder: &'a str,
        /// The sender's IP address.
        from: IpAddr,
    },
    /// A file is complete and synced under its final name. Of [`unreported`](crate::unreported()), it may be unsynced.
    Received {
        /// The sender's folder.
        folder: &'a str,
        /// Path relative to the sender's folder.
        name: &'a Path,
        /// Size in bytes.
        bytes: u64,
        /// Records that the file was reported.
        receipt: &'a Receipt,
    },
    /// Files got their names, and then the disk failed: no other event is about them. [`unreported`](crate::unreported()) has them.
    Unreported,
    /// A file or folder was refused.
    Refused {
        /// The sender's folder.
        folder: &'a str,
        /// The sender's name for the file, and the reason.
        error: &'a Error,
    },
    /// An allow file has changed and cannot be read. The senders that it named before are accepted.
    AllowFile {
        /// The file and the reason.
        error: &'a Error,
    },
    /// A connection was refused, or a session ended early.
    Failed {
        /// The peer's IP address.
        from: IpAddr,
        /// The reason.
        error: &'a Error,
    },
}

/// Name of a sender's folder: the first 16 bytes of its Noise key, in hexadecimal.
pub(crate) fn folder_name(sender: &NoisePublicKey) -> String {
    sender[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
