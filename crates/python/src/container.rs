//! Containers in memory.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tress_container::commands::EncryptOptions;
use tress_container::format::Aead;
use tress_container::streaming::{self, NewHead, WholeDecryptor, WholeEncryptor};
use tress_container::{Error, ErrorKind};

use crate::errors::{self, ExceptionClass};
use crate::memory::{InputBuffer, NewBytes, OutputBuffer};
use crate::{arguments, keys};

/// Converts the options for encryption.
pub(crate) fn options(
    py: Python<'_>,
    format: &str,
    aead: Option<&str>,
    threads: usize,
    name: Option<String>,
) -> PyResult<EncryptOptions> {
    let aead_named =
        |name| Aead::from_name(name).ok_or_else(|| errors::usage(py, "aead must be 'aes-128-ccm' or 'aes-256-ccm'"));
    let mut options = EncryptOptions::default().format(keys::format(py, format)?).threads(threads);
    (options.aead, options.name) = (aead.map(aead_named).transpose()?, name);
    Ok(options)
}

/// Encrypts `data`, any object with a contiguous buffer, into a container for `recipients`.
///
/// `threads` is the number of threads; 0 means one on each core. `name` is stored in the container, encrypted.
/// `format` may be `age`; a `CobblestoneKey` selects its format itself. Only containers have a name and a choice of AEAD, which is
/// `aes-128-ccm` by default; `name` and `aead` raise `Usage` for other formats.
#[pyfunction]
#[pyo3(signature = (data, recipients, *, aead = None, threads = 0, name = None, format = "tress"))]
pub(crate) fn encrypt<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    recipients: &Bound<'py, PyAny>,
    aead: Option<&str>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    name: Option<String>,
    format: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let recipients = keys::recipients(recipients)?;
    let options = options(py, format, aead, threads, name)?;
    let data = InputBuffer::of(data)?;
    let plain = data.as_slice();
    let failed = |error| errors::container(py, error);
    let encryptor = py.detach(move || WholeEncryptor::new(plain.len(), &recipients, &options)).map_err(failed)?;
    let mut sealed = NewBytes::new(py, encryptor.sealed_bytes())?;
    let space = sealed.space();
    py.detach(move || encryptor.encrypt(plain, space.zeros())).map_err(failed)?;
    Ok(sealed.finish())
}

/// The dummy stanza that age files have is random: two files differ by less than this number of bytes.
const DUMMY_BYTES: usize = 256;

/// Length in bytes of what `encrypt` makes of `plain_bytes` bytes with these arguments. Headers of age files have a random part: for them
/// it may be up to 512 bytes too much.
#[pyfunction]
#[pyo3(signature = (plain_bytes, recipients, *, aead = None, name = None, format = "tress"))]
pub(crate) fn sealed_size(
    py: Python<'_>,
    #[pyo3(from_py_with = arguments::whole)] plain_bytes: usize,
    recipients: &Bound<'_, PyAny>,
    aead: Option<&str>,
    name: Option<String>,
    format: &str,
) -> PyResult<usize> {
    let recipients = keys::recipients(recipients)?;
    let options = options(py, format, aead, 1, name)?;
    let encryptor = py.detach(move || WholeEncryptor::new(plain_bytes, &recipients, &options));
    let bytes = encryptor.map_err(|error| errors::container(py, error))?.sealed_bytes();
    Ok(if format == "age" { bytes.saturating_add(DUMMY_BYTES) } else { bytes })
}

/// Encrypts as `encrypt`, into `buf`, which must have at least the length of the result; returns that length. `buf` must not share memory
/// with `data`.
#[pyfunction]
#[pyo3(signature = (data, buf, recipients, *, aead = None, threads = 0, name = None, format = "tress"))]
#[allow(clippy::too_many_arguments, reason = "those of `encrypt`, and `buf`")]
pub(crate) fn encrypt_into(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    buf: &Bound<'_, PyAny>,
    recipients: &Bound<'_, PyAny>,
    aead: Option<&str>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    name: Option<String>,
    format: &str,
) -> PyResult<usize> {
    let recipients = keys::recipients(recipients)?;
    let options = options(py, format, aead, threads, name)?;
    let (data, mut output) = (InputBuffer::of(data)?, OutputBuffer::of(buf)?);
    let plain = data.as_slice();
    let failed = |error| errors::container(py, error);
    let encryptor = py.detach(move || WholeEncryptor::new(plain.len(), &recipients, &options)).map_err(failed)?;
    let sealed = beginning(py, &mut output, plain, encryptor.sealed_bytes())?;
    let bytes = sealed.len();
    py.detach(move || encryptor.encrypt(plain, sealed)).map_err(failed)?;
    Ok(bytes)
}

/// The first bytes of an output, which is longer or has this length, and shares no memory with the input.
fn beginning<'b>(py: Python<'_>, output: &'b mut OutputBuffer, input: &[u8], bytes: usize) -> PyResult<&'b mut [u8]> {
    if output.overlaps(input) {
        return Err(errors::usage(py, "buf and data overlap"));
    }
    let text = format!("buffer must be at least {bytes} bytes long, and has {}", output.bytes());
    output.as_mut_slice().get_mut(..bytes).ok_or_else(|| errors::usage(py, &text))
}

/// Length in bytes of the plaintext of a container, or of a file in another format, if all of it verifies.
#[pyfunction]
#[pyo3(signature = (data, identities))]
pub(crate) fn plain_size(py: Python<'_>, data: &Bound<'_, PyAny>, identities: &Bound<'_, PyAny>) -> PyResult<usize> {
    let identities = keys::identities(identities)?;
    let data = InputBuffer::of(data)?;
    let sealed = data.as_slice();
    let decryptor =
        py.detach(move || WholeDecryptor::new(sealed, &identities)).map_err(|error| errors::container(py, error))?;
    Ok(decryptor.plain_bytes())
}

/// Decrypts as `decrypt`, into `buf`, which must have at least the length of the plaintext; returns that length. `buf` must not share
/// memory with `data`. If a chunk is damaged, `buf` is filled with zeros.
#[pyfunction]
#[pyo3(signature = (data, buf, identities, *, threads = 0))]
pub(crate) fn decrypt_into(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    buf: &Bound<'_, PyAny>,
    identities: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
) -> PyResult<usize> {
    let identities = keys::identities(identities)?;
    let (data, mut output) = (InputBuffer::of(data)?, OutputBuffer::of(buf)?);
    let sealed = data.as_slice();
    let failed = |error| errors::container(py, error);
    let decryptor = py.detach(move || WholeDecryptor::new(sealed, &identities)).map_err(failed)?;
    let bytes = decryptor.plain_bytes();
    let plain = beginning(py, &mut output, sealed, bytes)?;
    let opened = py.detach(move || decryptor.decrypt(plain, threads.into()));
    opened.inspect_err(|_| output.wipe()).map_err(failed)?;
    Ok(bytes)
}

/// Verifies and decrypts a container, or a file in another format.
///
/// The plaintext of a folder is a tar archive, with an index behind its end; names and links come from whoever made the container.
/// `decrypt_file` unpacks it without links that lead out of the folder; `tarfile` refuses them with `filter="data"`.
#[pyfunction]
#[pyo3(signature = (data, identities, *, threads = 0))]
pub(crate) fn decrypt<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    identities: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let identities = keys::identities(identities)?;
    let data = InputBuffer::of(data)?;
    let sealed = data.as_slice();
    let failed = |error| errors::container(py, error);
    let decryptor = py.detach(move || WholeDecryptor::new(sealed, &identities)).map_err(failed)?;
    let mut plain = NewBytes::new(py, decryptor.plain_bytes())?;
    let space = plain.space();
    py.detach(move || decryptor.decrypt(space.zeros(), threads.into())).map_err(failed)?;
    Ok(plain.finish())
}

/// Makes a new head of a container, for other recipients. Returns the number of bytes at the beginning of the container to replace,
/// and their replacement.
///
/// `data` is the beginning of the container: 69 KiB are always enough, and with fewer `NeedMore` may be raised. This does not
/// revoke access: a former recipient may have kept the payload key.
#[pyfunction]
#[pyo3(signature = (data, identities, recipients))]
pub(crate) fn rewrap_head<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    identities: &Bound<'py, PyAny>,
    recipients: &Bound<'py, PyAny>,
) -> PyResult<(u64, Bound<'py, PyBytes>)> {
    let identities = keys::identities(identities)?;
    let recipients = keys::recipients(recipients)?;
    let data = InputBuffer::of(data)?;
    let mut first = data.as_slice();
    let need_more = || {
        ExceptionClass::NeedMore.error(
            py,
            "the header of the container is incomplete: more bytes are needed",
            "truncated",
        )
    };
    // Before a format is recognised.
    if [&b"tress/"[..], b"age-encryption.org/"].iter().any(|magic| magic.starts_with(first)) {
        return Err(need_more());
    }
    let made = py.detach(move || streaming::rewrap_head(&mut first, &identities, &recipients));
    match made {
        Ok(NewHead { old_bytes, head, .. }) => Ok((old_bytes, PyBytes::new(py, &head))),
        Err(Error { kind: ErrorKind::Truncated, .. }) => Err(need_more()),
        Err(error) => Err(errors::container(py, error)),
    }
}
