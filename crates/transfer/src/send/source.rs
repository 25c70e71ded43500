//! Reads a file's batches at the sender, and checks that it is still the file that was offered.

use std::io::{self, IoSliceMut, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use sha2::{Digest, Sha256};

use crate::send::opened::OpenInput;
use crate::wire::message::{IGNORES_CTIME, MAX_RANGES, Metadata, VersionId};
use crate::wire::ranges::Ranges;
use tress_container::commands::{Control, Source, encrypt_to_pipe};
use tress_container::format::{LAYOUT, fill_random};
use tress_container::keys::{Identities, Recipient};
use tress_container::pipeline::pipe::{PipeReader, pipe};
use tress_container::pipeline::{Batch, BatchSource, Direction};
use tress_container::streaming::Decryptor;
use tress_container::sys::{FileTime, Kind, Status, System};
use tress_container::{Error, ErrorKind, Threads};

/// An input, as a source of batches.
pub(crate) enum FileSource {
    /// A regular file. It is read at offsets, in any order, and again after a connection was lost.
    File { input: OpenInput, size_bytes: u64 },
    /// A stream, read once. Also a regular file whose status does not report its length, as those in /proc and /sys.
    Stream { batches: BatchSource<'static>, name: PathBuf, file: Option<Arc<OpenInput>> },
    /// The contents of small files.
    Pack { bytes: Vec<u8> },
}

impl FileSource {
    /// Wraps a file, FIFO, device or standard input. `control` ends a wait for a stream.
    pub(crate) fn new(input: OpenInput, control: &Arc<Control>) -> Self {
        match input.seekable_bytes() {
            Some(size_bytes) => Self::File { input, size_bytes },
            None => {
                let input = Arc::new(input);
                let reader = OwnedReader { input: input.clone(), control: control.clone(), offset: 0 };
                Self::stream(BatchSource::stream(reader, LAYOUT, input.name()), input)
            }
        }
    }

    fn stream(batches: BatchSource<'static>, input: Arc<OpenInput>) -> Self {
        let is_file = !input.is_stdin && input.status().kind == Kind::Regular;
        Self::Stream { batches, name: input.name().to_path_buf(), file: is_file.then_some(input) }
    }

    /// Wraps an input as a container. An input that is a container or an age file is sent unchanged; any other input is encrypted to
    /// `recipient` while it is read. Then it is a stream under a new key, which cannot be resumed. Returns whether it is encrypted here.
    pub(crate) fn sealed(
        input: OpenInput,
        recipient: Recipient,
        control: &Arc<Control>,
    ) -> Result<(Self, bool), Error> {
        let name = input.name().to_path_buf();
        let (head, is_encrypted) = head_of(&input, control)
            .map_err(|error| error.downcast::<Error>().unwrap_or_else(|error| Error::from(error).at(&name)))?;
        if is_encrypted && input.seekable_bytes().is_some() {
            return Ok((Self::new(input, control), false));
        }
        let (input, offset) = (Arc::new(input), head.len() as u64);
        let reader = OwnedReader { input: input.clone(), control: control.clone(), offset };
        let reader = io::Cursor::new(head).chain(reader);
        let batches = if is_encrypted {
            BatchSource::stream(reader, LAYOUT, &name)
        } else {
            let (writer, pipe) = pipe();
            let (read, control) = (input.clone(), control.clone());
            let thread = start_alone(move || {
                encrypt_to_pipe(reader, read.name(), &recipient.into(), writer, &control)?;
                read.check_unchanged()
            })
            .map_err(|error| error.at(&name))?;
            BatchSource::stream(SealedReader { pipe, thread: Some(thread) }, LAYOUT, &name)
        };
        Ok((Self::stream(batches, input), !is_encrypted))
    }

    /// `None` for a stream.
    pub(crate) fn size_bytes(&self) -> Option<u64> {
        match self {
            Self::File { size_bytes, .. } => Some(*size_bytes),
            Self::Pack { bytes } => Some(bytes.len() as u64),
            Self::Stream { .. } => None,
        }
    }

    pub(crate) fn name(&self) -> &Path {
        match self {
            Self::File { input, .. } => input.name(),
            Self::Stream { name, .. } => name,
            Self::Pack { .. } => Path::new("pack"),
        }
    }

    /// The chunks of a file that are in holes, at most [`MAX_RANGES`] ranges of them. The last chunk, which has another length, is sent.
    pub(crate) fn holes(&self, system: &dyn System) -> Vec<Range<u64>> {
        let Self::File { input, size_bytes } = self else { return Vec::new() };
        // After an error the holes are sent, too. A read reports it if it stays.
        let segments = system.segments(input.file(), *size_bytes).ok().flatten();
        let mut data = Ranges::new();
        let whole = 0..*size_bytes;
        let parts = segments.as_deref().unwrap_or(std::slice::from_ref(&whole));
        parts.iter().for_each(|part| data.insert(LAYOUT.covering(part)));
        data.gaps(LAYOUT.chunks(*size_bytes) - 1).iter().take(MAX_RANGES).collect()
    }

    /// Identifies this version of the input; random for a stream, which is never the same twice.
    pub(crate) fn identity(&self, ignores_ctime: bool) -> Result<VersionId, Error> {
        match self.file() {
            Some(input) => Ok(version_of(input.status(), ignores_ctime)),
            None => {
                let mut identity = [0; 32];
                fill_random(&mut identity)?;
                Ok(identity)
            }
        }
    }

    pub(crate) fn metadata(&self) -> Metadata {
        self.file().map_or(Metadata::default(), |input| metadata_of(input.status()))
    }

    /// Returns `InputChanged` if the file has changed since it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        self.file().map_or(Ok(()), |input| input.check_unchanged())
    }

    /// The input, if it is a regular file.
    fn file(&self) -> Option<&OpenInput> {
        match self {
            Self::File { input, .. } => Some(input),
            Self::Stream { file, .. } => file.as_deref(),
            Self::Pack { .. } => None,
        }
    }

    /// Reads these chunks of a file, at most a batch. After the read it checks that the file is still the offered version.
    pub(crate) fn read(&self, chunks: &Range<u64>, batch: &mut Batch) -> Result<(), Error> {
        let Some(size_bytes) = self.size_bytes() else {
            return Err(Error::new(ErrorKind::Io(io::ErrorKind::Unsupported)).at(self.name()));
        };
        let sealed_bytes = LAYOUT.sealed_range_bytes(size_bytes, chunks) as usize;
        batch.hold(chunks.start, sealed_bytes, chunks.end == LAYOUT.chunks(size_bytes));
        let offset = batch.plain_offset();
        let mut slices: Vec<IoSliceMut<'_>> = batch.plain_mut();
        match self {
            Self::File { input, .. } => {
                input.read_exact_at(&mut slices, offset)?;
                input.check_unchanged()
            }
            Self::Pack { bytes } => {
                let mut rest = &bytes[offset as usize..];
                for slice in &mut slices {
                    let count = slice.len();
                    slice.copy_from_slice(rest.split_off(..count).unwrap_or_default());
                }
                Ok(())
            }
            Self::Stream { .. } => Ok(()),
        }
    }

    /// Reads the next batch of a stream. Returns `false` at its end.
    pub(crate) fn read_next(&self, batch: &mut Batch) -> Result<bool, Error> {
        match self {
            Self::File { .. } | Self::Pack { .. } => Ok(false),
            Self::Stream { batches, .. } => {
                batches.take(Direction::Seal, batch).map(|taken| taken.is_some()).map_err(|(_, error)| error)
            }
        }
    }
}

/// Identifies the version of a regular file with this status.
pub(crate) fn version_of(status: &Status, ignores_ctime: bool) -> VersionId {
    let (size, modified, changed) =
        (status.size_bytes.to_be_bytes(), status.modified_ns.to_be_bytes(), status.changed_ns.to_be_bytes());
    let inode = status.identity.map_or(0, |(_, inode)| inode).to_be_bytes();
    let hash = |parts: &[&[u8]]| Sha256::digest(parts.concat());
    let mut version = [0; 32];
    version[..16].copy_from_slice(&hash(&[b"tress/v1 input\n", &size, &modified, &changed, &inode])[..16]);
    version[0] = version[0] & !IGNORES_CTIME | if ignores_ctime { IGNORES_CTIME } else { 0 };
    version[16..].copy_from_slice(&hash(&[b"tress/v2 input\n", &size, &modified, &inode])[..16]);
    version
}

/// Mode and time of a file or folder with this status.
pub(crate) fn metadata_of(status: &Status) -> Metadata {
    const SECOND_NS: i128 = 1_000_000_000;
    let seconds = i64::try_from(status.modified_ns.div_euclid(SECOND_NS)).ok();
    let nanoseconds = status.modified_ns.rem_euclid(SECOND_NS) as u32;
    Metadata {
        mode: status.owner.map(|(mode, _, _)| mode as u16 & 0o777),
        modified: seconds.map(|seconds| FileTime { seconds, nanoseconds }),
    }
}

/// The first bytes of an input, and whether they are a container's or an age file's header: a text may begin like one.
fn head_of(input: &OpenInput, control: &Control) -> io::Result<(Vec<u8>, bool)> {
    // Without an identity, it fails as soon as it has the header.
    let mut header = Decryptor::new(&Identities::default(), Threads::from(1));
    let (mut head, mut block) = (Vec::new(), [0; 4096]);
    loop {
        let bytes = input.read(control, head.len() as u64, &mut [IoSliceMut::new(&mut block)])?;
        head.extend_from_slice(&block[..bytes]);
        match header.push(&block[..bytes], &mut Vec::new()) {
            Ok(()) if bytes > 0 => {}
            // The header of a short file is read at its end.
            pushed => {
                let error = pushed.and_then(|()| header.finish(&mut Vec::new())).err();
                return Ok((head, error.is_some_and(|error| error.kind == ErrorKind::NoMatchingKey)));
            }
        }
    }
}

/// A reader that owns its input.
struct OwnedReader {
    input: Arc<OpenInput>,
    control: Arc<Control>,
    offset: u64,
}

impl Read for OwnedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_vectored(&mut [IoSliceMut::new(buffer)])
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        // Standard input may be a file, which is read at an offset.
        let bytes = self.input.read(&self.control, self.offset, buffers)?;
        self.offset += bytes as u64;
        Ok(bytes)
    }
}

/// Starts a thread that may outlive its caller, or returns [`ErrorKind::NoThread`].
fn start_alone<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<thread::JoinHandle<T>, Error> {
    #[cfg(test)]
    if tress_container::threads::LEFT.get() == 0 {
        return Err(Error::new(ErrorKind::NoThread));
    }
    thread::Builder::new().spawn(work).map_err(|_| Error::new(ErrorKind::NoThread))
}

/// Reads the container into which a thread encrypts an input.
struct SealedReader {
    pipe: PipeReader,
    thread: Option<thread::JoinHandle<Result<(), Error>>>,
}

impl Read for SealedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.pipe.read(buffer);
        // At the end of the pipe, the thread's result says whether there was an error.
        if !matches!(read, Ok(1..))
            && !buffer.is_empty()
            && let Some(thread) = self.thread.take()
        {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(io::Error::other)?;
        }
        read
    }
}

/// Whether a source is a folder.
pub(crate) fn is_folder(system: &dyn System, source: &Source) -> Result<bool, Error> {
    match source {
        Source::Stdin => Ok(false),
        Source::Path(path) => {
            let status = system.status_of(path).map_err(|error| Error::from(error).at(path))?;
            Ok(status.kind == Kind::Folder)
        }
    }
}
