//! Which complete files have been reported: a byte in the record of each. A receiver that is killed before it reports a file can report
//! it when it starts again.

use std::fs::File;
use std::sync::Arc;

use crate::receive::files::{RECORD_BYTES, REPORTED_AT, RecordPlace, read_at, write_all_at};
use tress_container::sys::Os;

/// Whether a received file has been reported. A program that needs no such record ignores it.
#[derive(Clone, Debug)]
pub struct Receipt {
    journal: Arc<File>,
    place: RecordPlace,
}

impl Receipt {
    pub(crate) fn new(journal: &Arc<File>, place: RecordPlace) -> Self {
        Self { journal: journal.clone(), place }
    }

    /// Calls `report` unless the file has been reported, and records its success.
    ///
    /// # Errors
    /// The error of `report`. If the record cannot be changed, the file is reported again later.
    pub fn report<E>(&self, report: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let mut record = [0; RECORD_BYTES];
        let read = read_at(&Os, &self.journal, &mut record, self.place.offset);
        let is_there = read.is_ok() && self.place.is_of(&record);
        if !is_there || record[REPORTED_AT] == 0 {
            report()?;
            if is_there {
                let _ = write_all_at(&Os, &self.journal, &[1], self.place.offset + REPORTED_AT as u64);
            }
        }
        Ok(())
    }
}
