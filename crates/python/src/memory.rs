//! Memory that Python owns: buffers that are read, `bytes` that are being made, buffers that are written. All unsafe code of
//! this crate is here.
//!
//! Buffers are read where they are. Python has no way to lock one, so another thread may write into it meanwhile; the
//! documentation of the package forbids that (`docs/reference/python.md`, "Buffers"). What is read then is any mixture of old and new
//! bytes: every user here copies a byte once, and decides nothing by bytes that it reads twice.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::slice;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyOverflowError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};
use zeroize::Zeroize;

/// Bytes to read: of `bytes`, or of any other object with a contiguous buffer.
pub(crate) enum Input<'py> {
    Bytes(Bound<'py, PyBytes>),
    Buffer(PyUntypedBuffer),
}

impl<'py> Input<'py> {
    /// The bytes of this object.
    ///
    /// # Errors
    /// `TypeError` without a buffer, `BufferError` for one that is not contiguous.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone()));
        }
        let buffer = buffer(object)?;
        if buffer.is_c_contiguous() { Ok(Self::Buffer(buffer)) } else { Err(not_contiguous()) }
    }

    /// The same of what has to be bytes, as keys and nonces: an array of larger numbers is a mistake.
    ///
    /// # Errors
    /// Those of `of`; `TypeError` for other items than bytes.
    pub(crate) fn octets(object: &Bound<'py, PyAny>, what: &str) -> PyResult<Self> {
        match Self::of(object)? {
            Self::Buffer(buffer) if buffer.item_size() != 1 => {
                Err(PyTypeError::new_err(format!("{what} must be bytes, not items of {} bytes", buffer.item_size())))
            }
            input => Ok(input),
        }
    }

    /// Where they are.
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes.as_bytes(),
            Self::Buffer(buffer) if buffer.len_bytes() == 0 => &[],
            // SAFETY: the buffer is contiguous (`of`), holds its memory until it is dropped, and has `len_bytes` bytes there. That
            // nobody writes to it meanwhile is asked of the caller in Python, as at the head of this file.
            Self::Buffer(buffer) => unsafe { slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.len_bytes()) },
        }
    }
}

/// The buffer of an object. One of no dimensions, such as that of `numpy.array(5)`, is taken as a row of bytes.
fn buffer(object: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    PyUntypedBuffer::get(object).or_else(|error| {
        let is_single =
            |view: &Bound<'_, PyMemoryView>| view.getattr("ndim").and_then(|ndim| ndim.eq(0)).unwrap_or(false);
        let view = PyMemoryView::from(object).ok().filter(is_single).ok_or(error)?;
        PyUntypedBuffer::get(&view.call_method1("cast", ("B",))?)
    })
}

fn not_contiguous() -> PyErr {
    PyBufferError::new_err("the buffer is not contiguous")
}

/// A `bytes` object that nobody else has seen yet.
pub(crate) struct Fresh<'py> {
    object: Bound<'py, PyBytes>,
    start: NonNull<u8>,
    bytes: usize,
    is_written: bool,
}

/// Its memory, which any thread may write.
pub(crate) struct Space<'a> {
    memory: &'a mut [MaybeUninit<u8>],
    /// Where it is to be told that all of it was written, if anybody asks.
    is_written: Option<&'a mut bool>,
}

impl<'py> Fresh<'py> {
    /// Room for so many bytes.
    ///
    /// # Errors
    /// `MemoryError`; `OverflowError` for more than any object can have.
    pub(crate) fn new(py: Python<'py>, bytes: usize) -> PyResult<Self> {
        let length = ffi::Py_ssize_t::try_from(bytes).map_err(|_| PyOverflowError::new_err("result is too long"))?;
        // SAFETY: without a source the call gives a new object of this length, whose bytes are not written yet, or an error.
        let object = unsafe {
            Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), length))?
                .cast_into_unchecked::<PyBytes>()
        };
        // SAFETY: the object is a `bytes`, so that this is its memory.
        let start = unsafe { ffi::PyBytes_AsString(object.as_ptr()) };
        let start = NonNull::new(start.cast()).ok_or_else(|| PyErr::fetch(py))?;
        Ok(Self { object, start, bytes, is_written: false })
    }

    /// Makes room in the heap for that many bytes of results, so that results of repeated calls find the pages of those that are
    /// gone: a C library that gives memory back to the system as soon as the last block is freed (glibc) does so later once
    /// it has seen a block as large as all of them, and a page that comes anew costs more than encrypting what it holds.
    pub(crate) fn expect(_: Python<'py>, bytes: usize) {
        // SAFETY: the block is freed at once, and none (for 0) may be freed, too.
        unsafe { ffi::PyMem_Free(ffi::PyMem_Malloc(bytes)) };
    }

    /// The memory. It can be lent to a thread that does not hold the interpreter's lock.
    pub(crate) fn space(&mut self) -> Space<'_> {
        // SAFETY: the object has `bytes` bytes from `start` on, which may be unwritten; nobody else has a reference to it (an empty
        // one is shared, and has none), and `self` is borrowed for as long as the slice lives.
        let memory = unsafe { slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.bytes) };
        Space { memory, is_written: Some(&mut self.is_written) }
    }

    /// The object, which nobody writes any more. What was never written is zeros.
    pub(crate) fn finish(mut self) -> Bound<'py, PyBytes> {
        if !self.is_written {
            self.space().zeros();
        }
        self.object
    }
}

impl<'a> Space<'a> {
    /// All zeros.
    pub(crate) fn zeros(self) -> &'a mut [u8] {
        self.copy_of(&[])
    }

    /// As much of `source` as there is room for, and zeros behind.
    pub(crate) fn copy_of(self, source: &[u8]) -> &'a mut [u8] {
        let (head, tail) = self.memory.split_at_mut(source.len().min(self.memory.len()));
        for (byte, source) in head.iter_mut().zip(source) {
            byte.write(*source);
        }
        tail.fill(MaybeUninit::new(0));
        if let Some(is_written) = self.is_written {
            *is_written = true;
        }
        // SAFETY: every byte was written just now, and such bytes are laid out as others.
        unsafe { &mut *(ptr::from_mut(self.memory) as *mut [u8]) }
    }
}

/// A buffer that the caller has given to be written.
pub(crate) struct Output(PyUntypedBuffer);

impl Output {
    /// The memory of this object.
    ///
    /// # Errors
    /// `TypeError` without a buffer, `BufferError` for one that is not contiguous or cannot be written.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = buffer(object)?;
        if buffer.readonly() {
            return Err(PyBufferError::new_err("the buffer is read-only"));
        }
        if buffer.is_c_contiguous() { Ok(Self(buffer)) } else { Err(not_contiguous()) }
    }

    /// Bytes of the buffer.
    pub(crate) fn bytes(&self) -> usize {
        self.0.len_bytes()
    }

    /// Whether any byte of it is one of these.
    pub(crate) fn overlaps(&self, bytes: &[u8]) -> bool {
        let (start, other) = (self.0.buf_ptr() as usize, bytes.as_ptr() as usize);
        start < other + bytes.len() && other < start + self.bytes()
    }

    /// Fills the buffer with the input's first bytes, or writes all of the input to its start. They may be the same memory.
    pub(crate) fn copy_from(&mut self, input: &Input<'_>) {
        let source = input.as_slice();
        let bytes = source.len().min(self.bytes());
        // SAFETY: both have `bytes` bytes, the buffer can be written (`of`), and `copy` allows an overlap.
        unsafe { std::ptr::copy(source.as_ptr(), self.0.buf_ptr().cast(), bytes) };
    }

    /// The buffer itself.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        if self.bytes() == 0 {
            return &mut [];
        }
        // SAFETY: the buffer is contiguous and can be written (`of`), holds its memory until it is dropped, and has `bytes` bytes.
        // That nobody else uses it meanwhile is asked of the caller in Python.
        unsafe { slice::from_raw_parts_mut(self.0.buf_ptr().cast(), self.bytes()) }
    }

    /// The buffer cut into spaces of these lengths, one behind the other. Panics when they are longer than the buffer.
    pub(crate) fn spaces(&mut self, lengths: impl IntoIterator<Item = usize>) -> impl Iterator<Item = Space<'_>> {
        let mut rest = self.as_mut_slice();
        lengths.into_iter().map(move |length| {
            let bytes = rest.split_off_mut(..length).expect("there is room");
            // SAFETY: the same bytes; a space is only ever written with bytes that have a value.
            let memory = unsafe { slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) };
            Space { memory, is_written: None }
        })
    }

    /// Zeros, where what was written is of no use.
    pub(crate) fn wipe(&mut self) {
        self.as_mut_slice().zeroize();
    }
}
