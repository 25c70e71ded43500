//! AES-CCM and ChaCha20-Poly1305 with the interface of PyCA cryptography's `AESCCM` and `ChaCha20Poly1305`.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use tress_cipher::aes::Aes;
use tress_cipher::chacha20poly1305::ChaCha20Poly1305;
use tress_cipher::lanes::Aead;
use tress_cipher::{Aad, Error, Tag};

use crate::keys::random;
use crate::many::{self, BatchMessage, CipherDirection};
use crate::memory::{InputBuffer, NewBytes, OutputBuffer};
use crate::work::run_detached;
use crate::{arguments, errors};

/// The key of an AEAD.
pub(crate) enum AeadKey {
    /// In a box: otherwise the larger variant's place in the other holds what was on the stack, such as another object's round keys.
    Ccm(Box<Aes>),
    ChaCha20Poly1305(ChaCha20Poly1305),
}

/// Evaluates an expression with the key in its concrete type.
macro_rules! with_aead {
    ($key:expr, $aead:ident => $body:expr) => {
        match $key {
            AeadKey::Ccm($aead) => {
                let $aead: &Aes = $aead;
                $body
            }
            AeadKey::ChaCha20Poly1305($aead) => $body,
        }
    };
}

impl AeadKey {
    pub(crate) fn as_ccm(&self) -> Option<&Aes> {
        if let Self::Ccm(aead) = self { Some(aead) } else { None }
    }

    pub(crate) fn as_chacha20poly1305(&self) -> Option<&ChaCha20Poly1305> {
        if let Self::ChaCha20Poly1305(aead) = self { Some(aead) } else { None }
    }

    fn check_lengths(&self, nonce: &[u8], message_bytes: usize, tag_bytes: usize) -> Result<(), Error> {
        fn check<A: Aead>(_: &A, nonce: &[u8], message_bytes: usize, tag_bytes: usize) -> Result<(), Error> {
            A::check_lengths(nonce.into(), message_bytes, tag_bytes)
        }
        with_aead!(self, aead => check(aead, nonce, message_bytes, tag_bytes))
    }

    fn seal(&self, nonce: &[u8], aad: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
        with_aead!(self, aead => aead.seal_one(nonce.into(), Aad(aad), data, tag.into()))
    }

    fn open(&self, nonce: &[u8], aad: &[u8], data: &mut [u8], tag: Tag<'_>) -> Result<(), Error> {
        with_aead!(self, aead => aead.open_one(nonce.into(), Aad(aad), data, tag))
    }
}

/// The methods of `AESCCM` and `ChaCha20Poly1305`.
#[pyclass(frozen, subclass, name = "_Aead", module = "tress._tress")]
pub(crate) struct PyAead {
    pub(crate) key: AeadKey,
    pub(crate) tag_bytes: usize,
    /// Identifies the key, equal for all objects with it: a part of an encrypted block that no message contains.
    pub(crate) key_id: usize,
}

/// AES-CCM (SP 800-38C) under a key of 16, 24 or 32 bytes. Any number of threads may use one object.
///
/// A nonce has 7 to 13 bytes. It must never be used twice with a key, neither by two threads or processes with separate counters nor
/// after a restart. The object does not check this between calls. With a `tag_length` of 4 bytes, one of 2**32 forgeries passes by
/// chance; the default of 16 makes this negligible.
#[pyclass(frozen, extends = PyAead, name = "AESCCM", module = "tress")]
pub(crate) struct AesCcm;

#[pymethods]
impl AesCcm {
    #[new]
    #[pyo3(signature = (key, tag_length = None))]
    fn new(
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        tag_length: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let tag_bytes = tag_length.map_or(Ok(16), arguments::whole::<usize>)?;
        let cipher =
            Aes::new(InputBuffer::octets(key, "a key")?.as_slice()).map_err(|error| errors::cipher(py, error))?;
        Aes::check_lengths((&[0; 13]).into(), 0, tag_bytes).map_err(|error| errors::cipher(py, error))?;
        // CCM never encrypts this block.
        let mut block = [[0; 16]];
        cipher.encrypt_blocks(&mut block);
        let key_id = u128::from_le_bytes(block[0]) as usize;
        Ok(PyClassInitializer::from(PyAead { key: AeadKey::Ccm(Box::new(cipher)), tag_bytes, key_id })
            .add_subclass(Self))
    }

    /// Generates a key of 128, 192 or 256 bits.
    #[staticmethod]
    fn generate_key(
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::whole::<usize>)] bit_length: usize,
    ) -> PyResult<Bound<'_, PyBytes>> {
        match bit_length {
            128 | 192 | 256 => random(py, bit_length / 8),
            _ => Err(errors::cipher(py, Error::KeyLength)),
        }
    }
}

/// ChaCha20-Poly1305 (RFC 8439) under a key of 32 bytes, with tags of 16 bytes. Any number of threads may use one object.
///
/// A nonce has 12 bytes. It must never be used twice with a key, neither by two threads or processes with separate counters nor after a
/// restart. The object does not check this between calls.
#[pyclass(frozen, extends = PyAead, name = "ChaCha20Poly1305", module = "tress")]
pub(crate) struct ChaChaPoly;

#[pymethods]
impl ChaChaPoly {
    #[new]
    fn new(py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<Self>> {
        let key = InputBuffer::octets(key, "a key")?;
        let key = key.as_slice().try_into().map_err(|_| errors::cipher(py, Error::KeyLength))?;
        let aead = ChaCha20Poly1305::new(key);
        // A part of a key stream that remains secret.
        let mut key_id = [0; 8];
        aead.seal(&[0xff; 12], &[], &mut key_id).map_err(|error| errors::cipher(py, error))?;
        let key_id = u64::from_le_bytes(key_id) as usize;
        Ok(PyClassInitializer::from(PyAead { key: AeadKey::ChaCha20Poly1305(aead), tag_bytes: 16, key_id })
            .add_subclass(Self))
    }

    /// Generates a key.
    #[staticmethod]
    fn generate_key(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
        random(py, 32)
    }
}

#[pymethods]
impl PyAead {
    /// Encrypts `data` and returns the ciphertext followed by the tag. A nonce must never be used twice with a key.
    #[pyo3(signature = (nonce, data, associated_data))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (nonce, plain, aad) = message_parts(nonce, data, associated_data)?;
        let (nonce, plain, aad) = (nonce.as_slice(), plain.as_slice(), slice(&aad));
        self.check(py, nonce, plain.len())?;
        let mut sealed = NewBytes::new(py, plain.len() + self.tag_bytes)?;
        let space = sealed.space();
        let done = run_detached(py, plain.len() + aad.len(), || {
            let (data, tag) = space.copy_of(plain).split_at_mut(plain.len());
            self.key.seal(nonce, aad, data, tag)
        });
        done.map_err(|error| errors::cipher(py, error))?;
        Ok(sealed.finish())
    }

    /// Verifies and decrypts a result of `encrypt`. Raises `InvalidTag` if it was changed or made under another key or nonce.
    ///
    /// Do not verify a tag by encrypting again and comparing with `==`: the run time reveals how much of a forged tag is right.
    #[pyo3(signature = (nonce, data, associated_data))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (nonce, sealed, aad) = message_parts(nonce, data, associated_data)?;
        let (nonce, aad) = (nonce.as_slice(), slice(&aad));
        let (cipher_text, tag) = self.split(py, nonce, sealed.as_slice())?;
        let mut plain = NewBytes::new(py, cipher_text.len())?;
        let space = plain.space();
        let done = run_detached(py, cipher_text.len() + aad.len(), || {
            let tag = Tag::new(tag, self.tag_bytes)?;
            self.key.open(nonce, aad, space.copy_of(cipher_text), tag)
        });
        done.map_err(|error| errors::cipher(py, error))?;
        Ok(plain.finish())
    }

    /// Encrypts into `buf`, which must have the length of the result, and returns that length. `buf` may share memory with `data`.
    /// A nonce must never be used twice with a key.
    #[pyo3(signature = (nonce, data, associated_data, buf))]
    fn encrypt_into<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
        buf: &Bound<'py, PyAny>,
    ) -> PyResult<usize> {
        let (nonce, plain, aad) = message_parts(nonce, data, associated_data)?;
        let bytes = plain.as_slice().len();
        self.check(py, nonce.as_slice(), bytes)?;
        let (nonce, mut output) = prepare_output(py, &nonce, &aad, buf, bytes + self.tag_bytes)?;
        output.copy_from(&plain);
        drop(plain);
        let aad = slice(&aad);
        let buffer = output.as_mut_slice();
        let done = run_detached(py, bytes + aad.len(), || {
            let (data, tag) = buffer.split_at_mut(bytes);
            self.key.seal(nonce.as_ref(), aad, data, tag)
        });
        done.map_err(|error| {
            // It holds a copy of the plaintext.
            output.wipe();
            errors::cipher(py, error)
        })?;
        Ok(bytes + self.tag_bytes)
    }

    /// Verifies and decrypts into `buf`, which must have the length of the plaintext, and returns that length. Until this returns,
    /// `buf` may hold unverified plaintext; it is wiped before `InvalidTag` is raised. `buf` may share memory with `data`.
    #[pyo3(signature = (nonce, data, associated_data, buf))]
    fn decrypt_into<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
        buf: &Bound<'py, PyAny>,
    ) -> PyResult<usize> {
        let (nonce, sealed, aad) = message_parts(nonce, data, associated_data)?;
        let (cipher_text, tag) = self.split(py, nonce.as_slice(), sealed.as_slice())?;
        let bytes = cipher_text.len();
        let (nonce, mut output) = prepare_output(py, &nonce, &aad, buf, bytes)?;
        let tag = ShortBytes::new(tag);
        output.copy_from(&sealed);
        drop(sealed);
        let aad = slice(&aad);
        let buffer = output.as_mut_slice();
        let done = run_detached(py, bytes + aad.len(), || {
            let tag = Tag::new(tag.as_ref(), self.tag_bytes)?;
            self.key.open(nonce.as_ref(), aad, buffer, tag)
        });
        done.map_err(|error| {
            output.wipe();
            errors::cipher(py, error)
        })?;
        Ok(bytes)
    }

    /// Encrypts a batch of messages, each `(nonce, data, associated_data)`, in lanes and on `threads` threads (0: one on each core).
    /// Returns a list with the result of `encrypt` for each message.
    ///
    /// A nonce must never be used twice with a key. A repeated nonce in the batch raises `ValueError`, and nothing is encrypted.
    #[pyo3(signature = (messages, *, threads = 0))]
    fn encrypt_many<'py>(
        slf: &Bound<'py, Self>,
        messages: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        many::encrypt(slf.py(), &BatchMessage::all(messages, Some(slf))?, threads)
    }

    /// Verifies and decrypts a batch of messages, each `(nonce, data, associated_data)`, in lanes and on threads. If any message is
    /// forged, raises `InvalidTag` with the indices of all forged messages in `indices`. With `errors="none"` returns the other
    /// messages, and `None` for each forged one. Test for it with `is None`: an empty message, `b""`, is false as well.
    #[pyo3(signature = (messages, *, threads = 0, errors = "raise"))]
    fn decrypt_many<'py>(
        slf: &Bound<'py, Self>,
        messages: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
        errors: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        many::decrypt(slf.py(), &BatchMessage::all(messages, Some(slf))?, threads, errors)
    }

    /// Encrypts as `encrypt_many`, with the concatenated results in `buf`, which must have their total length; returns that length.
    /// Reusing one buffer saves allocations. A nonce must never be used twice with a key.
    #[pyo3(signature = (messages, buf, *, threads = 0))]
    fn encrypt_many_into(
        slf: &Bound<'_, Self>,
        messages: &Bound<'_, PyAny>,
        buf: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
    ) -> PyResult<usize> {
        let messages = BatchMessage::all(messages, Some(slf))?;
        many::process_into(slf.py(), &messages, &mut OutputBuffer::of(buf)?, threads, CipherDirection::Encrypt)
    }

    /// Decrypts as `decrypt_many`, with the concatenated plaintexts in `buf`, which must have their total length; returns that
    /// length. If any message is forged, its part of `buf` is filled with zeros, and `InvalidTag` is raised with the indices of all
    /// forged messages in `indices`.
    #[pyo3(signature = (messages, buf, *, threads = 0))]
    fn decrypt_many_into(
        slf: &Bound<'_, Self>,
        messages: &Bound<'_, PyAny>,
        buf: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
    ) -> PyResult<usize> {
        let messages = BatchMessage::all(messages, Some(slf))?;
        many::process_into(slf.py(), &messages, &mut OutputBuffer::of(buf)?, threads, CipherDirection::Decrypt)
    }

    /// The backend that this key was prepared for, such as `vaes256`.
    #[getter]
    fn backend(&self) -> &'static str {
        with_aead!(&self.key, aead => aead.backend()).name()
    }

    fn __repr__(&self) -> String {
        match &self.key {
            AeadKey::Ccm(aes) => {
                format!("<tress.AESCCM of {} bits, tags of {} bytes>", 8 * aes.key_bytes(), self.tag_bytes)
            }
            AeadKey::ChaCha20Poly1305(_) => "<tress.ChaCha20Poly1305>".to_owned(),
        }
    }
}

impl PyAead {
    /// Checks the length of a nonce, and that a message of `message_bytes` is short enough for it.
    fn check(&self, py: Python<'_>, nonce: &[u8], message_bytes: usize) -> PyResult<()> {
        self.check_lengths(nonce, message_bytes).map_err(|error| errors::cipher(py, error))
    }

    pub(crate) fn check_lengths(&self, nonce: &[u8], message_bytes: usize) -> Result<(), Error> {
        self.key.check_lengths(nonce, message_bytes, self.tag_bytes)
    }

    /// Checks the lengths of nonce and message, and splits the message into ciphertext and tag. A message that is shorter than a tag
    /// counts as forged.
    fn split<'a>(&self, py: Python<'_>, nonce: &[u8], sealed: &'a [u8]) -> PyResult<(&'a [u8], &'a [u8])> {
        self.check(py, nonce, sealed.len().saturating_sub(self.tag_bytes))?;
        let bytes = sealed.len().checked_sub(self.tag_bytes);
        bytes.map(|bytes| sealed.split_at(bytes)).ok_or_else(|| errors::invalid_tag(py, Vec::new()))
    }
}

/// Returns the buffers of nonce, message and associated data.
fn message_parts<'py>(
    nonce: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    aad: Option<&Bound<'py, PyAny>>,
) -> PyResult<(InputBuffer<'py>, InputBuffer<'py>, Option<InputBuffer<'py>>)> {
    let (nonce, data) = (InputBuffer::octets(nonce, "a nonce")?, InputBuffer::of(data)?);
    let aad = aad.map(InputBuffer::of).transpose()?;
    if data.as_slice().len().max(slice(&aad).len()) > MAX_MESSAGE_BYTES {
        return Err(PyOverflowError::new_err("Data or associated data too long. Max 2**31 - 1 bytes"));
    }
    Ok((nonce, data, aad))
}

fn slice<'a>(aad: &'a Option<InputBuffer<'_>>) -> &'a [u8] {
    aad.as_ref().map_or(&[], InputBuffer::as_slice)
}

/// Most bytes of a message or its associated data, as in PyCA.
const MAX_MESSAGE_BYTES: usize = i32::MAX as usize;

/// A copy of a nonce or tag.
struct ShortBytes {
    bytes: [u8; 16],
    length: usize,
}

impl ShortBytes {
    /// Copies up to 16 bytes. Panics if there are more.
    fn new(of: &[u8]) -> Self {
        let mut bytes = [0; 16];
        bytes[..of.len()].copy_from_slice(of);
        Self { bytes, length: of.len() }
    }
}

impl AsRef<[u8]> for ShortBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Returns a copy of the nonce, whose length was checked, and the output buffer, which has `bytes` bytes and does not overlap the
/// associated data. It may overlap the message.
fn prepare_output(
    py: Python<'_>,
    nonce: &InputBuffer<'_>,
    aad: &Option<InputBuffer<'_>>,
    buf: &Bound<'_, PyAny>,
    bytes: usize,
) -> PyResult<(ShortBytes, OutputBuffer)> {
    let output = OutputBuffer::of(buf)?;
    if output.bytes() != bytes {
        return Err(errors::usage(py, &format!("buffer must be {bytes} bytes long, and has {}", output.bytes())));
    }
    if output.overlaps(slice(aad)) {
        return Err(errors::usage(py, "buf and associated_data overlap"));
    }
    Ok((ShortBytes::new(nonce.as_slice()), output))
}
