//! Recipients and identities as Python gives them: text, key pairs, passphrases, raw keys, or several of these.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString, PyType};
use tress_container::age::secrecy::{ExposeSecret, SecretString};
use tress_container::age::{Identity, Recipient};
use tress_container::{Error, ErrorKind, keys, verbs};
use zeroize::Zeroizing;

use crate::arguments;
use crate::errors;
use crate::memory::Input;

/// An age identity and a Noise key, as `tress keygen` makes them.
#[pyclass(frozen, module = "tress")]
pub(crate) struct KeyPair(keys::KeyPair);

#[pymethods]
impl KeyPair {
    /// A fresh key pair.
    #[staticmethod]
    fn generate(py: Python<'_>) -> PyResult<Self> {
        keys::KeyPair::generate().map(Self).map_err(|error| errors::stream(py, error))
    }

    /// The key pair in the text of an identity file, or an `AGE-SECRET-KEY-1…` alone.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str) -> PyResult<Self> {
        keys::KeyPair::parse(text).map(Self).map_err(|error| errors::stream(py, error))
    }

    /// What to encrypt to, `age1…`.
    #[getter]
    fn recipient(&self) -> String {
        self.0.recipient()
    }

    /// What to encrypt and send to, `tress1…`; `None` without a Noise key.
    #[getter]
    fn address(&self) -> Option<String> {
        self.0.address()
    }

    /// The text of an identity file. It is secret.
    fn identity_file<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, self.0.to_identity_file_text().expose_secret())
    }

    /// Writes the identity file, which only its owner can read (mode 0600). Nothing is replaced.
    fn save(&self, py: Python<'_>, #[pyo3(from_py_with = arguments::path)] path: PathBuf) -> PyResult<()> {
        let text = self.0.to_identity_file_text();
        let saved = py.detach(|| verbs::store_private(text.expose_secret().as_bytes(), &path, &verbs::Control::new()));
        saved.map_err(|error| errors::stream(py, error))
    }

    fn __repr__(&self) -> String {
        format!("<tress.KeyPair {}>", self.0.recipient())
    }
}

// Python shows numbers alone as defaults.
const _: () = assert!(keys::WORK_FACTOR == 18 && keys::MAX_WORK_FACTOR == 20);

/// A passphrase, as the only recipient or as an identity.
///
/// `work_factor` is the binary logarithm of how often scrypt mixes, when encrypting: each one less halves what a guess costs.
/// 18 takes a second, 20 is the most, and few are for tests. `max_work_factor` is the most that a container may cost when it is
/// decrypted: 20 takes five seconds and a GiB of memory for each.
#[pyclass(frozen, module = "tress")]
pub(crate) struct Passphrase {
    text: SecretString,
    work_factor: u8,
    max_work_factor: u8,
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
        let text = SecretString::from(text);
        keys::passphrase_recipient_with_work_factor(text.clone(), work_factor)
            .map_err(|error| errors::stream(py, error))?;
        if !(1..=keys::MAX_WORK_FACTOR).contains(&max_work_factor) {
            return Err(errors::usage(py, "max_work_factor must be 1 to 20"));
        }
        Ok(Self { text, work_factor, max_work_factor })
    }

    fn __repr__(&self) -> &'static str {
        "<tress.Passphrase>"
    }
}

/// A key of 16 or 32 random bytes, as a recipient or as an identity. A password of that length is none.
#[pyclass(frozen, module = "tress")]
pub(crate) struct RawKey(keys::RawKey);

#[pymethods]
impl RawKey {
    #[new]
    fn new(py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        keys::key_file(Input::octets(key, "a key")?.as_slice()).map(Self).map_err(|error| errors::stream(py, error))
    }

    /// A fresh key of `bit_length` bits, 128 or 256, as `bytes`.
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

/// So many random bytes of the system.
pub(crate) fn random(py: Python<'_>, bytes: usize) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, bytes, |bytes| {
        getrandom::fill(bytes).map_err(|error| errors::stream(py, std::io::Error::other(error).into()))
    })
}

/// The recipients in `given`.
pub(crate) fn recipients(given: &Bound<'_, PyAny>) -> PyResult<Vec<Box<dyn Recipient + Send>>> {
    let py = given.py();
    let recipients = each(given, |one| {
        let recipient: Result<Box<dyn Recipient + Send>, Error> = if let Ok(text) = one.cast::<PyString>() {
            keys::recipient(text.to_str()?)
        } else if let Ok(pair) = one.cast::<KeyPair>() {
            keys::recipient(&pair.get().0.recipient())
        } else if let Ok(passphrase) = one.cast::<Passphrase>() {
            let passphrase = passphrase.get();
            keys::passphrase_recipient_with_work_factor(passphrase.text.clone(), passphrase.work_factor)
        } else if let Ok(key) = one.cast::<RawKey>() {
            Ok(Box::new(key.get().0.clone()))
        } else {
            return Ok(None);
        };
        recipient.map(Some).map_err(|error| errors::stream(py, error))
    })?;
    match recipients.is_empty() {
        true => Err(errors::stream(py, Error::new(ErrorKind::NoRecipients))),
        false => Ok(recipients),
    }
}

/// Identities, to be opened on any thread.
pub(crate) struct Identities(Vec<Key>);

enum Key {
    Text(Zeroizing<String>),
    /// In a place of its own, where it stays while the list grows: what moves leaves a copy behind.
    Pair(Box<keys::KeyPair>),
    /// And the most that scrypt may cost.
    Passphrase(SecretString, u8),
    Raw(keys::RawKey),
}

impl Identities {
    /// The identities in `given`, each of which opens.
    pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = given.py();
        let keys = each(given, |one| {
            Ok(Some(if let Ok(text) = one.cast::<PyString>() {
                Key::Text(Zeroizing::new(text.to_str()?.to_owned()))
            } else if let Ok(pair) = one.cast::<KeyPair>() {
                Key::Pair(Box::new(pair.get().0.clone()))
            } else if let Ok(passphrase) = one.cast::<Passphrase>() {
                Key::Passphrase(passphrase.get().text.clone(), passphrase.get().max_work_factor)
            } else if let Ok(key) = one.cast::<RawKey>() {
                Key::Raw(key.get().0.clone())
            } else {
                return Ok(None);
            }))
        })?;
        if keys.is_empty() {
            return Err(errors::usage(py, "no identity given"));
        }
        let identities = Self(keys);
        identities.open().map_err(|error| errors::stream(py, error))?;
        Ok(identities)
    }

    /// The same for age.
    pub(crate) fn open(&self) -> Result<Vec<Box<dyn Identity>>, Error> {
        let mut identities: Vec<Box<dyn Identity>> = Vec::with_capacity(self.0.len());
        for key in &self.0 {
            match key {
                Key::Text(text) => identities.extend(keys::identities_file(text.as_bytes())?),
                Key::Pair(pair) => identities.push(Box::new(pair.identity().clone())),
                Key::Passphrase(text, most) => identities.push(keys::passphrase_identity_up_to(text.clone(), *most)?),
                Key::Raw(key) => identities.push(Box::new(key.clone())),
            }
        }
        Ok(identities)
    }
}

/// One thing, or each of several. `parse` knows nothing of other types.
fn each<'py, T>(
    given: &Bound<'py, PyAny>,
    parse: impl Fn(&Bound<'py, PyAny>) -> PyResult<Option<T>>,
) -> PyResult<Vec<T>> {
    if let Some(one) = parse(given)? {
        return Ok(vec![one]);
    }
    let wrong = |object: &Bound<'_, PyAny>| {
        // The type, and never what is in it: it may be a secret.
        let name = object.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
        PyTypeError::new_err(format!("expected str, KeyPair, Passphrase, RawKey, or several of these, not {name}"))
    };
    if given.is_instance_of::<PyBytes>() || given.is_instance_of::<PyByteArray>() {
        return Err(wrong(given));
    }
    let several = given.try_iter().map_err(|_| wrong(given))?;
    several.map(|one| one.and_then(|one| parse(&one)?.ok_or_else(|| wrong(&one)))).collect()
}
