//! A pack at the receiver: the contents of a list's files, held in memory until all of them have come.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::receive::quota::Reservation;
use crate::wire::batch::{batch_chunks, batch_sealed_bytes, plain_bytes_of};
use crate::wire::message::{Entry, EntryStatus};
use crate::wire::ranges::Ranges;
use tress_container::format::LAYOUT;
use tress_container::pipeline::Batch;
use tress_container::workers::lock;

/// A list with files that the receiver wants, and their pack.
pub(crate) struct ArrivingPack {
    pub(crate) list: u32,
    /// The entries with their first statuses.
    pub(crate) entries: Vec<(Entry, EntryStatus)>,
    pub(crate) size_bytes: u64,
    /// The contents of the files, held for as long as they are written to the disk.
    bytes: Mutex<Vec<u8>>,
    /// Never held during a call on a file: the progress of all sessions is read from it.
    arrived: Mutex<Arrived>,
    /// `None` if there is no quota.
    reservation: Option<Reservation>,
    /// Bytes that count after the pack.
    kept_bytes: AtomicU64,
}

#[derive(Default)]
struct Arrived {
    written: Ranges,
    /// The void entries, once the sender has said that it has read the others.
    void: Option<Vec<u16>>,
}

impl ArrivingPack {
    pub(crate) fn new(list: u32, entries: Vec<(Entry, EntryStatus)>, reservation: Option<Reservation>) -> Self {
        let size_bytes = wanted(&entries).map(Entry::content_bytes).sum();
        let (bytes, arrived) = (Mutex::new(vec![0; size_bytes as usize]), Mutex::default());
        Self { list, entries, size_bytes, bytes, arrived, reservation, kept_bytes: AtomicU64::new(0) }
    }

    /// Number of files in the pack.
    pub(crate) fn wanted(&self) -> usize {
        wanted(&self.entries).count()
    }

    /// Whether a batch that begins with this chunk and has this length belongs to the pack.
    pub(crate) fn admits(&self, first_chunk: u64, sealed_bytes: usize) -> bool {
        let end = batch_chunks(sealed_bytes).and_then(|(count, _)| first_chunk.checked_add(count));
        end.is_some_and(|end| batch_sealed_bytes(self.size_bytes, &(first_chunk..end)) == Some(sealed_bytes))
    }

    /// Stores a verified batch.
    pub(crate) fn write(&self, batch: &Batch) {
        let (offset, slices) = batch.plain_within(batch.chunks(), &(0..u64::MAX));
        let mut bytes = lock(&self.bytes);
        let mut to = &mut bytes[offset as usize..];
        for slice in slices {
            if let Some(place) = to.split_off_mut(..slice.len()) {
                place.copy_from_slice(&slice);
            }
        }
        drop(bytes);
        lock(&self.arrived).written.insert(batch.first_chunk..batch.first_chunk + batch.chunks());
    }

    pub(crate) fn written_bytes(&self) -> u64 {
        plain_bytes_of(Some(self.size_bytes), &lock(&self.arrived).written)
    }

    /// Records which entries are void. Returns `false` if one of them is not in the pack, or if that was said before.
    pub(crate) fn end(&self, void: Vec<u16>) -> bool {
        let is_wanted = |index: &u16| {
            self.entries.get(usize::from(*index)).is_some_and(|(_, status)| *status == EntryStatus::Wanted)
        };
        let mut arrived = lock(&self.arrived);
        let is_good = arrived.void.is_none() && void.iter().all(is_wanted);
        arrived.void = Some(void);
        is_good
    }

    /// Whether all of it has come.
    pub(crate) fn is_whole(&self) -> bool {
        let arrived = lock(&self.arrived);
        arrived.void.is_some() && arrived.written.count() == LAYOUT.chunks(self.size_bytes)
    }

    /// Calls `each` with the number, entry and content of each file in a whole pack.
    pub(crate) fn each_file<E>(&self, mut each: impl FnMut(usize, &Entry, &[u8]) -> Result<(), E>) -> Result<(), E> {
        let void = lock(&self.arrived).void.clone().unwrap_or_default();
        let bytes = lock(&self.bytes);
        let mut rest = &bytes[..];
        for (index, (entry, status)) in self.entries.iter().enumerate() {
            if *status == EntryStatus::Wanted {
                let bytes = rest.split_off(..entry.content_bytes() as usize).unwrap_or_default();
                if !void.contains(&(index as u16)) {
                    each(index, entry, bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Counts this number of bytes for the quota, also after the pack.
    pub(crate) fn keep(&self, bytes: u64) {
        self.kept_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Whether a file of the pack has its name.
    pub(crate) fn has_named(&self) -> bool {
        self.kept_bytes.load(Ordering::Relaxed) > 0
    }
}

fn wanted(entries: &[(Entry, EntryStatus)]) -> impl Iterator<Item = &Entry> {
    entries.iter().filter(|(_, status)| *status == EntryStatus::Wanted).map(|(entry, _)| entry)
}

impl Drop for ArrivingPack {
    fn drop(&mut self) {
        if let Some(reservation) = &self.reservation {
            reservation.settle(self.kept_bytes.load(Ordering::Relaxed));
        }
    }
}
