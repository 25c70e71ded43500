//! The one door to the file system: every call of the pipeline on a file goes through [`System`], so that tests can
//! make the n-th of them fail (`testing/faulty.rs`).

mod os;
mod within;

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, IoSlice, IoSliceMut};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cap_std::fs::Dir;

pub use os::Os;

/// What lies under a name or a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Regular,
    Folder,
    /// Pipe, FIFO, socket, terminal or another device: streamed, never replaced.
    Stream,
}

/// What the system says about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    pub kind: Kind,
    pub size_bytes: u64,
    pub modified_ns: i128,
    /// Change time on unix, which no program can set back; creation time elsewhere.
    pub changed_ns: i128,
    /// Device and inode, or volume and index there, where the file system has them.
    pub identity: Option<(u64, u64)>,
    /// Permission bits, owner and group, where the system has them.
    pub owner: Option<(u32, u32, u32)>,
}

/// What to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    Readable,
    Writable,
}

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Whoever the umask lets: mode 0666 less it.
    Umask,
    /// Its owner alone, from the beginning: mode 0600. Windows has folders for this.
    Owner,
}

/// How [`System::open_in`] opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// For reading what is there.
    Read,
    /// For reading and writing; made if need be.
    Make,
    /// For writing; `AlreadyExists` if something is there.
    New,
}

/// Every call on a file. [`Os`] makes them; a test double may refuse any of them.
pub trait System: Send + Sync {
    /// Standard input, as a handle of its own.
    fn stdin(&self) -> io::Result<File>;
    /// Standard output, as a handle of its own.
    fn stdout(&self) -> io::Result<File>;
    /// Opens for reading.
    fn open(&self, path: &Path) -> io::Result<File>;
    /// Opens something that exists for writing, neither creating nor truncating it.
    fn open_existing(&self, path: &Path) -> io::Result<File>;
    /// A file without a name in `folder` that [`System::link`] can name. `Unsupported` where the system or the file system
    /// has no such thing.
    fn create_anonymous(&self, folder: &Path, readers: Readers) -> io::Result<File>;
    /// Creates `path`; `AlreadyExists` if something is there.
    fn create_new(&self, path: &Path, readers: Readers) -> io::Result<File>;
    /// Names an anonymous file; `AlreadyExists` if something is there.
    fn link(&self, file: &File, path: &Path) -> io::Result<()>;
    /// Renames, replacing what is there.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Renames; `AlreadyExists` if something is there, without a race.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn unlink(&self, path: &Path) -> io::Result<()>;
    /// The target of a symlink; `None` for anything else, or nothing. `PermissionDenied` for one that a stranger may have planted.
    fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>>;
    /// The absolute name without symlinks of something that exists.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
    /// The names in a folder, in no order.
    fn names_in(&self, folder: &Path) -> io::Result<Vec<OsString>>;
    /// What a name stands for, symlinks not followed.
    fn metadata_of(&self, path: &Path) -> io::Result<Metadata>;
    /// What lies under a name, symlinks followed.
    fn status_of(&self, path: &Path) -> io::Result<Status>;
    /// What a handle leads to.
    fn status(&self, file: &File) -> io::Result<Status>;
    /// Gives a new file the permissions and, where allowed, the owner of an old one.
    fn adopt(&self, file: &File, old: &Status) -> io::Result<()>;
    /// The handle's position.
    fn position(&self, file: &File) -> io::Result<u64>;
    /// Whether the handle is a terminal.
    fn is_terminal(&self, file: &File) -> bool;
    /// Waits until the handle is ready or the time is over, and says whether it is.
    fn wait(&self, file: &File, readiness: Readiness, timeout: Duration) -> io::Result<bool>;
    /// Reads at the handle's position.
    fn read(&self, file: &File, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize>;
    /// Reads at an offset.
    fn read_at(&self, file: &File, buffers: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize>;
    /// Writes at the handle's position.
    fn write(&self, file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize>;
    /// Writes at the handle's position as much as goes without blocking, after [`System::wait`] said that something
    /// does; `WouldBlock` if nothing does after all.
    fn write_ready(&self, file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize>;
    /// Writes at an offset.
    fn write_at(&self, file: &File, buffers: &[IoSlice<'_>], offset: u64) -> io::Result<usize>;
    /// Copies `bytes` bytes, or up to the end, between the handles' positions, inside the system where it can.
    fn copy(&self, from: &File, to: &File, bytes: u64) -> io::Result<u64>;
    /// Waits until the file's content is on disk.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// Waits until the folder's names are on disk, where the system can.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    // Relative to the handle of a folder, which no link can redirect: what a receiver does in its senders' folders.

    /// Opens a file in a folder; fails for a link.
    fn open_in(&self, folder: &Dir, name: &OsStr, how: Opening) -> io::Result<File>;
    /// Opens a folder in a folder; fails for a link.
    fn open_folder_in(&self, parent: &Dir, name: &OsStr) -> io::Result<Dir>;
    /// Makes a folder; `AlreadyExists` if something is there.
    fn create_folder_in(&self, parent: &Dir, name: &OsStr) -> io::Result<()>;
    /// Shuts everybody but the owner out of a folder; nothing on Windows.
    fn close_folder_in(&self, parent: &Dir, name: &OsStr) -> io::Result<()>;
    /// Whether there is anything, also a link, under this name.
    fn exists_in(&self, folder: &Dir, name: &OsStr) -> io::Result<bool>;
    /// Removes a file, if it is there.
    fn remove_in(&self, folder: &Dir, name: &OsStr) -> io::Result<()>;
    /// Renames, replacing what is there.
    fn rename_in(&self, folder: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()>;
    /// Moves a file to a name that is free; `AlreadyExists` if it is not, without a race.
    fn move_in(&self, from_folder: &Dir, from: &OsStr, to_folder: &Dir, to: &OsStr) -> io::Result<()>;
    /// Waits until the folder's names are on disk, where the system can.
    fn sync_folder_in(&self, folder: &Dir) -> io::Result<()>;
    /// Cuts a file, or grows it by zeros.
    fn set_length(&self, file: &File, bytes: u64) -> io::Result<()>;
}
