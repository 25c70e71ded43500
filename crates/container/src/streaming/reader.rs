//! The plaintext of a container as `Read` and `Seek`.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use zeroize::Zeroizing;

use super::parallel::call_chunks;
use super::{RangeReader, ReadAt};
use crate::Error;
use crate::format::Content;
use crate::keys::Identities;
use crate::threads::Threads;
use crate::workers::lock;

/// Reads and seeks in the plaintext of a container. Opening verifies the last chunk, and with it the length. Every other chunk is verified
/// before its bytes are returned. The plaintext of a tree is a tar stream.
///
/// Sequential reads read ahead, up to one batch (512 KiB, or a MiB per thread if there are several). This batch with its tags is all the
/// memory that a reader takes. A read after a seek decrypts one chunk of 16 KiB. The `io::Error`s wrap an [`Error`], and have the kind
/// `InvalidData` for a damaged container.
pub struct Reader<R> {
    chunks: RangeReader<SeekSource<R>>,
    window: Window,
}

/// A position in the plaintext, and the chunks around it.
pub(crate) struct Window {
    pub(crate) position: u64,
    /// Consecutive chunks, decrypted in place: the plaintext of each is followed by its tag.
    buffer: Zeroizing<Vec<u8>>,
    /// Range of their plaintext.
    range: Range<u64>,
    /// Number of chunks to read at the next sequential read.
    ahead: u64,
    threads: usize,
}

/// A source with one position, which a read at an offset moves.
struct SeekSource<R>(Mutex<R>);

impl<R: Read + Seek> ReadAt for SeekSource<R> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut source = lock(&self.0);
        source.seek(SeekFrom::Start(offset))?;
        source.read(buffer)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        lock(&self.0).seek(SeekFrom::End(0))
    }
}

impl<R: Read + Seek> Reader<R> {
    /// Opens the container that `source` consists of.
    ///
    /// # Errors
    /// The errors of [`Header::read`](crate::format::Header::read) and [`Header::open`](crate::format::Header::open); `Commitment`,
    /// `Truncated`, `ChunkDamaged`; `Io` of the source.
    pub fn open(source: R, identities: &Identities, threads: Threads) -> Result<Self, Error> {
        let chunks = RangeReader::unverified(SeekSource(Mutex::new(source)), identities)?;
        let mut window = Window::new(threads);
        let last = chunks.last();
        window.load(&chunks, last..last + 1)?;
        Ok(Self { chunks, window })
    }

    /// Length of the plaintext in bytes.
    pub fn plain_bytes(&self) -> u64 {
        self.chunks.plain_bytes()
    }

    /// The content of the header.
    pub fn content(&self) -> &Content {
        self.chunks.content()
    }

    /// Reads ranges without the position, and without reading ahead.
    pub fn ranges(&self) -> &RangeReader<impl ReadAt + use<R>> {
        &self.chunks
    }

    /// The source. Its position may be changed.
    pub fn source_mut(&mut self) -> &mut R {
        self.chunks.source_mut().0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// The source, at an unspecified position.
    pub fn into_inner(self) -> R {
        self.chunks.into_source().0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Window {
    pub(crate) fn new(threads: Threads) -> Self {
        Self { position: 0, buffer: Zeroizing::default(), range: 0..0, ahead: 1, threads: threads.count() }
    }

    /// Loads these chunks, as far as they exist.
    fn load(&mut self, chunks: &RangeReader<impl ReadAt>, numbers: Range<u64>) -> Result<(), Error> {
        // The window is empty until all chunks are verified.
        self.range = 0..0;
        self.range = chunks.load(numbers, &mut self.buffer, self.threads)?;
        Ok(())
    }

    /// Reads at the position, which moves.
    pub(crate) fn read(&mut self, chunks: &RangeReader<impl ReadAt>, buffer: &mut [u8]) -> Result<usize, Error> {
        if buffer.is_empty() || self.position >= chunks.plain_bytes() {
            return Ok(0);
        }
        let layout = chunks.layout();
        if !self.range.contains(&self.position) {
            let is_next = self.position == self.range.end;
            let asked = layout.covering(&(self.position..self.position.saturating_add(buffer.len() as u64)));
            let ahead = if is_next { 2 * self.ahead } else { 1 };
            self.ahead = ahead.max(asked.end - asked.start).min(call_chunks(&layout, self.threads));
            if let Err(error) = self.load(chunks, asked.start..asked.start + self.ahead) {
                self.ahead = 1;
                if error.is_raised() {
                    return Err(error);
                }
                // Damage, a cut or a bad sector further on is no reason not to give out what comes before it.
                self.load(chunks, asked.start..asked.start + 1)?;
            }
        }
        let mut filled = 0;
        while filled < buffer.len() && self.position < self.range.end {
            let start = self.position - self.range.start;
            let within = start - layout.plain_offset(layout.chunk_at(start));
            let bytes = (layout.chunk_bytes() as u64 - within).min(self.range.end - self.position);
            let bytes = (buffer.len() - filled).min(bytes as usize);
            let place = (layout.sealed_offset(layout.chunk_at(start)) + within) as usize;
            buffer[filled..filled + bytes].copy_from_slice(&self.buffer[place..place + bytes]);
            filled += bytes;
            self.position += bytes as u64;
        }
        Ok(filled)
    }
}

impl<R: Read + Seek> Read for Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.window.read(&self.chunks, buffer)?)
    }
}

impl<R: Read + Seek> Seek for Reader<R> {
    /// A position past the end is allowed; reads there return no bytes.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(distance) => self.plain_bytes().checked_add_signed(distance),
            SeekFrom::Current(distance) => self.window.position.checked_add_signed(distance),
        };
        self.window.position = place.ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.window.position)
    }
}

impl<R> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("content", &self.chunks.content())
            .field("plain_bytes", &self.chunks.plain_bytes())
            .field("position", &self.window.position)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::commands::EncryptOptions;
    use crate::format::LAYOUT;
    use crate::keys::key_file;
    use crate::streaming::encrypt_bytes;

    #[test]
    fn a_reader_uses_the_documented_memory() {
        let key = key_file(&[1; 16]).unwrap();
        let batch_bytes = LAYOUT.sealed_offset(LAYOUT.batch_chunks()) as usize;
        let sealed = encrypt_bytes(&vec![7; 9 * batch_bytes], &key.clone().into(), &EncryptOptions::default()).unwrap();
        for (threads, batches) in [(1, 1), (2, 4), (3, 6)] {
            let mut reader = Reader::open(Cursor::new(&sealed), &key.clone().into(), threads.into()).unwrap();
            // In pieces, so that it is not asked for everything in one call.
            let mut piece = vec![0; 100_000];
            while reader.read(&mut piece).unwrap() > 0 {}
            let capacity = reader.window.buffer.capacity();
            assert!(capacity <= batches * batch_bytes, "{threads}: {capacity}");
        }
    }
}
