//! One entry of a tree, with the metadata that trees store.
use crate::sys::FileTime;
use std::ops::Range;

/// Setuid and setgid, which unpacking applies only on request.
pub(crate) const SET_IDS: u32 = 0o6000;

/// Type of an entry. Trees have no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Folder,
    /// A regular file, followed by its data.
    File {
        size_bytes: u64,
        /// The parts of a sparse file that are no holes. Only these are stored.
        segments: Option<Vec<Range<u64>>>,
    },
    /// A symbolic link to this target.
    Link {
        target: Vec<u8>,
    },
    /// Another name of an earlier file of the tree, which is the target.
    HardLink {
        target: Vec<u8>,
    },
    Fifo,
    Device {
        is_block: bool,
        /// Major and minor number.
        numbers: [u32; 2],
    },
}

impl EntryKind {
    /// The type flag in a tar header.
    pub(crate) fn flag(&self) -> u8 {
        match self {
            Self::File { .. } => b'0',
            Self::HardLink { .. } => b'1',
            Self::Link { .. } => b'2',
            Self::Device { is_block: false, .. } => b'3',
            Self::Device { is_block: true, .. } => b'4',
            Self::Folder => b'5',
            Self::Fifo => b'6',
        }
    }

    /// Length of a file in bytes with its holes; 0 for everything else.
    pub(crate) fn size_bytes(&self) -> u64 {
        match self {
            Self::File { size_bytes, .. } => *size_bytes,
            _ => 0,
        }
    }

    pub(crate) fn target(&self) -> &[u8] {
        match self {
            Self::Link { target } | Self::HardLink { target } => target,
            _ => &[],
        }
    }
}

/// Owner and group, by number and by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) ids: [u32; 2],
    /// Empty if unknown.
    pub(crate) names: [Vec<u8>; 2],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    /// Relative to the root, with `/` between names. A path that was read from a stream is not yet checked.
    pub(crate) path: Vec<u8>,
    pub(crate) kind: EntryKind,
    /// Permission bits, at most 0o7777.
    pub(crate) mode: u32,
    pub(crate) modified: FileTime,
    pub(crate) owner: Owner,
    /// Extended attributes and access lists, as the keys and values of their records.
    pub(crate) attributes: Vec<(Vec<u8>, Vec<u8>)>,
}
