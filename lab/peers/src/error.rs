//! Errors of peers.

use std::fmt;

/// A peer that is not installed on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub peer: &'static str,
    /// The file or version that was not found.
    pub reason: String,
    /// The Debian package of the peer. Empty if a feature of the build is missing; the reason then names it.
    pub package: &'static str,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Missing { peer, reason, package } = self;
        if package.is_empty() {
            return write!(f, "{peer} is missing ({reason})");
        }
        write!(f, "{peer} is missing ({reason}): apt-get install {package}")
    }
}

impl std::error::Error for Missing {}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Missing(#[from] Missing),
    #[error("{0} reported an error")]
    Refused(&'static str),
    #[error("the message is too long for the peer")]
    MessageTooLong,
    /// The peer does not support the length of a key, nonce, initialisation vector or tag, or data is not whole blocks.
    #[error("unsupported length")]
    Length,
    #[error("authentication failed")]
    Authentication,
}
