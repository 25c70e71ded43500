//! [`System`]: all calls on files, by the standard library, and by `rustix` and `cap-std` for what the library lacks.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut, IsTerminal, Read, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;
use std::time::Duration;

use cap_fs_ext::DirExt;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileType, Metadata};
use tress_terminal::blocked::blocked;

use super::folder;
use super::time::FileTime;
use super::tolerate::{refuse_planted, tolerate};
use super::types::{Attributed, Opening, Readers, Readiness, Special, Status};
#[cfg(unix)]
use super::unix as platform;
#[cfg(windows)]
use super::windows as platform;

/// A call that is about to be made.
#[derive(Clone, Copy, Debug)]
pub enum Call<'c> {
    /// Moves bytes from or to a file.
    Move,
    /// Waits until this file's content is on disk.
    Sync(&'c File),
    /// Creates a file without a name.
    CreateAnonymous,
    /// Any other.
    Other,
}

/// A name of a file or folder.
#[derive(Clone, Copy, Debug)]
pub enum Place<'c> {
    Path(&'c Path),
    /// In the folder of this handle.
    In(&'c Dir, &'c OsStr),
}

/// A change of the disk that was made.
#[derive(Clone, Copy, Debug)]
pub enum Change<'c> {
    /// A new file.
    New(&'c File, Place<'c>),
    Folder(Place<'c>),
    /// A new symbolic link to this target.
    Symlink(Place<'c>, &'c OsStr),
    /// A name for a file that had none.
    Link(&'c File, Place<'c>),
    /// A second name of a file.
    HardLink(Place<'c>),
    /// A new FIFO or device.
    Special(Place<'c>),
    Renamed(Place<'c>, Place<'c>),
    Exchanged(Place<'c>, Place<'c>),
    Removed(Place<'c>),
    /// So many bytes of these buffers were written at the offset, or else before the handle's position.
    Written(&'c File, Option<u64>, &'c [IoSlice<'c>], usize),
    /// So many bytes were copied. Both handles are behind them.
    Copied(&'c File, &'c File, u64),
    Length(&'c File, u64),
    Synced(&'c File),
    /// The names in a folder are on the disk.
    SyncedNames(Place<'c>),
    /// Everything is on the disk.
    SyncedAll,
}

/// Every call on a file. [`Os`] makes the calls and nothing else. A test double has hooks: it may let any call fail, and see every change.
pub trait System: Send + Sync {
    /// Called before every call. Returns the number of bytes that a call which moves bytes may move.
    ///
    /// # Errors
    /// The error with which the call fails without having been made.
    fn before(&self, _call: Call<'_>) -> io::Result<usize> {
        Ok(usize::MAX)
    }

    /// Called after every change.
    ///
    /// # Errors
    /// The error that the call returns although the change was made.
    fn after(&self, _change: Change<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Held from the start of a call that changes something to the end of [`after`](System::after).
    fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        None
    }

    /// An open descriptor of this process as a separate handle: 0 is standard input, 1 standard output. Fails if it is closed, or not open
    /// for this.
    fn descriptor(&self, number: u32, readiness: Readiness) -> io::Result<File> {
        self.before(Call::Other)?;
        platform::descriptor(number, readiness)
    }

    /// Opens for reading.
    fn open(&self, path: &Path) -> io::Result<File> {
        self.before(Call::Other)?;
        platform::open(path)
    }

    /// Opens an existing file for writing, without truncating it.
    fn open_existing(&self, path: &Path) -> io::Result<File> {
        self.before(Call::Other)?;
        blocked(|| OpenOptions::new().write(true).open(path))
    }

    /// Creates a file without a name in `folder`, for reading and writing, which [`System::link`] can name. `Unsupported` if the system
    /// or the file system does not support this.
    fn create_anonymous(&self, folder: &Path, readers: Readers) -> io::Result<File> {
        self.before(Call::CreateAnonymous)?;
        platform::create_anonymous(folder, readers)
    }

    /// Creates `path`; `AlreadyExists` if the name is taken.
    fn create_new(&self, path: &Path, readers: Readers) -> io::Result<File> {
        let _turn = self.turn();
        self.before(Call::Other)?;
        let file = platform::create_new(path, readers)?;
        self.after(Change::New(&file, Place::Path(path)))?;
        Ok(file)
    }

    /// Names an anonymous file; `AlreadyExists` if the name is taken. Some systems make anonymous files and refuse to name them.
    fn link(&self, file: &File, path: &Path) -> io::Result<()> {
        change(self, || platform::link(file, path), Change::Link(file, Place::Path(path)))
    }

    /// Renames a file, and replaces an existing one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        change(self, || fs::rename(from, to), Change::Renamed(Place::Path(from), Place::Path(to)))
    }

    /// Renames a file; `AlreadyExists` if the name is taken, without a race.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        change(self, || platform::rename_new(from, to), Change::Renamed(Place::Path(from), Place::Path(to)))
    }

    /// Removes a file.
    fn unlink(&self, path: &Path) -> io::Result<()> {
        change(self, || fs::remove_file(path), Change::Removed(Place::Path(path)))
    }

    /// The target of a symlink; `None` for anything else, or if nothing exists. `PermissionDenied` for one that another user may have
    /// planted.
    fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        self.before(Call::Other)?;
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => {
                let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                let folder = platform::status_of(folder.unwrap_or(Path::new(".")))?;
                refuse_planted(&platform::status(&metadata), &folder)?;
                fs::read_link(path).map(Some)
            }
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(_) if platform::is_bare_device(path) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The absolute path of an existing file, without symlinks.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.before(Call::Other)?;
        fs::canonicalize(path)
    }

    /// The names in a folder, in no particular order.
    fn names_in(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.before(Call::Other)?;
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    /// Metadata of a path; symlinks are not followed.
    fn metadata_of(&self, path: &Path) -> io::Result<fs::Metadata> {
        self.before(Call::Other)?;
        fs::symlink_metadata(path)
    }

    /// Status of a path; symlinks are followed.
    fn status_of(&self, path: &Path) -> io::Result<Status> {
        self.before(Call::Other)?;
        platform::status_of(path)
    }

    /// Status of an open file.
    fn status(&self, file: &File) -> io::Result<Status> {
        self.before(Call::Other)?;
        platform::status_of_handle(file)
    }

    /// Gives a new file the permissions of an old one and, where allowed, its owner.
    fn adopt(&self, file: &File, old: &Status) -> io::Result<()> {
        self.before(Call::Other)?;
        tolerate(platform::adopt(file, old), "set permissions")
    }

    /// The handle's position.
    fn position(&self, mut file: &File) -> io::Result<u64> {
        self.before(Call::Other)?;
        file.stream_position()
    }

    /// Whether the handle is a terminal.
    fn is_terminal(&self, file: &File) -> bool {
        file.is_terminal()
    }

    /// Waits until the handle is ready or the timeout has passed. Returns whether the handle is ready.
    fn wait(&self, file: &File, readiness: Readiness, timeout: Duration) -> io::Result<bool> {
        self.before(Call::Other)?;
        platform::wait(file, readiness, timeout)
    }

    /// Reads at the handle's position.
    fn read(&self, mut file: &File, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        read_up_to(self.before(Call::Move)?, buffers, |buffers| file.read_vectored(buffers))
    }

    /// Reads at an offset.
    fn read_at(&self, file: &File, buffers: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        read_up_to(self.before(Call::Move)?, buffers, |buffers| platform::read_at(file, buffers, offset))
    }

    /// Writes at the handle's position.
    fn write(&self, mut file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        let _turn = self.turn();
        let written = write_up_to(self.before(Call::Move)?, buffers, |buffers| file.write_vectored(buffers))?;
        self.after(Change::Written(file, None, buffers, written))?;
        Ok(written)
    }

    /// Writes at the handle's position as much as is possible without blocking, after [`System::wait`] reported the handle as ready.
    /// `WouldBlock` if nothing can be written after all. For pipes and terminals, which are not on a disk.
    fn write_ready(&self, file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        write_up_to(self.before(Call::Move)?, buffers, |buffers| platform::write_ready(file, buffers))
    }

    /// Writes at an offset.
    fn write_at(&self, file: &File, buffers: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
        let _turn = self.turn();
        let most = self.before(Call::Move)?;
        let written = write_up_to(most, buffers, |buffers| platform::write_at(file, buffers, offset))?;
        self.after(Change::Written(file, Some(offset), buffers, written))?;
        Ok(written)
    }

    /// Copies `bytes` bytes, or up to the end, from position to position; inside the system where possible.
    fn copy(&self, from: &File, mut to: &File, bytes: u64) -> io::Result<u64> {
        let _turn = self.turn();
        self.before(Call::Other)?;
        let (mut source, mut copied) = (from, 0);
        let start = source.stream_position()?;
        loop {
            // The library copies between files with `copy_file_range` where the system has it, which shares blocks if the file system can.
            match io::copy(&mut from.take(bytes - copied), &mut to) {
                // A signal. The error does not say what was copied before it, the position does.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => copied = source.stream_position()? - start,
                result => {
                    copied += result?;
                    break;
                }
            }
        }
        self.after(Change::Copied(from, to, copied))?;
        Ok(copied)
    }

    /// Truncates a file, or extends it with zeros.
    fn set_length(&self, file: &File, bytes: u64) -> io::Result<()> {
        change(self, || file.set_len(bytes), Change::Length(file, bytes))
    }

    /// Sets an open file's permission bits; does nothing on Windows.
    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        self.before(Call::Other)?;
        #[cfg(unix)]
        {
            let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
            tolerate(file.set_permissions(permissions), "set permissions")?;
        }
        let _ = (file, mode);
        Ok(())
    }

    /// Waits until the file's content is on disk, if the system supports it.
    fn sync(&self, file: &File) -> io::Result<()> {
        let _turn = self.turn();
        self.before(Call::Sync(file))?;
        tolerate(file.sync_all(), "sync a file")?;
        // A handle more would be one too many where there is no other left.
        if let Ok(copy) = file.try_clone() {
            tolerate(platform::close(copy), "close a file")?;
        }
        self.after(Change::Synced(file))
    }

    /// Closes a file. A file system in user space or of a server may say only then that it has not stored what was written.
    fn close(&self, file: File) -> io::Result<()> {
        self.before(Call::Other)?;
        tolerate(platform::close(file), "close a file")
    }

    /// Waits until the folder's names are on disk, if the system supports it.
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let changed = Change::SyncedNames(Place::Path(folder));
        change(self, || tolerate(platform::sync_folder(folder), "sync a folder"), changed)
    }

    /// Opens a folder by a path from the user.
    fn open_folder(&self, path: &Path) -> io::Result<Dir> {
        self.before(Call::Other)?;
        Dir::open_ambient_dir(path, ambient_authority())
    }

    // Calls relative to the handle of a folder, which no link can redirect. A receiver uses them in its senders' folders, and trees
    // use them everywhere.

    /// Opens a file in a folder; fails for a symlink.
    fn open_in(&self, folder: &Dir, name: &OsStr, how: Opening) -> io::Result<File> {
        let _turn = self.turn();
        self.before(Call::Other)?;
        let is_new = matches!(how, Opening::New(_)) || how == Opening::Make && !folder::exists(folder, name)?;
        let file = folder::open(folder, name, how)?;
        if is_new {
            self.after(Change::New(&file, Place::In(folder, name)))?;
        }
        Ok(file)
    }

    /// Opens a folder in a folder; fails for a symlink.
    fn open_folder_in(&self, parent: &Dir, name: &OsStr) -> io::Result<Dir> {
        self.before(Call::Other)?;
        parent.open_dir_nofollow(name)
    }

    /// Opens a folder any number of levels below another. No symlink on the way can lead out of `top`.
    fn open_below(&self, top: &Dir, path: &Path) -> io::Result<Dir> {
        self.before(Call::Other)?;
        top.open_dir(if path.as_os_str().is_empty() { Path::new(".") } else { path })
    }

    /// Metadata of a name in a folder; symlinks are not followed.
    fn metadata_in(&self, parent: &Dir, name: &OsStr) -> io::Result<Metadata> {
        self.before(Call::Other)?;
        folder::metadata(parent, name)
    }

    /// Status of a name in a folder; symlinks are not followed. On unix the file need not be readable.
    fn status_in(&self, parent: &Dir, name: &OsStr) -> io::Result<Status> {
        self.before(Call::Other)?;
        #[cfg(unix)]
        return Ok(platform::entry_status(&folder::metadata(parent, name)?));
        #[cfg(not(unix))]
        platform::status_of_handle(&folder::open(parent, name, Opening::Read)?)
    }

    /// Metadata of an open folder.
    fn folder_metadata(&self, folder: &Dir) -> io::Result<Metadata> {
        self.before(Call::Other)?;
        folder.dir_metadata()
    }

    /// Metadata of an open file.
    fn file_metadata(&self, file: &File) -> io::Result<Metadata> {
        self.before(Call::Other)?;
        Metadata::from_file(file)
    }

    /// The names in a folder, in no particular order, each with its type.
    fn list(&self, folder: &Dir) -> io::Result<Vec<(OsString, FileType)>> {
        self.before(Call::Other)?;
        folder::list(folder)
    }

    /// The target of a symlink, as stored.
    fn read_link_in(&self, parent: &Dir, name: &OsStr) -> io::Result<PathBuf> {
        self.before(Call::Other)?;
        parent.read_link_contents(name)
    }

    /// Whether the name exists, also as a symlink.
    fn exists_in(&self, folder: &Dir, name: &OsStr) -> io::Result<bool> {
        self.before(Call::Other)?;
        folder::exists(folder, name)
    }

    /// Creates a folder; `AlreadyExists` if the name is taken. Whatever the umask, only its owner and group may write to it.
    fn create_folder_in(&self, parent: &Dir, name: &OsStr, readers: Readers) -> io::Result<()> {
        change(self, || folder::create_folder(parent, name, readers), Change::Folder(Place::In(parent, name)))
    }

    /// Creates a symbolic link.
    fn create_link_in(&self, folder: &Dir, name: &OsStr, target: &OsStr) -> io::Result<()> {
        change(self, || folder::create_link(folder, name, target), Change::Symlink(Place::In(folder, name), target))
    }

    /// Gives a file of this file system a second name; `AlreadyExists` if the name is taken.
    fn link_in(&self, from_folder: &Dir, from: &OsStr, folder: &Dir, name: &OsStr) -> io::Result<()> {
        change(self, || from_folder.hard_link(from, folder, name), Change::HardLink(Place::In(folder, name)))
    }

    /// Creates a FIFO, or a device with these numbers.
    fn create_special_in(&self, folder: &Dir, name: &OsStr, special: Special) -> io::Result<()> {
        change(self, || folder::create_special(folder, name, special), Change::Special(Place::In(folder, name)))
    }

    /// Sets owner and group of anything, not of the target of a link.
    fn set_owner_in(&self, folder: &Dir, name: &OsStr, ids: [u32; 2]) -> io::Result<()> {
        self.before(Call::Other)?;
        folder::set_owner(folder, name, ids)
    }

    /// Sets the permission bits of anything but a link in a folder that nobody else can change.
    fn set_mode_in(&self, folder: &Dir, name: &OsStr, mode: u32) -> io::Result<()> {
        self.before(Call::Other)?;
        folder::set_any_mode(folder, name, mode)
    }

    /// The extended attributes of anything, not of the target of a link; none if the file system has none. Only on Linux.
    fn attributes(&self, of: Attributed<'_>) -> io::Result<Vec<(OsString, Vec<u8>)>> {
        self.before(Call::Other)?;
        platform::attributes(of)
    }

    /// Sets an extended attribute; `Unsupported` if the system has none.
    fn set_attribute(&self, of: Attributed<'_>, name: &OsStr, value: &[u8]) -> io::Result<()> {
        self.before(Call::Other)?;
        platform::set_attribute(of, name, value)
    }

    /// The parts of a file of this length that are no holes; `None` if the file system does not say. The position is undefined afterwards.
    fn segments(&self, file: &File, bytes: u64) -> io::Result<Option<Vec<Range<u64>>>> {
        self.before(Call::Other)?;
        platform::segments(file, bytes)
    }

    /// Owner and group of the files that this process makes, if the system has them.
    fn user_ids(&self) -> Option<[u32; 2]> {
        platform::user_ids()
    }

    /// Name of the user, or of the group.
    fn owner_name(&self, id: u32, is_group: bool) -> Option<String> {
        platform::owner_name(id, is_group)
    }

    /// Number of the user, or of the group.
    fn owner_id(&self, name: &str, is_group: bool) -> Option<u32> {
        platform::owner_id(name, is_group)
    }

    /// Sets a folder's permission bits; `.` is the folder itself. Fails for a link; does nothing on Windows.
    fn set_folder_mode(&self, parent: &Dir, name: &OsStr, mode: u32) -> io::Result<()> {
        self.before(Call::Other)?;
        folder::set_mode(parent, name, mode)
    }

    /// Sets the modification time of a file, folder or link, not of the target of a link. A time that the system cannot represent is an
    /// error.
    fn set_modified(&self, folder: &Dir, name: &OsStr, time: FileTime) -> io::Result<()> {
        self.before(Call::Other)?;
        folder::set_modified(folder, name, time)
    }

    /// Removes anything but a folder, if it exists.
    fn remove_in(&self, folder: &Dir, name: &OsStr) -> io::Result<()> {
        let _turn = self.turn();
        self.before(Call::Other)?;
        if folder::remove(folder, name)? { self.after(Change::Removed(Place::In(folder, name))) } else { Ok(()) }
    }

    /// Removes an empty folder.
    fn remove_folder_in(&self, parent: &Dir, name: &OsStr) -> io::Result<()> {
        change(self, || parent.remove_dir(name), Change::Removed(Place::In(parent, name)))
    }

    /// Renames a file, and replaces an existing one.
    fn rename_in(&self, folder: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let changed = Change::Renamed(Place::In(folder, from), Place::In(folder, to));
        change(self, || folder.rename(from, folder, to), changed)
    }

    /// Moves a file to a free name; `AlreadyExists` if the name is taken, without a race.
    fn move_in(&self, from_folder: &Dir, from: &OsStr, to_folder: &Dir, to: &OsStr) -> io::Result<()> {
        let changed = Change::Renamed(Place::In(from_folder, from), Place::In(to_folder, to));
        change(self, || folder::move_new(from_folder, from, to_folder, to), changed)
    }

    /// Renames a folder to a free name; `AlreadyExists` if the name is taken.
    fn move_folder_in(&self, parent: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let changed = Change::Renamed(Place::In(parent, from), Place::In(parent, to));
        change(self, || folder::rename_to_free_name(parent, from, to), changed)
    }

    /// Exchanges the names of two folders in one step. Returns false if the system or file system does not support it.
    fn exchange_in(&self, parent: &Dir, one: &OsStr, other: &OsStr) -> io::Result<bool> {
        let _turn = self.turn();
        self.before(Call::Other)?;
        let is_done = folder::exchange(parent, one, other)?;
        if is_done {
            self.after(Change::Exchanged(Place::In(parent, one), Place::In(parent, other)))?;
        }
        Ok(is_done)
    }

    /// Waits until the folder's names are on disk, if the system supports it.
    fn sync_folder_in(&self, folder: &Dir) -> io::Result<()> {
        change(self, || folder::sync_names(folder), Change::SyncedNames(Place::In(folder, OsStr::new(""))))
    }

    /// Waits until everything that was written to the folder's file system is on disk. Does nothing but on Linux.
    fn sync_all(&self, folder: &Dir) -> io::Result<()> {
        let _turn = self.turn();
        self.before(Call::Other)?;
        folder::sync_file_system(folder)?;
        if cfg!(target_os = "linux") { self.after(Change::SyncedAll) } else { Ok(()) }
    }
}

/// Makes a call that changes something, with the hooks of the system around it.
fn change(
    system: &(impl System + ?Sized),
    call: impl FnOnce() -> io::Result<()>,
    change: Change<'_>,
) -> io::Result<()> {
    let _turn = system.turn();
    system.before(Call::Other)?;
    call()?;
    system.after(change)
}

/// The real system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Os;

impl System for Os {}

/// Calls a function with these buffers, or with the part of the first one that has at most this many bytes.
fn read_up_to<T>(
    most: usize,
    buffers: &mut [IoSliceMut<'_>],
    call: impl FnOnce(&mut [IoSliceMut<'_>]) -> io::Result<T>,
) -> io::Result<T> {
    match buffers.iter_mut().find(|buffer| !buffer.is_empty()) {
        Some(buffer) if most != usize::MAX => {
            let bytes = most.min(buffer.len());
            call(&mut [IoSliceMut::new(&mut buffer[..bytes])])
        }
        _ => call(buffers),
    }
}

/// Like [`read_up_to`], for writing.
fn write_up_to<T>(
    most: usize,
    buffers: &[IoSlice<'_>],
    call: impl FnOnce(&[IoSlice<'_>]) -> io::Result<T>,
) -> io::Result<T> {
    match buffers.iter().find(|buffer| !buffer.is_empty()) {
        Some(buffer) if most != usize::MAX => call(&[IoSlice::new(&buffer[..most.min(buffer.len())])]),
        _ => call(buffers),
    }
}
