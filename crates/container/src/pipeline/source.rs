//! The source of a pipeline, from which the workers take batches. Any worker may call `take` at any time.

use std::io::{self, IoSliceMut, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Direction;
use super::batch::{BATCH_CHUNKS, Batch};
use crate::container::{CHUNK_BYTES, SEALED_CHUNK_BYTES, TAG_BYTES};
use crate::source::OpenSource;
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
    /// Offset of the first of these chunks in the input.
    offset: u64,
    first_chunk: u64,
    chunks: u64,
    /// Length of the last chunk in bytes, with its tag.
    last_sealed_bytes: usize,
    next: AtomicU64,
}

/// A stream of chunks. The first chunk that is not full is the last one.
pub struct OrderedSource<'a> {
    reader: Box<dyn Read + Send + 'a>,
    name: PathBuf,
    next: u64,
    ended: bool,
}

/// An error in place of a batch.
pub struct BatchError {
    pub number: u64,
    pub error: Error,
}

impl<'a> BatchSource<'a> {
    /// Chunks from `first_chunk` on of an input that is read at offsets. The first begins at `offset`; the last has `last_sealed_bytes`
    /// bytes with its tag.
    pub fn file(
        input: &'a OpenSource<'a>,
        offset: u64,
        first_chunk: u64,
        chunks: u64,
        last_sealed_bytes: usize,
    ) -> Self {
        let next = AtomicU64::new(0);
        Self::Positioned(PositionedSource { input, offset, first_chunk, chunks, last_sealed_bytes, next })
    }

    /// Chunks of a stream. `name` is the input's name in errors.
    pub fn stream(reader: impl Read + Send + 'a, name: &Path) -> Self {
        Self::Ordered(Mutex::new(OrderedSource {
            reader: Box::new(reader),
            name: name.to_path_buf(),
            next: 0,
            ended: false,
        }))
    }

    /// Fills the next batch. Returns false at the end.
    pub fn take(&self, direction: Direction, batch: &mut Batch) -> Result<bool, BatchError> {
        match self {
            BatchSource::Positioned(source) => source.take(direction, batch),
            BatchSource::Ordered(source) => {
                source.lock().unwrap_or_else(PoisonError::into_inner).take(direction, batch)
            }
        }
    }

    /// Upper bound on the number of chunks; `u64::MAX` for a stream.
    pub fn most_chunks(&self) -> u64 {
        match self {
            BatchSource::Positioned(source) => source.chunks,
            BatchSource::Ordered(_) => u64::MAX,
        }
    }

    /// Whether at most one batch is left besides those taken, so that another thread is not worth its start.
    pub fn is_nearly_done(&self) -> bool {
        match self {
            BatchSource::Positioned(source) => source.chunks <= BATCH_CHUNKS,
            BatchSource::Ordered(source) => source.lock().unwrap_or_else(PoisonError::into_inner).ended,
        }
    }
}

impl PositionedSource<'_> {
    fn take(&self, direction: Direction, batch: &mut Batch) -> Result<bool, BatchError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let done = number * BATCH_CHUNKS;
        if done >= self.chunks {
            return Ok(false);
        }
        let chunks = BATCH_CHUNKS.min(self.chunks - done);
        batch.number = number;
        batch.first_chunk = self.first_chunk + done;
        batch.sealed_bytes = chunks as usize * SEALED_CHUNK_BYTES;
        if done + chunks == self.chunks {
            batch.sealed_bytes -= SEALED_CHUNK_BYTES - self.last_sealed_bytes;
        }
        let result = match direction {
            Direction::Seal => {
                let offset = self.offset + done * CHUNK_BYTES as u64;
                self.input.read_exact_at(&mut batch.plain_mut(), offset)
            }
            Direction::Unseal => {
                let offset = self.offset + done * SEALED_CHUNK_BYTES as u64;
                self.input.read_exact_at(&mut [IoSliceMut::new(batch.sealed_mut())], offset)
            }
        };
        match result {
            Ok(()) => Ok(true),
            Err(error) => Err(BatchError { number, error }),
        }
    }
}

impl OrderedSource<'_> {
    fn take(&mut self, direction: Direction, batch: &mut Batch) -> Result<bool, BatchError> {
        if self.ended {
            return Ok(false);
        }
        let number = self.next;
        let result = match direction {
            Direction::Seal => self.fill_plain(batch),
            Direction::Unseal => self.fill_sealed(batch),
        };
        if let Err(error) = result {
            self.ended = true;
            return Err(BatchError { number, error });
        }
        self.next += 1;
        batch.number = number;
        batch.first_chunk = number * BATCH_CHUNKS;
        Ok(true)
    }

    /// Fills a batch with plaintext. A buffer that is not full holds the last chunk, which is shorter than a full one and may be empty.
    fn fill_plain(&mut self, batch: &mut Batch) -> Result<(), Error> {
        let bytes = self.fill(&mut batch.whole_plain())?;
        let full_chunks = bytes / CHUNK_BYTES;
        batch.sealed_bytes = full_chunks * SEALED_CHUNK_BYTES;
        if full_chunks < BATCH_CHUNKS as usize {
            self.ended = true;
            batch.sealed_bytes += bytes % CHUNK_BYTES + TAG_BYTES;
        }
        Ok(())
    }

    /// Fills a batch with sealed chunks. A stream that ends between two chunks, or inside of a tag, lacks its last chunk. The chunks before
    /// are good.
    fn fill_sealed(&mut self, batch: &mut Batch) -> Result<(), Error> {
        let bytes = self.fill(&mut [IoSliceMut::new(batch.whole())])?;
        batch.sealed_bytes = bytes;
        if bytes == BATCH_CHUNKS as usize * SEALED_CHUNK_BYTES {
            return Ok(());
        }
        let rest = bytes % SEALED_CHUNK_BYTES;
        if rest >= TAG_BYTES {
            self.ended = true;
            return Ok(());
        }
        batch.sealed_bytes = bytes - rest;
        if batch.sealed_bytes == 0 {
            return Err(Error::new(ErrorKind::Truncated).at(&self.name));
        }
        // The next call finds the end and reports it.
        Ok(())
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
