//! The plaintext of a container as a seekable file, for `tress.open`.

use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{Deref, DerefMut, Range};
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, TryLockError};

use pyo3::exceptions::{PyBlockingIOError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tress_container::streaming::{self, OffsetFile};
use tress_container::{Error, ErrorKind};
use tress_lanes::fork::ForkMutex;

use crate::memory::{InputBuffer, NewBytes, OutputBuffer};
use crate::{arguments, errors, keys};

/// Why an object can not be used in this process.
pub(crate) const LOST_IN_FORK: &str = "another thread used this object when the process was forked";
/// Why an object can not be used any more.
pub(crate) const CLOSED: &str = "I/O operation on closed file";

/// The container that a reader reads.
pub(crate) enum ContainerSource {
    /// A file. It is opened again when it is read after [`Reader::release`].
    File { path: PathBuf, file: Option<OffsetFile> },
    /// A Python file object, which is called with the interpreter lock held.
    Object(Py<PyAny>),
}

/// The raw reader of `tress.open`.
#[pyclass(frozen, module = "tress._tress")]
pub(crate) struct Reader(ForkMutex<Option<streaming::Reader<ContainerSource>>>);

#[pymethods]
impl Reader {
    /// Opens a path, or a file object with `read` and `seek`.
    #[new]
    #[pyo3(signature = (source, identities, *, threads = 0))]
    fn new(
        source: &Bound<'_, PyAny>,
        identities: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
    ) -> PyResult<Self> {
        let identities = keys::identities(identities)?;
        let open = |source| streaming::Reader::open(source, &identities, threads.into());
        ContainerSource::open(source, open).map(|reader| Self(ForkMutex::new(Some(reader))))
    }

    /// Reads verified bytes into a buffer and returns their number; 0 at the end.
    fn readinto(&self, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut output = OutputBuffer::of(buffer)?;
        let bytes = output.as_mut_slice();
        self.with(buffer.py(), |reader| reader.read(bytes))
    }

    /// Reads ranges `(start, end)` of the plaintext without the position: each chunk once, those of different ranges side by side in lanes.
    /// Range n is result n.
    fn read_ranges<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::ranges)] ranges: Vec<Range<u64>>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        // Checks the ranges before their memory is allocated.
        self.with(py, |reader| Ok(reader.ranges().sealed_ranges(&ranges)?))?;
        // On 32 bits, a length that does not fit is an `OverflowError` too.
        let bytes = |range: &Range<u64>| usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let results = ranges.iter().map(|range| NewBytes::new(py, bytes(range)));
        let mut results = results.collect::<PyResult<Vec<_>>>()?;
        let mut buffers: Vec<_> = results.iter_mut().map(|result| result.space().zeros()).collect();
        self.with(py, |reader| Ok(reader.ranges().read_ranges_into(&ranges, &mut buffers)?))?;
        Ok(results.into_iter().map(NewBytes::finish).collect())
    }

    /// Returns the ranges `(start, end)` of the container that `read_ranges` reads, sorted; none of an armored file.
    fn sealed_ranges(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::ranges)] ranges: Vec<Range<u64>>,
    ) -> PyResult<Vec<(u64, u64)>> {
        let found = self.with(py, |reader| Ok(reader.ranges().sealed_ranges(&ranges)?))?;
        Ok(found.into_iter().map(|range| (range.start, range.end)).collect())
    }

    /// Sets the position, as `io.IOBase.seek`, and returns it.
    #[pyo3(signature = (offset, whence = 0))]
    fn seek(&self, py: Python<'_>, offset: i64, whence: i32) -> PyResult<u64> {
        let negative = || PyValueError::new_err("negative seek position");
        let to = match whence {
            0 => SeekFrom::Start(offset.try_into().map_err(|_| negative())?),
            1 => SeekFrom::Current(offset),
            2 => SeekFrom::End(offset),
            _ => return Err(errors::usage(py, "whence must be 0, 1 or 2")),
        };
        self.with(py, |reader| match reader.seek(to) {
            // A negative position is the only error of `seek`.
            Err(_) => Ok(None),
            Ok(place) => Ok(Some(place)),
        })?
        .ok_or_else(negative)
    }

    /// Returns the position.
    fn tell(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |reader| reader.stream_position())
    }

    /// Length of the plaintext in bytes.
    #[getter]
    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |reader| Ok(reader.plain_bytes()))
    }

    /// The name in the container, or `None`. It comes from whoever made the container, and contains no path.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |reader| Ok(reader.content().name().map(str::to_owned)))
    }

    /// `file`, or `tree` for a tar archive (see `decrypt`).
    #[getter]
    fn content_type(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.with(py, |reader| Ok(reader.content().content_type().name()))
    }

    /// Closes the file of a path until the next read. Keys and cached plaintext stay.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |reader| {
            if let ContainerSource::File { file, .. } = reader.source_mut() {
                *file = None;
            }
            Ok(())
        })
    }

    /// Closes the reader and wipes its keys and cached plaintext.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| closed(lock(&self.0).map(|mut reader| drop(reader.take()))))
            .map_err(|error| errors::container(py, error))
    }
}

impl Reader {
    /// Runs one call at a time. The interpreter lock is released while waiting, because the source may need it.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut streaming::Reader<ContainerSource>) -> io::Result<T> + Send,
    ) -> PyResult<T> {
        let result = py.detach(|| {
            let mut reader = lock(&self.0)?;
            reader.as_mut().map(call).transpose()
        });
        result.map_err(|error| errors::io(py, error))?.ok_or_else(|| PyValueError::new_err(CLOSED))
    }
}

thread_local! {
    /// The addresses of the locks that this thread holds.
    static HELD: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// A lock that is held.
pub(crate) struct Locked<'a, T>(MutexGuard<'a, T>);

impl<T> Drop for Locked<'_, T> {
    fn drop(&mut self) {
        HELD.with_borrow_mut(|held| held.pop());
    }
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// Waits for a lock.
///
/// # Errors
/// `Usage` in a forked process if another thread held the lock; also if this thread holds it: a source, or a handler of signals, calls the
/// object that is working.
pub(crate) fn lock<T>(mutex: &ForkMutex<T>) -> Result<Locked<'_, T>, Error> {
    let address = std::ptr::from_ref(mutex).addr();
    if HELD.with_borrow(|held| held.contains(&address)) {
        return Err(Error::new(ErrorKind::Usage).with_detail("called by its own source or by a signal handler"));
    }
    let guard = match mutex.lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
        Err(TryLockError::WouldBlock) => return Err(Error::new(ErrorKind::Usage).with_detail(LOST_IN_FORK)),
    };
    HELD.with_borrow_mut(|held| held.push(address));
    Ok(Locked(guard))
}

/// The result of closing. In a forked process it does nothing where a thread of the parent uses the object.
pub(crate) fn closed(closed: Result<(), Error>) -> Result<(), Error> {
    closed.or_else(|error| if error.to_string().ends_with(LOST_IN_FORK) { Ok(()) } else { Err(error) })
}

impl ContainerSource {
    /// Calls `open` with the source that a path, or a file object with `read` and `seek`, is. The interpreter lock is released.
    pub(crate) fn open<T: Send>(
        source: &Bound<'_, PyAny>,
        open: impl FnOnce(Self) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let py = source.py();
        let opened = if source.hasattr("read")? {
            let source = Self::Object(source.clone().unbind());
            py.detach(move || open(source))
        } else {
            let path: PathBuf = arguments::path(source)?;
            py.detach(move || {
                let at = |error: Error| error.at(&path);
                let file = Some(OffsetFile::open(&path).map_err(at)?);
                open(Self::File { path: path.clone(), file }).map_err(at)
            })
        };
        opened.map_err(|error| errors::container(py, error))
    }
}

/// Opens a file unless it is open.
fn opened<'a>(path: &Path, file: &'a mut Option<OffsetFile>) -> io::Result<&'a mut OffsetFile> {
    Ok(match file {
        Some(file) => file,
        None => file.insert(OffsetFile::open(path)?),
    })
}

impl Read for ContainerSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File { path, file } => opened(path, file)?.read(buffer),
            Self::Object(object) => Python::attach(|py| {
                let read = object.bind(py).call_method1("read", (buffer.len(),))?;
                if read.is_none() {
                    return Err(PyBlockingIOError::new_err("the source is non-blocking and has no data yet"));
                }
                let read = InputBuffer::of(&read)?;
                let bytes = read.as_slice();
                let place = buffer.get_mut(..bytes.len());
                let place = place.ok_or_else(|| PyValueError::new_err("read() returned more bytes than requested"))?;
                place.copy_from_slice(bytes);
                Ok(bytes.len())
            })
            .map_err(io::Error::other),
        }
    }
}

impl Seek for ContainerSource {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File { path, file } => opened(path, file)?.seek(to),
            Self::Object(object) => Python::attach(|py| {
                let object = object.bind(py);
                let place = match to {
                    SeekFrom::Start(place) => object.call_method1("seek", (place, 0)),
                    SeekFrom::Current(distance) => object.call_method1("seek", (distance, 1)),
                    SeekFrom::End(distance) => object.call_method1("seek", (distance, 2)),
                }?;
                // `seek` of some file objects returns nothing.
                if place.is_none() { object.call_method0("tell")?.extract() } else { place.extract() }
            })
            .map_err(io::Error::other),
        }
    }
}
