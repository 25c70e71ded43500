//! Where batches come from. `take` fills the next one; any worker may call it at any time.

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
    Positioned(Positioned<'a>),
    /// Workers read one after the other.
    Ordered(Mutex<Ordered<'a>>),
}

/// Consecutive chunks of an input that is read at offsets.
pub struct Positioned<'a> {
    input: &'a OpenSource<'a>,
    /// Where the first of these chunks begins in the input.
    offset: u64,
    first_chunk: u64,
    chunks: u64,
    /// Bytes of the last of them, with its tag.
    last_sealed_bytes: usize,
    next: AtomicU64,
}

/// A stream of chunks; the last one is the one that is not full.
pub struct Ordered<'a> {
    reader: Box<dyn Read + Send + 'a>,
    name: PathBuf,
    next: u64,
    ended: bool,
}

/// An error in place of the batch with this number.
pub struct Missing {
    pub number: u64,
    pub error: Error,
}

impl<'a> BatchSource<'a> {
    /// Chunks from `first_chunk` on of an input that is read at offsets: where the first begins, how many, and the bytes of the
    /// last with its tag.
    pub fn file(
        input: &'a OpenSource<'a>,
        offset: u64,
        first_chunk: u64,
        chunks: u64,
        last_sealed_bytes: usize,
    ) -> Self {
        let next = AtomicU64::new(0);
        Self::Positioned(Positioned { input, offset, first_chunk, chunks, last_sealed_bytes, next })
    }

    /// A stream of this name.
    pub fn stream(reader: impl Read + Send + 'a, name: &Path) -> Self {
        Self::Ordered(Mutex::new(Ordered { reader: Box::new(reader), name: name.to_path_buf(), next: 0, ended: false }))
    }

    /// Fills the next batch. `false` when there is none.
    pub fn take(&self, direction: Direction, batch: &mut Batch) -> Result<bool, Missing> {
        match self {
            BatchSource::Positioned(source) => source.take(direction, batch),
            BatchSource::Ordered(source) => {
                source.lock().unwrap_or_else(PoisonError::into_inner).take(direction, batch)
            }
        }
    }

    /// The most chunks that it has, as far as that is known.
    pub fn most_chunks(&self) -> u64 {
        match self {
            BatchSource::Positioned(source) => source.chunks,
            BatchSource::Ordered(_) => u64::MAX,
        }
    }

    /// Whether there is at most one batch more than those taken: for which no thread is worth its start.
    pub fn is_nearly_done(&self) -> bool {
        match self {
            BatchSource::Positioned(source) => source.chunks <= BATCH_CHUNKS,
            BatchSource::Ordered(source) => source.lock().unwrap_or_else(PoisonError::into_inner).ended,
        }
    }
}

impl Positioned<'_> {
    fn take(&self, direction: Direction, batch: &mut Batch) -> Result<bool, Missing> {
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
            Err(error) => Err(Missing { number, error }),
        }
    }
}

impl Ordered<'_> {
    fn take(&mut self, direction: Direction, batch: &mut Batch) -> Result<bool, Missing> {
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
            return Err(Missing { number, error });
        }
        self.next += 1;
        batch.number = number;
        batch.first_chunk = number * BATCH_CHUNKS;
        Ok(true)
    }

    /// A buffer that is not filled up holds the last chunk, which has fewer bytes than a full one, perhaps none.
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

    /// A stream that ends between two chunks, or within a tag, lacks its last chunk. The chunks before are good.
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
        // The next call finds nothing more and says so.
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
