//! Removes a folder with its contents: a partly unpacked tree, or a tree that was replaced.
use super::metadata::device;
use crate::sys::System;
use cap_std::fs::Dir;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// Most folders that stay open: so few that removing works where unpacking ran out of descriptors.
const OPEN_FOLDERS: usize = 1;

struct RemoveFolder {
    handle: Option<Dir>,
    name: OsString,
    /// Subfolders that still exist.
    folders: Vec<OsString>,
}

/// Removes the folder `name` of `parent`, including read-only subfolders. Follows no link and stays on the file system of the folder. The
/// number of open handles is bounded, whatever the depth.
pub(crate) fn remove_folder(system: &dyn System, parent: &Dir, name: &OsStr) -> io::Result<()> {
    let on = device(&system.metadata_in(parent, name)?);
    let mut open = vec![remove_files(system, parent, name, on)?];
    let top = system.open_folder_in(parent, name)?;
    // From the top: with its name, a path may be longer than the system takes.
    let mut path = PathBuf::new();
    while let Some(folder) = open.last_mut() {
        let handle = match folder.handle.take() {
            Some(handle) => handle,
            None => open_below(system, &top, &path)?,
        };
        match folder.folders.pop() {
            Some(name) => {
                let inner = remove_files(system, &handle, &name, on)?;
                folder.handle = Some(handle);
                path.push(&name);
                open.push(inner);
                if let Some(outer) = open.len().checked_sub(OPEN_FOLDERS + 1) {
                    open[outer].handle = None;
                }
            }
            None => {
                // Windows does not remove a folder that is open.
                drop(handle);
                let name = std::mem::take(&mut folder.name);
                open.pop();
                path.pop();
                match open.last_mut() {
                    Some(outer) => {
                        if outer.handle.is_none() {
                            outer.handle = Some(open_below(system, &top, &path)?);
                        }
                        outer.handle.as_ref().map_or(Ok(()), |handle| system.remove_folder_in(handle, &name))?;
                    }
                    None => {
                        drop(top);
                        return system.remove_folder_in(parent, &name);
                    }
                }
            }
        }
    }
    Ok(())
}

fn open_below(system: &dyn System, top: &Dir, path: &Path) -> io::Result<Dir> {
    if path.as_os_str().is_empty() { top.try_clone() } else { system.open_below(top, path) }
}

/// Removes everything but subfolders from a folder, and returns it with the remaining subfolders.
fn remove_files(system: &dyn System, parent: &Dir, name: &OsStr, on: u64) -> io::Result<RemoveFolder> {
    if device(&system.metadata_in(parent, name)?) != on {
        return Err(io::ErrorKind::CrossesDevices.into());
    }
    // Makes it possible to empty a folder that its owner may not write to.
    system.set_folder_mode(parent, name, 0o700)?;
    let handle = system.open_folder_in(parent, name)?;
    let mut folders = Vec::new();
    for (name, kind) in system.list(&handle)? {
        match kind.is_dir() {
            true => folders.push(name),
            false => system.remove_in(&handle, &name)?,
        }
    }
    Ok(RemoveFolder { handle: Some(handle), name: name.to_owned(), folders })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::sys::Os;

    /// Paths as long as the system takes, in a folder whose own name makes them longer.
    #[test]
    fn the_longest_paths() {
        let root = tempfile::tempdir().unwrap();
        let parent = Dir::open_ambient_dir(root.path(), cap_std::ambient_authority()).unwrap();
        parent.create_dir("temporary").unwrap();
        let mut folder = parent.open_dir("temporary").unwrap();
        for length in [250; 16].into_iter().chain([60, 1, 1]) {
            let name = "x".repeat(length);
            folder.create_dir(&name).unwrap();
            folder = folder.open_dir(&name).unwrap();
            folder.write("file", "").unwrap();
        }
        remove_folder(&Os, &parent, "temporary".as_ref()).unwrap();
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    }
}
