//! What can go wrong with a peer.

use std::fmt;

/// A peer that this machine lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The peer's name.
    pub peer: &'static str,
    /// What was looked for and not found.
    pub reason: String,
    /// The Debian package that holds it; empty where it is a choice of the build, and the reason says which.
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

/// Why a peer did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The peer is not there.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The peer refused the call that is named.
    #[error("{0} refused")]
    Refused(&'static str),
    /// A message is longer than the peer takes.
    #[error("the message is longer than the peer takes")]
    MessageTooLong,
    /// A key, nonce, initialisation vector or tag has a length that the peer does not take, or data is not a whole number of blocks.
    #[error("a length that the peer does not take")]
    Length,
    /// The tag does not belong to the message.
    #[error("authentication failed")]
    Authentication,
}
