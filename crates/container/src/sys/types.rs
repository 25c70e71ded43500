//! Types, metadata and permissions of files, and the ways to open one.

use std::ffi::OsStr;
use std::fs::File;

use cap_std::fs::Dir;

/// Type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Regular,
    Folder,
    /// Pipe, FIFO, socket, terminal or another device: read and written as a stream, never replaced.
    Stream,
}

/// Metadata of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    pub kind: Kind,
    pub size_bytes: u64,
    pub modified_ns: i128,
    /// Change time on unix, which no program can set back; creation time elsewhere.
    pub changed_ns: i128,
    /// Device and inode, or volume and file index, if the file system has them.
    pub identity: Option<(u64, u64)>,
    /// Permission bits, owner and group, if the system has them.
    pub owner: Option<(u32, u32, u32)>,
}

/// Event to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    Readable,
    Writable,
}

/// The users who may read a new file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Everybody whom the umask allows: mode 0666 without the umask's bits.
    Umask,
    /// Only its owner, from the beginning: mode 0600. On Windows the folder's rights apply.
    Owner,
}

/// How a file in a folder is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Opens an existing file for reading. A FIFO without a writer is not waited for.
    Read,
    /// Opens a file for reading and writing, and creates it if it does not exist.
    Make,
    /// Creates a file for writing; `AlreadyExists` if the name is taken.
    New(Readers),
}

/// Something with extended attributes.
#[derive(Clone, Copy, Debug)]
pub enum Attributed<'c> {
    File(&'c File),
    /// A name in a folder; `.` is the folder.
    In(&'c Dir, &'c OsStr),
}

/// A FIFO, or a device with its major and minor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    Fifo,
    Device { is_block: bool, numbers: [u32; 2] },
}
