//! A [`System`] that records, in order, all changes of a disk. From the record, [`Disk`] computes the possible states after a loss of power
//! at any moment.
//!
//! The assumed guarantees are weak. Data written to a file is durable once the file was synced; before that, any part of it may be on the
//! disk, in any order. A name is durable once its folder was synced; before that, it may or may not exist, independent of the file's data.
//! A rename is one step, and one between two folders is durable once both were synced. Journaling file systems guarantee more, so code that
//! relies only on these guarantees is safe on all of them.

use std::fs::File;
use std::io::{self, Seek};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use super::disk::Inode;
pub use super::disk::{Disk, Event};
use crate::sys::{Call, Change, Place, System};
use crate::workers::lock;

/// Passes all calls to the system, and records those that change something.
#[derive(Default)]
pub struct Recording {
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
        std::mem::take(&mut lock(&self.events))
    }
}

fn inode(file: &File) -> io::Result<Inode> {
    Ok(file.metadata()?.ino())
}

/// A folder's number, as the first component of a path.
fn number(folder: &cap_std::fs::Dir) -> String {
    use cap_std::fs::MetadataExt as _;
    folder.dir_metadata().unwrap().ino().to_string()
}

/// For a name in a folder with a handle, the folder's number is the first component.
fn path(place: Place<'_>) -> PathBuf {
    match place {
        Place::Path(path) => path.into(),
        Place::In(folder, name) if name.is_empty() => number(folder).into(),
        Place::In(folder, name) => [number(folder).as_ref(), name].iter().collect(),
    }
}

/// The number of the file, folder or link of this name.
fn inode_at(place: Place<'_>) -> io::Result<Inode> {
    use cap_std::fs::MetadataExt as _;
    match place {
        Place::Path(path) => Ok(path.symlink_metadata()?.ino()),
        Place::In(folder, name) => Ok(folder.symlink_metadata(name)?.ino()),
    }
}

impl System for Recording {
    fn before(&self, call: Call<'_>) -> io::Result<usize> {
        match call {
            Call::CreateAnonymous if self.has_no_anonymous => Err(io::ErrorKind::Unsupported.into()),
            _ => Ok(usize::MAX),
        }
    }

    fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        Some(lock(&self.turn))
    }

    fn after(&self, change: Change<'_>) -> io::Result<()> {
        let event = match change {
            Change::New(file, place) => Event::New { file: inode(file)?, path: path(place) },
            Change::Folder(place) => Event::Folder { folder: inode_at(place)?, path: path(place) },
            Change::Symlink(place, target) => {
                Event::Symlink { link: inode_at(place)?, path: path(place), target: target.as_encoded_bytes().into() }
            }
            Change::Link(file, place) => Event::Link { file: inode(file)?, path: path(place) },
            Change::HardLink(place) => Event::Link { file: inode_at(place)?, path: path(place) },
            Change::Special(place) => Event::New { file: inode_at(place)?, path: path(place) },
            Change::Renamed(from, to) => Event::Rename { from: path(from), to: path(to) },
            Change::Exchanged(one, other) => Event::Exchange { one: path(one), other: path(other) },
            Change::Removed(place) => Event::Unlink { path: path(place) },
            Change::Written(mut file, offset, buffers, written) => {
                let mut bytes: Vec<u8> = buffers.iter().flat_map(|buffer| buffer.iter().copied()).collect();
                bytes.truncate(written);
                let offset = offset.map_or_else(|| Ok(file.stream_position()? - written as u64), io::Result::Ok)?;
                Event::Write { file: inode(file)?, offset, bytes }
            }
            Change::Copied(mut from, mut to, copied) => {
                let mut bytes = vec![0; copied as usize];
                from.read_exact_at(&mut bytes, from.stream_position()? - copied)?;
                Event::Write { file: inode(to)?, offset: to.stream_position()? - copied, bytes }
            }
            Change::Length(file, bytes) => Event::Length { file: inode(file)?, bytes },
            Change::Synced(file) => Event::Sync { file: inode(file)? },
            Change::SyncedNames(folder) => Event::SyncFolder { folder: path(folder) },
            Change::SyncedAll => Event::SyncAll,
        };
        lock(&self.events).push(event);
        Ok(())
    }
}
