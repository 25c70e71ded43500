//! Reports the changes that a tree makes on a disk to the tests of lost power (`testing/recording.rs`). Does nothing outside of tests.
use cap_std::fs::{Dir, File};
use std::ffi::OsStr;

#[cfg(all(test, unix))]
use crate::testing::recording::{Event, inode_in, inode_of, key, number};

/// A new file.
pub(crate) fn file(folder: &Dir, name: &OsStr, file: &File) {
    #[cfg(all(test, unix))]
    events::add(|| Event::New { file: inode_of(file), path: key(folder, name) });
    #[cfg(not(all(test, unix)))]
    let _ = (folder, name, file);
}

/// A new folder.
pub(crate) fn folder(parent: &Dir, name: &OsStr) {
    #[cfg(all(test, unix))]
    events::add(|| Event::Folder { folder: inode_in(parent, name), path: key(parent, name) });
    #[cfg(not(all(test, unix)))]
    let _ = (parent, name);
}

/// A new symbolic link.
pub(crate) fn link(folder: &Dir, name: &OsStr, target: &OsStr) {
    #[cfg(all(test, unix))]
    events::add(|| Event::Symlink {
        link: inode_in(folder, name),
        path: key(folder, name),
        target: target.as_encoded_bytes().to_vec(),
    });
    #[cfg(not(all(test, unix)))]
    let _ = (folder, name, target);
}

/// Bytes that were written and end at the file's position.
pub(crate) fn written(file: &mut File, bytes: &[u8]) {
    #[cfg(all(test, unix))]
    events::add(|| {
        let end = std::io::Seek::stream_position(file).unwrap();
        Event::Write { file: inode_of(file), offset: end - bytes.len() as u64, bytes: bytes.to_vec() }
    });
    #[cfg(not(all(test, unix)))]
    let _ = (file, bytes);
}

/// A renamed file or folder.
pub(crate) fn renamed(parent: &Dir, from: &OsStr, to: &OsStr) {
    #[cfg(all(test, unix))]
    events::add(|| Event::Rename { from: key(parent, from), to: key(parent, to) });
    #[cfg(not(all(test, unix)))]
    let _ = (parent, from, to);
}

/// Two names that were exchanged in one step.
pub(crate) fn exchanged(parent: &Dir, one: &OsStr, other: &OsStr) {
    #[cfg(all(test, unix))]
    events::add(|| Event::Exchange { one: key(parent, one), other: key(parent, other) });
    #[cfg(not(all(test, unix)))]
    let _ = (parent, one, other);
}

/// A removed name.
pub(crate) fn removed(parent: &Dir, name: &OsStr) {
    #[cfg(all(test, unix))]
    events::add(|| Event::Unlink { path: key(parent, name) });
    #[cfg(not(all(test, unix)))]
    let _ = (parent, name);
}

/// All writes to the file system are on the disk.
pub(crate) fn synced_all() {
    #[cfg(all(test, unix))]
    events::add(|| Event::SyncAll);
}

/// One file's content is on the disk.
pub(crate) fn synced(file: &File) {
    #[cfg(all(test, unix))]
    events::add(|| Event::Sync { file: inode_of(file) });
    #[cfg(not(all(test, unix)))]
    let _ = file;
}

/// The folder's names are on the disk.
pub(crate) fn synced_names(folder: &Dir) {
    #[cfg(all(test, unix))]
    events::add(|| Event::SyncFolder { folder: number(folder).into() });
    #[cfg(not(all(test, unix)))]
    let _ = folder;
}

#[cfg(all(test, unix))]
pub(crate) mod events {
    use std::cell::RefCell;

    use super::Event;

    thread_local! {
        static EVENTS: RefCell<Option<Vec<Event>>> = const { RefCell::new(None) };
    }

    /// Starts to record the changes of this thread's trees.
    pub(crate) fn begin() {
        EVENTS.set(Some(Vec::new()));
    }

    pub(crate) fn end() -> Vec<Event> {
        EVENTS.take().unwrap_or_default()
    }

    pub(super) fn add(event: impl FnOnce() -> Event) {
        EVENTS.with_borrow_mut(|events| {
            if let Some(events) = events {
                events.push(event());
            }
        });
    }
}
