//! Makes and opens a receiver's folders. A name is on the disk when the call returns.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use cap_std::fs::Dir;

use tress_container::Error;
use tress_container::sys::System;

/// Opens a folder, made if need be, and says whether it was. Fails for a link, and for a folder whose name differs in case. Its name
/// is on the disk then, unless the caller knows that already.
pub(crate) fn make_folder(system: &dyn System, parent: &Dir, name: &OsStr, syncs: bool) -> io::Result<(Dir, bool)> {
    let is_new = match system.create_folder_in(parent, name) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Only these fold case where nobody asked for it.
            if cfg!(any(windows, target_vendor = "apple"))
                && !parent.entries()?.flatten().any(|entry| entry.file_name() == name)
            {
                return Err(io::ErrorKind::InvalidFilename.into());
            }
            false
        }
        Err(error) => return Err(error),
    };
    let folder = match system.open_folder_in(parent, name) {
        Ok(folder) => folder,
        // A file, or a link, has the name.
        Err(_) if parent.symlink_metadata(name).is_ok_and(|metadata| !metadata.is_dir()) => {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Err(error) => return Err(error),
    };
    if is_new || syncs {
        system.sync_folder_in(parent)?;
    }
    Ok((folder, is_new))
}

/// Opens the folder that everything goes to. If it is missing, makes it and those above it, for its owner alone.
pub(crate) fn open_base(system: &dyn System, path: &Path) -> Result<Dir, Error> {
    let made = if path.exists() { Ok(()) } else { make_base(system, path) };
    made.and_then(|()| Dir::open_ambient_dir(path, cap_std::ambient_authority()))
        .map_err(|error| Error::from(error).at(path))
}

/// The names are on the disk when this returns.
fn make_base(system: &dyn System, path: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "the mode is Unix's"))]
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let Some(parent) = path.parent() else { return Err(io::ErrorKind::NotFound.into()) };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    if !parent.exists() {
        make_base(system, parent)?;
    }
    match builder.create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => system.sync_folder(parent),
    }
}
