//! Which complete files have been reported. Until then the record of a file ends with its name, so that a receiver that is killed before
//! it reports a file can report it when it starts again.

use std::path::PathBuf;
use std::sync::Arc;

use cap_std::fs::{Dir, OpenOptions};

use crate::receive::journal::DONE_BYTES;
use crate::wire::names::STATE_FOLDER;

/// Whether a received file has been reported. A program that needs no such record ignores it.
#[derive(Clone, Debug)]
pub struct Receipt {
    base: Arc<Dir>,
    record: PathBuf,
}

impl Receipt {
    pub(crate) fn new(base: &Arc<Dir>, sender: &str, record: &str) -> Self {
        Self { base: base.clone(), record: [sender, STATE_FOLDER, record].iter().collect() }
    }

    /// Calls `report` unless the file has been reported, and records its success.
    ///
    /// # Errors
    /// The error of `report`. If the record cannot be changed, the file is reported again later.
    pub fn report<E>(&self, report: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let file = self.base.open_with(&self.record, OpenOptions::new().write(true)).ok();
        let is_over = |file: &cap_std::fs::File| file.metadata().is_ok_and(|found| found.len() <= DONE_BYTES);
        if !file.as_ref().is_some_and(is_over) {
            report()?;
            let _ = file.map(|file| file.set_len(DONE_BYTES));
        }
        Ok(())
    }
}
