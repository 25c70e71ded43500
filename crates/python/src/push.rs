//! Containers as streams: the caller pushes pieces of the input, and each call returns output.

use std::sync::TryLockError;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tress_container::{Error, ErrorKind, streaming};
use tress_lanes::fork::ForkMutex;
use zeroize::Zeroizing;

use crate::container::options;
use crate::memory::InputBuffer;
use crate::reader::LOST_IN_FORK;
use crate::{arguments, errors, keys, work};

/// Number of input bytes between two checks for signals.
const PIECE_BYTES: usize = 32 << 20;
/// Largest capacity of an output buffer that is kept for the next call.
const KEPT_BYTES: usize = 8 << 20;

/// An encryptor or decryptor, and its output.
pub(crate) struct PushState<T> {
    /// `None` after `finalize`, and after an exception of a signal.
    pub(crate) inner: Option<T>,
    /// Output that was not returned yet; it may be plaintext.
    output: Zeroizing<Vec<u8>>,
}

/// An encryptor or decryptor that one thread at a time may use.
pub(crate) struct PushStream<T>(ForkMutex<PushState<T>>);

impl<T: Send> PushStream<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self(ForkMutex::new(PushState { inner: Some(inner), output: Zeroizing::default() }))
    }

    /// Pushes all of `data` and returns the output.
    fn update<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        push: impl Fn(&mut T, &[u8], &mut Vec<u8>) -> Result<(), Error> + Sync,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = data.py();
        let data = InputBuffer::of(data)?;
        let bytes = data.as_slice();
        // Empty data is pushed, too: the call must fail after `finalize`.
        let mut rest = bytes;
        loop {
            let piece = rest.split_off(..rest.len().min(PIECE_BYTES)).unwrap_or_default();
            let is_last = rest.is_empty();
            // With few bytes the work runs under the interpreter lock. It cannot deadlock: `push` never needs that lock.
            let pushed = work::run_detached(py, piece.len(), || self.push(piece, is_last, &push));
            let output = pushed.map_err(|error| errors::container(py, error))?;
            if is_last {
                return self.take_output(py, output);
            }
            if let Err(raised) = py.check_signals() {
                // The output so far is lost, so the rest would be useless.
                let _ = self.with(|state| state.inner = None);
                return Err(raised);
            }
        }
    }

    /// Pushes a piece. After the last piece of a call, takes all output.
    fn push(
        &self,
        piece: &[u8],
        is_last: bool,
        push: impl Fn(&mut T, &[u8], &mut Vec<u8>) -> Result<(), Error>,
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.with(|PushState { inner, output }| {
            push(inner.as_mut().ok_or_else(already_ended)?, piece, output)?;
            Ok(if is_last { std::mem::take(output) } else { Zeroizing::default() })
        })?
    }

    /// Ends the stream and returns the rest of the output. `failed` converts an error.
    pub(crate) fn finalize<'py>(
        &self,
        py: Python<'py>,
        finish: impl FnOnce(T, &mut Vec<u8>) -> Result<(), Error> + Send,
        failed: fn(Python<'_>, Error) -> PyErr,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let finished = py.detach(|| {
            self.with(|PushState { inner, output }| {
                finish(inner.take().ok_or_else(already_ended)?, output)?;
                Ok(std::mem::take(output))
            })?
        });
        self.take_output(py, finished.map_err(|error| failed(py, error))?)
    }

    /// Copies the output to an object, and keeps its buffer for the next call.
    fn take_output<'py>(&self, py: Python<'py>, mut output: Zeroizing<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
        let result = PyBytes::new_with(py, output.len(), |bytes| {
            bytes.copy_from_slice(&output);
            Ok(())
        });
        output.clear();
        let _ = self.with(|state| {
            if result.is_err() {
                // There is no memory, the output is lost, and the rest would be useless.
                state.inner = None;
            }
            if state.output.capacity() == 0 && output.capacity() <= KEPT_BYTES {
                state.output = output;
            }
        });
        result
    }

    pub(crate) fn with<R>(&self, call: impl FnOnce(&mut PushState<T>) -> R) -> Result<R, Error> {
        match self.0.lock() {
            Ok(mut state) => Ok(call(&mut state)),
            Err(TryLockError::Poisoned(state)) => Ok(call(&mut state.into_inner())),
            Err(TryLockError::WouldBlock) => Err(Error::new(ErrorKind::Usage).with_detail(LOST_IN_FORK)),
        }
    }
}

pub(crate) fn already_ended() -> Error {
    Error::new(ErrorKind::Usage).with_detail("finalize() was called before, or an earlier call failed")
}

/// Encrypts a stream into a container, piece by piece, with memory for one batch.
///
/// It belongs to the process that created it. After a fork, two processes would encrypt under one key and nonce, so the other
/// process gets `Usage`.
#[pyclass(frozen, module = "tress")]
pub(crate) struct Encryptor(PushStream<streaming::Encryptor>);

#[pymethods]
impl Encryptor {
    #[new]
    #[pyo3(signature = (recipients, *, aead = None, threads = 1, name = None, format = "tress"))]
    fn new(
        py: Python<'_>,
        recipients: &Bound<'_, PyAny>,
        aead: Option<&str>,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
        name: Option<String>,
        format: &str,
    ) -> PyResult<Self> {
        let recipients = keys::recipients(recipients)?;
        let options = options(py, format, aead, threads, name)?;
        // Deriving a key from a passphrase takes about a second.
        py.detach(move || streaming::Encryptor::new(&recipients, &options))
            .map(|encryptor| Self(PushStream::new(encryptor)))
            .map_err(|error| errors::container(py, error))
    }

    /// Encrypts the next bytes of the plaintext and returns the finished part of the container.
    fn update<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.update(data, streaming::Encryptor::push)
    }

    /// Returns the rest of the container. Without it the container is truncated.
    fn finalize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.finalize(py, streaming::Encryptor::finish, errors::container)
    }
}

/// Verifies and decrypts a container as a stream, piece by piece, with memory for one batch.
#[pyclass(frozen, module = "tress")]
pub(crate) struct Decryptor {
    pushed: PushStream<streaming::Decryptor>,
    /// Name and type of the content, for use after `finalize`.
    kept: ForkMutex<Option<(Option<String>, &'static str)>>,
}

#[pymethods]
impl Decryptor {
    #[new]
    #[pyo3(signature = (identities, *, threads = 1))]
    fn new(identities: &Bound<'_, PyAny>, #[pyo3(from_py_with = arguments::threads)] threads: usize) -> PyResult<Self> {
        let decryptor = streaming::Decryptor::new(&keys::identities(identities)?, threads.into());
        Ok(Self { pushed: PushStream::new(decryptor), kept: ForkMutex::new(None) })
    }

    /// Decrypts the next bytes of the container and returns verified plaintext.
    fn update<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        self.pushed.update(data, streaming::Decryptor::push)
    }

    /// Returns the rest of the plaintext. Raises `Damaged` if the container is truncated.
    fn finalize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let finish = |mut decryptor: streaming::Decryptor, plain: &mut Vec<u8>| {
            let finished = decryptor.try_finish(plain);
            if let Ok(mut kept) = self.kept.lock() {
                *kept = content(&decryptor);
            }
            finished
        };
        self.pushed.finalize(py, finish, errors::container)
    }

    /// The name in the container, or `None`, also until the header was read. It comes from whoever made the container, and contains
    /// no path.
    #[getter]
    fn name(&self) -> Option<String> {
        self.content()?.0
    }

    /// `file`, or `tree` for a tar archive (see `decrypt`); `None` until the header was read.
    #[getter]
    fn content_type(&self) -> Option<&'static str> {
        Some(self.content()?.1)
    }
}

impl Decryptor {
    fn content(&self) -> Option<(Option<String>, &'static str)> {
        let now = self.pushed.with(|state| content(state.inner.as_ref()?)).ok().flatten();
        now.or_else(|| self.kept.lock().ok()?.clone())
    }
}

/// Returns name and type of the content, once the header was read.
fn content(decryptor: &streaming::Decryptor) -> Option<(Option<String>, &'static str)> {
    decryptor.content().map(|content| (content.name().map(str::to_owned), content.content_type().name()))
}
