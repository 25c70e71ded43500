//! What a quota counts of a file that is coming, from its offer to its end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::Dir;

use super::journal;
use super::quota::{ENTRY_BYTES, Reservation, Usage};
use super::store::DONE_BYTES;
use tress_container::Refusal;

/// What there may be of a file in the state folder.
const ENDINGS: [&str; 4] = ["part", "journal", "done", "new"];
/// What a file needs beside its bytes while it arrives: itself, a journal, and the record that it is done,
/// which may take the place of an older one.
const OVERHEAD_BYTES: u64 = 3 * ENTRY_BYTES + 2 * DONE_BYTES;

/// What a quota counts of one file. At its end that is what is there, to the byte.
pub(crate) struct Account {
    reservation: Reservation,
    state: Dir,
    stem: String,
    /// Under its final name.
    named_bytes: AtomicU64,
    /// What was left when it was discarded; [`u64::MAX`] if it was not. Another may have its names since.
    left_bytes: AtomicU64,
}

impl Account {
    /// Of a file whose part this session alone has, and has just made if it is new.
    pub(crate) fn new(usage: &Arc<Usage>, state: &Dir, stem: &str, is_new: bool) -> io::Result<Self> {
        let there_bytes = state_bytes(state, stem, &ENDINGS)?.saturating_sub(if is_new { ENTRY_BYTES } else { 0 });
        Ok(Self {
            reservation: usage.file(there_bytes),
            state: state.try_clone()?,
            stem: stem.to_string(),
            named_bytes: AtomicU64::new(0),
            left_bytes: AtomicU64::new(u64::MAX),
        })
    }

    /// Counts the whole file of this size, and all that is kept of it until it is complete.
    pub(crate) fn reserve(&self, size_bytes: Option<u64>) -> io::Result<Result<(), Refusal>> {
        let journal_bytes = size_bytes.map_or(0, |bytes| journal::most_bytes(super::chunks(bytes)));
        let all =
            [size_bytes.unwrap_or(0), journal_bytes, OVERHEAD_BYTES, state_bytes(&self.state, &self.stem, &["done"])?];
        Ok(self.reservation.grow_to(all.into_iter().fold(0, u64::saturating_add)))
    }

    /// Counts a stream as far as it has come, and what is kept of it.
    pub(crate) fn grow_to(&self, bytes: u64) -> Result<(), Refusal> {
        self.reservation.grow_to(bytes.saturating_add(OVERHEAD_BYTES))
    }

    /// The file has its final name, and this size.
    pub(crate) fn named(&self, size_bytes: u64) {
        self.named_bytes.store(size_bytes.saturating_add(ENTRY_BYTES), Ordering::Relaxed);
    }

    /// What is kept of the file was removed. What could not be removed still counts.
    pub(crate) fn discarded(&self) {
        if let Ok(left_bytes) = state_bytes(&self.state, &self.stem, &ENDINGS) {
            self.left_bytes.store(left_bytes, Ordering::Relaxed);
            self.reservation.settle(left_bytes);
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let bytes = match self.left_bytes.load(Ordering::Relaxed) {
            u64::MAX => state_bytes(&self.state, &self.stem, &ENDINGS),
            // What was on its way then may have been written and counted after that.
            left_bytes => Ok(left_bytes),
        };
        // Where nobody knows, it stays as it was counted.
        if let Ok(bytes) = bytes {
            self.reservation.settle(bytes.saturating_add(self.named_bytes.load(Ordering::Relaxed)));
        }
    }
}

/// What this counts of a file in the state folder.
fn state_bytes(state: &Dir, stem: &str, endings: &[&str]) -> io::Result<u64> {
    let mut sum = 0_u64;
    for ending in endings {
        match state.symlink_metadata(format!("{stem}.{ending}")) {
            Ok(metadata) => sum = sum.saturating_add(metadata.len()).saturating_add(ENTRY_BYTES),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sum)
}
