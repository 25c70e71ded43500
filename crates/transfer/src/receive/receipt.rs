//! Which complete files have been reported: a byte in the record of each. A receiver that is killed before it reports a file can report
//! it when it starts again.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use cap_std::fs::{Dir, File, OpenOptions};

use crate::receive::files::{FILES, RECORD_BYTES, REPORTED_AT, RecordPlace};
use crate::wire::names::STATE_FOLDER;

/// Whether a received file has been reported. A program that needs no such record ignores it.
#[derive(Clone, Debug)]
pub struct Receipt {
    base: Arc<Dir>,
    sender: Arc<str>,
    place: RecordPlace,
}

impl Receipt {
    pub(crate) fn new(base: &Arc<Dir>, sender: &Arc<str>, place: RecordPlace) -> Self {
        Self { base: base.clone(), sender: sender.clone(), place }
    }

    /// Calls `report` unless the file has been reported, and records its success.
    ///
    /// # Errors
    /// The error of `report`. If the record cannot be changed, the file is reported again later.
    pub fn report<E>(&self, report: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let record = self.open();
        if !record.as_ref().is_some_and(|(_, is_reported)| *is_reported) {
            report()?;
            let _ = record.map(|(mut file, _)| {
                file.seek(SeekFrom::Start(self.place.offset + REPORTED_AT as u64))?;
                file.write_all(&[1])
            });
        }
        Ok(())
    }

    /// The journal, and whether the file has been reported. `None` if the record is elsewhere, because the journal was copied.
    fn open(&self) -> Option<(File, bool)> {
        let path: PathBuf = [&self.sender, STATE_FOLDER, FILES].iter().collect();
        let mut file = self.base.open_with(path, OpenOptions::new().read(true).write(true)).ok()?;
        let mut record = [0; RECORD_BYTES];
        file.seek(SeekFrom::Start(self.place.offset)).ok()?;
        file.read_exact(&mut record).ok()?;
        self.place.is_of(&record).then_some((file, record[REPORTED_AT] != 0))
    }
}
