//! Calls that differ between unix and Windows: modes, times, identities of files, links, and renaming a folder.
//!
//! Where there are two variants, both have the same contract.
use super::calls::may_fail;
use super::recorded;
use super::time::FileTime;
#[cfg(unix)]
use crate::sys::set_folder_mode as set_mode_of_folder;
use crate::sys::tolerate;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
#[cfg(unix)]
use cap_std::fs::{MetadataExt, OpenOptionsExt, Permissions, PermissionsExt};
use std::ffi::OsStr;
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd;

/// Identifies a file and its content. A program can restore size, inode and modification time after a change, but on unix not the change
/// time. On Windows only size and times are available here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    size_bytes: u64,
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    #[cfg(unix)]
    modified_and_changed: [(i64, i64); 2],
    #[cfg(not(unix))]
    created_and_modified: [Option<std::time::SystemTime>; 2],
}

impl FileIdentity {
    pub(crate) fn of(metadata: &Metadata) -> FileIdentity {
        FileIdentity {
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

/// The modification time; 1970 if the system has none.
pub(crate) fn modified(metadata: &Metadata) -> FileTime {
    metadata.modified().ok().and_then(|time| FileTime::from_system(time.into_std())).unwrap_or_default()
}

/// The permission bits, without setuid, setgid and sticky. Windows has only a read-only flag.
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

/// Opens a regular file for reading. Does not follow a link, and does not wait for the other end if a FIFO has replaced the file.
pub(crate) fn open_to_read(folder: &Dir, name: &OsStr) -> io::Result<File> {
    may_fail()?;
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    folder.open_with(name, &options)
}

/// Creates a file that does not exist yet, for now readable only by its owner.
pub(crate) fn create_file(folder: &Dir, name: &OsStr) -> io::Result<File> {
    may_fail()?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    options.mode(0o600);
    let file = folder.open_with(name, &options)?;
    recorded::file(folder, name, &file);
    Ok(file)
}

/// Creates a folder that does not exist yet, for now readable only by its owner.
pub(crate) fn create_folder(parent: &Dir, name: &OsStr) -> io::Result<()> {
    may_fail()?;
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only unix has a mode to set"))]
    let mut builder = cap_std::fs::DirBuilder::new();
    #[cfg(unix)]
    cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
    parent.create_dir_with(name, &builder)?;
    recorded::folder(parent, name);
    Ok(())
}

/// Creates a symbolic link. Windows has two types; the link is one to a folder only if that folder exists already.
pub(crate) fn create_link(folder: &Dir, name: &OsStr, target: &OsStr) -> io::Result<()> {
    may_fail()?;
    #[cfg(unix)]
    {
        folder.symlink_contents(target, name)?;
        recorded::link(folder, name, target);
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

/// Sets an open file's permission bits; does nothing on Windows.
pub(crate) fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    may_fail()?;
    #[cfg(unix)]
    {
        tolerate(file.set_permissions(Permissions::from_mode(mode)), "set permissions")
    }
    #[cfg(not(unix))]
    {
        let _ = (file, mode);
        Ok(())
    }
}

/// Sets a folder's permission bits; does nothing on Windows.
pub(crate) fn set_folder_mode(parent: &Dir, name: &OsStr, mode: u32) -> io::Result<()> {
    may_fail()?;
    #[cfg(unix)]
    {
        set_mode_of_folder(parent.as_fd(), name.as_ref(), mode)
    }
    #[cfg(not(unix))]
    {
        let _ = (parent, name, mode);
        Ok(())
    }
}

/// Sets the modification time of a file, folder or link, not of the target of a link. A time that the system cannot represent is an
/// error.
pub(crate) fn set_modified(folder: &Dir, name: &OsStr, time: FileTime) -> io::Result<()> {
    may_fail()?;
    // `cap-fs-ext` panics on times before 1970.
    #[cfg(unix)]
    {
        use rustix::fs::{AtFlags, Timespec, Timestamps, UTIME_OMIT};
        let times = Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT as _ },
            last_modification: Timespec { tv_sec: time.seconds, tv_nsec: time.nanoseconds.into() },
        };
        let set = rustix::fs::utimensat(folder, name, &times, AtFlags::SYMLINK_NOFOLLOW);
        tolerate(set.map_err(io::Error::from), "set times")
    }
    #[cfg(not(unix))]
    {
        use cap_std::fs::OpenOptionsExt;
        // FILE_FLAG_BACKUP_SEMANTICS, which is needed to open folders, and FILE_FLAG_OPEN_REPARSE_POINT.
        let mut options = OpenOptions::new();
        options.write(true).follow(FollowSymlinks::No).custom_flags(0x0200_0000 | 0x0020_0000);
        let file = folder.open_with(name, &options)?.into_std();
        let time = time.to_system().ok_or(io::ErrorKind::InvalidInput)?;
        file.set_times(std::fs::FileTimes::new().set_modified(time))
    }
}

/// Syncs a finished file to the disk, where [`sync_all`] does not sync all of them.
pub(crate) fn sync_file(file: &File) -> io::Result<()> {
    may_fail()?;
    match cfg!(target_os = "linux") {
        true => Ok(()),
        false => {
            tolerate(file.sync_all(), "sync a file")?;
            recorded::synced(file);
            Ok(())
        }
    }
}

/// Syncs everything that was written to the folder's file system to the disk.
pub(crate) fn sync_all(folder: &Dir) -> io::Result<()> {
    may_fail()?;
    #[cfg(target_os = "linux")]
    {
        // A `Dir` may hold a handle that can only be used to open files. Whoever may not list a folder cannot open it either.
        match folder.open(".").and_then(|folder| Ok(rustix::fs::syncfs(folder)?)) {
            Err(error) if crate::sys::is_unsupported(&error) => rustix::fs::sync(),
            synced => synced?,
        }
        recorded::synced_all();
        Ok(())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        Ok(())
    }
}

/// Syncs a folder's names to the disk.
pub(crate) fn sync_names(folder: &Dir) -> io::Result<()> {
    may_fail()?;
    if cfg!(unix) {
        tolerate(folder.open(".").and_then(|folder| folder.sync_all()), "sync a folder")?;
        recorded::synced_names(folder);
    }
    Ok(())
}

/// Renames a folder to a free name; `AlreadyExists` if the name is taken.
pub(crate) fn rename_to_free_name(parent: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
    may_fail()?;
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(parent, from, parent, to, RenameFlags::NOREPLACE).map_err(io::Error::from) {
            Err(error) if crate::sys::is_unsupported(&error) => {}
            done => {
                done?;
                recorded::renamed(parent, from, to);
                return Ok(());
            }
        }
    }
    rename_after_check(parent, from, to)
}

/// Like [`rename_to_free_name`], where a rename has no flags. Of a folder it can replace only an empty folder that was made since the check,
/// on Windows nothing.
fn rename_after_check(parent: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
    match parent.symlink_metadata(to) {
        Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    parent.rename(from, parent, to)?;
    recorded::renamed(parent, from, to);
    Ok(())
}

/// Exchanges the names of two folders in one step; `None` if the system or file system does not support it.
pub(crate) fn exchange(parent: &Dir, one: &OsStr, other: &OsStr) -> Option<io::Result<()>> {
    if let Err(error) = may_fail() {
        return Some(Err(error));
    }
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(parent, one, parent, other, RenameFlags::EXCHANGE).map_err(io::Error::from) {
            Err(error) if crate::sys::is_unsupported(&error) => None,
            done => {
                if done.is_ok() {
                    recorded::exchanged(parent, one, other);
                }
                Some(done)
            }
        }
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    {
        let _ = (parent, one, other);
        None
    }
}

/// The file system that a file is on; 0 if unknown.
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
        for rename in [rename_to_free_name, rename_after_check] {
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
