//! What a tree needs to know about a file, on unix and on Windows.

use cap_std::fs::Metadata;
#[cfg(unix)]
use cap_std::fs::MetadataExt;

use super::entry::EntryKind;
use crate::sys::FileTime;

/// Identifies a file and its content. A program can restore size, inode and modification time after a change, but on unix not the change
/// time. On Windows only size and times are available here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    size_bytes: u64,
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    #[cfg(unix)]
    modified_and_changed: [(i64, i64); 2],
    #[cfg(not(unix))]
    created_and_modified: [Option<std::time::SystemTime>; 2],
}

impl FileIdentity {
    pub(crate) fn of(metadata: &Metadata) -> FileIdentity {
        FileIdentity {
            size_bytes: metadata.len(),
            #[cfg(unix)]
            device_and_inode: (metadata.dev(), metadata.ino()),
            #[cfg(unix)]
            modified_and_changed: [
                (metadata.mtime(), metadata.mtime_nsec()),
                (metadata.ctime(), metadata.ctime_nsec()),
            ],
            #[cfg(not(unix))]
            created_and_modified: [metadata.created(), metadata.modified()]
                .map(|time| time.ok().map(cap_std::time::SystemTime::into_std)),
        }
    }
}

impl FileIdentity {
    /// Whether both are the same file, whatever it holds.
    pub(crate) fn is_same_file(&self, other: &FileIdentity) -> bool {
        #[cfg(unix)]
        {
            self.device_and_inode == other.device_and_inode
        }
        #[cfg(not(unix))]
        {
            self.created_and_modified[0] == other.created_and_modified[0]
        }
    }
}

/// The modification time; 1970 if the system has none.
pub(crate) fn modified(metadata: &Metadata) -> FileTime {
    metadata.modified().ok().and_then(|time| FileTime::from_system(time.into_std())).unwrap_or_default()
}

/// The permission bits. Windows has only a read-only flag.
pub(crate) fn mode(metadata: &Metadata) -> u32 {
    #[cfg(unix)]
    {
        metadata.mode() & 0o7777
    }
    #[cfg(not(unix))]
    {
        let base = if metadata.is_dir() { 0o755 } else { 0o644 };
        if metadata.permissions().readonly() { base & !0o222 } else { base }
    }
}

/// The file system that a file is on; 0 if unknown.
pub(crate) fn device(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    {
        metadata.dev()
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        0
    }
}

/// Numbers of owner and group; 0 if unknown.
pub(crate) fn owner_ids(metadata: &Metadata) -> [u32; 2] {
    #[cfg(unix)]
    {
        [metadata.uid(), metadata.gid()]
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        [0; 2]
    }
}

/// Device and inode of a file with several names.
pub(crate) fn shared_inode(metadata: &Metadata) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        (metadata.nlink() > 1).then(|| (metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}

/// Whether a file takes less space than its length, so that it may have holes.
pub(crate) fn may_be_sparse(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        metadata.blocks() < metadata.len() / 512
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

/// A FIFO or device, which a tree can hold; `None` for a socket.
pub(crate) fn special(metadata: &Metadata) -> Option<EntryKind> {
    #[cfg(unix)]
    {
        use cap_std::fs::FileTypeExt as _;
        let kind = metadata.file_type();
        if kind.is_fifo() {
            return Some(EntryKind::Fifo);
        }
        let device = metadata.rdev() as rustix::fs::Dev;
        let numbers = [rustix::fs::major(device), rustix::fs::minor(device)];
        let is_block = kind.is_block_device();
        (is_block || kind.is_char_device()).then_some(EntryKind::Device { is_block, numbers })
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}
