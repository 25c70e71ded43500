//! AES-CCM with the interface of PyCA cryptography's `AESCCM`.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use tress_cipher::aes::Aes;
use tress_cipher::modes::ccm;
use tress_cipher::{Aad, Tag};

use crate::arguments;
use crate::errors;
use crate::keys::random;
use crate::many::{self, Message};
use crate::memory::{Fresh, Input, Output};
use crate::work::detached;

/// Longest nonce of CCM.
const NONCE_MOST_BYTES: usize = 13;

/// AES-CCM (SP 800-38C) under a key of 16, 24 or 32 bytes. Any number of threads may use one object.
///
/// A nonce must never be used twice with a key: not by two threads or processes that count for themselves,
/// not after a restart. Nothing here can know. `tag_length` below 16 lets forgeries pass by chance: one of 2**32 with 4 bytes.
#[pyclass(frozen, name = "AESCCM", module = "tress")]
pub(crate) struct AesCcm {
    pub(crate) cipher: Aes,
    pub(crate) tag_bytes: usize,
    /// The same for objects of one key: half of the zero block, encrypted, which CCM never computes.
    pub(crate) key_id: usize,
}

#[pymethods]
impl AesCcm {
    #[new]
    #[pyo3(signature = (key, tag_length = None))]
    fn new(py: Python<'_>, key: &Bound<'_, PyAny>, tag_length: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let tag_length = tag_length.map_or(Ok(16), arguments::whole::<usize>)?;
        let cipher = Aes::new(Input::octets(key, "a key")?.as_slice()).map_err(|error| errors::cipher(py, error))?;
        if !(4..=16).contains(&tag_length) || !tag_length.is_multiple_of(2) {
            return Err(errors::cipher(py, tress_cipher::Error::TagLength));
        }
        let mut block = [[0; 16]];
        cipher.encrypt_blocks(&mut block);
        let key_id = u128::from_le_bytes(block[0]) as usize;
        Ok(Self { cipher, tag_bytes: tag_length, key_id })
    }

    /// A fresh key of 128, 192 or 256 bits.
    #[staticmethod]
    fn generate_key(
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::whole::<usize>)] bit_length: usize,
    ) -> PyResult<Bound<'_, PyBytes>> {
        match bit_length {
            128 | 192 | 256 => random(py, bit_length / 8),
            _ => Err(errors::cipher(py, tress_cipher::Error::KeyLength)),
        }
    }

    /// Encrypts `data` and returns it with its tag behind. A nonce (7 to 13 bytes) must never be used twice with a key.
    #[pyo3(signature = (nonce, data, associated_data))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (nonce, plain, aad) = parts(nonce, data, associated_data)?;
        let (nonce, plain, aad) = (nonce.as_slice(), plain.as_slice(), slice(&aad));
        check(nonce, plain.len()).map_err(|error| errors::cipher(py, error))?;
        let mut sealed = Fresh::new(py, plain.len() + self.tag_bytes)?;
        let space = sealed.space();
        let done = detached(py, plain.len() + aad.len(), || {
            let (data, tag) = space.copy_of(plain).split_at_mut(plain.len());
            ccm::seal(&self.cipher, nonce, Aad(aad), data, tag)
        });
        done.map_err(|error| errors::cipher(py, error))?;
        Ok(sealed.finish())
    }

    /// Verifies and decrypts what `encrypt` made; raises `InvalidTag` where it is anything else.
    ///
    /// To verify is to call this. Whoever encrypts again and compares tags with `==` tells how much of one was right.
    #[pyo3(signature = (nonce, data, associated_data))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (nonce, sealed, aad) = parts(nonce, data, associated_data)?;
        let (nonce, aad) = (nonce.as_slice(), slice(&aad));
        let (cipher_text, tag) = self.split(py, sealed.as_slice())?;
        check(nonce, cipher_text.len()).map_err(|error| errors::cipher(py, error))?;
        let mut plain = Fresh::new(py, cipher_text.len())?;
        let space = plain.space();
        let done = detached(py, cipher_text.len() + aad.len(), || {
            let tag = Tag::new(tag, self.tag_bytes)?;
            ccm::open(&self.cipher, nonce, Aad(aad), space.copy_of(cipher_text), tag)
        });
        done.map_err(|error| errors::cipher(py, error))?;
        Ok(plain.finish())
    }

    /// Encrypts into `buf`, which has to be as long as the result, and returns its length. `buf` may begin where `data` does.
    /// A nonce is never used twice with a key.
    #[pyo3(signature = (nonce, data, associated_data, buf))]
    fn encrypt_into<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
        buf: &Bound<'py, PyAny>,
    ) -> PyResult<usize> {
        let (nonce, plain, aad) = parts(nonce, data, associated_data)?;
        let bytes = plain.as_slice().len();
        check(nonce.as_slice(), bytes).map_err(|error| errors::cipher(py, error))?;
        let (nonce, mut output) = prepare(py, &nonce, &aad, buf, bytes + self.tag_bytes)?;
        output.copy_from(&plain);
        drop(plain);
        let aad = slice(&aad);
        let buffer = output.as_mut_slice();
        let done = detached(py, bytes + aad.len(), || {
            let (data, tag) = buffer.split_at_mut(bytes);
            ccm::seal(&self.cipher, nonce.as_ref(), Aad(aad), data, tag)
        });
        done.map_err(|error| {
            // It was not encrypted.
            output.wipe();
            errors::cipher(py, error)
        })?;
        Ok(bytes + self.tag_bytes)
    }

    /// Verifies and decrypts into `buf`, which has to be as long as the plaintext, and returns its length. It is wiped where
    /// `InvalidTag` is raised; until this returns it holds what was not verified. `buf` may begin where `data` does.
    #[pyo3(signature = (nonce, data, associated_data, buf))]
    fn decrypt_into<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
        buf: &Bound<'py, PyAny>,
    ) -> PyResult<usize> {
        let (nonce, sealed, aad) = parts(nonce, data, associated_data)?;
        let (cipher_text, tag) = self.split(py, sealed.as_slice())?;
        let bytes = cipher_text.len();
        check(nonce.as_slice(), bytes).map_err(|error| errors::cipher(py, error))?;
        let (nonce, mut output) = prepare(py, &nonce, &aad, buf, bytes)?;
        let tag = Short::new(tag);
        output.copy_from(&sealed);
        drop(sealed);
        let aad = slice(&aad);
        let buffer = output.as_mut_slice();
        let done = detached(py, bytes + aad.len(), || {
            let tag = Tag::new(tag.as_ref(), self.tag_bytes)?;
            ccm::open(&self.cipher, nonce.as_ref(), Aad(aad), buffer, tag)
        });
        done.map_err(|error| {
            output.wipe();
            errors::cipher(py, error)
        })?;
        Ok(bytes)
    }

    /// Encrypts many messages, each `(nonce, data, associated_data)`, side by side in lanes and on `threads` threads (0: one on
    /// each core). Returns what `encrypt` returns for each. A nonce is never used twice with a key; twice in one batch is a `ValueError`.
    #[pyo3(signature = (messages, *, threads = 0))]
    fn encrypt_many<'py>(
        slf: &Bound<'py, Self>,
        messages: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        many::encrypt(slf.py(), &Message::all(messages, Some(slf))?, threads)
    }

    /// Verifies and decrypts many messages, each `(nonce, data, associated_data)`. Where any is forged, `InvalidTag` is raised with
    /// their places as `indices`; with `errors='none'` the others are returned, and `None` in those places (an empty message is
    /// `b""`, false as well: look with `is None`).
    #[pyo3(signature = (messages, *, threads = 0, errors = "raise"))]
    fn decrypt_many<'py>(
        slf: &Bound<'py, Self>,
        messages: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
        errors: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        many::decrypt(slf.py(), &Message::all(messages, Some(slf))?, threads, errors)
    }

    /// `encrypt_many` into `buf`, which has to be as long as all results, one behind the other; returns its length. A buffer that is
    /// used again and again saves what memory for results costs. A nonce is never used twice with a key.
    #[pyo3(signature = (messages, buf, *, threads = 0))]
    fn encrypt_many_into(
        slf: &Bound<'_, Self>,
        messages: &Bound<'_, PyAny>,
        buf: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
    ) -> PyResult<usize> {
        let messages = Message::all(messages, Some(slf))?;
        many::encrypt_into(slf.py(), &messages, &mut Output::of(buf)?, threads)
    }

    /// `decrypt_many` into `buf`, which has to be as long as all plaintexts, one behind the other; returns its length. Where any
    /// message is forged, `InvalidTag` is raised with their places as `indices`, and theirs are zeros in `buf`.
    #[pyo3(signature = (messages, buf, *, threads = 0))]
    fn decrypt_many_into(
        slf: &Bound<'_, Self>,
        messages: &Bound<'_, PyAny>,
        buf: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
    ) -> PyResult<usize> {
        let messages = Message::all(messages, Some(slf))?;
        many::decrypt_into(slf.py(), &messages, &mut Output::of(buf)?, threads)
    }

    /// The backend that this key was prepared for, such as `vaes256`.
    #[getter]
    fn backend(&self) -> &'static str {
        self.cipher.backend().name()
    }

    fn __repr__(&self) -> String {
        format!("<tress.AESCCM of {} bits, tags of {} bytes>", 8 * self.cipher.key_bytes(), self.tag_bytes)
    }
}

impl AesCcm {
    /// A message without its tag, and the tag. What is too short to have one is forged.
    fn split<'a>(&self, py: Python<'_>, sealed: &'a [u8]) -> PyResult<(&'a [u8], &'a [u8])> {
        let bytes = sealed.len().checked_sub(self.tag_bytes);
        bytes.map(|bytes| sealed.split_at(bytes)).ok_or_else(|| errors::invalid_tag(py, Vec::new()))
    }
}

/// Nonce, message and, if there is any, associated data.
fn parts<'py>(
    nonce: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    aad: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Input<'py>, Input<'py>, Option<Input<'py>>)> {
    let (nonce, data) = (Input::octets(nonce, "a nonce")?, Input::of(data)?);
    let aad = aad.map(Input::of).transpose()?;
    if data.as_slice().len().max(slice(&aad).len()) > MOST_BYTES {
        return Err(PyOverflowError::new_err("Data or associated data too long. Max 2**31 - 1 bytes"));
    }
    Ok((nonce, data, aad))
}

fn slice<'a>(aad: &'a Option<Input<'_>>) -> &'a [u8] {
    aad.as_ref().map_or(&[], Input::as_slice)
}

/// Most bytes of a message or its associated data, as in PyCA.
const MOST_BYTES: usize = i32::MAX as usize;

/// Whether a message of so many bytes has this nonce, before any of it is copied.
pub(crate) fn check(nonce: &[u8], message_bytes: usize) -> Result<(), tress_cipher::Error> {
    let length_bytes = match nonce.len() {
        bytes @ 7..=NONCE_MOST_BYTES => 15 - bytes,
        _ => return Err(tress_cipher::Error::NonceLength),
    };
    match length_bytes < 8 && message_bytes as u64 >> (8 * length_bytes) != 0 {
        true => Err(tress_cipher::Error::MessageTooLong),
        false => Ok(()),
    }
}

/// A copy of a nonce or tag.
struct Short {
    bytes: [u8; 16],
    length: usize,
}

impl Short {
    /// Of 16 bytes at most.
    fn new(of: &[u8]) -> Self {
        let mut bytes = [0; 16];
        bytes[..of.len()].copy_from_slice(of);
        Self { bytes, length: of.len() }
    }
}

impl AsRef<[u8]> for Short {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// A buffer of this length that nothing but the message shares memory with, and the nonce.
fn prepare(
    py: Python<'_>,
    nonce: &Input<'_>,
    aad: &Option<Input<'_>>,
    buf: &Bound<'_, PyAny>,
    bytes: usize,
) -> PyResult<(Short, Output)> {
    let nonce = Some(nonce.as_slice()).filter(|nonce| (7..=NONCE_MOST_BYTES).contains(&nonce.len()));
    let nonce = Short::new(nonce.ok_or_else(|| errors::cipher(py, tress_cipher::Error::NonceLength))?);
    let output = Output::of(buf)?;
    if output.bytes() != bytes {
        return Err(errors::usage(py, &format!("buffer must be {bytes} bytes long, and has {}", output.bytes())));
    }
    if output.overlaps(slice(aad)) {
        return Err(errors::usage(py, "buf and associated_data overlap"));
    }
    Ok((nonce, output))
}
