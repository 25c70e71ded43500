//! Makes and opens a receiver's folders. The name of a new folder is synced to disk before the call returns.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use cap_std::fs::Dir;

use crate::receive::owner;
use tress_container::Error;
use tress_container::sys::{Os, Readers, System};

/// Opens a folder, which it makes if it is missing. Returns the folder and whether it is new. Fails for a link, and for a folder whose
/// name differs in case. Syncs the parent if the folder is new or `syncs` is true.
pub(crate) fn make_folder(
    system: &dyn System,
    parent: &Dir,
    name: &OsStr,
    readers: Readers,
    syncs: bool,
) -> io::Result<(Dir, bool)> {
    let is_new = match system.create_folder_in(parent, name, readers) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Only these systems ignore case by default.
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
        // The name belongs to a file or a link.
        Err(_) if Os.metadata_in(parent, name).is_ok_and(|metadata| !metadata.is_dir()) => {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Err(error) => return Err(error),
    };
    if is_new || syncs {
        system.sync_folder_in(parent)?;
    }
    Ok((folder, is_new))
}

/// Opens the receiver's folder. If it is missing, makes it and its missing parents, with access for the owner only. Fails if a stranger may
/// have made one of these folders, or may exchange one.
pub(crate) fn open_base(system: &dyn System, path: &Path) -> Result<Dir, Error> {
    let open = || -> io::Result<Dir> {
        for part in path.ancestors().filter(|part| !part.as_os_str().is_empty()) {
            // An error for a link of a stranger.
            Os.read_link(part)?;
        }
        if !path.exists() {
            make_base(system, path)?;
        }
        let base = Dir::open_ambient_dir(path, cap_std::ambient_authority())?;
        owner::check_base(&base, path)?;
        Ok(base)
    };
    open().map_err(|error| Error::from(error).at(path))
}

/// Makes the folder and its missing parents, and syncs their names.
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
