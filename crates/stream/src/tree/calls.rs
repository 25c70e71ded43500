//! Every call on the file system that a tree makes, here or in [`platform`](super::platform), so that tests can make the
//! n-th of them fail. The pipeline's trait `System` names files by paths, which a tree must not do: all names here are relative
//! to the handle of a folder.
use cap_fs_ext::DirExt;
use cap_std::ambient_authority;
pub(crate) use cap_std::fs::{Dir, File, Metadata};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Opens a folder by the name that the user gave.
pub(crate) fn open_given_folder(path: &Path) -> io::Result<Dir> {
    may_fail()?;
    Dir::open_ambient_dir(path, ambient_authority())
}

/// The absolute name without links of something that exists.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    may_fail()?;
    path.canonicalize()
}

/// Whether there is anything, also a link that leads nowhere, under a name that the user gave.
pub(crate) fn exists(path: &Path) -> io::Result<bool> {
    may_fail()?;
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens a folder in a folder; fails for a link.
pub(crate) fn open_folder(parent: &Dir, name: &OsStr) -> io::Result<Dir> {
    may_fail()?;
    parent.open_dir_nofollow(name)
}

/// Opens a folder any number of levels below another; no link on the way leads out.
pub(crate) fn open_below(top: &Dir, path: &Path) -> io::Result<Dir> {
    may_fail()?;
    top.open_dir(if path.as_os_str().is_empty() { Path::new(".") } else { path })
}

/// What a name in a folder stands for; links are not followed.
pub(crate) fn status(parent: &Dir, name: &OsStr) -> io::Result<Metadata> {
    may_fail()?;
    parent.symlink_metadata(name)
}

pub(crate) fn folder_status(folder: &Dir) -> io::Result<Metadata> {
    may_fail()?;
    folder.dir_metadata()
}

pub(crate) fn file_status(file: &File) -> io::Result<Metadata> {
    may_fail()?;
    file.metadata()
}

/// The names in a folder, in no order, and whether each is a folder.
pub(crate) fn list(folder: &Dir) -> io::Result<Vec<(OsString, bool)>> {
    may_fail()?;
    let entries = folder.entries()?.map(|entry| {
        let entry = entry?;
        Ok((entry.file_name(), entry.file_type()?.is_dir()))
    });
    entries.collect()
}

/// A link's target as it is stored.
pub(crate) fn read_link(parent: &Dir, name: &OsStr) -> io::Result<PathBuf> {
    may_fail()?;
    parent.read_link_contents(name)
}

/// Removes anything but a folder.
pub(crate) fn remove_file(parent: &Dir, name: &OsStr) -> io::Result<()> {
    may_fail()?;
    parent.remove_file_or_symlink(name)
}

/// Removes an empty folder.
pub(crate) fn remove_empty_folder(parent: &Dir, name: &OsStr) -> io::Result<()> {
    may_fail()?;
    parent.remove_dir(name)
}

pub(crate) fn read(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    may_fail()?;
    file.read(buffer)
}

pub(crate) fn write_all(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    may_fail()?;
    file.write_all(bytes)
}

/// Stands before every call.
#[cfg(not(test))]
pub(crate) fn may_fail() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(crate) use faults::may_fail;

#[cfg(test)]
pub(crate) mod faults {
    use std::cell::Cell;
    use std::io;

    thread_local! {
        static CALLS_BEFORE_FAILURE: Cell<Option<u32>> = const { Cell::new(None) };
    }

    /// Has this thread's call fail that comes after so many others. The calls after that one succeed again.
    pub(crate) fn fail_after(calls: u32) {
        CALLS_BEFORE_FAILURE.set(Some(calls));
    }

    /// Lets everything succeed, and says whether a call did fail.
    pub(crate) fn has_failed() -> bool {
        CALLS_BEFORE_FAILURE.take().is_none()
    }

    pub(crate) fn may_fail() -> io::Result<()> {
        let calls = CALLS_BEFORE_FAILURE.get();
        CALLS_BEFORE_FAILURE.set(calls.and_then(|calls| calls.checked_sub(1)));
        match calls {
            Some(0) => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }
}
