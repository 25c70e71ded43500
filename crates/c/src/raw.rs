//! From C's pointers to Rust's references and back: the only place that turns one into the other.
//!
//! The lifetimes are unbounded. A function asks for what it needs at its beginning and keeps none of it beyond its end,
//! unless its documentation tells the caller to keep the memory.

use std::ffi::{CStr, c_char};

use crate::failure::Failure;
use crate::status::tress_status::{self, *};

/// The longest run of bytes that Rust, and any object of C, can have.
const MAX_BYTES: usize = isize::MAX as usize;

/// `length` bytes at `data`; NULL is fine for none.
///
/// # Safety
/// `length` bytes are readable at `data`, and nobody writes to them while the slice is in use.
pub(crate) unsafe fn bytes<'a>(data: *const u8, length: usize) -> Result<&'a [u8], tress_status> {
    check(data, length)?;
    if length == 0 {
        return Ok(&[]);
    }
    // SAFETY: not NULL, `length` is in bounds, and the caller vouches for the rest.
    Ok(unsafe { std::slice::from_raw_parts(data, length) })
}

/// The same, to write to.
///
/// # Safety
/// `length` bytes are readable and writable at `data`, and nobody else uses them while the slice is in use.
pub(crate) unsafe fn bytes_mut<'a>(data: *mut u8, length: usize) -> Result<&'a mut [u8], tress_status> {
    check(data, length)?;
    if length == 0 {
        return Ok(&mut []);
    }
    // SAFETY: not NULL, `length` is in bounds, and the caller vouches for the rest.
    Ok(unsafe { std::slice::from_raw_parts_mut(data, length) })
}

#[inline]
fn check(data: *const u8, length: usize) -> Result<(), tress_status> {
    if length > MAX_BYTES {
        return Err(TRESS_LENGTH);
    }
    if data.is_null() && length != 0 {
        return Err(TRESS_NULL);
    }
    Ok(())
}

/// `count` elements of `size` bytes at an address; NULL is fine for none.
pub(crate) fn check_array<T>(array: *const T, count: usize) -> Result<(), tress_status> {
    let bytes = count.checked_mul(size_of::<T>()).ok_or(TRESS_LENGTH)?;
    check(array.cast(), bytes)
}

/// Copies the input of a transformation that works in place to its output, and returns the output. They may be one, or
/// overlap in any way.
///
/// # Safety
/// `length` bytes are readable at `input` and writable at `output`, and nobody else uses either until the slice is
/// dropped.
#[inline]
pub(crate) unsafe fn in_place<'a>(
    input: *const u8,
    output: *mut u8,
    length: usize,
) -> Result<&'a mut [u8], tress_status> {
    check(input, length)?;
    check(output, length)?;
    if length != 0 && !std::ptr::eq(input, output) {
        // SAFETY: both are not NULL, and the caller vouches for `length` bytes at each; `copy` takes any overlap.
        unsafe { std::ptr::copy(input, output, length) };
    }
    // SAFETY: the caller vouches for the output.
    unsafe { bytes_mut(output, length) }
}

/// A text that ends with NUL.
///
/// # Safety
/// `text` is NULL or ends with NUL, and stays as it is while the text is in use.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, tress_status> {
    // SAFETY: as above.
    unsafe { optional_text(text) }?.ok_or(TRESS_NULL)
}

/// The same, where NULL is none.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn optional_text<'a>(text: *const c_char) -> Result<Option<&'a str>, tress_status> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: not NULL, and the caller vouches for its end.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| TRESS_TEXT)
}

/// A handle to read.
///
/// # Safety
/// `handle` is NULL or came from this library, was not freed, and nobody changes it meanwhile.
#[inline]
pub(crate) unsafe fn handle<'a, T>(handle: *const T) -> Result<&'a T, tress_status> {
    // SAFETY: as above.
    unsafe { handle.as_ref() }.ok_or(TRESS_NULL)
}

/// A handle to change.
///
/// # Safety
/// `handle` is NULL or came from this library, was not freed, and nobody else uses it meanwhile.
pub(crate) unsafe fn handle_mut<'a, T>(handle: *mut T) -> Result<&'a mut T, tress_status> {
    // SAFETY: as above.
    unsafe { handle.as_mut() }.ok_or(TRESS_NULL)
}

/// Makes a new handle by `make`, and puts it where the caller wants it; NULL is there if `make` fails.
///
/// # Safety
/// `out` is NULL or writable.
pub(crate) unsafe fn give<T>(out: *mut *mut T, make: impl FnOnce() -> Result<T, Failure>) -> Result<(), Failure> {
    if out.is_null() {
        return Err(TRESS_NULL.into());
    }
    // SAFETY: not NULL, and the caller vouches for it.
    unsafe { out.write(std::ptr::null_mut()) };
    let made = Box::into_raw(Box::new(make()?));
    // SAFETY: as above.
    unsafe { out.write(made) };
    Ok(())
}

/// Ends a handle.
///
/// # Safety
/// `handle` is NULL or came from [`give`], was not freed, and nobody uses it any more.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: the caller vouches that it is a box of ours, and the last use of it.
        crate::status::guard_value((), || drop(unsafe { Box::from_raw(handle) }));
    }
}

/// Writes a value where the caller wants it, unless that is NULL.
///
/// # Safety
/// `out` is NULL or writable.
pub(crate) unsafe fn set<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: not NULL, and the caller vouches for it.
        unsafe { out.write(value) };
    }
}
