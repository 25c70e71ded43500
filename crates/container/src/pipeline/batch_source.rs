//! The source of a pipeline, from which the workers take batches. Any worker may call `take` at any time.

use std::io::{self, BufRead, BufReader, IoSliceMut, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Direction;
use super::batch::Batch;
use crate::Error;
use crate::format::Layout;
use crate::source::OpenSource;
use crate::workers::{JobError, lock};

/// A source of batches.
pub enum BatchSource<'a> {
    /// Workers read different batches at the same time.
    Positioned(PositionedSource<'a>),
    /// Workers read one after the other, from this input if it is one.
    Ordered(Mutex<OrderedSource<'a>>, Option<&'a OpenSource<'a>>),
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

/// A stream of chunks. It ends with the first that is not full, or where the layout allows it, with a full one.
pub struct OrderedSource<'a> {
    reader: BufReader<Box<dyn Read + Send + 'a>>,
    layout: Layout,
    name: PathBuf,
    next: u64,
    ended: bool,
    /// The error behind the last batch.
    failed: Option<Error>,
}

impl<'a> BatchSource<'a> {
    /// These chunks of an input that is read at offsets, and in which the payload's first chunk begins at `offset`. Its whole
    /// plaintext has `plain_bytes` bytes.
    pub fn file(input: &'a OpenSource<'a>, layout: Layout, offset: u64, plain_bytes: u64, chunks: Range<u64>) -> Self {
        Self::Positioned(PositionedSource { input, layout, offset, plain_bytes, chunks, next: AtomicU64::new(0) })
    }

    /// Chunks of a stream. `name` is the input's name in errors.
    pub fn stream(reader: impl Read + Send + 'a, layout: Layout, name: &Path) -> Self {
        Self::Ordered(OrderedSource::new(Box::new(reader), layout, name), None)
    }

    /// Chunks of a stream whose `reader` reads this input.
    pub(crate) fn input(input: &'a OpenSource<'a>, reader: impl Read + Send + 'a, layout: Layout) -> Self {
        Self::Ordered(OrderedSource::new(Box::new(reader), layout, input.name()), Some(input))
    }

    /// The input for which a worker may wait without end, until it is [stopped](OpenSource::stop).
    pub(crate) fn awaited(&self) -> Option<&'a OpenSource<'a>> {
        match self {
            Self::Positioned(_) => None,
            Self::Ordered(_, input) => *input,
        }
    }

    /// Fills the next batch, and returns its number; `None` at the end.
    pub fn take(&self, direction: Direction, batch: &mut Batch) -> Result<Option<u64>, JobError> {
        match self {
            BatchSource::Positioned(source) => source.take(direction, batch),
            BatchSource::Ordered(source, _) => lock(source).take(direction, batch),
        }
    }

    /// Upper bound on the number of chunks; `u64::MAX` for a stream.
    pub fn most_chunks(&self) -> u64 {
        match self {
            BatchSource::Positioned(source) => source.chunks.end - source.chunks.start,
            BatchSource::Ordered(..) => u64::MAX,
        }
    }

    /// Whether at most one batch is left besides those taken, so that another thread is not worth its start.
    pub fn is_nearly_done(&self) -> bool {
        match self {
            BatchSource::Positioned(source) => self.most_chunks() <= source.layout.batch_chunks(),
            BatchSource::Ordered(source, _) => {
                let source = lock(source);
                source.ended || source.failed.is_some()
            }
        }
    }
}

impl PositionedSource<'_> {
    fn take(&self, direction: Direction, batch: &mut Batch) -> Result<Option<u64>, JobError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let start = self.chunks.start + number * self.layout.batch_chunks();
        if start >= self.chunks.end {
            return Ok(None);
        }
        let chunks = start..self.chunks.end.min(start + self.layout.batch_chunks());
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

impl<'a> OrderedSource<'a> {
    fn new(reader: Box<dyn Read + Send + 'a>, layout: Layout, name: &Path) -> Mutex<Self> {
        let (reader, name) = (BufReader::new(reader), name.to_path_buf());
        Mutex::new(Self { reader, layout, name, next: 0, ended: false, failed: None })
    }

    fn take(&mut self, direction: Direction, batch: &mut Batch) -> Result<Option<u64>, JobError> {
        if self.ended {
            return Ok(None);
        }
        let number = self.next;
        let filled = match (self.failed.take(), direction) {
            (Some(error), _) => Err(error),
            (None, Direction::Seal) => self.fill_plain(batch),
            (None, Direction::Unseal) => self.fill_sealed(batch),
        };
        let (sealed_bytes, ends) = filled.map_err(|error| {
            self.ended = true;
            (number, error)
        })?;
        self.ended = ends;
        self.next += 1;
        batch.hold(number * self.layout.batch_chunks(), sealed_bytes, ends);
        Ok(Some(number))
    }

    /// Fills a batch with plaintext. Returns the length of the sealed chunks, and whether the payload's last is among them.
    fn fill_plain(&mut self, batch: &mut Batch) -> Result<(usize, bool), Error> {
        let (bytes, read) = self.fill(&mut batch.whole_plain());
        read?;
        let is_full = bytes == self.layout.plain_within(batch.whole().len());
        let ends = !is_full || self.ends_full()?;
        Ok((if is_full { batch.whole().len() } else { self.layout.sealed_bytes(bytes as u64) as usize }, ends))
    }

    /// Fills a batch with sealed chunks. A stream that ends between two chunks, or inside of a tag, may lack its last chunk. The chunks
    /// before that and before an error are good, and the next call reports it. Returns the same as [`Self::fill_plain`].
    fn fill_sealed(&mut self, batch: &mut Batch) -> Result<(usize, bool), Error> {
        let (bytes, read) = self.fill(&mut [IoSliceMut::new(batch.whole())]);
        let ended = match read {
            Ok(()) if bytes == batch.whole().len() => self.ends_full(),
            Ok(()) => {
                let run = self.layout.run(self.next * self.layout.batch_chunks(), bytes, true);
                run.map(|_| true).map_err(|error| error.at(&self.name))
            }
            Err(error) => Err(error),
        };
        let error = match ended {
            Ok(ends) => return Ok((bytes, ends)),
            Err(error) => error,
        };
        // A full chunk that nothing follows may be the last, where that may be full.
        let followed = if self.layout.may_end_full() { bytes.saturating_sub(1) } else { bytes };
        match followed / self.layout.sealed_chunk_bytes() {
            0 => Err(error),
            chunks => {
                self.failed = Some(error);
                Ok((chunks * self.layout.sealed_chunk_bytes(), false))
            }
        }
    }

    /// Whether the payload ends with a full chunk: nothing follows, where the layout allows it.
    fn ends_full(&mut self) -> Result<bool, Error> {
        while self.layout.may_end_full() {
            match self.reader.fill_buf() {
                Ok(next) => return Ok(next.is_empty()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failure(error)),
            }
        }
        Ok(false)
    }

    fn failure(&self, error: io::Error) -> Error {
        error.downcast::<Error>().unwrap_or_else(|error| Error::from(error).at(&self.name))
    }

    /// Fills all of `buffers`, or up to the end or an error. Returns the number of bytes, also before an error.
    fn fill(&mut self, mut buffers: &mut [IoSliceMut<'_>]) -> (usize, Result<(), Error>) {
        let mut filled = 0;
        while !buffers.is_empty() {
            match self.reader.read_vectored(buffers) {
                Ok(0) => break,
                Ok(bytes) => {
                    filled += bytes;
                    IoSliceMut::advance_slices(&mut buffers, bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (filled, Err(self.failure(error))),
            }
        }
        (filled, Ok(()))
    }
}
