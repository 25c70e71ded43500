//! One entry of a tree, as far as trees have any.
use super::time::Time;

/// What an entry is. Trees have no other kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    /// A regular file, followed by its data.
    File {
        size_bytes: u64,
    },
    /// A symbolic link to this target.
    Link {
        target: Vec<u8>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Relative to the root, `/` between names. What is read from a stream is not yet checked.
    pub(crate) path: Vec<u8>,
    pub(crate) kind: Kind,
    /// Permission bits, at most 0o777.
    pub(crate) mode: u32,
    pub(crate) modified: Time,
}
