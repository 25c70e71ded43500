//! The plaintext of a container as `Read` and `Seek`.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use zeroize::Zeroizing;

use super::{BATCH_CHUNKS, Head, parallel};
use crate::container::{CHUNK_BYTES, Content, Payload, SEALED_CHUNK_BYTES, TAG_BYTES, plain_bytes};
use crate::keys::Identities;
use crate::threads::Threads;
use crate::{Error, ErrorKind};

/// Reads and seeks in the plaintext of a container. Opening verifies the last chunk, and with it the length. Every other chunk is verified
/// before its bytes are returned. The plaintext of a tree is a tar stream.
///
/// Sequential reads read ahead, up to one batch (512 KiB, or a MiB per thread if there are several). This batch with its tags is all the
/// memory that a reader takes. A read after a seek decrypts one chunk of 16 KiB. The `io::Error`s wrap an [`Error`], and have the kind
/// `InvalidData` for a damaged container.
pub struct Reader<R> {
    source: R,
    content: Content,
    payload: Payload,
    chunks_offset: u64,
    plain_bytes: u64,
    position: u64,
    /// Consecutive chunks, decrypted in place: the plaintext of each is followed by its tag.
    window: Zeroizing<Vec<u8>>,
    /// Range of their plaintext.
    window_start: u64,
    window_end: u64,
    /// Number of chunks to read at the next sequential read.
    ahead: usize,
    most_ahead: usize,
    threads: usize,
}

impl<R: Read + Seek> Reader<R> {
    /// Opens the container that `source` consists of.
    ///
    /// # Errors
    /// The errors of [`Header::read`](crate::container::Header::read) and [`Header::open`](crate::container::Header::open); `Commitment`,
    /// `Truncated`, `ChunkDamaged`; `Io` of the source.
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

    /// Length of the plaintext in bytes.
    pub fn plain_bytes(&self) -> u64 {
        self.plain_bytes
    }

    /// The content of the header.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The source, at an unspecified position.
    pub fn into_inner(self) -> R {
        self.source
    }

    /// Loads these chunks as the window, as far as they exist.
    fn load(&mut self, first: u64, count: usize) -> Result<(), Error> {
        let last = self.plain_bytes / CHUNK_BYTES as u64;
        let end = last + 1;
        let end = end.min(first + count as u64);
        let whole = (end.min(last) - first) as usize;
        let tail = if end > last { (self.plain_bytes % CHUNK_BYTES as u64) as usize + TAG_BYTES } else { 0 };
        let sealed = whole * SEALED_CHUNK_BYTES + tail;

        // The window is empty until all chunks are verified.
        self.window_start = first * CHUNK_BYTES as u64;
        self.window_end = self.window_start;
        self.source.seek(SeekFrom::Start(self.chunks_offset + first * SEALED_CHUNK_BYTES as u64))?;
        if self.window.capacity() < sealed {
            // Dropping the old buffer wipes it.
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
    /// A position past the end is allowed; reads there return no bytes.
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
    /// Bytes of the heap that the window takes.
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
