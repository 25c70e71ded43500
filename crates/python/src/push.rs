//! Containers as streams: the caller pushes pieces of the input, and each call returns output.

use std::io;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tress_container::{Error, ErrorKind, streaming};
use tress_lanes::fork::ForkMutex;
use zeroize::Zeroizing;

use crate::container::options;
use crate::memory::InputBuffer;
use crate::{arguments, errors, keys, reader, work};

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

impl<T> PushState<T> {
    fn push(
        &mut self,
        piece: &[u8],
        push: impl Fn(&mut T, &[u8], &mut Vec<u8>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        push(self.inner.as_mut().ok_or_else(already_ended)?, piece, &mut self.output)
    }
}

/// An encryptor or decryptor that one thread at a time may use.
pub(crate) struct PushStream<T>(ForkMutex<PushState<T>>);

impl<T: Send> PushStream<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self(ForkMutex::new(PushState { inner: Some(inner), output: Zeroizing::default() }))
    }

    /// Pushes all of `data` and returns the output. `is_quick` tells whether few bytes take little time.
    fn update<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        push: impl Fn(&mut T, &[u8], &mut Vec<u8>) -> Result<(), Error> + Sync,
        is_quick: impl Fn(&T) -> bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = data.py();
        let data = InputBuffer::of(data)?;
        let bytes = data.as_slice();
        // Whoever has the lock may need that of the interpreter, so waiting for it is work for a thread without.
        let quick = self
            .0
            .try_lock()
            .ok()
            .filter(|state| bytes.len() <= work::QUICK_BYTES && state.inner.as_ref().is_some_and(is_quick));
        let pushed = match quick {
            Some(mut state) => state.push(bytes, &push).map(|()| std::mem::take(&mut state.output)).map_err(Into::into),
            None => py.detach(|| self.push_all(bytes, &push)),
        };
        self.take_output(py, pushed.map_err(|error| errors::io(py, error))?)
    }

    /// Pushes all bytes, without another call between them, and takes the output. Signals are checked from time to time.
    fn push_all(
        &self,
        mut bytes: &[u8],
        push: impl Fn(&mut T, &[u8], &mut Vec<u8>) -> Result<(), Error>,
    ) -> io::Result<Zeroizing<Vec<u8>>> {
        let mut state = reader::lock(&self.0)?;
        loop {
            // Empty data is pushed, too: the call must fail after `finalize`.
            let piece = bytes.split_off(..bytes.len().min(PIECE_BYTES)).unwrap_or_default();
            state.push(piece, &push)?;
            if bytes.is_empty() {
                return Ok(std::mem::take(&mut state.output));
            }
            if let Err(raised) = Python::attach(|py| py.check_signals()) {
                // The output so far is lost, so the rest would be useless.
                state.inner = None;
                return Err(raised.into());
            }
        }
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
        if result.is_err() {
            // There is no memory, the output is lost, and the rest would be useless.
            let _ = py.detach(|| self.with(|state| state.inner = None));
        } else if let Ok(mut state) = self.0.try_lock()
            && state.output.capacity() == 0
            && output.capacity() <= KEPT_BYTES
        {
            state.output = output;
        }
        result
    }

    pub(crate) fn with<R>(&self, call: impl FnOnce(&mut PushState<T>) -> R) -> Result<R, Error> {
        Ok(call(&mut *reader::lock(&self.0)?))
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
        self.0.update(data, streaming::Encryptor::push, |_| true)
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
        // The bytes that end the header take as long as its passphrase or plugin.
        self.pushed.update(data, streaming::Decryptor::push, |decryptor| decryptor.content().is_some())
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
    fn name(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.content())?.0
    }

    /// `file`, or `tree` for a tar archive (see `decrypt`); `None` until the header was read.
    #[getter]
    fn content_type(&self, py: Python<'_>) -> Option<&'static str> {
        Some(py.detach(|| self.content())?.1)
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
