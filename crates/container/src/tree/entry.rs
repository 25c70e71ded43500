//! One entry of a tree, with the metadata that trees store.
use crate::sys::FileTime;

/// Type of an entry. Trees have no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
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
pub(crate) struct TreeEntry {
    /// Relative to the root, with `/` between names. A path that was read from a stream is not yet checked.
    pub(crate) path: Vec<u8>,
    pub(crate) kind: EntryKind,
    /// Permission bits, at most 0o777.
    pub(crate) mode: u32,
    pub(crate) modified: FileTime,
}
