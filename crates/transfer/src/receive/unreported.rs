//! The complete files that nobody has reported yet.

use crate::receive::files::{FileRecord, HEADER_BYTES, Receipt, RecordPlace, open_files, read_records};
use crate::receive::folders::open_base;
use crate::receive::options::Event;
use cap_std::fs::Dir;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tress_container::Error;
use tress_container::sys::Os;

/// Calls `each` with an [`Event::Received`] for each complete file in a receiver's folder that has not been reported, for example
/// because an earlier process was killed. It leaves out folders and records that it cannot read.
///
/// # Errors
/// `Io` of the receiver's folder.
pub fn unreported(folder: &Path, each: &mut dyn FnMut(&Event<'_>)) -> Result<(), Error> {
    let base = Arc::new(open_base(&Os, folder)?);
    let entries = base.entries().map_err(|error| Error::from(error).at(folder))?;
    for sender in entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
        let _ = unreported_of(&base, &sender, each);
    }
    Ok(())
}

fn unreported_of(base: &Arc<Dir>, sender: &str, each: &mut dyn FnMut(&Event<'_>)) -> io::Result<()> {
    let (root, journal) = open_files(base, sender)?;
    let journal = Arc::new(journal);
    let mut show = |place: RecordPlace, record: FileRecord<'_>| {
        if !record.is_reported
            && let Some(name) = record.path_if_there(&Os, &root)
        {
            let receipt = &Receipt::new(&(journal.clone(), place), base, sender);
            each(&Event::Received { folder: sender, name: &name, bytes: record.size_bytes, receipt });
        }
    };
    read_records(&Os, &journal, HEADER_BYTES as u64, &mut show).map(drop)
}
