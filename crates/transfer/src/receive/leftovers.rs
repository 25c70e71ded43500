//! Tidies a state folder when a session begins: removes what no session needs any more, and reads the records of version 0.2.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::sync::Arc;

use cap_std::fs::Dir;

use crate::receive::files::{FileJournal, FileRecord};
use crate::receive::journal::{read, stem};
use crate::wire::message::VersionId;
use crate::wire::names::{STATE_FOLDER, path_of};
use tress_container::sys::{Opening, Os, System};
use tress_container::tree::names::to_bytes;

/// Length of a record of version 0.2 in bytes: a line, then identity, size, time of modification and inode of a complete file. The name of
/// a file that has not been reported follows.
const DONE_BYTES: usize = 13 + 32 + 8 + 16 + 8;

/// Beginning of the names of folders for packs, each of one session.
pub(crate) const SCRATCH: &str = "pack-";
/// The file in such a folder that its session has locked.
pub(crate) const LOCK: &str = "lock";

/// The folder for a session's packs. The lock shows other sessions that it is in use.
pub(crate) struct Scratch {
    pub(crate) name: String,
    pub(crate) folder: Arc<Dir>,
    pub(crate) lock: File,
}

/// Removes journals without data, and data that cannot be resumed. Sessions of the same sender may run at the same time: their files stay.
pub(crate) fn remove_leftovers(system: &dyn System, state: &Dir) -> io::Result<()> {
    let names = names_in(state)?;
    for name in names.iter().filter(|name| name.starts_with(SCRATCH)) {
        let folder = system.open_folder_in(state, name.as_ref())?;
        if system.open_in(&folder, LOCK.as_ref(), Opening::Make)?.try_lock().is_ok() {
            remove_scratch(system, state, name.as_ref(), Arc::new(folder))?;
        }
    }
    for name in &names {
        let Some((stem, ending)) = name.split_once('.') else { continue };
        let has = |ending| names.contains(&format!("{stem}.{ending}"));
        let is_left = match ending {
            "part" => !has("journal"),
            // `new` is the copy of a journal, or a `.done` record of version 0.2, that was not complete.
            "journal" | "new" => !has("part") && stem != "files",
            _ => false,
        };
        if !is_left {
            continue;
        }
        // A session may have begun to use it: it locks the data before it makes the journal.
        let data = system.open_in(state, format!("{stem}.part").as_ref(), Opening::Make)?;
        if data.try_lock().is_ok() {
            for ending in ["journal", "new", "part"] {
                system.remove_in(state, format!("{stem}.{ending}").as_ref())?;
            }
        }
    }
    Ok(())
}

/// Removes a folder for packs with everything in it.
pub(crate) fn remove_scratch(system: &dyn System, state: &Dir, name: &OsStr, folder: Arc<Dir>) -> io::Result<()> {
    for name in names_in(&folder)? {
        system.remove_in(&folder, name.as_ref())?;
    }
    // Windows removes no open folder.
    drop(folder);
    system.remove_folder_in(state, name)
}

/// The stems of incomplete files.
pub(crate) fn parts(state: &Dir) -> io::Result<HashSet<String>> {
    Ok(names_in(state)?.iter().filter_map(|name| Some(name.strip_suffix(".part")?.to_string())).collect())
}

fn names_in(state: &Dir) -> io::Result<HashSet<String>> {
    state.entries()?.map(|entry| Ok(entry?.file_name().into_string().unwrap_or_default())).collect()
}

/// Reads the `.done` records of version 0.2 into the journal, and removes them. Those of files that were taken away are forgotten.
pub(crate) fn adopt_done_records(system: &dyn System, root: &Dir, state: &Dir, to: &mut FileJournal) -> io::Result<()> {
    let names = names_in(state)?;
    let done: Vec<(&str, &String)> =
        names.iter().filter_map(|name| Some((name.strip_suffix(".done")?, name))).collect();
    if done.is_empty() {
        return Ok(());
    }
    let mut files = HashMap::new();
    list_files(system, root, &mut Vec::new(), &mut files)?;
    let mut records = Vec::new();
    for (stem, name) in &done {
        let Some(path) = files.get(*stem) else { continue };
        let bytes = read(system, &system.open_in(state, name.as_ref(), Opening::Read)?, 8192)?;
        records.extend(adopted(root, path, &bytes));
    }
    let records: Vec<_> =
        records.iter().map(|record| FileRecord::parse(record)).collect::<Option<_>>().unwrap_or_default();
    let (_, journal) = to.locked(|journal| journal.append(&records))?;
    system.sync(&journal)?;
    done.iter().try_for_each(|(_, name)| system.remove_in(state, name.as_ref()))
}

/// The record of a file from its `.done` record, if that is still about this file.
fn adopted(root: &Dir, path: &[u8], done: &[u8]) -> Option<Vec<u8>> {
    let identity: &VersionId = done.get(b"tress done 1\n".len()..)?.first_chunk()?;
    let file = Os.open_in(root, path_of(path)?.as_os_str(), Opening::Read).ok()?;
    let record = FileRecord::new(path, identity, &Os.status(&file).ok()?);
    let is_same = done.get(..DONE_BYTES)?.ends_with(&record.numbers());
    is_same.then(|| FileRecord { is_reported: done.len() == DONE_BYTES, ..record }.encode())
}

/// Lists the files in a folder and below it by their [`stem`]s. `path` is the folder's, from the sender's folder.
fn list_files(
    system: &dyn System,
    folder: &Dir,
    path: &mut Vec<u8>,
    files: &mut HashMap<String, Vec<u8>>,
) -> io::Result<()> {
    for (name, kind) in system.list(folder)? {
        let length = path.len();
        let Some(bytes) = to_bytes(&name) else { continue };
        path.extend(bytes);
        if kind.is_file() {
            files.insert(stem(path), path.clone());
        } else if kind.is_dir() && path.as_slice() != STATE_FOLDER.as_bytes() {
            path.push(b'/');
            list_files(system, &system.open_folder_in(folder, &name)?, path, files)?;
        }
        path.truncate(length);
    }
    Ok(())
}
