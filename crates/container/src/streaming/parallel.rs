//! Seals and unseals runs of chunks from one buffer into another, on as many threads as the work justifies.

use std::sync::Mutex;
use std::{io, iter, vec};

use zeroize::{Zeroize, Zeroizing};

use crate::format::{Layout, Payload};
use crate::workers::{JobError, Jobs, RunState, lock};
use crate::{Error, ErrorKind};

/// Batches per thread below which another thread costs more than it gains: starting it takes about as long as one batch.
const BATCHES_PER_THREAD: usize = 2;

/// Number of chunks that are worth a call on this many threads.
pub(super) fn call_chunks(layout: &Layout, threads: usize) -> u64 {
    let batches = if threads == 1 { 1 } else { BATCHES_PER_THREAD * threads };
    batches as u64 * layout.batch_chunks()
}

/// Consecutive chunks of a payload.
#[derive(Clone, Copy)]
pub(super) struct Run<'p> {
    pub(super) payload: &'p Payload,
    pub(super) first: u64,
    /// Whether the payload ends with them.
    pub(super) ends: bool,
    pub(super) threads: usize,
}

impl Run<'_> {
    /// Seals `plain` into `sealed`, which has room for the chunks and their tags.
    pub(super) fn seal(self, plain: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        let layout = self.payload.layout();
        assert_eq!(layout.plain_within(sealed.len()), plain.len());
        let [plain_bytes, sealed_bytes] = batch_bytes(&layout);
        let plain = plain.chunks(plain_bytes).chain(iter::once(&[][..]));
        self.each(sealed.chunks_mut(sealed_bytes).zip(plain), |first, ends, (sealed, mut plain), _| {
            for part in layout.plain_parts_mut(sealed) {
                part.copy_from_slice(plain.split_off(..part.len()).expect("is as long"));
            }
            self.payload.seal(first, sealed, ends)
        })
    }

    /// Verifies `sealed` and decrypts it into `plain`, which has exactly its length. If a chunk fails, `plain` holds plaintext before
    /// it, and zeros from it on.
    pub(super) fn unseal(self, sealed: &[u8], plain: &mut [u8]) -> Result<(), Error> {
        let layout = self.payload.layout();
        assert_eq!(layout.plain_within(sealed.len()), plain.len());
        let [plain_bytes, sealed_bytes] = batch_bytes(&layout);
        let parts = sealed.chunks(sealed_bytes).zip(plain.chunks_mut(plain_bytes).chain(iter::once(&mut [][..])));
        let unseal = |first, ends, (sealed, plain): (&[u8], &mut [u8]), batch: &mut Vec<u8>| {
            batch.clear();
            batch.extend_from_slice(sealed);
            let unsealed = self.payload.unseal(first, batch, ends);
            let verified = unsealed.as_ref().err().map_or(plain.len(), |error| verified_bytes(&layout, first, error));
            let mut rest = &mut plain[..verified];
            for part in layout.plain_parts(batch) {
                let now = rest.split_off_mut(..rest.len().min(part.len())).expect("is cut where it ends at most");
                now.copy_from_slice(&part[..now.len()]);
            }
            unsealed
        };
        self.each(parts, unseal).inspect_err(|error| plain[verified_bytes(&layout, self.first, error)..].zeroize())
    }

    /// Verifies `sealed`, and decrypts it in place, each chunk before its tag.
    pub(super) fn unseal_in_place(self, sealed: &mut [u8]) -> Result<(), Error> {
        let [_, sealed_bytes] = batch_bytes(&self.payload.layout());
        self.each(sealed.chunks_mut(sealed_bytes), |first, ends, sealed, _| self.payload.unseal(first, sealed, ends))
    }

    /// Calls a function for every batch, with the number of its first chunk, whether the payload ends with it, and a buffer that is
    /// wiped.
    fn each<P: Send>(
        self,
        parts: impl Iterator<Item = P>,
        work: impl Fn(u64, bool, P, &mut Vec<u8>) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let parts: Vec<P> = parts.collect();
        let (count, batch_chunks) = (parts.len(), self.payload.layout().batch_chunks());
        let work = |number, part, buffer: &mut Vec<u8>| {
            let ends = self.ends && number + 1 == count as u64;
            work(self.first + number * batch_chunks, ends, part, buffer)
        };
        let threads = self.threads.min(count / BATCHES_PER_THREAD).max(1);
        let parts = Parts { parts: Mutex::new((0..).zip(parts)), work };
        RunState::default().run(&parts, || (None, Zeroizing::default()), || threads)
    }
}

/// Jobs that are a list.
struct Parts<P, W> {
    parts: Mutex<iter::Zip<std::ops::RangeFrom<u64>, vec::IntoIter<P>>>,
    work: W,
}

impl<P: Send, W: Fn(u64, P, &mut Vec<u8>) -> Result<(), Error> + Sync> Jobs for Parts<P, W> {
    type Buffer = (Option<P>, Zeroizing<Vec<u8>>);

    fn take(&self, (place, _): &mut Self::Buffer) -> Result<Option<u64>, JobError> {
        let Some((number, part)) = lock(&self.parts).next() else { return Ok(None) };
        *place = Some(part);
        Ok(Some(number))
    }

    fn work(&self, number: u64, (part, buffer): &mut Self::Buffer) -> Result<(), Error> {
        (self.work)(number, part.take().expect("was taken"), buffer)
    }
}

/// Lengths of a batch: its plaintext, and its sealed chunks.
fn batch_bytes(layout: &Layout) -> [usize; 2] {
    [layout.plain_offset(layout.batch_chunks()) as usize, layout.sealed_offset(layout.batch_chunks()) as usize]
}

/// Number of plaintext bytes from chunk `first` on that were verified before this error.
pub(super) fn verified_bytes(layout: &Layout, first: u64, error: &Error) -> usize {
    match error.kind {
        ErrorKind::ChunkDamaged { chunk } => layout.plain_offset(chunk - first) as usize,
        _ => 0,
    }
}

/// Appends to a buffer that never holds more than `most` bytes. If the buffer moves, the old memory is wiped. Fails if there is no
/// memory.
pub(super) fn extend(buffer: &mut Zeroizing<Vec<u8>>, bytes: &[u8], most: usize) -> io::Result<()> {
    let needed = buffer.len() + bytes.len();
    if needed > buffer.capacity() {
        let mut larger = Zeroizing::new(Vec::new());
        larger.try_reserve_exact((2 * buffer.capacity()).min(most).max(needed))?;
        larger.extend_from_slice(buffer);
        *buffer = larger;
    }
    buffer.extend_from_slice(bytes);
    Ok(())
}
