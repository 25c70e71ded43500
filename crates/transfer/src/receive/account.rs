//! The bytes that a quota counts for one arriving file, from its offer to its end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tress_container::format::LAYOUT;

use cap_std::fs::Dir;

use crate::receive::journal::{self, DONE_BYTES};
use crate::receive::quota::{ENTRY_BYTES, Reservation, Usage};
use tress_container::Refusal;

/// Endings of the files that the state folder may hold for one transfer.
const ENDINGS: [&str; 4] = ["part", "journal", "done", "new"];
/// Bytes that an arriving file counts in addition to its content: three entries (the file, its journal, and the record that it is done),
/// and that record twice, because the new one is written before it replaces an older one.
const OVERHEAD_BYTES: u64 = 3 * ENTRY_BYTES + 2 * DONE_BYTES;

/// The bytes counted for one file. When the transfer ends, the count is exactly what the disk holds.
pub(crate) struct QuotaAccount {
    reservation: Reservation,
    state: Dir,
    stem: String,
    /// Bytes counted for the file under its final name; 0 before it has one.
    named_bytes: AtomicU64,
    /// Bytes that remained when the file was discarded; [`u64::MAX`] if it was not. Since then another file may use the same names.
    left_bytes: AtomicU64,
}

impl QuotaAccount {
    /// Makes the account of a file whose `.part` only this session has open. `is_new`: this session has just made that `.part`.
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

    /// Counts a whole file of this size, with everything that is stored for it until it is complete.
    pub(crate) fn reserve(&self, size_bytes: Option<u64>) -> io::Result<Result<(), Refusal>> {
        let journal_bytes = size_bytes.map_or(0, |bytes| journal::max_bytes(LAYOUT.chunks(bytes)));
        let all =
            [size_bytes.unwrap_or(0), journal_bytes, OVERHEAD_BYTES, state_bytes(&self.state, &self.stem, &["done"])?];
        Ok(self.reservation.grow_to(all.into_iter().fold(0, u64::saturating_add)))
    }

    /// Counts a stream up to this length, with everything that is stored for it.
    pub(crate) fn grow_to(&self, bytes: u64) -> Result<(), Refusal> {
        self.reservation.grow_to(bytes.saturating_add(OVERHEAD_BYTES))
    }

    /// Records that the file has its final name, and this size.
    pub(crate) fn named(&self, size_bytes: u64) {
        self.named_bytes.store(size_bytes.saturating_add(ENTRY_BYTES), Ordering::Relaxed);
    }

    /// Records that the file was removed from the state folder. Whatever could not be removed still counts.
    pub(crate) fn discarded(&self) {
        if let Ok(left_bytes) = state_bytes(&self.state, &self.stem, &ENDINGS) {
            self.left_bytes.store(left_bytes, Ordering::Relaxed);
            self.reservation.settle(left_bytes);
        }
    }
}

impl Drop for QuotaAccount {
    fn drop(&mut self) {
        let bytes = match self.left_bytes.load(Ordering::Relaxed) {
            u64::MAX => state_bytes(&self.state, &self.stem, &ENDINGS),
            // Batches that were in transit may have been written and counted after the discard.
            left_bytes => Ok(left_bytes),
        };
        // If the folder cannot be read, the count stays as it is.
        if let Ok(bytes) = bytes {
            self.reservation.settle(bytes.saturating_add(self.named_bytes.load(Ordering::Relaxed)));
        }
    }
}

/// Bytes of these files in the state folder, each with the size of an entry.
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
