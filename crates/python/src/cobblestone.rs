//! Cobblestone files with the interface of PyCA cryptography's module `cobblestone`: each call returns every chunk that is complete.

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tress_container::commands::EncryptOptions;
use tress_container::format::{CobblestoneKey, Format};
use tress_container::streaming::{Decryptor, Encryptor};
use tress_container::{Error, ErrorKind};

use crate::errors::{self, ExceptionClass};
use crate::memory::{InputBuffer, NewBytes, OutputBuffer};
use crate::push::{PushStream, already_ended};
use crate::work::run_detached;
use crate::{arguments, keys};

type PushInto<T> = fn(&mut T, &[u8], &mut [u8]) -> Result<usize, Error>;

/// An encryptor or decryptor, and its methods.
struct ChunkStream<T> {
    stream: PushStream<T>,
    ready_bytes: fn(&T, usize) -> usize,
    push_into: PushInto<T>,
    finish: fn(T, &mut Vec<u8>) -> Result<(), Error>,
}

impl<T: Send> ChunkStream<T> {
    fn update<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = data.py();
        let data = InputBuffer::of(data)?;
        let bytes = data.as_slice();
        loop {
            let ready = self.with(|stream| Ok((self.ready_bytes)(stream, bytes.len())));
            let ready = ready.map_err(|error| failed(py, error))?;
            let mut output = NewBytes::new(py, ready)?;
            let space = output.space();
            let pushed = run_detached(py, bytes.len(), || {
                self.with(|stream| match (self.ready_bytes)(stream, bytes.len()) == ready {
                    true => (self.push_into)(stream, bytes, space.zeros()).map(|_| true),
                    // Another thread was faster.
                    false => Ok(false),
                })
            });
            if pushed.map_err(|error| failed(py, error))? {
                return Ok(output.finish());
            }
        }
    }

    fn update_into(&self, data: &Bound<'_, PyAny>, buf: &Bound<'_, PyAny>) -> PyResult<usize> {
        let py = data.py();
        let data = InputBuffer::of(data)?;
        let bytes = data.as_slice();
        let mut output = OutputBuffer::of(buf).map_err(|error| match error.is_instance_of::<PyBufferError>(py) {
            true => PyTypeError::new_err("buf must be a writable contiguous buffer"),
            false => error,
        })?;
        if output.overlaps(bytes) {
            return Err(errors::usage(py, "buf and data overlap"));
        }
        let space = output.as_mut_slice();
        let pushed = run_detached(py, bytes.len(), || self.with(|stream| (self.push_into)(stream, bytes, space)));
        pushed.map_err(|error| failed(py, error))
    }

    fn finalize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.stream.finalize(py, self.finish, failed)
    }

    fn with<R>(&self, call: impl FnOnce(&mut T) -> Result<R, Error>) -> Result<R, Error> {
        self.stream.with(|state| call(state.inner.as_mut().ok_or_else(already_ended)?))?
    }
}

fn encryptor(key: CobblestoneKey, threads: usize) -> Result<Encryptor, Error> {
    Encryptor::new(&key.into(), &EncryptOptions::default().threads(threads)).map(Encryptor::by_chunk)
}

fn decryptor(key: CobblestoneKey, threads: usize) -> Result<Decryptor, Error> {
    Ok(Decryptor::by_chunk(key, threads.into()))
}

/// Converts an error: PyCA's exception for all damage is `InvalidTag`.
fn failed(py: Python<'_>, error: Error) -> PyErr {
    let class = match error.kind {
        ErrorKind::Commitment | ErrorKind::ChunkDamaged { .. } | ErrorKind::Truncated => ExceptionClass::InvalidTag,
        _ => return errors::container(py, error),
    };
    class.error(py, &error.to_string(), &errors::kind_name(&error.kind))
}

/// Makes a class. `$new` makes its stream of a key and a number of threads. Encryptors of PyCA have a method to generate keys.
macro_rules! class {
    ($name:ident, $stream:ident, $format:ident, $new:ident, $doc:literal $(, $key_bytes:literal)?) => {
        #[doc = $doc]
        #[pyclass(frozen, module = "tress")]
        pub(crate) struct $name(ChunkStream<$stream>);

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = (key, context, *, threads = 0))]
            fn new(
                key: &Bound<'_, PyAny>,
                context: &Bound<'_, PyAny>,
                #[pyo3(from_py_with = arguments::threads)] threads: usize,
            ) -> PyResult<Self> {
                let made = $new(keys::cobblestone(Some(Format::$format), key, Some(context))?, threads);
                Ok(Self(ChunkStream {
                    stream: PushStream::new(made.map_err(|error| failed(key.py(), error))?),
                    ready_bytes: $stream::ready_bytes,
                    push_into: $stream::push_into,
                    finish: $stream::finish,
                }))
            }

            $(
                /// Generates a key.
                #[staticmethod]
                fn generate_key(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
                    keys::random(py, $key_bytes)
                }
            )?

            /// Processes the next bytes and returns all output that is complete.
            fn update<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
                self.0.update(data)
            }

            /// As `update`, but writes to the beginning of `buf`, and returns the number of bytes. Raises `ValueError` if `buf` is too
            /// short; the object stays usable.
            fn update_into(&self, data: &Bound<'_, PyAny>, buf: &Bound<'_, PyAny>) -> PyResult<usize> {
                self.0.update_into(data, buf)
            }

            /// Returns the rest of the output. Without this call the file is not complete, or may be cut.
            fn finalize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
                self.0.finalize(py)
            }
        }
    };
}

class!(Cobblestone128Encryptor, Encryptor, Cobblestone128, encryptor, "Makes a Cobblestone-128 file.", 16);
class!(Cobblestone256Encryptor, Encryptor, Cobblestone256, encryptor, "Makes a Cobblestone-256 file.", 32);
class!(Cobblestone128Decryptor, Decryptor, Cobblestone128, decryptor, "Decrypts a Cobblestone-128 file.");
class!(Cobblestone256Decryptor, Decryptor, Cobblestone256, decryptor, "Decrypts a Cobblestone-256 file.");
