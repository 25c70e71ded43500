//! Memory that Python owns: input buffers, new `bytes` objects, output buffers. All unsafe code of this crate is here.
//!
//! Input buffers are not copied first. Python cannot lock a buffer, so another thread may write to it during a call; the
//! documentation of the package forbids that (`docs/reference/python.md`, "Buffers"). Such a call reads a mixture of old and new
//! bytes. No code here depends on reading the same byte twice.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::slice;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyOverflowError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use zeroize::Zeroize;

/// An input: a `bytes` object, or any other object with a contiguous buffer.
pub(crate) enum InputBuffer<'py> {
    Bytes(Bound<'py, PyBytes>),
    Buffer(View),
}

/// The contiguous bytes of an object with a buffer of any shape and type. The object keeps them until this is dropped.
///
/// It asks for no shape, strides or format, which `ctypes` and some types of numpy do not have. In a box, because an object may keep a
/// pointer to the structure.
pub(crate) struct View(Box<ffi::Py_buffer>);

/// Whether items of this format (PEP 3118) hold Python objects. Names of fields are between colons.
fn has_objects(format: &[u8]) -> bool {
    format.split(|&byte| byte == b':').step_by(2).any(|part| part.contains(&b'O'))
}

impl View {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: the call fills the structure, or fails and leaves nothing to release.
        if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *view, ffi::PyBUF_SIMPLE) } == 0 {
            let view = Self(view);
            // Items that may be pointers. Not all types have a format.
            let has_objects = view.0.itemsize >= size_of::<usize>() as isize
                && PyUntypedBuffer::get(object).is_ok_and(|buffer| has_objects(buffer.format().to_bytes()));
            return if has_objects {
                Err(PyTypeError::new_err("an array of Python objects has no bytes"))
            } else {
                Ok(view)
            };
        }
        let error = PyErr::fetch(object.py());
        match PyUntypedBuffer::get(object) {
            Ok(buffer) if !buffer.is_c_contiguous() => Err(PyBufferError::new_err("the buffer is not contiguous")),
            _ => Err(error),
        }
    }

    fn len(&self) -> usize {
        self.0.len.unsigned_abs()
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: `of` filled the structure, and it is released once. When no interpreter is left, its memory is not, either.
        Python::try_attach(|_| unsafe { ffi::PyBuffer_Release(&raw mut *self.0) });
    }
}

impl<'py> InputBuffer<'py> {
    /// Takes the buffer of an object.
    ///
    /// # Errors
    /// `TypeError` for an object without a buffer, `BufferError` for a buffer that is not contiguous.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone()));
        }
        View::of(object).map(Self::Buffer)
    }

    /// Takes a buffer whose items must be bytes, such as a key or a nonce: an array of larger items is a mistake there.
    ///
    /// # Errors
    /// As [`of`](Self::of); `TypeError` for items that are not bytes.
    pub(crate) fn octets(object: &Bound<'py, PyAny>, what: &str) -> PyResult<Self> {
        match Self::of(object)? {
            Self::Buffer(view) if view.0.itemsize != 1 => {
                Err(PyTypeError::new_err(format!("{what} must be bytes, not items of {} bytes", view.0.itemsize)))
            }
            input => Ok(input),
        }
    }

    /// The bytes as they are now, unless they belong to an item that stays.
    ///
    /// # Errors
    /// As [`NewBytes::new`].
    pub(crate) fn kept(self, py: Python<'py>, stays: bool) -> PyResult<Self> {
        match self {
            Self::Buffer(_) if !stays => {
                let mut copy = NewBytes::new(py, self.as_slice().len())?;
                copy.space().copy_of(self.as_slice());
                Ok(Self::Bytes(copy.finish()))
            }
            input => Ok(input),
        }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes.as_bytes(),
            Self::Buffer(view) if view.len() == 0 => &[],
            // SAFETY: a buffer without strides is contiguous. It is not empty, has `len` bytes, and keeps its memory until it is
            // dropped; bytes have alignment 1. The documentation requires that nobody writes to it during the call (see the top of
            // this file).
            Self::Buffer(view) => unsafe { slice::from_raw_parts(view.0.buf.cast(), view.len()) },
        }
    }
}

/// Whether the items of an iterable are there before it is asked for them. An iterator may yield one buffer that it fills anew for each.
pub(crate) fn items_stay(iterable: &Bound<'_, PyAny>) -> bool {
    iterable.cast_exact::<PyList>().is_ok() || iterable.cast_exact::<PyTuple>().is_ok()
}

/// A new `bytes` object that no other code has a reference to.
pub(crate) struct NewBytes<'py> {
    object: Bound<'py, PyBytes>,
    start: NonNull<u8>,
    bytes: usize,
    is_written: bool,
}

/// Memory for a result, which any thread may write.
pub(crate) struct ResultSpace<'a> {
    memory: &'a mut [MaybeUninit<u8>],
    /// Set to true when all of the memory was written.
    is_written: Option<&'a mut bool>,
}

impl<'py> NewBytes<'py> {
    /// Creates an object of `bytes` bytes, which are uninitialised.
    ///
    /// # Errors
    /// `MemoryError`; `OverflowError` if no object can have this length.
    pub(crate) fn new(py: Python<'py>, bytes: usize) -> PyResult<Self> {
        let length = ffi::Py_ssize_t::try_from(bytes).map_err(|_| PyOverflowError::new_err("result is too long"))?;
        // SAFETY: with a NULL source the call returns a new `bytes` object of this length with uninitialised bytes, or NULL.
        let object = unsafe {
            Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), length))?
                .cast_into_unchecked::<PyBytes>()
        };
        // SAFETY: the object is a `bytes`, so the call returns its memory.
        let start = unsafe { ffi::PyBytes_AsString(object.as_ptr()) };
        let start = NonNull::new(start.cast()).ok_or_else(|| PyErr::fetch(py))?;
        Ok(Self { object, start, bytes, is_written: false })
    }

    /// Prepares the allocator for `bytes` bytes of results, so that repeated calls reuse memory pages. glibc returns memory to the
    /// system when the last block at the top of the heap is freed. Once it has freed a block as large as all results, it keeps that
    /// much. A new page from the system costs more than encrypting its content.
    pub(crate) fn prepare_heap(_: Python<'py>, bytes: usize) {
        // SAFETY: the block is freed immediately and never used; `PyMem_Free` accepts NULL.
        unsafe { ffi::PyMem_Free(ffi::PyMem_Malloc(bytes)) };
    }

    /// Returns the memory of the object. A thread without the interpreter lock may write to it.
    pub(crate) fn space(&mut self) -> ResultSpace<'_> {
        // SAFETY: the object has `bytes` bytes at `start`, which may be uninitialised; bytes have alignment 1. No other code has a
        // reference to the object (Python shares the empty object, which has no bytes), and `self` is borrowed while the slice lives.
        let memory = unsafe { slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.bytes) };
        ResultSpace { memory, is_written: Some(&mut self.is_written) }
    }

    /// Returns the finished object. If its memory was not written, it is filled with zeros.
    pub(crate) fn finish(mut self) -> Bound<'py, PyBytes> {
        if !self.is_written {
            self.space().zeros();
        }
        self.object
    }
}

impl<'a> ResultSpace<'a> {
    /// Fills the memory with zeros.
    pub(crate) fn zeros(self) -> &'a mut [u8] {
        self.copy_of(&[])
    }

    /// Copies `source`, truncated to the length of the memory, and fills the rest with zeros.
    pub(crate) fn copy_of(self, source: &[u8]) -> &'a mut [u8] {
        let (head, tail) = self.memory.split_at_mut(source.len().min(self.memory.len()));
        for (byte, source) in head.iter_mut().zip(source) {
            byte.write(*source);
        }
        tail.fill(MaybeUninit::new(0));
        if let Some(is_written) = self.is_written {
            *is_written = true;
        }
        // SAFETY: every byte was written above, and `MaybeUninit<u8>` has the layout of `u8`.
        unsafe { &mut *(ptr::from_mut(self.memory) as *mut [u8]) }
    }
}

/// An output: a writable buffer of the caller.
pub(crate) struct OutputBuffer(View);

impl OutputBuffer {
    /// Takes the buffer of an object.
    ///
    /// # Errors
    /// `TypeError` for an object without a buffer, `BufferError` for a buffer that is not contiguous or is read-only.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let view = View::of(object)?;
        if view.0.readonly != 0 { Err(PyBufferError::new_err("the buffer is read-only")) } else { Ok(Self(view)) }
    }

    /// Length of the buffer in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the buffer shares memory with `bytes`.
    pub(crate) fn overlaps(&self, bytes: &[u8]) -> bool {
        let (start, other) = (self.0.0.buf as usize, bytes.as_ptr() as usize);
        start < other + bytes.len() && other < start + self.bytes()
    }

    /// Copies the input to the beginning of the buffer, truncated to the buffer's length. The two may overlap.
    pub(crate) fn copy_from(&mut self, input: &InputBuffer<'_>) {
        let source = input.as_slice();
        let bytes = source.len().min(self.bytes());
        // SAFETY: both have at least `bytes` bytes, the buffer is writable (`of`), and `copy` allows any overlap.
        unsafe { std::ptr::copy(source.as_ptr(), self.0.0.buf.cast(), bytes) };
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        if self.bytes() == 0 {
            return &mut [];
        }
        // SAFETY: the buffer is contiguous and writable (`of`), not empty, has `bytes` bytes, and keeps its memory until it is
        // dropped; bytes have alignment 1. The documentation requires that nobody else uses it during the call.
        unsafe { slice::from_raw_parts_mut(self.0.0.buf.cast(), self.bytes()) }
    }

    /// Splits the buffer into consecutive spaces of these lengths. Panics if their sum exceeds the length of the buffer.
    pub(crate) fn spaces(&mut self, lengths: impl IntoIterator<Item = usize>) -> impl Iterator<Item = ResultSpace<'_>> {
        let mut rest = self.as_mut_slice();
        lengths.into_iter().map(move |length| {
            let bytes = rest.split_off_mut(..length).expect("there is room");
            // SAFETY: the slice covers the same bytes with the same lifetime, and a space only writes initialised bytes.
            let memory = unsafe { slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) };
            ResultSpace { memory, is_written: None }
        })
    }

    /// Overwrites the buffer with zeros.
    pub(crate) fn wipe(&mut self) {
        self.as_mut_slice().zeroize();
    }
}
