//! The complete files that nobody has reported yet.

use crate::receive::folders::open_base;
use crate::receive::journal::read;
use crate::receive::journal::{DONE_BYTES, DONE_MAX_BYTES, done_record};
use crate::receive::options::Event;
use crate::receive::owner;
use crate::receive::receipt::Receipt;
use crate::wire::names::{STATE_FOLDER, components};
use cap_std::fs::Dir;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tress_container::Error;
use tress_container::sys::{Opening, Os, System};
use tress_container::tree::names::to_os;

/// Calls `each` with an [`Event::Received`] for each complete file in a receiver's folder that has not been reported, for example
/// because an earlier process was killed. It leaves out folders and records that it cannot read.
///
/// # Errors
/// `Io` of the receiver's folder.
pub fn unreported(folder: &Path, each: &mut dyn FnMut(&Event<'_>)) -> Result<(), Error> {
    let base = Arc::new(open_base(&Os, folder)?);
    for sender in base.entries()?.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
        let _ = unreported_of(&base, &sender, each);
    }
    Ok(())
}

fn unreported_of(base: &Arc<Dir>, sender: &str, each: &mut dyn FnMut(&Event<'_>)) -> io::Result<()> {
    let root = Os.open_folder_in(base, sender.as_ref())?;
    owner::check(&root, "folder", owner::OTHERS_WRITE)?;
    let state = Os.open_folder_in(&root, STATE_FOLDER.as_ref())?;
    owner::check(&state, STATE_FOLDER, owner::GROUP_OR_OTHERS)?;
    for entry in state.entries()?.flatten().filter(|entry| entry.metadata().is_ok_and(|found| found.len() > DONE_BYTES))
    {
        let Ok(record) = entry.file_name().into_string() else { continue };
        if record.ends_with(".done")
            && let Some((name, bytes)) = named(&root, &state, &record)
        {
            let receipt = &Receipt::new(base, sender, &record);
            each(&Event::Received { folder: sender, name: &name, bytes, receipt });
        }
    }
    Ok(())
}

/// The name at the end of a record, and the size of the file, if it is still there, unchanged.
fn named(root: &Dir, state: &Dir, record: &str) -> Option<(PathBuf, u64)> {
    let record = read(&Os, &Os.open_in(state, record.as_ref(), Opening::Read).ok()?, DONE_MAX_BYTES).ok()?;
    let (start, name) = record.split_at_checked(DONE_BYTES as usize)?;
    let name: PathBuf = components(name).into_iter().flatten().filter_map(to_os).collect();
    let is_file = root.symlink_metadata(&name).ok()?.is_file();
    let status = Os.status(&is_file.then(|| Os.open_in(root, name.as_os_str(), Opening::Read))?.ok()?).ok()?;
    let identity = start.get(b"tress done 1\n".len()..)?.first_chunk()?;
    (start == done_record(identity, &status)).then_some((name, status.size_bytes))
}
