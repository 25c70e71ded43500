//! Calls relative to the handle of a folder, by `cap-std`: no link is followed, and nothing outside of the folder can be reached.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, DirBuilder, OpenOptions};

use super::{Opening, Readers};

pub(super) fn open(folder: &Dir, name: &OsStr, how: Opening) -> io::Result<File> {
    let mut options = OpenOptions::new();
    match how {
        Opening::Read => options.read(true),
        Opening::Make => options.read(true).write(true).create(true),
        Opening::New => options.write(true).create_new(true),
    };
    Ok(folder.open_with(name, options.follow(FollowSymlinks::No))?.into_std())
}

pub(super) fn open_folder(parent: &Dir, name: &OsStr) -> io::Result<Dir> {
    parent.open_dir_nofollow(name)
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

pub(super) fn close_folder(folder: &Dir) -> io::Result<()> {
    #[cfg(unix)]
    super::set_folder_mode(folder.as_fd(), ".".as_ref(), 0o700)?;
    let _ = folder;
    Ok(())
}

pub(super) fn exists(folder: &Dir, name: &OsStr) -> io::Result<bool> {
    match folder.symlink_metadata(name) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

pub(super) fn remove(folder: &Dir, name: &OsStr) -> io::Result<()> {
    match folder.remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

pub(super) fn rename(folder: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
    folder.rename(from, folder, to)
}

pub(super) fn move_new(from_folder: &Dir, from: &OsStr, to_folder: &Dir, to: &OsStr) -> io::Result<()> {
    #[cfg(unix)]
    return super::os::system::move_new((from_folder.as_fd(), from.as_ref()), (to_folder.as_fd(), to.as_ref()));
    // Creating a second link fails for an existing name; then the first link is removed.
    #[cfg(not(unix))]
    {
        from_folder.hard_link(from, to_folder, to)?;
        from_folder.remove_file(from).inspect_err(|_| drop(to_folder.remove_file(to)))
    }
}

pub(super) fn sync_folder(folder: &Dir) -> io::Result<()> {
    match cfg!(unix) {
        true => super::tolerate(folder.open(".").and_then(|folder| folder.sync_all()), "sync a folder"),
        false => Ok(()),
    }
}
