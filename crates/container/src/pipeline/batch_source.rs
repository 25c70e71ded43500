//! The source of a pipeline, from which the workers take batches. Any worker may call `take` at any time.

use std::io::{self, IoSliceMut, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Direction;
use super::batch::{BATCH_CHUNKS, Batch};
use crate::format::Layout;
use crate::source::OpenSource;
use crate::workers::{JobError, lock};
use crate::{Error, ErrorKind};

/// A source of batches.
pub enum BatchSource<'a> {
    /// Workers read different batches at the same time.
    Positioned(PositionedSource<'a>),
    /// Workers read one after the other.
    Ordered(Mutex<OrderedSource<'a>>),
}

/// Consecutive chunks of an input that is read at offsets.
pub struct PositionedSource<'a> {
    input: &'a OpenSource<'a>,
    layout: Layout,
    /// Offset of the payload's first chunk in the input.
    offset: u64,
    /// Length of the payload's whole plaintext.
    plain_bytes: u64,
    chunks: Range<u64>,
    next: AtomicU64,
}

/// A stream of chunks, which ends with the first that is not full.
pub struct OrderedSource<'a> {
    reader: Box<dyn Read + Send + 'a>,
    layout: Layout,
    name: PathBuf,
    next: u64,
    ended: bool,
}

impl<'a> BatchSource<'a> {
    /// These chunks of an input that is read at offsets, and in which the payload's first chunk begins at `offset`. Its whole
    /// plaintext has `plain_bytes` bytes.
    pub fn file(input: &'a OpenSource<'a>, layout: Layout, offset: u64, plain_bytes: u64, chunks: Range<u64>) -> Self {
        Self::Positioned(PositionedSource { input, layout, offset, plain_bytes, chunks, next: AtomicU64::new(0) })
    }

    /// Chunks of a stream. `name` is the input's name in errors.
    pub fn stream(reader: impl Read + Send + 'a, layout: Layout, name: &Path) -> Self {
        let (reader, name) = (Box::new(reader), name.to_path_buf());
        Self::Ordered(Mutex::new(OrderedSource { reader, layout, name, next: 0, ended: false }))
    }

    /// Fills the next batch, and returns its number; `None` at the end.
    pub fn take(&self, direction: Direction, batch: &mut Batch) -> Result<Option<u64>, JobError> {
        match self {
            BatchSource::Positioned(source) => source.take(direction, batch),
            BatchSource::Ordered(source) => lock(source).take(direction, batch),
        }
    }

    /// Upper bound on the number of chunks; `u64::MAX` for a stream.
    pub fn most_chunks(&self) -> u64 {
        match self {
            BatchSource::Positioned(source) => source.chunks.end - source.chunks.start,
            BatchSource::Ordered(_) => u64::MAX,
        }
    }

    /// Whether at most one batch is left besides those taken, so that another thread is not worth its start.
    pub fn is_nearly_done(&self) -> bool {
        match self {
            BatchSource::Positioned(_) => self.most_chunks() <= BATCH_CHUNKS,
            BatchSource::Ordered(source) => lock(source).ended,
        }
    }
}

impl PositionedSource<'_> {
    fn take(&self, direction: Direction, batch: &mut Batch) -> Result<Option<u64>, JobError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let start = self.chunks.start + number * BATCH_CHUNKS;
        if start >= self.chunks.end {
            return Ok(None);
        }
        let chunks = start..self.chunks.end.min(start + BATCH_CHUNKS);
        let sealed_bytes = self.layout.sealed_range_bytes(self.plain_bytes, &chunks);
        batch.hold(start, sealed_bytes as usize, chunks.end == self.layout.chunks(self.plain_bytes));
        let result = match direction {
            Direction::Seal => {
                self.input.read_exact_at(&mut batch.plain_mut(), self.offset + self.layout.plain_offset(start))
            }
            Direction::Unseal => {
                let offset = self.offset + self.layout.sealed_offset(start);
                self.input.read_exact_at(&mut [IoSliceMut::new(batch.sealed_mut())], offset)
            }
        };
        result.map(|()| Some(number)).map_err(|error| (number, error))
    }
}

impl OrderedSource<'_> {
    fn take(&mut self, direction: Direction, batch: &mut Batch) -> Result<Option<u64>, JobError> {
        if self.ended {
            return Ok(None);
        }
        let number = self.next;
        let filled = match direction {
            Direction::Seal => self.fill_plain(batch),
            Direction::Unseal => self.fill_sealed(batch),
        };
        let (sealed_bytes, ends) = filled.map_err(|error| {
            self.ended = true;
            (number, error)
        })?;
        self.ended = ends;
        self.next += 1;
        batch.hold(number * BATCH_CHUNKS, sealed_bytes, ends);
        Ok(Some(number))
    }

    /// Fills a batch with plaintext. A buffer that is not full holds the last chunk. Returns the length of the sealed chunks, and
    /// whether the last is among them.
    fn fill_plain(&mut self, batch: &mut Batch) -> Result<(usize, bool), Error> {
        let bytes = self.fill(&mut batch.whole_plain())?;
        let ends = bytes < self.layout.plain_within(batch.whole().len());
        Ok((if ends { self.layout.sealed_bytes(bytes as u64) as usize } else { batch.whole().len() }, ends))
    }

    /// Fills a batch with sealed chunks. A stream that ends between two chunks, or inside of a tag, lacks its last chunk. The chunks
    /// before are good, and the next call reports the end. Returns the same as [`Self::fill_plain`].
    fn fill_sealed(&mut self, batch: &mut Batch) -> Result<(usize, bool), Error> {
        let bytes = self.fill(&mut [IoSliceMut::new(batch.whole())])?;
        if self.layout.run(bytes, true).is_ok() {
            return Ok((bytes, true));
        }
        match bytes / self.layout.sealed_chunk_bytes() {
            0 => Err(Error::new(ErrorKind::Truncated).at(&self.name)),
            chunks => Ok((chunks * self.layout.sealed_chunk_bytes(), false)),
        }
    }

    /// Fills all of `buffers`, or up to the end.
    fn fill(&mut self, mut buffers: &mut [IoSliceMut<'_>]) -> Result<usize, Error> {
        let mut filled = 0;
        while !buffers.is_empty() {
            match self.reader.read_vectored(buffers) {
                Ok(0) => break,
                Ok(bytes) => {
                    filled += bytes;
                    IoSliceMut::advance_slices(&mut buffers, bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(match error.downcast::<Error>() {
                        Ok(error) => error,
                        Err(error) => Error::from(error).at(&self.name),
                    });
                }
            }
        }
        Ok(filled)
    }
}
