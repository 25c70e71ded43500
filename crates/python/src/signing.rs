//! Signatures: keys, single messages, batches.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use tress_container::Control;
use tress_sign::{Hash, KeyFile, Scheme, SignJob, Signature, SigningKey, VerifyJob, VerifyingKey, discrete, rsa};
use zeroize::Zeroizing;

use crate::memory::{InputBuffer, items_stay};
use crate::{arguments, errors, work};

/// A private key: RSA, DSA or Schnorr. Any number of threads may use one object.
#[pyclass(frozen, module = "tress")]
pub(crate) struct PrivateKey(tress_sign::PrivateKey);

#[pymethods]
impl PrivateKey {
    /// Reads a PKCS #8 or PKCS #1 key, as PEM (`str` or bytes) or DER. `password` decrypts an encrypted key. `max_work_factor`, 1 to 23, is
    /// the limit for the cost of that: 20 takes five seconds and 1 GiB of memory, and each step up doubles the time.
    #[staticmethod]
    #[pyo3(signature = (pem, password = None, *, max_work_factor = 20))]
    fn from_pem(
        pem: &Bound<'_, PyAny>,
        password: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = arguments::whole::<u8>)] max_work_factor: u8,
    ) -> PyResult<Self> {
        let py = pem.py();
        let file = key_file(pem)?;
        let password = password.map(text_or_bytes).transpose()?;
        // Deriving a key from a password may take seconds.
        py.detach(move || file.into_private_up_to(password.as_deref().map(Vec::as_slice), max_work_factor))
            .map(Self)
            .map_err(|error| errors::signing(py, error))
    }

    /// Generates a key: `rsa-2048`, `rsa-3072`, `rsa-4096` or any `rsa-BITS` up to 8192; `dsa-2048`, `dsa-3072`, `schnorr-2048` or
    /// `schnorr-3072`.
    #[staticmethod]
    fn generate(py: Python<'_>, kind: &str) -> PyResult<Self> {
        use discrete::GroupSize::{Bits2048, Bits3072};
        use tress_sign::PrivateKey::{Dsa, Rsa, Schnorr};
        let unknown =
            || errors::usage(py, "kind must be 'rsa-BITS', 'dsa-2048', 'dsa-3072', 'schnorr-2048' or 'schnorr-3072'");
        let key = match kind {
            "dsa-2048" => discrete::PrivateKey::generate(Bits2048).map(Dsa),
            "dsa-3072" => discrete::PrivateKey::generate(Bits3072).map(Dsa),
            "schnorr-2048" => discrete::PrivateKey::generate(Bits2048).map(Schnorr),
            "schnorr-3072" => discrete::PrivateKey::generate(Bits3072).map(Schnorr),
            kind => {
                let bits = kind.strip_prefix("rsa-").and_then(|bits| bits.parse().ok()).ok_or_else(unknown)?;
                py.detach(move || rsa::PrivateKey::generate(bits)).map(Rsa)
            }
        };
        key.map(Self).map_err(|error| errors::signing(py, error))
    }

    /// Returns the key as PKCS #8 in PEM, which is secret and not encrypted.
    fn to_pem<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &self.0.to_pem())
    }

    /// Returns the public key of this key.
    fn public_key(&self) -> PublicKey {
        PublicKey(self.0.public_key())
    }

    /// The type and size of the key, such as `rsa-2048`.
    #[getter]
    fn kind(&self) -> String {
        kind(&self.0.public_key())
    }

    /// Signs a message with `scheme`: `rsa-pss-sha256` (the default for RSA), `rsa-pkcs1-sha256`, `dsa-sha256` or
    /// `schnorr-sha256`. The first three also exist with `sha384` and `sha512`. `rsa-pss-sha256:32` sets the length of the salt in
    /// bytes.
    #[pyo3(signature = (message, scheme = None))]
    fn sign<'py>(&self, message: &Bound<'py, PyAny>, scheme: Option<&str>) -> PyResult<Bound<'py, PyBytes>> {
        let py = message.py();
        let key = self.key(py, scheme)?;
        let message = InputBuffer::of(message)?;
        let bytes = message.as_slice();
        let mut signed = py.detach(|| key.sign_digests(&[key.scheme().hash().digest(bytes)]));
        let signed = signed.pop().unwrap_or(Err(tress_sign::Error::Fault));
        signed.map(|signed| PyBytes::new(py, signed.as_bytes())).map_err(|error| errors::signing(py, error))
    }

    /// Signs a batch of messages on `threads` threads (0: one on each core). On processors with AVX-512 IFMA, eight signatures run
    /// in parallel lanes. A message is a buffer, or the path of a file to read. With `prehashed`, each message is a digest by the
    /// scheme's hash function.
    #[pyo3(signature = (messages, scheme = None, *, prehashed = false, threads = 0))]
    fn sign_batch<'py>(
        &self,
        messages: &Bound<'py, PyAny>,
        scheme: Option<&str>,
        prehashed: bool,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = messages.py();
        let key = self.key(py, scheme)?;
        let stay = items_stay(messages);
        let messages = messages.try_iter()?.map(|message| SignedMessage::of(&message?, stay));
        let messages = messages.collect::<PyResult<Vec<_>>>()?;
        let digests = message_digests(py, key.scheme().hash(), messages.iter(), prehashed)?;
        let signed: Result<Vec<Signature>, _> = py.detach(|| {
            let jobs: Vec<_> = digests.iter().map(|digest| SignJob { key: &key, digest }).collect();
            tress_sign::sign_batch(&jobs, threads).into_iter().collect()
        });
        let signed = signed.map_err(|error| errors::signing(py, error))?;
        PyList::new(py, signed.iter().map(|signed| PyBytes::new(py, signed.as_bytes())))
    }

    fn __repr__(&self) -> String {
        format!("<tress.PrivateKey {}>", self.kind())
    }
}

impl PrivateKey {
    fn key(&self, py: Python<'_>, name: Option<&str>) -> PyResult<SigningKey> {
        let scheme = scheme(py, &self.0.public_key(), name)?;
        SigningKey::new(self.0.clone(), scheme).map_err(|error| errors::signing(py, error))
    }
}

/// A public key: RSA, DSA or Schnorr. Any number of threads may use one object.
#[pyclass(frozen, eq, module = "tress")]
#[derive(PartialEq)]
pub(crate) struct PublicKey(tress_sign::PublicKey);

#[pymethods]
impl PublicKey {
    /// Reads a SubjectPublicKeyInfo or PKCS #1 key, as PEM (`str` or bytes) or DER.
    #[staticmethod]
    fn from_pem(pem: &Bound<'_, PyAny>) -> PyResult<Self> {
        let key = key_file(pem)?.into_public();
        key.map(Self).map_err(|error| errors::signing(pem.py(), error))
    }

    /// Returns the key as SubjectPublicKeyInfo in PEM.
    fn to_pem(&self) -> String {
        self.0.to_pem()
    }

    /// The type and size of the key, such as `rsa-2048`.
    #[getter]
    fn kind(&self) -> String {
        kind(&self.0)
    }

    /// Supports `pickle` and `copy`, for the public key only.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.import("tress._verbs")?.getattr("_public_key")?, (self.to_pem(),)))
    }

    /// Verifies a signature of `message`, and raises `InvalidSignature` if it is not valid. It returns `None`, so do not use the
    /// result as a condition. `scheme` is as for `PrivateKey.sign`.
    #[pyo3(signature = (signature, message, scheme = None))]
    fn verify(&self, signature: &Bound<'_, PyAny>, message: &Bound<'_, PyAny>, scheme: Option<&str>) -> PyResult<()> {
        let py = message.py();
        let key = self.key(py, scheme)?;
        let (signature, message) = (InputBuffer::of(signature)?, InputBuffer::of(message)?);
        let (signature, message) = (signature.as_slice(), message.as_slice());
        py.detach(|| key.verify_digest(&key.scheme().hash().digest(message), signature))
            .map_err(|error| errors::signing(py, error))
    }

    /// Verifies a batch of signatures, each `(signature, message)` with messages as for `PrivateKey.sign_batch`. Returns a list with
    /// `True` for each valid signature. A list of only `False` is true as a condition: use `all(...)`.
    #[pyo3(signature = (signed, scheme = None, *, prehashed = false, threads = 0))]
    fn verify_batch(
        &self,
        signed: &Bound<'_, PyAny>,
        scheme: Option<&str>,
        prehashed: bool,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
    ) -> PyResult<Vec<bool>> {
        let py = signed.py();
        let key = self.key(py, scheme)?;
        let stay = items_stay(signed);
        let pairs = signed.try_iter()?.map(|pair| {
            let (signature, message): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            Ok((InputBuffer::of(&signature)?.kept(py, stay)?, SignedMessage::of(&message, stay)?))
        });
        let pairs = pairs.collect::<PyResult<Vec<_>>>()?;
        let digests = message_digests(py, key.scheme().hash(), pairs.iter().map(|(_, message)| message), prehashed)?;
        let signatures: Vec<&[u8]> = pairs.iter().map(|(signature, _)| signature.as_slice()).collect();
        let outcomes = py.detach(|| {
            let jobs = signatures.iter().zip(&digests);
            let jobs: Vec<_> = jobs.map(|(signature, digest)| VerifyJob { key: &key, digest, signature }).collect();
            tress_sign::verify_batch(&jobs, threads)
        });
        if outcomes.contains(&Err(tress_sign::Error::DigestLength)) {
            return Err(errors::signing(py, tress_sign::Error::DigestLength));
        }
        Ok(outcomes.iter().map(Result::is_ok).collect())
    }

    fn __repr__(&self) -> String {
        format!("<tress.PublicKey {}>", self.kind())
    }
}

impl PublicKey {
    fn key(&self, py: Python<'_>, name: Option<&str>) -> PyResult<VerifyingKey> {
        let scheme = scheme(py, &self.0, name)?;
        VerifyingKey::new(self.0.clone(), scheme).map_err(|error| errors::signing(py, error))
    }
}

/// A message to sign or verify.
enum SignedMessage<'py> {
    Bytes(InputBuffer<'py>),
    File(PathBuf),
}

impl<'py> SignedMessage<'py> {
    fn of(message: &Bound<'py, PyAny>, stays: bool) -> PyResult<Self> {
        // `str` is refused: it could be a message or a path.
        if message.hasattr("__fspath__")? {
            return arguments::path(message).map(Self::File);
        }
        Ok(Self::Bytes(InputBuffer::of(message)?.kept(message.py(), stays)?))
    }
}

/// Returns the digest of each message; with `prehashed`, the message itself.
fn message_digests<'a>(
    py: Python<'_>,
    hash: Hash,
    messages: impl Iterator<Item = &'a SignedMessage<'a>>,
    prehashed: bool,
) -> PyResult<Vec<Vec<u8>>> {
    let parts = messages.map(|message| match message {
        SignedMessage::Bytes(bytes) => Ok(bytes.as_slice()),
        SignedMessage::File(path) => Err(path),
    });
    let parts: Vec<_> = parts.collect();
    if prehashed && parts.iter().any(Result::is_err) {
        return Err(errors::usage(py, "a path is no digest"));
    }
    let control = Control::new();
    let digest = |part: &Result<&[u8], &PathBuf>| match part {
        Ok(bytes) if prehashed => Ok(<[u8]>::to_vec(bytes)),
        Ok(bytes) => Ok(hash.digest(bytes)),
        Err(path) => open_regular(path)
            .and_then(|file| hash.digest_reader(Cancellable(file, &control)))
            .map_err(|error| tress_container::Error::from(error).at(path.as_path())),
    };
    let digests = || parts.iter().map(digest).collect::<Result<Vec<_>, _>>();
    let digests = match parts.iter().all(Result::is_ok) {
        true => py.detach(digests),
        false => work::run_watched(py, || Ok(()), || control.cancel(), digests)?,
    };
    digests.map_err(|error| errors::container(py, error))
}

/// A file whose reads fail after a signal.
struct Cancellable<'a>(File, &'a Control);

impl Read for Cancellable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.is_cancelled() { Err(io::Error::other("cancelled")) } else { self.0.read(buffer) }
    }
}

/// Opens a regular file. Opening a pipe without a writer would block forever.
fn open_regular(path: &Path) -> io::Result<File> {
    let is_regular = std::fs::metadata(path)?.is_file();
    if is_regular { File::open(path) } else { Err(io::Error::other("not a regular file")) }
}

/// Returns the scheme with this name, or the default scheme of the key.
fn scheme(py: Python<'_>, key: &tress_sign::PublicKey, name: Option<&str>) -> PyResult<Scheme> {
    let Some(name) = name else { return Ok(Scheme::of(key)) };
    name.parse().map_err(|_| errors::usage(py, "unknown scheme"))
}

fn kind(key: &tress_sign::PublicKey) -> String {
    match key {
        tress_sign::PublicKey::Rsa(key) => format!("rsa-{}", key.bits()),
        tress_sign::PublicKey::Dsa(key) => format!("dsa-{}", key.group().bits()),
        tress_sign::PublicKey::Schnorr(key) => format!("schnorr-{}", key.group().bits()),
        _ => "other".into(),
    }
}

fn key_file(pem: &Bound<'_, PyAny>) -> PyResult<KeyFile> {
    let read = match pem.cast::<PyString>() {
        Ok(text) => KeyFile::read(text.to_str()?.as_bytes()),
        Err(_) => KeyFile::read(InputBuffer::of(pem)?.as_slice()),
    };
    read.map_err(|error| errors::signing(pem.py(), error))
}

/// Copies text or bytes to memory that is wiped on drop.
fn text_or_bytes(given: &Bound<'_, PyAny>) -> PyResult<Zeroizing<Vec<u8>>> {
    Ok(Zeroizing::new(match given.cast::<PyString>() {
        Ok(text) => text.to_str()?.as_bytes().to_vec(),
        Err(_) => InputBuffer::of(given)?.as_slice().to_vec(),
    }))
}
