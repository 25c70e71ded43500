//! A [`System`] that records, in order, all changes of a disk. From the record, [`Disk`] computes the possible states after a loss of power
//! at any moment.
//!
//! The assumed guarantees are weak. Data written to a file is durable once the file was synced; before that, any part of it may be on the
//! disk, in any order. A name is durable once its folder was synced; before that, it may or may not exist, independent of the file's data.
//! A rename is one step, and one between two folders is durable once both were synced. Journaling file systems guarantee more, so code that
//! relies only on these guarantees is safe on all of them.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cap_std::fs::Dir;

use super::disk::Inode;
pub use super::disk::{Disk, Event};
use crate::sys::{Opening, Os, Readers, Readiness, Status, System};

/// Passes all calls to the system, and records those that change something.
#[derive(Default)]
pub struct Recording {
    os: Os,
    events: Mutex<Vec<Event>>,
    /// Held during a call and its recording, so that the calls of several threads are recorded in the order in which they were made.
    turn: Mutex<()>,
    has_no_anonymous: bool,
}

impl Recording {
    pub fn new(has_anonymous: bool) -> Self {
        Self { has_no_anonymous: !has_anonymous, ..Self::default() }
    }

    /// The events recorded so far.
    pub fn events(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, event: Event) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }

    fn add_write(&self, file: &File, offset: u64, buffers: &[IoSlice<'_>], written: usize) -> io::Result<()> {
        let mut bytes = buffers.iter().flat_map(|buffer| buffer.iter().copied()).collect::<Vec<_>>();
        bytes.truncate(written);
        self.add(Event::Write { file: inode(file)?, offset, bytes });
        Ok(())
    }
}

fn inode(file: &File) -> io::Result<Inode> {
    Ok(file.metadata()?.ino())
}

// For names in folders with handles, the folder's number is the first component of the path.

/// A folder's number, as the first component of a path.
pub fn number(folder: &cap_std::fs::Dir) -> String {
    use cap_std::fs::MetadataExt as _;
    folder.dir_metadata().unwrap().ino().to_string()
}

/// The path of a name in a folder.
pub fn key(folder: &cap_std::fs::Dir, name: &std::ffi::OsStr) -> PathBuf {
    Path::new(&number(folder)).join(name)
}

/// The number of the file with this name.
pub fn inode_in(folder: &cap_std::fs::Dir, name: &std::ffi::OsStr) -> Inode {
    use cap_std::fs::MetadataExt as _;
    folder.symlink_metadata(name).unwrap().ino()
}

/// The number of an open file.
pub fn inode_of(file: &cap_std::fs::File) -> Inode {
    use cap_std::fs::MetadataExt as _;
    file.metadata().unwrap().ino()
}

impl System for Recording {
    fn descriptor(&self, number: u32, readiness: Readiness) -> io::Result<File> {
        self.os.descriptor(number, readiness)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        self.os.open(path)
    }

    fn open_existing(&self, path: &Path) -> io::Result<File> {
        self.os.open_existing(path)
    }

    fn create_anonymous(&self, folder: &Path, readers: Readers) -> io::Result<File> {
        match self.has_no_anonymous {
            true => Err(io::ErrorKind::Unsupported.into()),
            false => self.os.create_anonymous(folder, readers),
        }
    }

    fn create_new(&self, path: &Path, readers: Readers) -> io::Result<File> {
        let _turn = self.turn();
        let file = self.os.create_new(path, readers)?;
        self.add(Event::New { file: inode(&file)?, path: path.into() });
        Ok(file)
    }

    fn link(&self, file: &File, path: &Path) -> io::Result<()> {
        let _turn = self.turn();
        self.os.link(file, path)?;
        self.add(Event::Link { file: inode(file)?, path: path.into() });
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let _turn = self.turn();
        self.os.rename(from, to)?;
        self.add(Event::Rename { from: from.into(), to: to.into() });
        Ok(())
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        let _turn = self.turn();
        self.os.rename_new(from, to)?;
        self.add(Event::Rename { from: from.into(), to: to.into() });
        Ok(())
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        let _turn = self.turn();
        self.os.unlink(path)?;
        self.add(Event::Unlink { path: path.into() });
        Ok(())
    }

    fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        self.os.read_link(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.os.canonical(path)
    }

    fn names_in(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.os.names_in(folder)
    }

    fn metadata_of(&self, path: &Path) -> io::Result<std::fs::Metadata> {
        self.os.metadata_of(path)
    }

    fn status_of(&self, path: &Path) -> io::Result<Status> {
        self.os.status_of(path)
    }

    fn status(&self, file: &File) -> io::Result<Status> {
        self.os.status(file)
    }

    fn adopt(&self, file: &File, old: &Status) -> io::Result<()> {
        self.os.adopt(file, old)
    }

    fn position(&self, file: &File) -> io::Result<u64> {
        self.os.position(file)
    }

    fn is_terminal(&self, file: &File) -> bool {
        self.os.is_terminal(file)
    }

    fn wait(&self, file: &File, readiness: Readiness, timeout: Duration) -> io::Result<bool> {
        self.os.wait(file, readiness, timeout)
    }

    fn read(&self, file: &File, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.os.read(file, buffers)
    }

    fn read_at(&self, file: &File, buffers: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        self.os.read_at(file, buffers, offset)
    }

    fn write(&self, file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        let _turn = self.turn();
        let offset = self.os.position(file)?;
        let written = self.os.write(file, buffers)?;
        self.add_write(file, offset, buffers, written)?;
        Ok(written)
    }

    fn write_ready(&self, file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        // Called for pipes only, which are not on a disk.
        self.os.write_ready(file, buffers)
    }

    fn write_at(&self, file: &File, buffers: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
        let _turn = self.turn();
        let written = self.os.write_at(file, buffers, offset)?;
        self.add_write(file, offset, buffers, written)?;
        Ok(written)
    }

    fn copy(&self, from: &File, to: &File, bytes: u64) -> io::Result<u64> {
        let _turn = self.turn();
        let (source, target) = (self.os.position(from)?, self.os.position(to)?);
        let copied = self.os.copy(from, to, bytes)?;
        let mut content = vec![0; copied as usize];
        from.read_exact_at(&mut content, source)?;
        self.add_write(to, target, &[IoSlice::new(&content)], content.len())?;
        Ok(copied)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        let _turn = self.turn();
        self.os.sync(file)?;
        self.add(Event::Sync { file: inode(file)? });
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let _turn = self.turn();
        self.os.sync_folder(folder)?;
        self.add(Event::SyncFolder { folder: folder.into() });
        Ok(())
    }

    fn open_in(&self, folder: &Dir, name: &OsStr, how: Opening) -> io::Result<File> {
        let _turn = self.turn();
        let is_new = how == Opening::New || how == Opening::Make && !self.os.exists_in(folder, name)?;
        let file = self.os.open_in(folder, name, how)?;
        if is_new {
            self.add(Event::New { file: inode(&file)?, path: key(folder, name) });
        }
        Ok(file)
    }

    fn open_folder_in(&self, parent: &Dir, name: &OsStr) -> io::Result<Dir> {
        self.os.open_folder_in(parent, name)
    }

    fn create_folder_in(&self, parent: &Dir, name: &OsStr, readers: Readers) -> io::Result<()> {
        let _turn = self.turn();
        self.os.create_folder_in(parent, name, readers)?;
        self.add(Event::Folder { folder: inode_in(parent, name), path: key(parent, name) });
        Ok(())
    }

    fn close_folder(&self, folder: &Dir) -> io::Result<()> {
        self.os.close_folder(folder)
    }

    fn exists_in(&self, folder: &Dir, name: &OsStr) -> io::Result<bool> {
        self.os.exists_in(folder, name)
    }

    fn remove_in(&self, folder: &Dir, name: &OsStr) -> io::Result<()> {
        let _turn = self.turn();
        let was_there = self.os.exists_in(folder, name)?;
        self.os.remove_in(folder, name)?;
        if was_there {
            self.add(Event::Unlink { path: key(folder, name) });
        }
        Ok(())
    }

    fn rename_in(&self, folder: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let _turn = self.turn();
        self.os.rename_in(folder, from, to)?;
        self.add(Event::Rename { from: key(folder, from), to: key(folder, to) });
        Ok(())
    }

    fn move_in(&self, from_folder: &Dir, from: &OsStr, to_folder: &Dir, to: &OsStr) -> io::Result<()> {
        let _turn = self.turn();
        self.os.move_in(from_folder, from, to_folder, to)?;
        self.add(Event::Rename { from: key(from_folder, from), to: key(to_folder, to) });
        Ok(())
    }

    fn sync_folder_in(&self, folder: &Dir) -> io::Result<()> {
        let _turn = self.turn();
        self.os.sync_folder_in(folder)?;
        self.add(Event::SyncFolder { folder: number(folder).into() });
        Ok(())
    }

    fn set_length(&self, file: &File, bytes: u64) -> io::Result<()> {
        let _turn = self.turn();
        self.os.set_length(file, bytes)?;
        self.add(Event::Length { file: inode(file)?, bytes });
        Ok(())
    }
}
