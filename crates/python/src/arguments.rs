//! Conversions of Python arguments: integers, ranges, numbers of threads, paths.

use std::ops::Range;
use std::path::PathBuf;

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use tress_container::commands::MAX_THREADS;

use crate::errors;

/// Converts an integer to a `T`.
///
/// # Errors
/// `TypeError` for anything but an integer; `Usage`, which is a `ValueError`, for one that is negative or too large.
pub(crate) fn whole<T: TryFrom<u64>>(given: &Bound<'_, PyAny>) -> PyResult<T> {
    let py = given.py();
    let outside = || errors::usage(py, "a number is negative or too large");
    let number: u64 = given.extract().map_err(|error: PyErr| match error.is_instance_of::<PyOverflowError>(py) {
        true => outside(),
        false => error,
    })?;
    T::try_from(number).map_err(|_| outside())
}

/// As [`whole`], or `None`.
pub(crate) fn optional_whole<T: TryFrom<u64>>(given: &Bound<'_, PyAny>) -> PyResult<Option<T>> {
    (!given.is_none()).then(|| whole(given)).transpose()
}

/// Converts a range of bytes, `(start, end)`, or `None`. The end may be `None`.
pub(crate) fn optional_range(given: &Bound<'_, PyAny>) -> PyResult<Option<(u64, Option<u64>)>> {
    if given.is_none() {
        return Ok(None);
    }
    let (start, end): (Bound<'_, PyAny>, Bound<'_, PyAny>) = given.extract()?;
    Ok(Some((whole(&start)?, optional_whole(&end)?)))
}

/// Converts an iterable of ranges of bytes, `(start, end)`.
pub(crate) fn ranges(given: &Bound<'_, PyAny>) -> PyResult<Vec<Range<u64>>> {
    let range = |range: PyResult<Bound<'_, PyAny>>| {
        let (start, end): (Bound<'_, PyAny>, Bound<'_, PyAny>) = range?.extract()?;
        Ok(whole(&start)?..whole(&end)?)
    };
    given.try_iter()?.map(range).collect()
}

/// Converts a number of threads; 0 means one for each core.
pub(crate) fn threads(given: &Bound<'_, PyAny>) -> PyResult<usize> {
    let wrong = || errors::usage(given.py(), "threads must be 1 to 1024, or 0 for one on each core");
    match whole(given) {
        Ok(threads) if threads <= MAX_THREADS => Ok(threads),
        Ok(_) => Err(wrong()),
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyValueError>(given.py()) => Err(wrong()),
        Err(error) => Err(error),
    }
}

// The message of `threads` names the limit.
const _: () = assert!(MAX_THREADS == 1024);

/// Converts a path: `str`, `bytes` or an `os.PathLike` of these.
pub(crate) fn path(given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    given.py().import("os")?.call_method1("fsdecode", (given,))?.extract()
}
