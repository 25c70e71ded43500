//! Random access to the plaintext of a container, from several threads.

use std::fmt;
use std::fs::File;
use std::io::{self, IoSliceMut, Read, Seek, SeekFrom};
use std::iter;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::parallel::{self, Run};
use crate::format::{Content, Head, Layout, Opened, Payload, SealedReader};
use crate::keys::Identities;
use crate::sys::{Os, System};
use crate::{Control, Error, ErrorKind};

/// A source that can be read at an offset through a shared reference: a file, memory, an object in a store.
pub trait ReadAt {
    /// Reads at `offset` and returns the number of bytes, which may be less than the length of `buffer`. 0 means the end.
    ///
    /// # Errors
    /// The errors of the source. `Interrupted` is retried.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Length of the source in bytes.
    ///
    /// # Errors
    /// The errors of the source.
    fn size_bytes(&self) -> io::Result<u64>;
}

/// A regular file. On Windows a read moves the file's position.
impl ReadAt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        Os.read_at(self, &mut [IoSliceMut::new(buffer)], offset)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(Os.status(self)?.size_bytes)
    }
}

/// A file as `Read` and `Seek`, read at offsets. After a fork, parent and child share the position of the file, not that of this reader.
#[derive(Debug)]
pub struct OffsetFile {
    file: File,
    position: u64,
}

impl OffsetFile {
    /// Opens a file.
    ///
    /// # Errors
    /// Those of the system. `Usage` for a stream: opening a FIFO would wait for its writer.
    pub fn open(path: &Path) -> Result<Self, Error> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileTypeExt as _;
            let kind = path.metadata()?.file_type();
            if kind.is_fifo() || kind.is_char_device() {
                return Err(Error::new(ErrorKind::Usage).with_detail("members and ranges need a file, not a stream"));
            }
        }
        Ok(File::open(path)?.into())
    }
}

impl From<File> for OffsetFile {
    /// Starts at the beginning of the file.
    fn from(file: File) -> Self {
        Self { file, position: 0 }
    }
}

impl From<OffsetFile> for File {
    fn from(file: OffsetFile) -> Self {
        file.file
    }
}

impl Read for OffsetFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read_at(buffer, self.position)?;
        self.position += bytes as u64;
        Ok(bytes)
    }
}

impl Seek for OffsetFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            // The status of a device has no length.
            SeekFrom::End(distance) => self.file.seek(SeekFrom::End(0))?.checked_add_signed(distance),
            SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
        };
        self.position = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl ReadAt for [u8] {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        self.get(offset..).unwrap_or_default().read(buffer)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

/// Implements [`ReadAt`] for pointers to a source.
macro_rules! leads_to_source {
    ($([$($generic:tt)*] $pointer:ty,)*) => {
        $(impl<$($generic)*> ReadAt for $pointer {
            fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
                (**self).read_at(buffer, offset)
            }

            fn size_bytes(&self) -> io::Result<u64> {
                (**self).size_bytes()
            }
        })*
    };
}

leads_to_source! {
    [] Vec<u8>,
    [T: ReadAt + ?Sized] &T,
    [T: ReadAt + ?Sized] Box<T>,
    [T: ReadAt + ?Sized] Arc<T>,
}

/// Reads ranges of the plaintext of a container, from several threads if `R` is `Sync`. Opening verifies the last chunk, and with it the
/// length. Every other chunk is verified before its bytes are returned. The plaintext of a tree is a tar stream.
///
/// A call runs on the calling thread, decrypts the chunks that it needs and caches none of them. Besides the result it takes up to
/// 513 KiB. An armored file is decoded into memory when it is opened. To read in order use [`Reader`](super::Reader), which reads ahead.
///
/// ```
/// use tress_container::keys::{Identities, KeyPair};
/// use tress_container::streaming::{RangeReader, encrypt_bytes};
/// use tress_container::commands::EncryptOptions;
///
/// let key = KeyPair::generate()?;
/// let container = encrypt_bytes(b"lanes side by side", &key.recipient().into(), &EncryptOptions::default())?;
///
/// let reader = RangeReader::open(container, &Identities::from(&key))?;
/// let mut side = [0; 4];
/// assert_eq!(reader.read_at(&mut side, 14)?, 4);
/// assert_eq!(&side, b"side");
/// assert_eq!(reader.read_ranges(&[11..13, 0..5])?, [&b"by"[..], b"lanes"]);
/// # Ok::<(), tress_container::Error>(())
/// ```
pub struct RangeReader<R> {
    source: R,
    /// The chunks of an armored file, which has no offsets.
    unarmored: Option<Vec<u8>>,
    content: Content,
    payload: Payload,
    chunks_offset: u64,
    plain_bytes: u64,
}

impl<R: ReadAt> RangeReader<R> {
    /// Opens the container that `source` consists of.
    ///
    /// # Errors
    /// The errors of [`Header::read`](crate::format::Header::read) and [`Header::open`](crate::format::Header::open); `Commitment`,
    /// `Truncated`, `ChunkDamaged`; `Io` of the source.
    pub fn open(source: R, identities: &Identities) -> Result<Self, Error> {
        let reader = Self::unverified(source, identities)?;
        reader.unseal(&[reader.last()], &mut Zeroizing::default())?;
        Ok(reader)
    }

    /// Opens the header. The length holds only when the last chunk was verified.
    pub(super) fn unverified(source: R, identities: &Identities) -> Result<Self, Error> {
        Self::with_length(source, identities, |layout, sealed_bytes| layout.plain_bytes(sealed_bytes))
    }

    /// Opens a container that may be cut anywhere behind its header, or damaged. Also returns the numbers of the chunks that are there and
    /// verify, as ranges.
    pub(crate) fn salvage(
        source: R,
        identities: &Identities,
        control: &Control,
    ) -> Result<(Self, Vec<Range<u64>>), Error> {
        let mut chunks = 0;
        let reader = Self::with_length(source, identities, |layout, sealed_bytes| {
            let whole = sealed_bytes / layout.sealed_chunk_bytes() as u64;
            let plain_bytes = layout.plain_bytes(sealed_bytes);
            chunks = plain_bytes.as_ref().map_or(whole, |&bytes| layout.chunks(bytes));
            Ok(plain_bytes.unwrap_or(layout.plain_offset(whole)))
        })?;
        control.set_total(chunks * reader.layout().sealed_chunk_bytes() as u64);
        let (mut good, mut buffer): (Vec<Range<u64>>, _) = (Vec::new(), Zeroizing::default());
        let mut first = 0;
        while first < chunks {
            if control.is_cancelled() {
                return Err(ErrorKind::Interrupted.into());
            }
            let end = chunks.min(first + reader.layout().batch_chunks());
            // In a batch with a bad chunk, each is tried alone.
            let is_good = reader.unseal(&(first..end).collect::<Vec<_>>(), &mut buffer).is_ok();
            for chunk in first..end {
                if is_good || reader.unseal(&[chunk], &mut buffer).is_ok() {
                    match good.last_mut().filter(|last| last.end == chunk) {
                        Some(last) => last.end = chunk + 1,
                        None => good.push(chunk..chunk + 1),
                    }
                }
            }
            control.add_done((end - first) * reader.layout().sealed_chunk_bytes() as u64);
            first = end;
        }
        Ok((reader, good))
    }

    fn with_length(
        source: R,
        identities: &Identities,
        plain_bytes: impl FnOnce(Layout, u64) -> Result<u64, Error>,
    ) -> Result<Self, Error> {
        let format = identities.format();
        let mut reader = SealedReader::new(OffsetReader { source: &source, offset: 0 }, format.is_none());
        let head = Head::read(&mut reader, format)?;
        // Before an armored file takes memory.
        let Opened { content, payload } = head.open(identities)?;
        let (mut chunks_offset, mut unarmored) = (head.chunks_offset, None);
        let chunks_bytes = if reader.is_armored() {
            let bytes = unarmored.insert(Vec::new());
            reader.read_to_end(bytes)?;
            chunks_offset = 0;
            bytes.len() as u64
        } else {
            source.size_bytes()?.saturating_sub(chunks_offset)
        };
        let plain_bytes = plain_bytes(payload.layout(), chunks_bytes)?;
        Ok(Self { source, unarmored, content, payload, chunks_offset, plain_bytes })
    }

    /// Reads at offset `at` until `buffer` is full or the plaintext ends, and returns the number of bytes.
    ///
    /// # Errors
    /// `ChunkDamaged`; `InputChanged` if the source got shorter; `Io` of the source. Then `buffer` may hold verified plaintext.
    pub fn read_at(&self, buffer: &mut [u8], at: u64) -> Result<usize, Error> {
        let end = self.plain_bytes.min(at.saturating_add(buffer.len() as u64));
        if at >= end {
            return Ok(0);
        }
        let mut filled = 0;
        self.for_each_chunk(iter::once(at..end), |start, plain| {
            let plain = overlap(&(at..end), start, plain);
            buffer[filled..filled + plain.len()].copy_from_slice(plain);
            filled += plain.len();
            Ok(())
        })?;
        Ok(filled)
    }

    /// Reads ranges in any order, which may overlap. A chunk that several ranges need is read once, and chunks of different ranges are
    /// decrypted in parallel lanes. Result n belongs to range n. The results take as much memory as the ranges together.
    ///
    /// # Errors
    /// `RangeOutOfBounds`, before anything is read; `Io` of kind `OutOfMemory` if the results do not fit into memory; the errors of
    /// [`read_at`](Self::read_at).
    pub fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, Error> {
        // They grow as chunks are verified: the claimed length of a sparse file takes no memory.
        let mut results = vec![Zeroizing::new(Vec::new()); ranges.len()];
        self.for_each_part(ranges, |number, part| {
            let most = usize::try_from(ranges[number].end - ranges[number].start).unwrap_or(usize::MAX);
            parallel::extend(&mut results[number], part, most)
        })?;
        Ok(results.iter_mut().map(|result| std::mem::take(&mut **result)).collect())
    }

    /// Reads ranges as [`read_ranges`](Self::read_ranges), range n into buffer n.
    ///
    /// # Errors
    /// Those of `read_ranges`. After others than `RangeOutOfBounds` the buffers may hold verified plaintext.
    ///
    /// # Panics
    /// If a range has no buffer of its length.
    pub fn read_ranges_into(&self, ranges: &[Range<u64>], buffers: &mut [&mut [u8]]) -> Result<(), Error> {
        let mut filled = vec![0; ranges.len()];
        self.for_each_part(ranges, |number, part| {
            buffers[number][filled[number]..][..part.len()].copy_from_slice(part);
            filled[number] += part.len();
            Ok(())
        })
    }

    /// Returns the ranges of the source that reading these ranges of the plaintext needs, sorted. Consecutive chunks are one range. An
    /// armored file, which is in memory, needs none.
    ///
    /// # Errors
    /// `RangeOutOfBounds`.
    pub fn sealed_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Range<u64>>, Error> {
        let layout = self.payload.layout();
        let mut runs: Vec<Range<u64>> = Vec::new();
        for number in self.in_order(ranges)? {
            let chunks = layout.covering(&ranges[number]);
            match runs.last_mut().filter(|run| chunks.start <= run.end) {
                Some(run) => run.end = run.end.max(chunks.end),
                None => runs.push(chunks),
            }
        }
        runs.retain(|_| self.unarmored.is_none());
        let sealed = |run: &Range<u64>| {
            let start = self.chunks_offset + layout.sealed_offset(run.start);
            start..start + layout.sealed_range_bytes(self.plain_bytes, run)
        };
        Ok(runs.iter().map(sealed).collect())
    }

    /// Returns the numbers of the ranges that are not empty, sorted by their start.
    fn in_order(&self, ranges: &[Range<u64>]) -> Result<Vec<usize>, Error> {
        if ranges.iter().any(|range| range.start > range.end || range.end > self.plain_bytes) {
            return Err(ErrorKind::RangeOutOfBounds.into());
        }
        let mut order: Vec<usize> = (0..ranges.len()).filter(|&number| !ranges[number].is_empty()).collect();
        order.sort_unstable_by_key(|&number| ranges[number].start);
        Ok(order)
    }

    /// Calls a function with the number of a range and its next bytes, in order for each range.
    fn for_each_part(
        &self,
        ranges: &[Range<u64>],
        mut give: impl FnMut(usize, &[u8]) -> io::Result<()>,
    ) -> Result<(), Error> {
        let order = self.in_order(ranges)?;
        let mut waiting = order.iter().copied().peekable();
        let mut active = Vec::new();
        self.for_each_chunk(order.iter().map(|&number| ranges[number].clone()), |start, plain| {
            let end = start + plain.len() as u64;
            active.extend(iter::from_fn(|| waiting.next_if(|&number| ranges[number].start < end)));
            for &number in &active {
                give(number, overlap(&ranges[number], start, plain))?;
            }
            active.retain(|&number: &usize| ranges[number].end > end);
            Ok(())
        })
    }

    /// Calls a function for every chunk that the ranges need, once and in order, with the offset of its plaintext. The ranges are sorted by
    /// their start, not empty and within the plaintext.
    fn for_each_chunk(
        &self,
        ranges: impl Iterator<Item = Range<u64>>,
        mut give: impl FnMut(u64, &[u8]) -> io::Result<()>,
    ) -> Result<(), Error> {
        let (layout, mut next) = (self.payload.layout(), 0);
        let mut numbers = ranges.flat_map(|range| {
            let chunks = layout.covering(&range);
            let first = next.max(chunks.start);
            next = next.max(chunks.end);
            first..next
        });
        let mut buffer = Zeroizing::default();
        loop {
            let batch: Vec<u64> = numbers.by_ref().take(layout.batch_chunks() as usize).collect();
            if batch.is_empty() {
                return Ok(());
            }
            self.unseal(&batch, &mut buffer)?;
            for (&number, plain) in batch.iter().zip(layout.plain_parts(&buffer)) {
                give(layout.plain_offset(number), plain)?;
            }
        }
    }

    /// Reads and decrypts these chunks into `buffer`, each before its tag. Their numbers increase.
    fn unseal(&self, numbers: &[u64], buffer: &mut Zeroizing<Vec<u8>>) -> Result<(), Error> {
        let layout = self.payload.layout();
        let runs: Vec<Range<u64>> =
            numbers.chunk_by(|number, next| number + 1 == *next).map(|run| run[0]..run[run.len() - 1] + 1).collect();
        let bytes: u64 = runs.iter().map(|run| layout.sealed_range_bytes(self.plain_bytes, run)).sum();
        // The first batch of a call is its largest: the buffer never grows, which would leave plaintext behind.
        buffer.resize(bytes as usize, 0);
        let mut rest = &mut buffer[..];
        for run in runs {
            let bytes = layout.sealed_range_bytes(self.plain_bytes, &run) as usize;
            self.read_sealed(&run, rest.split_off_mut(..bytes).expect("is cut where it ends at most"))?;
        }
        self.payload.unseal_numbered(numbers, self.last(), buffer)
    }

    /// Reads consecutive sealed chunks.
    fn read_sealed(&self, chunks: &Range<u64>, sealed: &mut [u8]) -> Result<(), Error> {
        let offset = self.chunks_offset + self.payload.layout().sealed_offset(chunks.start);
        let read = match &self.unarmored {
            Some(bytes) => OffsetReader { source: bytes, offset }.read_exact(sealed),
            None => OffsetReader { source: &self.source, offset }.read_exact(sealed),
        };
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => ErrorKind::InputChanged.into(),
            _ => Error::from(error),
        })
    }

    /// Loads consecutive chunks into `buffer`, each decrypted before its tag, and returns the range of their plaintext.
    pub(super) fn load(
        &self,
        chunks: Range<u64>,
        buffer: &mut Zeroizing<Vec<u8>>,
        threads: usize,
    ) -> Result<Range<u64>, Error> {
        let layout = self.payload.layout();
        let chunks = chunks.start..chunks.end.min(self.last() + 1);
        let bytes = layout.sealed_range_bytes(self.plain_bytes, &chunks) as usize;
        if buffer.capacity() < bytes {
            // Dropping the old buffer wipes it.
            *buffer = Zeroizing::new(Vec::with_capacity(bytes));
        }
        buffer.resize(bytes, 0);
        self.read_sealed(&chunks, buffer)?;
        let ends = chunks.end > self.last();
        Run { payload: &self.payload, first: chunks.start, ends, threads }.unseal_in_place(buffer)?;
        Ok(layout.plain_offset(chunks.start)..layout.plain_offset(chunks.end).min(self.plain_bytes))
    }
}

impl<R> RangeReader<R> {
    /// Number of the last chunk.
    pub(super) fn last(&self) -> u64 {
        self.payload.layout().chunks(self.plain_bytes) - 1
    }

    pub(crate) fn layout(&self) -> Layout {
        self.payload.layout()
    }

    pub(super) fn source_mut(&mut self) -> &mut R {
        &mut self.source
    }

    pub(super) fn into_source(self) -> R {
        self.source
    }

    /// Length of the plaintext in bytes.
    pub fn plain_bytes(&self) -> u64 {
        self.plain_bytes
    }

    /// The content of the header.
    pub fn content(&self) -> &Content {
        &self.content
    }
}

/// The part of `plain`, which begins at offset `start`, that is in the range.
fn overlap<'p>(range: &Range<u64>, start: u64, plain: &'p [u8]) -> &'p [u8] {
    let within = |place: u64| place.saturating_sub(start).min(plain.len() as u64) as usize;
    &plain[within(range.start)..within(range.end)]
}

/// Reads a source in order, from an offset on.
struct OffsetReader<'a, R> {
    source: &'a R,
    offset: u64,
}

impl<R: ReadAt> Read for OffsetReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.source.read_at(buffer, self.offset)?;
        self.offset += bytes as u64;
        Ok(bytes)
    }
}

impl<R> fmt::Debug for RangeReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RangeReader")
            .field("content", &self.content)
            .field("plain_bytes", &self.plain_bytes)
            .finish_non_exhaustive()
    }
}
