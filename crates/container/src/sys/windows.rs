//! Calls that are specific to Windows, by the library's extensions.
//!
//! Windows has no anonymous files to link, and no way to wait for a pipe: temporary files have names, and a blocked pipe delays a
//! cancellation until it moves. A file's identity is its volume and its index there, which only an open handle provides. File systems
//! without an index return 0; for them the canonical paths decide whether the output is the input.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::ops::Range;
use std::os::windows::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use super::types::{Attributed, Kind, Readers, Readiness, Status};

/// Status of a file without metadata.
const STREAM: Status =
    Status { kind: Kind::Stream, size_bytes: 0, modified_ns: 0, changed_ns: 0, identity: None, owner: None };

const ERROR_INVALID_FUNCTION: i32 = 1;
const ERROR_NOT_SUPPORTED: i32 = 50;
/// Needed to open folders.
pub(super) const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;

pub(super) fn descriptor(number: u32, readiness: Readiness) -> io::Result<File> {
    tress_terminal::descriptor::take(number, readiness == Readiness::Writable)
}

pub(super) fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

pub(crate) fn is_in_user_space(_file: &File) -> bool {
    false
}

pub(super) fn close(_file: File) -> io::Result<()> {
    Ok(())
}

pub(super) fn create_anonymous(_folder: &Path, _readers: Readers) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn create_new(path: &Path, _readers: Readers) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

pub(super) fn link(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    // A plain rename replaces an existing file on Windows; creating a second link does not.
    match fs::hard_link(from, to) {
        // FAT and exFAT have no hard links.
        Err(error) if matches!(error.raw_os_error(), Some(ERROR_INVALID_FUNCTION | ERROR_NOT_SUPPORTED)) => {
            return move_new(from, to);
        }
        linked => linked?,
    }
    fs::remove_file(from).inspect_err(|_| {
        let _ = fs::remove_file(to);
    })
}

/// Moves a file to a free name in one step, for names of at most 260 characters. The standard library always passes the system call's
/// flag to replace.
fn move_new(from: &Path, to: &Path) -> io::Result<()> {
    let file = tempfile::TempPath::try_from_path(from)?;
    file.persist_noclobber(to).map_err(|failed| {
        // Keeps the file: the caller decides whether to remove it.
        let _ = failed.path.keep();
        failed.error
    })
}

/// Creating a symlink takes a privilege on Windows, and there are no sticky folders.
pub(super) fn is_planted(_file: &Status, _folder: &Status) -> bool {
    false
}

/// A new file gets the rights of its folder.
pub(crate) fn may_adopt(_old: &Status, _folder: &Status) -> bool {
    true
}

/// Renaming has its own way for file systems without links, and nothing else here depends on the file system.
pub(crate) fn is_unsupported(_error: &io::Error) -> bool {
    false
}

pub(super) fn status_of(path: &Path) -> io::Result<Status> {
    // Opens for neither reading nor writing, which is enough to query metadata.
    match OpenOptions::new().access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path) {
        Ok(file) => status_of_handle(&file),
        Err(_) if is_bare_device(path) => Ok(STREAM),
        Err(error) => Err(error),
    }
}

/// Whether this is a device such as NUL, which can be opened but has no metadata.
pub(super) fn is_bare_device(path: &Path) -> bool {
    // Opening creates no file.
    OpenOptions::new().write(true).open(path).is_ok_and(|device| device.metadata().is_err())
}

pub(super) fn status(metadata: &Metadata) -> Status {
    let kind = metadata.file_type();
    Status {
        kind: if kind.is_dir() {
            Kind::Folder
        } else if kind.is_file() && !kind.is_symlink_file() {
            Kind::Regular
        } else {
            Kind::Stream
        },
        size_bytes: metadata.file_size(),
        modified_ns: i128::from(metadata.last_write_time()) * 100,
        changed_ns: i128::from(metadata.creation_time()) * 100,
        identity: None,
        owner: None,
    }
}

pub(super) fn status_of_handle(file: &File) -> io::Result<Status> {
    match file.metadata() {
        Ok(metadata) => {
            let information = winapi_util::file::information(file).ok().filter(|found| found.file_index() != 0);
            let identity = information.map(|found| (found.volume_serial_number(), found.file_index()));
            Ok(Status { identity, ..status(&metadata) })
        }
        // Pipes and consoles have no metadata.
        Err(_) => Ok(STREAM),
    }
}

pub(super) fn adopt(_file: &File, _old: &Status) -> io::Result<()> {
    Ok(())
}

pub(super) fn wait(_file: &File, _readiness: Readiness, _timeout: Duration) -> io::Result<bool> {
    Ok(true)
}

pub(super) fn read_at(file: &File, buffers: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
    match buffers.iter_mut().find(|buffer| !buffer.is_empty()) {
        Some(first) => file.seek_read(first, offset),
        None => Ok(0),
    }
}

pub(super) fn write_at(file: &File, buffers: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
    match buffers.iter().find(|buffer| !buffer.is_empty()) {
        Some(first) => file.seek_write(first, offset),
        None => Ok(0),
    }
}

pub(super) fn write_ready(mut file: &File, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
    file.write_vectored(buffers)
}

pub(super) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn attributes(_of: Attributed<'_>) -> io::Result<Vec<(OsString, Vec<u8>)>> {
    Ok(Vec::new())
}

pub(super) fn set_attribute(_of: Attributed<'_>, _name: &OsStr, _value: &[u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn segments(_file: &File, _bytes: u64) -> io::Result<Option<Vec<Range<u64>>>> {
    Ok(None)
}

pub(super) fn user_ids() -> Option<[u32; 2]> {
    None
}

pub(super) fn owner_name(_id: u32, _is_group: bool) -> Option<String> {
    None
}

pub(super) fn owner_id(_name: &str, _is_group: bool) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_moving_take_only_free_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for rename in [rename_new, move_new] {
            fs::write(path("new"), b"new").unwrap();
            fs::write(path("taken"), b"old").unwrap();
            // As when an output gets its name: the file is still open.
            let open = OpenOptions::new().write(true).open(path("new")).unwrap();
            let error = rename(&path("new"), &path("taken")).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(
                (fs::read(path("new")).unwrap(), fs::read(path("taken")).unwrap()),
                (b"new".into(), b"old".into())
            );
            rename(&path("new"), &path("free")).unwrap();
            drop(open);
            assert!(!path("new").exists());
            assert_eq!(fs::read(path("free")).unwrap(), b"new");
            fs::remove_file(path("free")).unwrap();
        }
    }

    #[test]
    fn all_paths_of_a_file_have_one_identity() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other, link] = ["one", "other", "link"].map(|name| folder.path().join(name));
        for path in [&one, &other] {
            fs::write(path, b"the same bytes").unwrap();
        }
        fs::hard_link(&one, &link).unwrap();
        let identity = |path: &Path| status_of(path).unwrap().identity.unwrap();
        assert_eq!(identity(&one), identity(&link));
        assert_ne!(identity(&one), identity(&other));
        let appended = OpenOptions::new().append(true).open(&link).unwrap();
        assert_eq!(status_of_handle(&appended).unwrap().identity, Some(identity(&one)));
        assert_eq!(status_of(folder.path()).unwrap().kind, Kind::Folder);
    }

    #[test]
    fn devices_are_streams() {
        assert_eq!(status_of(Path::new("NUL")).unwrap().kind, Kind::Stream);
    }
}
