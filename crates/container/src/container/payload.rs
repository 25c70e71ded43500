//! The payload: C2SP chunked-encryption@v1 (<https://c2sp.org/chunked-encryption>), with SHA-256 and AES-CCM, and the
//! container's first line as context.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::aead::{Aead, KeyedAead};
use super::content::Content;
use super::expand::hkdf_expand_sha256;
use crate::random::fill_random;
use crate::{Error, ErrorKind};

/// Plaintext bytes of every chunk but the last, which has fewer.
pub const CHUNK_BYTES: usize = 16384;
/// Bytes of a chunk's tag.
pub const TAG_BYTES: usize = 16;
/// Bytes of a full chunk with its tag.
pub const SEALED_CHUNK_BYTES: usize = CHUNK_BYTES + TAG_BYTES;
/// Bytes of salt and commitment before the first chunk.
pub const PREFIX_BYTES: usize = SALT_BYTES + COMMITMENT_BYTES;
/// Largest number of chunks of one payload. CCM calls the block cipher twice per block, so half of the specification's 2^38.
pub const MAX_CHUNKS: u64 = 1 << 37;

const SALT_BYTES: usize = 24;
const COMMITMENT_BYTES: usize = 32;
pub(super) const NONCE_BYTES: usize = 12;
const LABEL: &[u8] = b"c2sp.org/chunked-encryption@v1+";

/// The key schedule and base nonce of one payload. Seals and unseals chunks by number, in any order, on any thread. The keys are wiped on
/// drop and `Debug` does not show them.
pub struct Payload {
    aead: Box<dyn KeyedAead>,
    base_nonce: Zeroizing<[u8; NONCE_BYTES]>,
}

impl Payload {
    /// Starts a payload of this content with a fresh salt. Also returns the prefix to write before the first chunk.
    ///
    /// # Errors
    /// `Io` when the system has no randomness.
    pub fn create(content: &Content) -> Result<(Payload, [u8; PREFIX_BYTES]), Error> {
        let mut salt = [0; SALT_BYTES];
        fill_random(&mut salt)?;
        let (payload, commitment) = Self::derive(content.aead, content.input_key(), &salt);
        let mut prefix = [0; PREFIX_BYTES];
        prefix[..SALT_BYTES].copy_from_slice(&salt);
        prefix[SALT_BYTES..].copy_from_slice(&commitment);
        Ok((payload, prefix))
    }

    /// Opens the payload that begins with this prefix.
    ///
    /// # Errors
    /// `Commitment` when the prefix does not hold the commitment that follows from the input key, the salt and the first line.
    pub fn open(content: &Content, prefix: &[u8; PREFIX_BYTES]) -> Result<Payload, Error> {
        let (salt, expected) = prefix.split_at(SALT_BYTES);
        let (payload, commitment) = Self::derive(content.aead, content.input_key(), salt);
        if bool::from(commitment.ct_eq(expected)) { Ok(payload) } else { Err(ErrorKind::Commitment.into()) }
    }

    /// key || base nonce || commitment = HKDF-Expand(input key, label || name || 0x00 || salt || context).
    fn derive(aead: Aead, input_key: &[u8], salt: &[u8]) -> (Self, [u8; COMMITMENT_BYTES]) {
        let key_bytes = aead.key_bytes();
        let info = [LABEL, aead.iana_name().as_bytes(), &[0], salt, aead.first_line().as_bytes()];
        let mut output = Zeroizing::new([0; 32 + NONCE_BYTES + COMMITMENT_BYTES]);
        let output = &mut output[..key_bytes + NONCE_BYTES + COMMITMENT_BYTES];
        hkdf_expand_sha256(input_key, &info, output);

        let (key, rest) = output.split_at(key_bytes);
        let (nonce, commitment) = rest.split_at(NONCE_BYTES);
        let mut base_nonce = Zeroizing::new([0; NONCE_BYTES]);
        base_nonce.copy_from_slice(nonce);
        (Self { aead: aead.with_key(key), base_nonce }, commitment.try_into().expect("32 bytes are left"))
    }

    /// Base nonce XOR the chunk's number as a big-endian integer of the nonce's width.
    fn nonce(&self, chunk: u64) -> [u8; NONCE_BYTES] {
        let mut nonce = *self.base_nonce;
        for (byte, number) in nonce[NONCE_BYTES - 8..].iter_mut().zip(chunk.to_be_bytes()) {
            *byte ^= number;
        }
        nonce
    }

    /// Encrypts consecutive chunks in place, all of them in lanes. `buffer` has the payload's layout: 16,384 bytes of plaintext, then 16
    /// bytes that receive the tag, and so on. The last chunk may be shorter, down to an empty plaintext with its tag. Such a chunk, and
    /// only such a chunk, ends the payload.
    ///
    /// **Use each chunk number once.** The nonce depends on the number: two different plaintexts under one number of one payload reveal
    /// both and allow forgeries. A chunk that has changed needs a new payload ([`Payload::create`]).
    ///
    /// # Errors
    /// `TooManyChunks` past chunk 2^37 - 1; then nothing is encrypted.
    ///
    /// # Panics
    /// When the last chunk has no room for its tag.
    pub fn seal(&self, first_chunk: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let tail = buffer.len() % SEALED_CHUNK_BYTES;
        assert!(tail == 0 || tail >= TAG_BYTES, "no room for the last chunk's tag");
        self.aead.seal(&mut self.chunks(first_chunk, buffer)?);
        Ok(())
    }

    /// Splits a buffer into chunks, each with its nonce.
    fn chunks<'b>(
        &self,
        first_chunk: u64,
        buffer: &'b mut [u8],
    ) -> Result<impl Iterator<Item = ([u8; NONCE_BYTES], &'b mut [u8])>, Error> {
        let chunks = buffer.len().div_ceil(SEALED_CHUNK_BYTES) as u64;
        if first_chunk.checked_add(chunks).is_none_or(|end| end > MAX_CHUNKS) {
            return Err(ErrorKind::TooManyChunks.into());
        }
        let chunks = buffer.chunks_mut(SEALED_CHUNK_BYTES).zip(first_chunk..);
        Ok(chunks.map(|(sealed, chunk)| (self.nonce(chunk), sealed)))
    }

    /// Verifies and decrypts consecutive chunks in place, all of them in lanes; the tags stay where they are. `buffer` has the layout of
    /// [`Payload::seal`]. A chunk that fails is wiped; the chunks that verify are decrypted even if others fail.
    ///
    /// The caller has to check that the payload ends where it should: the last chunk must be shorter than 16,400 bytes, and no other may be
    /// ([`plain_bytes`]).
    ///
    /// # Errors
    /// `ChunkDamaged` with the first chunk that fails; `Truncated` when the last chunk is shorter than a tag, `TooManyChunks` past chunk
    /// 2^37 - 1; in the last two cases nothing is decrypted.
    pub fn unseal(&self, first_chunk: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let tail = buffer.len() % SEALED_CHUNK_BYTES;
        if tail != 0 && tail < TAG_BYTES {
            return Err(ErrorKind::Truncated.into());
        }
        match self.aead.unseal(&mut self.chunks(first_chunk, buffer)?) {
            None => Ok(()),
            Some(failed) => Err(ErrorKind::ChunkDamaged { chunk: first_chunk + failed as u64 }.into()),
        }
    }

    /// Like [`Payload::unseal`], for chunks with any numbers below [`MAX_CHUNKS`]. The last chunk must have a tag.
    pub(crate) fn unseal_numbered(&self, numbers: &[u64], buffer: &mut [u8]) -> Result<(), Error> {
        let chunks = buffer.chunks_mut(SEALED_CHUNK_BYTES).zip(numbers);
        match self.aead.unseal(&mut chunks.map(|(sealed, &chunk)| (self.nonce(chunk), sealed))) {
            None => Ok(()),
            Some(failed) => Err(ErrorKind::ChunkDamaged { chunk: numbers[failed] }.into()),
        }
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payload").finish_non_exhaustive()
    }
}

/// Length of the sealed chunks of `plain` bytes of plaintext, without the 56-byte prefix. Saturates far beyond the longest payload.
pub fn sealed_bytes(plain: u64) -> u64 {
    let full_chunks = plain / CHUNK_BYTES as u64;
    full_chunks.saturating_mul(SEALED_CHUNK_BYTES as u64).saturating_add(plain % CHUNK_BYTES as u64 + TAG_BYTES as u64)
}

/// Length of the plaintext in `sealed` bytes of sealed chunks, without the 56-byte prefix.
///
/// # Errors
/// `Truncated` for a length that no payload has: the last chunk is shorter than the others, and has a tag. `TooManyChunks` for a
/// payload beyond the format's limit.
pub fn plain_bytes(sealed: u64) -> Result<u64, Error> {
    let full_chunks = sealed / SEALED_CHUNK_BYTES as u64;
    let last = sealed % SEALED_CHUNK_BYTES as u64;
    if last < TAG_BYTES as u64 {
        return Err(ErrorKind::Truncated.into());
    }
    if full_chunks >= MAX_CHUNKS {
        return Err(ErrorKind::TooManyChunks.into());
    }
    Ok(full_chunks * CHUNK_BYTES as u64 + last - TAG_BYTES as u64)
}
