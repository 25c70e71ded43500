//! Every call on the file system that a tree makes, here or in [`platform`](super::platform), so that tests can make the n-th call fail.
//! The pipeline's trait `System` names files by paths, which a tree must not do: here all names are relative to the handle of a folder.
//! Changes of the disk are reported to [`recorded`].
use super::recorded;
use cap_fs_ext::DirExt;
use cap_std::ambient_authority;
pub(crate) use cap_std::fs::{Dir, File, Metadata};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Opens a folder by a path from the user.
pub(crate) fn open_given_folder(path: &Path) -> io::Result<Dir> {
    may_fail()?;
    Dir::open_ambient_dir(path, ambient_authority())
}

/// The absolute path of an existing file, without symlinks.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    may_fail()?;
    path.canonicalize()
}

/// Whether a path from the user exists, also as a dangling symlink.
pub(crate) fn exists(path: &Path) -> io::Result<bool> {
    may_fail()?;
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens a folder in a folder; fails for a symlink.
pub(crate) fn open_folder(parent: &Dir, name: &OsStr) -> io::Result<Dir> {
    may_fail()?;
    parent.open_dir_nofollow(name)
}

/// Opens a folder any number of levels below another. No symlink on the way can lead out of `top`.
pub(crate) fn open_below(top: &Dir, path: &Path) -> io::Result<Dir> {
    may_fail()?;
    top.open_dir(if path.as_os_str().is_empty() { Path::new(".") } else { path })
}

/// Metadata of a name in a folder; symlinks are not followed.
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

/// The names in a folder, in no particular order, each with whether it is a folder.
pub(crate) fn list(folder: &Dir) -> io::Result<Vec<(OsString, bool)>> {
    may_fail()?;
    let entries = folder.entries()?.map(|entry| {
        let entry = entry?;
        Ok((entry.file_name(), entry.file_type()?.is_dir()))
    });
    entries.collect()
}

/// The target of a symlink, as stored.
pub(crate) fn read_link(parent: &Dir, name: &OsStr) -> io::Result<PathBuf> {
    may_fail()?;
    parent.read_link_contents(name)
}

/// Removes anything but a folder.
pub(crate) fn remove_file(parent: &Dir, name: &OsStr) -> io::Result<()> {
    may_fail()?;
    parent.remove_file_or_symlink(name)?;
    recorded::removed(parent, name);
    Ok(())
}

/// Removes an empty folder.
pub(crate) fn remove_empty_folder(parent: &Dir, name: &OsStr) -> io::Result<()> {
    may_fail()?;
    parent.remove_dir(name)?;
    recorded::removed(parent, name);
    Ok(())
}

pub(crate) fn read(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let most = buffer.len().min(may_move()?);
    file.read(&mut buffer[..most])
}

pub(crate) fn write_all(file: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match write(file, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn write(file: &mut File, bytes: &[u8]) -> io::Result<usize> {
    let most = bytes.len().min(may_move()?);
    let count = file.write(&bytes[..most])?;
    recorded::written(file, &bytes[..count]);
    Ok(count)
}

/// Called before every system call. Tests replace it to let calls fail.
#[cfg(not(test))]
pub(crate) fn may_fail() -> io::Result<()> {
    Ok(())
}

/// Called before every read and write. Returns the number of bytes that it may move.
#[cfg(not(test))]
fn may_move() -> io::Result<usize> {
    Ok(usize::MAX)
}

#[cfg(test)]
use faults::may_move;

#[cfg(test)]
pub(crate) use faults::may_fail;

#[cfg(test)]
pub(crate) mod faults {
    use std::cell::Cell;
    use std::io;

    use crate::testing::faulty::{Fault, broken_disk};

    thread_local! {
        /// Number of calls so far, number of the call with the fault, and the fault.
        static PLAN: Cell<Option<(u32, u32, Fault)>> = const { Cell::new(None) };
    }

    /// Gives this thread a fault after `calls` further calls.
    pub(crate) fn begin(calls: u32, fault: Fault) {
        PLAN.set(Some((0, calls, fault)));
    }

    /// Lets a full disk be reported after `calls` further calls.
    pub(crate) fn fail_after(calls: u32) {
        begin(calls, Fault::Error(io::ErrorKind::StorageFull));
    }

    /// Ends the fault, and returns whether its call was reached.
    pub(crate) fn has_failed() -> bool {
        PLAN.take().is_some_and(|(calls, first, _)| calls > first)
    }

    /// The fault of the next call, if it has one.
    fn next() -> Option<Fault> {
        let (calls, first, fault) = PLAN.get()?;
        PLAN.set(Some((calls + 1, first, fault)));
        let has_fault = if fault == Fault::Gone { calls >= first } else { calls == first };
        has_fault.then_some(fault)
    }

    pub(crate) fn may_fail() -> io::Result<()> {
        match next() {
            Some(Fault::Error(kind)) => Err(kind.into()),
            Some(Fault::Unsupported) => Err(crate::testing::faulty::unsupported()),
            Some(Fault::Signal) => Err(io::ErrorKind::Interrupted.into()),
            Some(Fault::Gone | Fault::Lost) => Err(broken_disk().into()),
            Some(Fault::Short | Fault::Slow) | None => Ok(()),
        }
    }

    pub(crate) fn may_move() -> io::Result<usize> {
        let calls = PLAN.get();
        may_fail()?;
        let is_short = calls.is_some_and(|(calls, first, fault)| fault == Fault::Short && calls == first);
        Ok(if is_short { 7 } else { usize::MAX })
    }
}
