//! What unix and Windows do in different ways: modes, times, identities of files, links, and renaming a folder.
//!
//! Where two variants stand together, both have the same promise.
use super::calls::may_fail;
use super::noted;
use super::time::Time;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
#[cfg(unix)]
use cap_std::fs::{MetadataExt, OpenOptionsExt, Permissions, PermissionsExt};
use std::ffi::OsStr;
use std::io;

/// What tells whether a file is the one that it was, and has the content that it had. Size, inode and time of modification
/// can be put back after a change; on unix the time of change cannot. Windows offers only size and times here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    size_bytes: u64,
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    #[cfg(unix)]
    modified_and_changed: [(i64, i64); 2],
    #[cfg(not(unix))]
    created_and_modified: [Option<std::time::SystemTime>; 2],
}

impl Identity {
    pub(crate) fn of(metadata: &Metadata) -> Identity {
        Identity {
            size_bytes: metadata.len(),
            #[cfg(unix)]
            device_and_inode: (metadata.dev(), metadata.ino()),
            #[cfg(unix)]
            modified_and_changed: [
                (metadata.mtime(), metadata.mtime_nsec()),
                (metadata.ctime(), metadata.ctime_nsec()),
            ],
            #[cfg(not(unix))]
            created_and_modified: [metadata.created(), metadata.modified()]
                .map(|time| time.ok().map(cap_std::time::SystemTime::into_std)),
        }
    }
}

/// The time of modification; 1970 where the system has none.
pub(crate) fn modified(metadata: &Metadata) -> Time {
    metadata.modified().ok().and_then(|time| Time::from_system(time.into_std())).unwrap_or_default()
}

/// The permission bits, without setuid, setgid and sticky. Windows has only one, against writing.
pub(crate) fn mode(metadata: &Metadata) -> u32 {
    #[cfg(unix)]
    {
        metadata.mode() & 0o777
    }
    #[cfg(not(unix))]
    {
        let base = if metadata.is_dir() { 0o755 } else { 0o644 };
        if metadata.permissions().readonly() { base & !0o222 } else { base }
    }
}

/// Opens a regular file for reading, without following a link and without waiting for the other end of a FIFO that may have
/// taken its place.
pub(crate) fn open_to_read(folder: &Dir, name: &OsStr) -> io::Result<File> {
    may_fail()?;
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    folder.open_with(name, &options)
}

/// Makes a file that did not exist, readable by nobody else for now.
pub(crate) fn create_file(folder: &Dir, name: &OsStr) -> io::Result<File> {
    may_fail()?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    options.mode(0o600);
    let file = folder.open_with(name, &options)?;
    noted::file(folder, name, &file);
    Ok(file)
}

/// Makes a folder that did not exist, readable by nobody else for now.
pub(crate) fn create_folder(parent: &Dir, name: &OsStr) -> io::Result<()> {
    may_fail()?;
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only unix has a mode to set"))]
    let mut builder = cap_std::fs::DirBuilder::new();
    #[cfg(unix)]
    cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
    parent.create_dir_with(name, &builder)?;
    noted::folder(parent, name);
    Ok(())
}

/// Makes a symbolic link. Windows has two kinds, and there the link becomes one to a folder only when the folder exists.
pub(crate) fn create_link(folder: &Dir, name: &OsStr, target: &OsStr) -> io::Result<()> {
    may_fail()?;
    #[cfg(unix)]
    {
        folder.symlink_contents(target, name)?;
        noted::link(folder, name, target);
        Ok(())
    }
    #[cfg(not(unix))]
    {
        let target = target.to_string_lossy().replace('/', "\\");
        match folder.metadata(&target) {
            Ok(metadata) if metadata.is_dir() => folder.symlink_dir(&target, name),
            _ => folder.symlink_file(&target, name),
        }
    }
}

/// Sets an open file's permission bits; nothing on Windows.
pub(crate) fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    may_fail()?;
    #[cfg(unix)]
    {
        file.set_permissions(Permissions::from_mode(mode))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, mode);
        Ok(())
    }
}

/// Sets a folder's permission bits; nothing on Windows.
pub(crate) fn set_folder_mode(parent: &Dir, name: &OsStr, mode: u32) -> io::Result<()> {
    may_fail()?;
    #[cfg(unix)]
    {
        parent.set_permissions(name, Permissions::from_mode(mode))
    }
    #[cfg(not(unix))]
    {
        let _ = (parent, name, mode);
        Ok(())
    }
}

/// Sets the time of modification of a file, folder or link, and not of what a link points to. A time that the system cannot
/// hold is an error.
pub(crate) fn set_modified(folder: &Dir, name: &OsStr, time: Time) -> io::Result<()> {
    may_fail()?;
    // Not by `cap-fs-ext`, which panics on times before 1970.
    #[cfg(unix)]
    {
        use rustix::fs::{AtFlags, Timespec, Timestamps, UTIME_OMIT};
        let times = Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT as _ },
            last_modification: Timespec { tv_sec: time.seconds, tv_nsec: time.nanoseconds.into() },
        };
        Ok(rustix::fs::utimensat(folder, name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }
    #[cfg(not(unix))]
    {
        use cap_std::fs::OpenOptionsExt;
        // FILE_FLAG_BACKUP_SEMANTICS, without which folders cannot be opened, and FILE_FLAG_OPEN_REPARSE_POINT.
        let mut options = OpenOptions::new();
        options.write(true).follow(FollowSymlinks::No).custom_flags(0x0200_0000 | 0x0020_0000);
        let file = folder.open_with(name, &options)?.into_std();
        let time = time.to_system().ok_or(io::ErrorKind::InvalidInput)?;
        file.set_times(std::fs::FileTimes::new().set_modified(time))
    }
}

/// Puts a finished file onto the disk, where [`sync_all`] does not do it for all of them at once.
pub(crate) fn sync_file(file: &File) -> io::Result<()> {
    may_fail()?;
    match cfg!(target_os = "linux") {
        true => Ok(()),
        false => {
            file.sync_all()?;
            noted::synced(file);
            Ok(())
        }
    }
}

/// Puts everything that was written to the folder's file system onto the disk.
pub(crate) fn sync_all(folder: &Dir) -> io::Result<()> {
    may_fail()?;
    #[cfg(target_os = "linux")]
    {
        // The handle of a `Dir` may be one that no system call but opening takes.
        rustix::fs::syncfs(folder.open(".")?)?;
        noted::synced_all();
        Ok(())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        Ok(())
    }
}

/// Puts a folder's names onto the disk.
pub(crate) fn sync_names(folder: &Dir) -> io::Result<()> {
    may_fail()?;
    if cfg!(unix) {
        folder.open(".")?.sync_all()?;
        noted::synced_names(folder);
    }
    Ok(())
}

/// Renames a folder to a name that has to be free: `AlreadyExists` when it is not.
pub(crate) fn rename_to_free_name(parent: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
    may_fail()?;
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(parent, from, parent, to, RenameFlags::NOREPLACE) {
            Err(error) if is_unsupported(error) => {}
            done => {
                done?;
                noted::renamed(parent, from, to);
                return Ok(());
            }
        }
    }
    rename_onto_placeholder(parent, from, to)
}

/// The same where renaming takes no flags: an empty folder of our own holds the name, and renaming replaces an empty folder at
/// most, never anything else. On Windows it replaces none, and the name is free for a moment in between.
fn rename_onto_placeholder(parent: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
    create_folder(parent, to)?;
    let renamed = match cfg!(windows) {
        true => parent.remove_dir(to).and_then(|()| parent.rename(from, parent, to)),
        false => parent.rename(from, parent, to),
    };
    renamed.inspect_err(|_| drop(parent.remove_dir(to)))?;
    noted::renamed(parent, from, to);
    Ok(())
}

/// Exchanges two folders' names in one step; `None` where the system or file system cannot.
pub(crate) fn exchange(parent: &Dir, one: &OsStr, other: &OsStr) -> Option<io::Result<()>> {
    if let Err(error) = may_fail() {
        return Some(Err(error));
    }
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(parent, one, parent, other, RenameFlags::EXCHANGE) {
            Err(error) if is_unsupported(error) => None,
            done => {
                if done.is_ok() {
                    noted::exchanged(parent, one, other);
                }
                Some(done.map_err(io::Error::from))
            }
        }
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    {
        let _ = (parent, one, other);
        None
    }
}

/// Whether the kernel or the file system lacks renaming with flags.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn is_unsupported(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP].contains(&error)
}

/// The file system that a file is on; 0 where that is not told.
pub(crate) fn device(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    {
        metadata.dev()
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::calls::open_given_folder;
    use std::fs;

    #[test]
    fn only_free_names_are_taken() {
        let folder = tempfile::TempDir::new().unwrap();
        let handle = open_given_folder(folder.path()).unwrap();
        for rename in [rename_to_free_name, rename_onto_placeholder] {
            fs::create_dir_all(folder.path().join("new/inner")).unwrap();
            fs::create_dir(folder.path().join("empty")).unwrap();
            fs::write(folder.path().join("file"), b"").unwrap();
            for taken in ["empty", "file"] {
                let error = rename(&handle, OsStr::new("new"), OsStr::new(taken)).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            }
            rename(&handle, OsStr::new("new"), OsStr::new("free")).unwrap();
            assert!(folder.path().join("free/inner").is_dir() && folder.path().join("file").is_file());
            assert!(rename(&handle, OsStr::new("missing"), OsStr::new("other")).is_err());
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
            for path in ["free", "empty"] {
                fs::remove_dir_all(folder.path().join(path)).unwrap();
            }
        }
    }
}
