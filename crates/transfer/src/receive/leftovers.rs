//! Removes the files of a state folder that no session needs any more, so that the folder does not grow indefinitely.

use std::collections::{HashMap, HashSet};
use std::io;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;

use crate::receive::journal::stem;
use crate::wire::names::STATE_FOLDER;
use tress_container::sys::{Opening, System};
use tress_container::tree::names::to_bytes;

/// Removes journals and new records without data, data that cannot be resumed, and records of files that were taken away. Sessions of the
/// same sender may run at the same time: their files stay.
pub(crate) fn remove_leftovers(system: &dyn System, root: &Dir, state: &Dir) -> io::Result<()> {
    let mut found = HashMap::new();
    for entry in state.entries()? {
        let entry = entry?;
        if let (Ok(name), Ok(metadata)) = (entry.file_name().into_string(), entry.metadata()) {
            found.insert(name, metadata.modified()?);
        }
    }
    // Listed later: a file that has got its name since then is in it.
    let mut files = HashSet::new();
    list_files(root, &mut Vec::new(), &mut files)?;
    for (name, modified) in &found {
        let Some((stem, ending)) = name.split_once('.') else { continue };
        let has = |ending| found.contains_key(&format!("{stem}.{ending}"));
        let _lock = match ending {
            "part" if !has("journal") => {
                let file = system.open_in(state, name.as_ref(), Opening::Make)?;
                if file.try_lock().is_err() {
                    continue;
                }
                Some(file)
            }
            "done" if files.contains(stem) => continue,
            "done" | "journal" | "new" if !has("part") => None,
            _ => continue,
        };
        // A session may have begun to use it.
        let now = state.symlink_metadata(name).and_then(|metadata| metadata.modified());
        if now.is_ok_and(|now| now == *modified) {
            system.remove_in(state, name.as_ref())?;
        }
    }
    Ok(())
}

/// Lists the files in a folder and below it by their [`stem`]s. `path` is the folder's, from the sender's folder.
fn list_files(folder: &Dir, path: &mut Vec<u8>, files: &mut HashSet<String>) -> io::Result<()> {
    for entry in folder.entries()? {
        let entry = entry?;
        let (name, length) = (entry.file_name(), path.len());
        let Some(bytes) = to_bytes(&name) else { continue };
        path.extend(bytes);
        if !entry.file_type()?.is_dir() {
            files.insert(stem(path));
        } else if path.as_slice() != STATE_FOLDER.as_bytes() {
            path.push(b'/');
            list_files(&folder.open_dir_nofollow(&name)?, path, files)?;
        }
        path.truncate(length);
    }
    Ok(())
}
