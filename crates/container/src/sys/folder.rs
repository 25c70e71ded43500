//! Calls relative to the handle of a folder, by `cap-std`: no link is followed, and nothing outside of the folder can be reached.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, DirBuilder, FileType, Metadata, OpenOptions, OpenOptionsExt};

use super::time::FileTime;
use super::tolerate::tolerate;
use super::types::{Opening, Readers, Special};
#[cfg(unix)]
use super::unix;

/// How often a file that another program has leased is tried, and the time between two tries. The first try makes the system ask the
/// program to give its lease up (fcntl(2), "Leases"), which takes milliseconds. A program that does not answer keeps it for 45 s.
const LEASE_TRIES: u32 = 300;
const LEASE_PAUSE: Duration = Duration::from_millis(10);

pub(super) fn open(folder: &Dir, name: &OsStr, how: Opening) -> io::Result<File> {
    let mut options = OpenOptions::new();
    match how {
        Opening::Read => options.read(true),
        Opening::Make => options.read(true).write(true).create(true),
        Opening::New(_) => options.write(true).create_new(true),
    };
    #[cfg(unix)]
    match how {
        Opening::Read => drop(options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32)),
        Opening::New(Readers::Owner) => drop(options.mode(0o600)),
        _ => {}
    }
    // As on unix, a folder can be opened, and has a status.
    #[cfg(windows)]
    if how == Opening::Read {
        options.custom_flags(super::windows::FILE_FLAG_BACKUP_SEMANTICS);
    }
    options.follow(FollowSymlinks::No);
    let mut tries = 1;
    loop {
        match folder.open_with(name, &options) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && how == Opening::Read && tries < LEASE_TRIES => {
                tries += 1;
                thread::sleep(LEASE_PAUSE);
            }
            opened => return Ok(opened?.into_std()),
        }
    }
}

/// Metadata of a name in a folder; symlinks are not followed. `Dir::symlink_metadata` panics at a time of -2^63 s, which tmpfs and btrfs
/// keep. A handle's metadata come from the standard library, which represents every time.
pub(super) fn metadata(parent: &Dir, name: &OsStr) -> io::Result<Metadata> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{Mode, OFlags, openat};
        // Opens no device, and needs no right to read.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Metadata::from_file(&openat(parent, name, flags, Mode::empty())?.into())
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    parent.symlink_metadata(name)
}

pub(super) fn create_folder(parent: &Dir, name: &OsStr, readers: Readers) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only unix has a mode to set"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    {
        let mode = if readers == Readers::Owner { 0o700 } else { 0o775 };
        cap_std::fs::DirBuilderExt::mode(&mut builder, mode);
    }
    let _ = readers;
    parent.create_dir_with(name, &builder)
}

/// Sets the permission bits of a folder; fails for a link. Does nothing on Windows. Of `cap-std`, the call for this panics if the system
/// refuses one of its checks.
pub(super) fn set_mode(parent: &Dir, name: &OsStr, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::fs::{Mode, OFlags, fchmod, openat};
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(parent, name, flags, Mode::empty())?;
        tolerate(fchmod(folder, Mode::from_raw_mode(mode as _)).map_err(Into::into), "set permissions")?;
    }
    let _ = (parent, name, mode);
    Ok(())
}

pub(super) fn create_special(folder: &Dir, name: &OsStr, special: Special) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{FileType, Mode, makedev, mknodat};
        let (kind, device) = match special {
            Special::Fifo => (FileType::Fifo, 0),
            Special::Device { is_block, numbers: [major, minor] } => {
                (if is_block { FileType::BlockDevice } else { FileType::CharacterDevice }, makedev(major, minor))
            }
        };
        Ok(mknodat(folder, name, kind, Mode::RUSR | Mode::WUSR, device)?)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = (folder, name, special);
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub(super) fn set_owner(folder: &Dir, name: &OsStr, ids: [u32; 2]) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::fs::{AtFlags, Gid, Uid, chownat};
        let (user, group) = (Some(Uid::from_raw(ids[0])), Some(Gid::from_raw(ids[1])));
        Ok(chownat(folder, name, user, group, AtFlags::SYMLINK_NOFOLLOW)?)
    }
    #[cfg(not(unix))]
    {
        let _ = (folder, name, ids);
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub(super) fn set_any_mode(folder: &Dir, name: &OsStr, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::fs::{AtFlags, Mode, chmodat};
        tolerate(
            chmodat(folder, name, Mode::from_raw_mode(mode as _), AtFlags::empty()).map_err(Into::into),
            "set permissions",
        )?;
    }
    let _ = (folder, name, mode);
    Ok(())
}

pub(super) fn list(folder: &Dir) -> io::Result<Vec<(OsString, FileType)>> {
    let entries = folder.entries()?.map(|entry| {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let kind = known(folder, &name, kind);
        Ok((name, kind))
    });
    entries.collect()
}

/// The type of a name, also where listings do not state it (ext2 without `filetype`, XFS with `ftype=0`, FUSE, 9p). It stays unknown for a
/// name that is gone.
fn known(folder: &Dir, name: &OsStr, listed: FileType) -> FileType {
    match listed == FileType::unknown() {
        true => metadata(folder, name).map_or(listed, |found| found.file_type()),
        false => listed,
    }
}

pub(super) fn exists(folder: &Dir, name: &OsStr) -> io::Result<bool> {
    match metadata(folder, name) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes anything but a folder. Returns whether it was there.
pub(super) fn remove(folder: &Dir, name: &OsStr) -> io::Result<bool> {
    match folder.remove_file_or_symlink(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        done => done.map(|()| true),
    }
}

pub(super) fn move_new(from_folder: &Dir, from: &OsStr, to_folder: &Dir, to: &OsStr) -> io::Result<()> {
    #[cfg(unix)]
    return unix::move_new((from_folder.as_fd(), from.as_ref()), (to_folder.as_fd(), to.as_ref()));
    // Creating a second link fails for an existing name; then the first link is removed.
    #[cfg(not(unix))]
    {
        from_folder.hard_link(from, to_folder, to)?;
        from_folder.remove_file(from).inspect_err(|_| drop(to_folder.remove_file(to)))
    }
}

pub(super) fn sync_names(folder: &Dir) -> io::Result<()> {
    match cfg!(unix) {
        true => tolerate(folder.open(".").and_then(|folder| folder.sync_all()), "sync a folder"),
        false => Ok(()),
    }
}

/// Creates a symbolic link. Windows has two types; the link is one to a folder only if that folder exists already.
pub(super) fn create_link(folder: &Dir, name: &OsStr, target: &OsStr) -> io::Result<()> {
    #[cfg(unix)]
    return folder.symlink_contents(target, name);
    #[cfg(not(unix))]
    {
        let target = target.to_string_lossy().replace('/', "\\");
        match folder.metadata(&target) {
            Ok(metadata) if metadata.is_dir() => folder.symlink_dir(&target, name),
            _ => folder.symlink_file(&target, name),
        }
    }
}

/// Sets the modification time of a file, folder or link, not of the target of a link. A time that the system cannot represent is an
/// error.
pub(super) fn set_modified(folder: &Dir, name: &OsStr, time: FileTime) -> io::Result<()> {
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
        use cap_std::fs::OpenOptionsExt as _;
        // FILE_FLAG_BACKUP_SEMANTICS, which is needed to open folders, and FILE_FLAG_OPEN_REPARSE_POINT.
        let mut options = OpenOptions::new();
        options.write(true).follow(FollowSymlinks::No).custom_flags(0x0200_0000 | 0x0020_0000);
        let file = folder.open_with(name, &options)?.into_std();
        let time = time.to_system().ok_or(io::ErrorKind::InvalidInput)?;
        file.set_times(std::fs::FileTimes::new().set_modified(time))
    }
}

/// Syncs everything that was written to the folder's file system to the disk, on Linux.
pub(super) fn sync_file_system(folder: &Dir) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        // A `Dir` may hold a handle that can only be used to open files. Whoever may not list a folder cannot open it either.
        match folder.open(".").and_then(|folder| Ok(rustix::fs::syncfs(folder)?)) {
            Err(error) if unix::is_unsupported(&error) => {
                rustix::fs::sync();
                Ok(())
            }
            synced => synced,
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        Ok(())
    }
}

/// Renames a folder to a free name; `AlreadyExists` if the name is taken.
pub(super) fn rename_to_free_name(parent: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(parent, from, parent, to, RenameFlags::NOREPLACE).map_err(io::Error::from) {
            Err(error) if unix::is_unsupported(&error) => {}
            done => return done,
        }
    }
    rename_after_check(parent, from, to)
}

/// Like [`rename_to_free_name`], where a rename has no flags. Of a folder it can replace only an empty folder that was made since the
/// check, on Windows nothing.
fn rename_after_check(parent: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
    match metadata(parent, to) {
        Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    parent.rename(from, parent, to)
}

/// Exchanges the names of two folders in one step. Returns false if the system or file system does not support it.
pub(super) fn exchange(parent: &Dir, one: &OsStr, other: &OsStr) -> io::Result<bool> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(parent, one, parent, other, RenameFlags::EXCHANGE).map_err(io::Error::from) {
            Err(error) if unix::is_unsupported(&error) => Ok(false),
            done => done.map(|()| true),
        }
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    {
        let _ = (parent, one, other);
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cap_std::ambient_authority;
    use std::fs;

    #[test]
    fn types_that_listings_do_not_state() {
        let folder = tempfile::TempDir::new().unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        fs::write(folder.path().join("file"), b"").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("folder", folder.path().join("link")).unwrap();
        let handle = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let listed = list(&handle).unwrap();
        assert_eq!(listed.len(), if cfg!(unix) { 3 } else { 2 });
        for (name, kind) in listed {
            assert_eq!(known(&handle, &name, FileType::unknown()), kind, "{name:?}");
            assert_eq!((kind.is_dir(), kind.is_file()), (name == "folder", name == "file"));
        }
        assert_eq!(known(&handle, OsStr::new("gone"), FileType::unknown()), FileType::unknown());
    }

    #[test]
    fn only_free_names_are_taken() {
        let folder = tempfile::TempDir::new().unwrap();
        let handle = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
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
