//! Conversions between C pointers and Rust references; no other file converts them.
//!
//! The returned lifetimes are unbounded. An exported function converts its pointers at its beginning, and keeps no reference
//! after it returns, unless its documentation requires the caller to keep the memory.

use std::ffi::{CStr, c_char};

use crate::failure::Failure;
use crate::status::tress_status::{self, *};

/// Largest size of an object in Rust and in C, in bytes.
const MAX_BYTES: usize = isize::MAX as usize;

/// Returns the `length` bytes at `data`, which may be NULL if `length` is 0.
///
/// # Safety
/// `length` bytes are readable at `data`, and nobody writes to them while the slice is in use.
pub(crate) unsafe fn bytes<'a>(data: *const u8, length: usize) -> Result<&'a [u8], tress_status> {
    check_pointer(data, length)?;
    if length == 0 {
        return Ok(&[]);
    }
    // SAFETY: `data` is not NULL, `length` is at most `isize::MAX`, bytes have alignment 1, and the caller promises that
    // `length` bytes are readable.
    Ok(unsafe { std::slice::from_raw_parts(data, length) })
}

/// As [`bytes`], for writing.
///
/// # Safety
/// `length` bytes are readable and writable at `data`, and nobody else uses them while the slice is in use.
pub(crate) unsafe fn bytes_mut<'a>(data: *mut u8, length: usize) -> Result<&'a mut [u8], tress_status> {
    check_pointer(data, length)?;
    if length == 0 {
        return Ok(&mut []);
    }
    // SAFETY: `data` is not NULL, `length` is at most `isize::MAX`, bytes have alignment 1, and the caller promises that
    // `length` bytes are readable and writable by nobody else.
    Ok(unsafe { std::slice::from_raw_parts_mut(data, length) })
}

/// Checks a pointer to `length` bytes, which may be NULL if `length` is 0.
#[inline]
pub(crate) fn check_pointer(data: *const u8, length: usize) -> Result<(), tress_status> {
    if length > MAX_BYTES {
        return Err(TRESS_LENGTH);
    }
    if data.is_null() && length != 0 {
        return Err(TRESS_NULL);
    }
    Ok(())
}

/// Checks pointer and length of an array of `count` elements. The pointer may be NULL if `count` is 0.
pub(crate) fn check_array<T>(array: *const T, count: usize) -> Result<(), tress_status> {
    let bytes = count.checked_mul(size_of::<T>()).ok_or(TRESS_LENGTH)?;
    check_pointer(array.cast(), bytes)
}

/// Copies `input` to `output` and returns the output, for a transformation that works in place. The two may be the same
/// buffer, or overlap in any way.
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
    check_pointer(input, length)?;
    check_pointer(output, length)?;
    if length != 0 && !std::ptr::eq(input, output) {
        // SAFETY: neither is NULL, and the caller promises `length` bytes at each; `copy` allows any overlap.
        unsafe { std::ptr::copy(input, output, length) };
    }
    // SAFETY: the caller promises `length` writable bytes at `output`.
    unsafe { bytes_mut(output, length) }
}

/// Returns a C string, which must be UTF-8.
///
/// # Safety
/// `text` is NULL or ends with NUL, and does not change while the returned text is in use.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, tress_status> {
    // SAFETY: the contract is the same.
    unsafe { optional_text(text) }?.ok_or(TRESS_NULL)
}

/// As [`text`], but NULL gives `None`.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn optional_text<'a>(text: *const c_char) -> Result<Option<&'a str>, tress_status> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: `text` is not NULL, and the caller promises that it ends with NUL.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| TRESS_TEXT)
}

/// Returns a shared reference to the object of a handle.
///
/// # Safety
/// `handle` is NULL, or came from this library and was not freed; nobody changes the object while the reference is in use.
#[inline]
pub(crate) unsafe fn handle<'a, T>(handle: *const T) -> Result<&'a T, tress_status> {
    // SAFETY: a handle that is not NULL is a live box, aligned for `T`, and nobody changes the object.
    unsafe { handle.as_ref() }.ok_or(TRESS_NULL)
}

/// Returns an exclusive reference to the object of a handle.
///
/// # Safety
/// `handle` is NULL, or came from this library and was not freed; nobody else uses the object while the reference is in use.
pub(crate) unsafe fn handle_mut<'a, T>(handle: *mut T) -> Result<&'a mut T, tress_status> {
    // SAFETY: a handle that is not NULL is a live box, aligned for `T`, and nobody else uses the object.
    unsafe { handle.as_mut() }.ok_or(TRESS_NULL)
}

/// Calls `make` and writes a handle of the result to `out`, or NULL if `make` fails.
///
/// # Safety
/// `out` is NULL or writable.
pub(crate) unsafe fn write_handle<T>(
    out: *mut *mut T,
    make: impl FnOnce() -> Result<T, Failure>,
) -> Result<(), Failure> {
    // SAFETY: the contract is the same.
    unsafe { write_null(out) }?;
    let made = Box::into_raw(Box::new(make()?));
    // SAFETY: `out` is not NULL, and the caller promises that it is writable.
    unsafe { out.write(made) };
    Ok(())
}

/// Writes NULL to `out`.
///
/// # Safety
/// `out` is NULL or writable.
pub(crate) unsafe fn write_null<T>(out: *mut *mut T) -> Result<(), tress_status> {
    if out.is_null() {
        return Err(TRESS_NULL);
    }
    // SAFETY: `out` is not NULL, and the caller promises that it is writable.
    unsafe { out.write(std::ptr::null_mut()) };
    Ok(())
}

/// Drops the object of a handle; NULL does nothing.
///
/// # Safety
/// `handle` is NULL, or came from [`write_handle`] and was not freed; nobody uses it afterwards.
pub(crate) unsafe fn free_handle<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: the caller promises that `handle` came from a box of this library, and that this is its last use.
        crate::status::guard_value((), || drop(unsafe { Box::from_raw(handle) }));
    }
}

/// Writes a value to `out`, unless that is NULL.
///
/// # Safety
/// `out` is NULL or writable.
pub(crate) unsafe fn write_optional<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: `out` is not NULL, and the caller promises that it is writable.
        unsafe { out.write(value) };
    }
}
