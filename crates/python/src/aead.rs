//! AES-CCM with the interface of PyCA cryptography's `AESCCM`.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use tress_cipher::aes::Aes;
use tress_cipher::modes::ccm;
use tress_cipher::{Aad, Tag};

use crate::keys::random;
use crate::many::{self, BatchMessage};
use crate::memory::{InputBuffer, NewBytes, OutputBuffer};
use crate::work::run_detached;
use crate::{arguments, errors};

/// Longest nonce of CCM.
const MAX_NONCE_BYTES: usize = 13;

/// AES-CCM (SP 800-38C) under a key of 16, 24 or 32 bytes. Any number of threads may use one object.
///
/// A nonce must never be used twice with a key, neither by two threads or processes with separate counters nor after a restart.
/// The object does not check this between calls. With a `tag_length` of 4 bytes, one of 2**32 forgeries passes by chance; the
/// default of 16 makes this negligible.
#[pyclass(frozen, name = "AESCCM", module = "tress")]
pub(crate) struct AesCcm {
    pub(crate) cipher: Aes,
    pub(crate) tag_bytes: usize,
    /// Identifies the key, equal for all objects with it: a part of the encrypted zero block. CCM never encrypts that block.
    pub(crate) key_id: usize,
}

#[pymethods]
impl AesCcm {
    #[new]
    #[pyo3(signature = (key, tag_length = None))]
    fn new(py: Python<'_>, key: &Bound<'_, PyAny>, tag_length: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let tag_length = tag_length.map_or(Ok(16), arguments::whole::<usize>)?;
        let cipher =
            Aes::new(InputBuffer::octets(key, "a key")?.as_slice()).map_err(|error| errors::cipher(py, error))?;
        if !(4..=16).contains(&tag_length) || !tag_length.is_multiple_of(2) {
            return Err(errors::cipher(py, tress_cipher::Error::TagLength));
        }
        let mut block = [[0; 16]];
        cipher.encrypt_blocks(&mut block);
        let key_id = u128::from_le_bytes(block[0]) as usize;
        Ok(Self { cipher, tag_bytes: tag_length, key_id })
    }

    /// Generates a key of 128, 192 or 256 bits.
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

    /// Encrypts `data` and returns the ciphertext followed by the tag. A nonce (7 to 13 bytes) must never be used twice with a key.
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
        check_nonce(nonce, plain.len()).map_err(|error| errors::cipher(py, error))?;
        let mut sealed = NewBytes::new(py, plain.len() + self.tag_bytes)?;
        let space = sealed.space();
        let done = run_detached(py, plain.len() + aad.len(), || {
            let (data, tag) = space.copy_of(plain).split_at_mut(plain.len());
            ccm::seal(&self.cipher, nonce, Aad(aad), data, tag)
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
        let (cipher_text, tag) = self.split(py, sealed.as_slice())?;
        check_nonce(nonce, cipher_text.len()).map_err(|error| errors::cipher(py, error))?;
        let mut plain = NewBytes::new(py, cipher_text.len())?;
        let space = plain.space();
        let done = run_detached(py, cipher_text.len() + aad.len(), || {
            let tag = Tag::new(tag, self.tag_bytes)?;
            ccm::open(&self.cipher, nonce, Aad(aad), space.copy_of(cipher_text), tag)
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
        check_nonce(nonce.as_slice(), bytes).map_err(|error| errors::cipher(py, error))?;
        let (nonce, mut output) = prepare_output(py, &nonce, &aad, buf, bytes + self.tag_bytes)?;
        output.copy_from(&plain);
        drop(plain);
        let aad = slice(&aad);
        let buffer = output.as_mut_slice();
        let done = run_detached(py, bytes + aad.len(), || {
            let (data, tag) = buffer.split_at_mut(bytes);
            ccm::seal(&self.cipher, nonce.as_ref(), Aad(aad), data, tag)
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
        let (cipher_text, tag) = self.split(py, sealed.as_slice())?;
        let bytes = cipher_text.len();
        check_nonce(nonce.as_slice(), bytes).map_err(|error| errors::cipher(py, error))?;
        let (nonce, mut output) = prepare_output(py, &nonce, &aad, buf, bytes)?;
        let tag = ShortBytes::new(tag);
        output.copy_from(&sealed);
        drop(sealed);
        let aad = slice(&aad);
        let buffer = output.as_mut_slice();
        let done = run_detached(py, bytes + aad.len(), || {
            let tag = Tag::new(tag.as_ref(), self.tag_bytes)?;
            ccm::open(&self.cipher, nonce.as_ref(), Aad(aad), buffer, tag)
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
        many::encrypt_into(slf.py(), &messages, &mut OutputBuffer::of(buf)?, threads)
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
        many::decrypt_into(slf.py(), &messages, &mut OutputBuffer::of(buf)?, threads)
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
    /// Splits a message into ciphertext and tag. A message that is shorter than a tag counts as forged.
    fn split<'a>(&self, py: Python<'_>, sealed: &'a [u8]) -> PyResult<(&'a [u8], &'a [u8])> {
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

/// Checks the length of a nonce, and that a message of `message_bytes` is short enough for it.
pub(crate) fn check_nonce(nonce: &[u8], message_bytes: usize) -> Result<(), tress_cipher::Error> {
    // Every tag of an `AESCCM` has a valid length.
    ccm::check_lengths(nonce, message_bytes, 16)
}

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

/// Returns a copy of the nonce, and the output buffer, which has `bytes` bytes and does not overlap the associated data. It may
/// overlap the message.
fn prepare_output(
    py: Python<'_>,
    nonce: &InputBuffer<'_>,
    aad: &Option<InputBuffer<'_>>,
    buf: &Bound<'_, PyAny>,
    bytes: usize,
) -> PyResult<(ShortBytes, OutputBuffer)> {
    let nonce = Some(nonce.as_slice()).filter(|nonce| (7..=MAX_NONCE_BYTES).contains(&nonce.len()));
    let nonce = ShortBytes::new(nonce.ok_or_else(|| errors::cipher(py, tress_cipher::Error::NonceLength))?);
    let output = OutputBuffer::of(buf)?;
    if output.bytes() != bytes {
        return Err(errors::usage(py, &format!("buffer must be {bytes} bytes long, and has {}", output.bytes())));
    }
    if output.overlaps(slice(aad)) {
        return Err(errors::usage(py, "buf and associated_data overlap"));
    }
    Ok((nonce, output))
}
