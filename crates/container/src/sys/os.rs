//! [`System`] by the standard library, and by `rustix` for unix calls that the library lacks.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut, IsTerminal, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cap_std::fs::Dir;
use tress_terminal::blocked::blocked;

use super::{Opening, dir_handle};
use super::{Readers, Readiness, Status, System};

/// The real system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Os;

impl System for Os {
    fn descriptor(&self, number: u32, readiness: Readiness) -> io::Result<File> {
        system::descriptor(number, readiness)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        system::open(path)
    }

    fn open_existing(&self, path: &Path) -> io::Result<File> {
        blocked(|| OpenOptions::new().write(true).open(path))
    }

    fn create_anonymous(&self, folder: &Path, readers: Readers) -> io::Result<File> {
        system::create_anonymous(folder, readers)
    }

    fn create_new(&self, path: &Path, readers: Readers) -> io::Result<File> {
        system::create_new(path, readers)
    }

    fn link(&self, file: &File, path: &Path) -> io::Result<()> {
        system::link(file, path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        system::rename_new(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => {
                let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                refuse_planted(&system::status(&metadata), &system::status_of(folder.unwrap_or(Path::new(".")))?)?;
                fs::read_link(path).map(Some)
            }
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(_) if system::is_bare_device(path) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn names_in(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn metadata_of(&self, path: &Path) -> io::Result<fs::Metadata> {
        fs::symlink_metadata(path)
    }

    fn status_of(&self, path: &Path) -> io::Result<Status> {
        system::status_of(path)
    }

    fn status(&self, file: &File) -> io::Result<Status> {
        system::status_of_handle(file)
    }

    fn adopt(&self, file: &File, old: &Status) -> io::Result<()> {
        system::adopt(file, old)
    }

    fn position(&self, mut file: &File) -> io::Result<u64> {
        file.stream_position()
    }

    fn is_terminal(&self, file: &File) -> bool {
        file.is_terminal()
    }

    fn wait(&self, file: &File, readiness: Readiness, timeout: Duration) -> io::Result<bool> {
        system::wait(file, readiness, timeout)
    }

    fn read(&self, mut file: &File, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        file.read_vectored(buffers)
    }

    fn read_at(&self, file: &File, buffers: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        system::read_at(file, buffers, offset)
    }

    fn write(&self, mut file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        file.write_vectored(buffers)
    }

    fn write_ready(&self, file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        system::write_ready(file, buffers)
    }

    fn write_at(&self, file: &File, buffers: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
        system::write_at(file, buffers, offset)
    }

    fn copy(&self, from: &File, mut to: &File, bytes: u64) -> io::Result<u64> {
        // The library copies between files with `copy_file_range` where the system has it, which shares blocks if the file system can.
        io::copy(&mut from.take(bytes), &mut to)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        tolerate(file.sync_all(), "sync a file")
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        system::sync_folder(folder)
    }

    fn open_in(&self, folder: &Dir, name: &OsStr, how: Opening) -> io::Result<File> {
        dir_handle::open(folder, name, how)
    }

    fn open_folder_in(&self, parent: &Dir, name: &OsStr) -> io::Result<Dir> {
        dir_handle::open_folder(parent, name)
    }

    fn create_folder_in(&self, parent: &Dir, name: &OsStr, readers: Readers) -> io::Result<()> {
        dir_handle::create_folder(parent, name, readers)
    }

    fn close_folder(&self, folder: &Dir) -> io::Result<()> {
        dir_handle::close_folder(folder)
    }

    fn exists_in(&self, folder: &Dir, name: &OsStr) -> io::Result<bool> {
        dir_handle::exists(folder, name)
    }

    fn remove_in(&self, folder: &Dir, name: &OsStr) -> io::Result<()> {
        dir_handle::remove(folder, name)
    }

    fn rename_in(&self, folder: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
        dir_handle::rename(folder, from, to)
    }

    fn move_in(&self, from_folder: &Dir, from: &OsStr, to_folder: &Dir, to: &OsStr) -> io::Result<()> {
        dir_handle::move_new(from_folder, from, to_folder, to)
    }

    fn sync_folder_in(&self, folder: &Dir) -> io::Result<()> {
        dir_handle::sync_folder(folder)
    }

    fn set_length(&self, file: &File, bytes: u64) -> io::Result<()> {
        file.set_len(bytes)
    }
}

/// Accepts that a file system cannot do something which is no reason to discard a complete file, and notes it once.
pub(crate) fn tolerate(done: io::Result<()>, what: &'static str) -> io::Result<()> {
    static NOTED: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let Err(error) = &done else { return done };
    if !is_unsupported(error) {
        return done;
    }
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !noted.contains(&what) {
        noted.push(what);
        if let Some(note) = super::NOTE.get() {
            note(&format!("this file system cannot {what}: {error}"));
        }
    }
    Ok(())
}

/// Returns an error for a file or link that another user may have planted.
pub(crate) fn refuse_planted(file: &Status, folder: &Status) -> io::Result<()> {
    let error =
        || io::Error::new(io::ErrorKind::PermissionDenied, "made by another user in a folder that everybody shares");
    if system::is_planted(file, folder) { Err(error()) } else { Ok(()) }
}

pub(crate) use system::{is_unsupported, may_adopt};

#[cfg(unix)]
#[path = "unix.rs"]
pub(crate) mod system;

#[cfg(windows)]
#[path = "windows.rs"]
pub(crate) mod system;
