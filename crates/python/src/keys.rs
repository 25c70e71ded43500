//! Conversions of recipients and identities: text, key pairs, passphrases, raw keys, or several of these.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString, PyType};
use tress_container::commands::{self, Source};
use tress_container::format::Format;
use tress_container::keys::{self, Identities, Recipients};
use tress_container::{Control, Error, ErrorKind};
use zeroize::Zeroizing;

use crate::memory::InputBuffer;
use crate::{arguments, errors, work};

/// An age identity and a Noise key, as `tress keygen` makes them.
#[pyclass(frozen, module = "tress")]
pub(crate) struct KeyPair(keys::KeyPair, Option<PathBuf>);

#[pymethods]
impl KeyPair {
    /// Generates a key pair.
    #[staticmethod]
    fn generate(py: Python<'_>) -> PyResult<Self> {
        keys::KeyPair::generate().map(|pair| Self(pair, None)).map_err(|error| errors::container(py, error))
    }

    /// Reads a key pair from the text of an identity file, or from an `AGE-SECRET-KEY-1…` line alone.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str) -> PyResult<Self> {
        keys::KeyPair::parse(text).map(|pair| Self(pair, None)).map_err(|error| errors::container(py, error))
    }

    /// Reads a key pair from an identity file.
    #[staticmethod]
    fn load(py: Python<'_>, #[pyo3(from_py_with = arguments::path)] path: PathBuf) -> PyResult<Self> {
        let bytes = key_file(py, &path)?;
        let read = || -> Result<Self, Error> {
            Ok(Self(keys::KeyPair::from_file(bytes.as_slice())?, Some(std::path::absolute(&path)?)))
        };
        read().map_err(|error| errors::container(py, error.at(&path)))
    }

    /// Supports `pickle` and `copy` by the path of the identity file, if the key pair was loaded from one.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (PathBuf,))> {
        let path = slf.get().1.clone().ok_or_else(|| {
            PyTypeError::new_err("cannot pickle a secret key: only KeyPair.load gives one that is pickled, by its path")
        })?;
        Ok((slf.get_type().getattr("load")?, (path,)))
    }

    /// The recipient to encrypt to, `age1…`.
    #[getter]
    fn recipient(&self) -> String {
        self.0.recipient().to_string()
    }

    /// The recipient to encrypt to and to send to, `tress1…`; `None` without a Noise key.
    #[getter]
    fn address(&self) -> Option<String> {
        self.0.address().map(|address| address.to_string())
    }

    /// Returns the text of the identity file, which is secret.
    fn identity_file<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &self.0.to_identity_file_text())
    }

    /// Writes the identity file so that only its owner can read it (mode 0600). An existing file is not replaced.
    fn save(&self, py: Python<'_>, #[pyo3(from_py_with = arguments::path)] path: PathBuf) -> PyResult<()> {
        let text = self.0.to_identity_file_text();
        let saved = py.detach(|| commands::store_private(text.as_bytes(), &path, &commands::Control::new()));
        saved.map_err(|error| errors::container(py, error))
    }

    fn __repr__(&self) -> String {
        format!("<tress.KeyPair {}>", self.0.recipient())
    }
}

// The signature below has the numbers, because Python shows default values as written there.
const _: () = assert!(keys::WORK_FACTOR == 18 && keys::MAX_WORK_FACTOR == 20);

/// A passphrase, as the only recipient or as an identity.
///
/// `work_factor` is the binary logarithm of scrypt's cost parameter N for encryption, up to 22. Each step down halves the cost of a
/// guess. 18 takes a second; use low values only in tests. `max_work_factor` is the limit for decryption, up to 22: a file with a
/// work factor of 20 takes five seconds and 1 GiB of memory.
#[pyclass(frozen, module = "tress")]
pub(crate) struct Passphrase {
    recipient: Recipients,
    identity: Identities,
}

#[pymethods]
impl Passphrase {
    #[new]
    #[pyo3(signature = (text, *, work_factor = 18, max_work_factor = 20))]
    fn new(
        py: Python<'_>,
        text: &str,
        #[pyo3(from_py_with = arguments::whole::<u8>)] work_factor: u8,
        #[pyo3(from_py_with = arguments::whole::<u8>)] max_work_factor: u8,
    ) -> PyResult<Self> {
        let recipient = Recipients::from_passphrase_with_work_factor(text, work_factor);
        let recipient = recipient.map_err(|error| errors::container(py, error))?;
        let identity = Identities::from_passphrase_up_to(text, max_work_factor);
        let identity = identity.map_err(|_| errors::usage(py, "max_work_factor must be 1 to 22"))?;
        Ok(Self { recipient, identity })
    }

    fn __repr__(&self) -> &'static str {
        "<tress.Passphrase>"
    }
}

/// A key of 16 or 32 random bytes, as a recipient or as an identity. Do not use a password as a key.
#[pyclass(frozen, module = "tress")]
pub(crate) struct RawKey(keys::RawKey);

#[pymethods]
impl RawKey {
    #[new]
    fn new(py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        keys::key_file(InputBuffer::octets(key, "a key")?.as_slice())
            .map(Self)
            .map_err(|error| errors::container(py, error))
    }

    /// Generates a key of 128 or 256 bits, and returns it as `bytes`.
    #[classmethod]
    #[pyo3(signature = (bit_length = 256))]
    fn generate<'py>(
        class: &Bound<'py, PyType>,
        #[pyo3(from_py_with = arguments::whole::<usize>)] bit_length: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = class.py();
        match bit_length {
            128 | 256 => random(py, bit_length / 8),
            _ => Err(errors::usage(py, "a raw key must have 128 or 256 bits")),
        }
    }

    fn __repr__(&self) -> &'static str {
        "<tress.RawKey>"
    }
}

/// Key and context of Cobblestone files, as the only recipient, or as an identity, which then opens only these files.
///
/// A key of 16 bytes is for Cobblestone-128, one of 32 bytes for Cobblestone-256; with `format` it must be that one. The context is
/// any bytes, and not secret.
#[pyclass(frozen, module = "tress")]
pub(crate) struct CobblestoneKey(keys::CobblestoneKey);

#[pymethods]
impl CobblestoneKey {
    #[new]
    #[pyo3(signature = (key, context = None, *, format = None))]
    fn new(key: &Bound<'_, PyAny>, context: Option<&Bound<'_, PyAny>>, format: Option<&str>) -> PyResult<Self> {
        let format = format.map(|name| self::format(key.py(), name)).transpose()?;
        cobblestone(format, key, context).map(Self)
    }

    fn __repr__(&self) -> &'static str {
        "<tress.CobblestoneKey>"
    }
}

/// Converts key and context of Cobblestone files. Without a format, the key's length is that of one of them.
pub(crate) fn cobblestone(
    format: Option<Format>,
    key: &Bound<'_, PyAny>,
    context: Option<&Bound<'_, PyAny>>,
) -> PyResult<keys::CobblestoneKey> {
    let py = key.py();
    let key = InputBuffer::octets(key, "a key")?;
    let context = context.map(|context| InputBuffer::octets(context, "a context")).transpose()?;
    let context = context.as_ref().map_or(&[][..], InputBuffer::as_slice);
    let by_length = if key.as_slice().len() == 16 { Format::Cobblestone128 } else { Format::Cobblestone256 };
    keys::CobblestoneKey::new(format.unwrap_or(by_length), key.as_slice(), context).map_err(|error| {
        let wanted = match (key.as_slice().len(), format) {
            (length, Some(Format::Cobblestone128)) if length != 16 => "key must be 16 bytes",
            (length, Some(Format::Cobblestone256)) if length != 32 => "key must be 32 bytes",
            (length, None) if length != 16 && length != 32 => "key must be 16 or 32 bytes",
            _ => return errors::container(py, error),
        };
        errors::ExceptionClass::Usage.error(py, wanted, "key-file-length")
    })
}

/// Converts the name of a format.
pub(crate) fn format(py: Python<'_>, name: &str) -> PyResult<Format> {
    let unknown = || errors::usage(py, "format must be 'tress', 'age', 'cobblestone-128' or 'cobblestone-256'");
    Format::from_name(name).ok_or_else(unknown)
}

/// Returns random bytes of the operating system.
pub(crate) fn random(py: Python<'_>, bytes: usize) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, bytes, |bytes| {
        getrandom::fill(bytes).map_err(|error| errors::container(py, std::io::Error::other(error).into()))
    })
}

/// Converts one recipient or several.
pub(crate) fn recipients(given: &Bound<'_, PyAny>) -> PyResult<Recipients> {
    let py = given.py();
    let recipients = one_or_several(given, |one| {
        Ok(Some(if let Ok(text) = one.cast::<PyString>() {
            text.to_str()?.parse().map_err(|error| errors::container(py, error))?
        } else if let Ok(pair) = one.cast::<KeyPair>() {
            pair.get().0.recipient().into()
        } else if let Ok(passphrase) = one.cast::<Passphrase>() {
            passphrase.get().recipient.clone()
        } else if let Ok(key) = one.cast::<RawKey>() {
            key.get().0.clone().into()
        } else if let Ok(key) = one.cast::<CobblestoneKey>() {
            key.get().0.clone().into()
        } else {
            return Ok(None);
        }))
    })?;
    match recipients.is_empty() {
        true => Err(errors::container(py, Error::new(ErrorKind::NoRecipients))),
        false => Ok(recipients.into_iter().collect()),
    }
}

/// Converts one identity or several.
pub(crate) fn identities(given: &Bound<'_, PyAny>) -> PyResult<Identities> {
    let py = given.py();
    let identities = one_or_several(given, |one| {
        Ok(Some(if let Ok(text) = one.cast::<PyString>() {
            let text = text.to_str()?;
            Identities::from_file(text.as_bytes()).map_err(|error| bad_identity(py, text, error))?
        } else if one.hasattr("__fspath__")? {
            let path = arguments::path(one)?;
            let read = Identities::from_file(key_file(py, &path)?.as_slice());
            read.map_err(|error| errors::container(py, error.at(&path)))?
        } else if let Ok(pair) = one.cast::<KeyPair>() {
            (&pair.get().0).into()
        } else if let Ok(passphrase) = one.cast::<Passphrase>() {
            passphrase.get().identity.clone()
        } else if let Ok(key) = one.cast::<RawKey>() {
            key.get().0.clone().into()
        } else if let Ok(key) = one.cast::<CobblestoneKey>() {
            key.get().0.clone().into()
        } else {
            return Ok(None);
        }))
    })?;
    match identities.is_empty() {
        true => Err(errors::usage(py, "no identity given")),
        false => Ok(identities.into_iter().collect()),
    }
}

/// Reads a file of keys, perhaps a FIFO. A signal ends the wait for its writer.
fn key_file(py: Python<'_>, path: &Path) -> PyResult<Zeroizing<Vec<u8>>> {
    if path.is_file() {
        let read = || keys::read_key_file(File::open(path)?, ErrorKind::BadIdentity);
        return py.detach(|| read().map_err(|error| error.at(path))).map_err(|error| errors::container(py, error));
    }
    let control = Control::new();
    let source = Source::Path(path.into());
    let bytes = |reader: &mut dyn Read| Ok(keys::read_key_file(reader, ErrorKind::BadIdentity)?);
    let read = || commands::read(&source, &control, bytes);
    work::run_watched(py, || Ok(()), || control.cancel(), read)?.map_err(|error| errors::container(py, error))
}

/// Converts the error of text that is no identity. The message does not show the text, which may be a secret.
fn bad_identity(py: Python<'_>, text: &str, error: Error) -> PyErr {
    const BEGINNINGS: [&str; 6] = ["AGE-", "TRESS-", "-----BEGIN", "age1", "tress1", "ssh-"];
    let is_other = !matches!(error.kind, ErrorKind::BadIdentity) || text.trim_end().contains('\n');
    if is_other || BEGINNINGS.iter().any(|start| text.trim_start().starts_with(start)) {
        return errors::container(py, error);
    }
    let what = if Path::new(text).exists() { "is a path and no identity" } else { "is no identity, perhaps a path" };
    let message = format!("the text {what}: give the path of an identity file as pathlib.Path");
    errors::ExceptionClass::Usage.error(py, &message, "bad-identity")
}

/// Parses an object, or each object of an iterable. `parse` returns `None` for objects of other types.
fn one_or_several<'py, T>(
    given: &Bound<'py, PyAny>,
    parse: impl Fn(&Bound<'py, PyAny>) -> PyResult<Option<T>>,
) -> PyResult<Vec<T>> {
    if let Some(one) = parse(given)? {
        return Ok(vec![one]);
    }
    let wrong = |object: &Bound<'_, PyAny>| {
        // Only the type: the value may be a secret.
        let name = object.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
        PyTypeError::new_err(format!(
            "expected str, KeyPair, Passphrase, RawKey, CobblestoneKey, or several of these, not {name}"
        ))
    };
    if given.is_instance_of::<PyBytes>() || given.is_instance_of::<PyByteArray>() {
        return Err(wrong(given));
    }
    let several = given.try_iter().map_err(|_| wrong(given))?;
    several.map(|one| one.and_then(|one| parse(&one)?.ok_or_else(|| wrong(&one)))).collect()
}
