//! The interface to the file system. Every call of the pipeline on a file goes through [`System`], so that tests can make the n-th call
//! fail (`testing/faulty.rs`).

mod dir_handle;
mod os;

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, IoSlice, IoSliceMut};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use cap_std::fs::Dir;

pub use os::Os;
#[cfg(unix)]
pub(crate) use os::system::set_folder_mode;
pub(crate) use os::{is_unsupported, may_adopt, refuse_planted, tolerate};

/// Prints what the file system could not do although the output is complete, such as syncing a folder.
static NOTE: OnceLock<fn(&str)> = OnceLock::new();

/// Sets the function that prints these notes. Without it they are dropped.
pub fn on_note(note: fn(&str)) {
    let _ = NOTE.set(note);
}

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

/// How [`System::open_in`] opens a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Opens an existing file for reading.
    Read,
    /// Opens a file for reading and writing, and creates it if it does not exist.
    Make,
    /// Creates a file for writing; `AlreadyExists` if the name is taken.
    New,
}

/// Every call on a file. [`Os`] makes the real calls; a test double may let any of them fail.
pub trait System: Send + Sync {
    /// An open descriptor of this process as a separate handle: 0 is standard input, 1 standard output. Fails if it is closed, or not open
    /// for this.
    fn descriptor(&self, number: u32, readiness: Readiness) -> io::Result<File>;
    /// Opens for reading.
    fn open(&self, path: &Path) -> io::Result<File>;
    /// Opens an existing file for writing, without truncating it.
    fn open_existing(&self, path: &Path) -> io::Result<File>;
    /// Creates a file without a name in `folder`, for reading and writing, which [`System::link`] can name. `Unsupported` if the system or the file system does not
    /// support this.
    fn create_anonymous(&self, folder: &Path, readers: Readers) -> io::Result<File>;
    /// Creates `path`; `AlreadyExists` if the name is taken.
    fn create_new(&self, path: &Path, readers: Readers) -> io::Result<File>;
    /// Names an anonymous file; `AlreadyExists` if the name is taken. Some systems make anonymous files and refuse to name them.
    fn link(&self, file: &File, path: &Path) -> io::Result<()>;
    /// Renames a file, and replaces an existing one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Renames a file; `AlreadyExists` if the name is taken, without a race.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn unlink(&self, path: &Path) -> io::Result<()>;
    /// The target of a symlink; `None` for anything else, or if nothing exists. `PermissionDenied` for one that another user may have
    /// planted.
    fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>>;
    /// The absolute path of an existing file, without symlinks.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
    /// The names in a folder, in no particular order.
    fn names_in(&self, folder: &Path) -> io::Result<Vec<OsString>>;
    /// Metadata of a path; symlinks are not followed.
    fn metadata_of(&self, path: &Path) -> io::Result<Metadata>;
    /// Status of a path; symlinks are followed.
    fn status_of(&self, path: &Path) -> io::Result<Status>;
    /// Status of an open file.
    fn status(&self, file: &File) -> io::Result<Status>;
    /// Gives a new file the permissions of an old one and, where allowed, its owner.
    fn adopt(&self, file: &File, old: &Status) -> io::Result<()>;
    /// The handle's position.
    fn position(&self, file: &File) -> io::Result<u64>;
    /// Whether the handle is a terminal.
    fn is_terminal(&self, file: &File) -> bool;
    /// Waits until the handle is ready or the timeout has passed. Returns whether the handle is ready.
    fn wait(&self, file: &File, readiness: Readiness, timeout: Duration) -> io::Result<bool>;
    /// Reads at the handle's position.
    fn read(&self, file: &File, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize>;
    /// Reads at an offset.
    fn read_at(&self, file: &File, buffers: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize>;
    /// Writes at the handle's position.
    fn write(&self, file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize>;
    /// Writes at the handle's position as much as is possible without blocking, after [`System::wait`] reported the handle as ready.
    /// `WouldBlock` if nothing can be written after all.
    fn write_ready(&self, file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize>;
    /// Writes at an offset.
    fn write_at(&self, file: &File, buffers: &[IoSlice<'_>], offset: u64) -> io::Result<usize>;
    /// Copies `bytes` bytes, or up to the end, from position to position; inside the system where possible.
    fn copy(&self, from: &File, to: &File, bytes: u64) -> io::Result<u64>;
    /// Waits until the file's content is on disk, if the system supports it.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// Waits until the folder's names are on disk, if the system supports it.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    // Calls relative to the handle of a folder, which no link can redirect. A receiver uses them in its senders' folders.

    /// Opens a file in a folder; fails for a symlink.
    fn open_in(&self, folder: &Dir, name: &OsStr, how: Opening) -> io::Result<File>;
    /// Opens a folder in a folder; fails for a symlink.
    fn open_folder_in(&self, parent: &Dir, name: &OsStr) -> io::Result<Dir>;
    /// Creates a folder; `AlreadyExists` if the name is taken. Whatever the umask, only its owner and group may write to it.
    fn create_folder_in(&self, parent: &Dir, name: &OsStr, readers: Readers) -> io::Result<()>;
    /// Lets only the owner access a folder; does nothing on Windows.
    fn close_folder(&self, folder: &Dir) -> io::Result<()>;
    /// Whether the name exists, also as a symlink.
    fn exists_in(&self, folder: &Dir, name: &OsStr) -> io::Result<bool>;
    /// Removes a file if it exists.
    fn remove_in(&self, folder: &Dir, name: &OsStr) -> io::Result<()>;
    /// Renames a file, and replaces an existing one.
    fn rename_in(&self, folder: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()>;
    /// Moves a file to a free name; `AlreadyExists` if the name is taken, without a race.
    fn move_in(&self, from_folder: &Dir, from: &OsStr, to_folder: &Dir, to: &OsStr) -> io::Result<()>;
    /// Waits until the folder's names are on disk, if the system supports it.
    fn sync_folder_in(&self, folder: &Dir) -> io::Result<()>;
    /// Truncates a file, or extends it with zeros.
    fn set_length(&self, file: &File, bytes: u64) -> io::Result<()>;
}
