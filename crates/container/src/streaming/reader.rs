//! The plaintext of a container, read at any place.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use zeroize::Zeroizing;

use super::{BATCH_CHUNKS, Head, parallel};
use crate::container::{CHUNK_BYTES, Content, Payload, SEALED_CHUNK_BYTES, TAG_BYTES, plain_bytes};
use crate::keys::Identities;
use crate::threads::Threads;
use crate::{Error, ErrorKind};

/// Reads and seeks in the plaintext of a container. The last chunk, and with it the length, is verified when it is opened;
/// every other before its bytes are given. That of a tree is a tar stream.
///
/// Reads ahead where it is read in order, up to one batch (512 KiB, or a MiB for each thread if there are several), which with the
/// tags is all the memory that it takes; a read elsewhere costs one chunk of 16 KiB. Errors of reading have [`Error`] inside, and the kind `InvalidData` where the
/// container is damaged.
pub struct Reader<R> {
    source: R,
    content: Content,
    payload: Payload,
    chunks_offset: u64,
    plain_bytes: u64,
    position: u64,
    /// Some chunks, decrypted where they were read: the plaintext of each stands before its tag.
    window: Zeroizing<Vec<u8>>,
    /// Where their plaintext begins and ends.
    window_start: u64,
    window_end: u64,
    /// Chunks to read when the next ones in order are asked for.
    ahead: usize,
    most_ahead: usize,
    threads: usize,
}

impl<R: Read + Seek> Reader<R> {
    /// Opens the container that is all of `source`.
    ///
    /// # Errors
    /// As [`Header::read`](crate::container::Header::read) and [`Header::open`](crate::container::Header::open); `Commitment`, `Truncated`,
    /// `ChunkDamaged`; `Io` of the source.
    pub fn open(mut source: R, identities: &Identities, threads: Threads) -> Result<Self, Error> {
        let bytes = source.seek(SeekFrom::End(0))?;
        source.seek(SeekFrom::Start(0))?;
        let head = Head::read(&mut source, identities)?;
        let chunks_offset = head.chunks_offset();
        let threads = threads.count();
        let mut reader = Self {
            source,
            content: head.content,
            payload: head.payload,
            chunks_offset,
            plain_bytes: plain_bytes(bytes.saturating_sub(chunks_offset))?,
            position: 0,
            window: Zeroizing::default(),
            window_start: 0,
            window_end: 0,
            ahead: 1,
            most_ahead: if threads == 1 { BATCH_CHUNKS } else { 2 * threads * BATCH_CHUNKS },
            threads,
        };
        reader.load(reader.plain_bytes / CHUNK_BYTES as u64, 1)?;
        Ok(reader)
    }

    /// Bytes of plaintext.
    pub fn plain_bytes(&self) -> u64 {
        self.plain_bytes
    }

    /// What the header carries.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The source, at no place in particular.
    pub fn into_inner(self) -> R {
        self.source
    }

    /// Makes these chunks the window. Those past the end are left out.
    fn load(&mut self, first: u64, count: usize) -> Result<(), Error> {
        let last = self.plain_bytes / CHUNK_BYTES as u64;
        let end = last + 1;
        let end = end.min(first + count as u64);
        let whole = (end.min(last) - first) as usize;
        let tail = if end > last { (self.plain_bytes % CHUNK_BYTES as u64) as usize + TAG_BYTES } else { 0 };
        let sealed = whole * SEALED_CHUNK_BYTES + tail;

        // Until all is verified there is no window.
        self.window_start = first * CHUNK_BYTES as u64;
        self.window_end = self.window_start;
        self.source.seek(SeekFrom::Start(self.chunks_offset + first * SEALED_CHUNK_BYTES as u64))?;
        if self.window.capacity() < sealed {
            // What it was is wiped, and not left behind.
            self.window = Zeroizing::new(Vec::with_capacity(sealed));
        }
        self.window.resize(sealed, 0);
        self.source.read_exact(&mut self.window).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => ErrorKind::InputChanged.into(),
            _ => Error::from(error),
        })?;
        parallel::unseal_in_place(&self.payload, first, &mut self.window, self.threads)?;
        self.window_end = self.window_start + (whole * CHUNK_BYTES + tail.saturating_sub(TAG_BYTES)) as u64;
        Ok(())
    }
}

impl<R: Read + Seek> Read for Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.position >= self.plain_bytes {
            return Ok(0);
        }
        if !(self.window_start..self.window_end).contains(&self.position) {
            let is_next = self.position == self.window_end;
            let first = self.position / CHUNK_BYTES as u64;
            let asked = (self.position % CHUNK_BYTES as u64).saturating_add(buffer.len() as u64);
            let asked = usize::try_from(asked.div_ceil(CHUNK_BYTES as u64)).unwrap_or(usize::MAX);
            self.ahead = if is_next { 2 * self.ahead } else { 1 }.max(asked).min(self.most_ahead);
            self.load(first, self.ahead)?;
        }
        let mut filled = 0;
        while filled < buffer.len() && self.position < self.window_end {
            let start = (self.position - self.window_start) as usize;
            let (chunk, within) = (start / CHUNK_BYTES, start % CHUNK_BYTES);
            let left = (self.window_end - self.position) as usize;
            let bytes = (buffer.len() - filled).min(CHUNK_BYTES - within).min(left);
            let plain = &self.window[chunk * SEALED_CHUNK_BYTES + within..][..bytes];
            buffer[filled..filled + bytes].copy_from_slice(plain);
            filled += bytes;
            self.position += bytes as u64;
        }
        Ok(filled)
    }
}

impl<R: Read + Seek> Seek for Reader<R> {
    /// A place past the end is allowed; nothing is read there.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(distance) => self.plain_bytes.checked_add_signed(distance),
            SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
        };
        self.position = place.ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.position)
    }
}

#[cfg(test)]
impl<R> Reader<R> {
    /// Bytes that it holds on the heap for chunks.
    pub(super) fn buffer_bytes(&self) -> usize {
        self.window.capacity()
    }
}

impl<R> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("content", &self.content)
            .field("plain_bytes", &self.plain_bytes)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}
