//! Encryption of files and folders, with the functions that the command uses: on all cores, and an output appears under its
//! name only when it is complete.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tress_container::commands::{self, DecryptOptions, Report, Sink, Source};
use tress_container::{Control, Error};

use crate::container::options;
use crate::{arguments, errors, keys, work};

/// Bytes read, bytes written, number of chunks, seconds.
type ReportTuple = (u64, u64, u64, f64);

/// Encrypts a file or folder into `target`, which appears only when it is complete. Returns bytes read, bytes written, number of
/// chunks, and seconds.
#[pyfunction]
#[pyo3(signature = (source, target, recipients, *, aead = None, threads = 0, name = None, force = false, progress = None, format = "tress", armor = false))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn encrypt_file(
    py: Python<'_>,
    #[pyo3(from_py_with = arguments::path)] source: PathBuf,
    #[pyo3(from_py_with = arguments::path)] target: PathBuf,
    recipients: &Bound<'_, PyAny>,
    aead: Option<&str>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    name: Option<String>,
    force: bool,
    progress: Option<&Bound<'_, PyAny>>,
    format: &str,
    armor: bool,
) -> PyResult<ReportTuple> {
    let recipients = keys::recipients(recipients)?;
    let options = options(py, format, aead, threads, name)?.armor(armor);
    let (source, sink) = (Source::Path(source), Sink::Path { path: target, force });
    run(py, progress, move |control| commands::encrypt(&source, &sink, &recipients, &options, control))
}

/// Decrypts a container into the file or folder `target`. Returns bytes read, bytes written, number of chunks, and seconds.
#[pyfunction]
#[pyo3(signature = (source, target, identities, *, range = None, threads = 0, force = false, progress = None, format = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn decrypt_file(
    py: Python<'_>,
    #[pyo3(from_py_with = arguments::path)] source: PathBuf,
    #[pyo3(from_py_with = arguments::path)] target: PathBuf,
    identities: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = arguments::optional_range)] range: Option<(u64, Option<u64>)>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    force: bool,
    progress: Option<&Bound<'_, PyAny>>,
    format: Option<&str>,
) -> PyResult<ReportTuple> {
    let identities = keys::identities(identities)?;
    let mut options = DecryptOptions::default().threads(threads);
    (options.range, options.format) = (range, format.map(|name| keys::format(py, name)).transpose()?);
    let (source, sink) = (Source::Path(source), Sink::Path { path: target, force });
    run(py, progress, move |control| commands::decrypt(&source, &sink, &identities, &options, control))
}

/// Replaces the recipients of a container; its payload is not touched. Returns bytes read, bytes written, number of chunks, and
/// seconds.
#[pyfunction]
#[pyo3(signature = (path, identities, recipients))]
pub(crate) fn rewrap_file(
    py: Python<'_>,
    #[pyo3(from_py_with = arguments::path)] path: PathBuf,
    identities: &Bound<'_, PyAny>,
    recipients: &Bound<'_, PyAny>,
) -> PyResult<ReportTuple> {
    let identities = keys::identities(identities)?;
    let recipients = keys::recipients(recipients)?;
    run(py, None, move |control| commands::rewrap(&path, &identities, &recipients, control))
}

/// Returns the properties of a container or another file. With `identities`, the header, the commitment and the last chunk are
/// verified. A file that is not in `format` is refused; a Cobblestone file needs it, or its key.
#[pyfunction]
#[pyo3(signature = (path, identities = None, *, format = None))]
pub(crate) fn inspect<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arguments::path)] path: PathBuf,
    identities: Option<&Bound<'py, PyAny>>,
    format: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let identities = identities.map(keys::identities).transpose()?;
    let format = format.map(|name| keys::format(py, name)).transpose()?;
    let (source, identities, control) = (Source::Path(path), identities.as_ref(), Control::new());
    let inspect = || commands::inspect_with(&source, format, identities, &control);
    let found = work::run_watched(py, || Ok(()), || control.cancel(), inspect)?;
    let found = found.map_err(|error| errors::container(py, error))?;
    let row = PyDict::new(py);
    row.set_item("format", found.format.name())?;
    row.set_item("version", found.version)?;
    row.set_item("aead", found.aead.name())?;
    row.set_item("recipients", found.recipients)?;
    row.set_item("header_bytes", found.header_bytes)?;
    row.set_item("chunks", found.chunks)?;
    row.set_item("plaintext_bytes", found.plaintext_bytes)?;
    row.set_item("verified", found.verified)?;
    row.set_item("content_type", found.content_type.map(|content_type| content_type.name()))?;
    row.set_item("name", found.name)?;
    Ok(row)
}

/// Runs a command. A signal or an exception of `progress` cancels it.
fn run(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    verb: impl FnOnce(&Control) -> Result<Report, Error> + Send,
) -> PyResult<ReportTuple> {
    let control = Control::new();
    let show = || match progress {
        Some(progress) => progress.call1((control.done_bytes(), control.total_bytes())).map(drop),
        None => Ok(()),
    };
    show()?;
    let report = work::run_watched(py, show, || control.cancel(), || verb(&control))?;
    let report = report.map_err(|error| errors::container(py, error))?;
    show()?;
    Ok((report.bytes_in, report.bytes_out, report.chunks, report.elapsed.as_secs_f64()))
}
