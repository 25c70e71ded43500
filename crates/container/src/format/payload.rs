//! A payload: chunks that are sealed one by one, in the layout and with the nonces of a format.

use std::fmt;

use super::aead::{KeyedAead, NONCE_BYTES};
use super::layout::Layout;
use crate::{Error, ErrorKind};

/// The nonce of every chunk of one payload. Secrets in it are wiped on drop.
pub(super) trait NonceRule: Send + Sync {
    /// The nonce of this chunk; `ends` is whether it is the payload's last.
    fn nonce(&self, chunk: u64, ends: bool) -> [u8; NONCE_BYTES];
}

/// The key schedule and the nonces of one payload. Seals and unseals chunks by number, in any order, on any thread. The keys are
/// wiped on drop and `Debug` does not show them.
pub struct Payload {
    layout: Layout,
    aead: Box<dyn KeyedAead>,
    nonces: Box<dyn NonceRule>,
}

impl Payload {
    pub(super) fn new(layout: Layout, aead: Box<dyn KeyedAead>, nonces: Box<dyn NonceRule>) -> Self {
        Self { layout, aead, nonces }
    }

    /// How the plaintext is cut into chunks.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Encrypts consecutive chunks in place, all of them in lanes. `buffer` has the payload's layout: each chunk's plaintext, then
    /// room for its tag. `ends` is whether its last chunk is the last of the payload.
    ///
    /// **Use each chunk number once.** The nonce depends on the number: two different plaintexts under one number of one payload reveal
    /// both and allow forgeries. A chunk that has changed needs a new payload ([`Payload::create`]).
    ///
    /// # Errors
    /// `TooManyChunks` past the layout's last chunk; then nothing is encrypted.
    ///
    /// # Panics
    /// When chunks of this length cannot be there, such as a short one that is not the last.
    pub fn seal(&self, first_chunk: u64, buffer: &mut [u8], ends: bool) -> Result<(), Error> {
        let chunks = self
            .layout
            .run(first_chunk, buffer.len(), ends)
            .expect("chunks have the layout's length and room for their tags");
        self.check_end(first_chunk, chunks)?;
        let last = if ends { first_chunk + chunks as u64 - 1 } else { u64::MAX };
        self.aead.seal(&mut self.chunks(first_chunk.., last, buffer));
        Ok(())
    }

    fn check_end(&self, first_chunk: u64, chunks: usize) -> Result<(), Error> {
        let end = first_chunk.checked_add(chunks as u64);
        end.filter(|&end| end <= self.layout.max_chunks()).map(drop).ok_or(ErrorKind::TooManyChunks.into())
    }

    /// Splits a buffer into chunks, each with its nonce.
    fn chunks<'b>(
        &self,
        numbers: impl IntoIterator<Item = u64>,
        last: u64,
        buffer: &'b mut [u8],
    ) -> impl Iterator<Item = ([u8; NONCE_BYTES], &'b mut [u8])> {
        let chunks = buffer.chunks_mut(self.layout.sealed_chunk_bytes()).zip(numbers);
        chunks.map(move |(sealed, chunk)| (self.nonces.nonce(chunk, chunk == last), sealed))
    }

    /// Verifies and decrypts consecutive chunks in place, all of them in lanes; the tags stay where they are. Buffer and `ends` are
    /// those of [`Payload::seal`]. A chunk that fails is wiped; the chunks that verify are decrypted even if others fail.
    ///
    /// # Errors
    /// `ChunkDamaged` with the first chunk that fails; `Truncated` when chunks of this length cannot be there, `TooManyChunks` past the
    /// layout's last chunk; in the last two cases nothing is decrypted.
    pub fn unseal(&self, first_chunk: u64, buffer: &mut [u8], ends: bool) -> Result<(), Error> {
        let chunks = self.layout.run(first_chunk, buffer.len(), ends)?;
        self.check_end(first_chunk, chunks)?;
        let last = if ends { first_chunk + chunks as u64 - 1 } else { u64::MAX };
        match self.aead.unseal(&mut self.chunks(first_chunk.., last, buffer)) {
            None => Ok(()),
            Some(failed) => Err(self.damaged(first_chunk + failed as u64, last)),
        }
    }

    /// Like [`Payload::unseal`], for chunks with any numbers, of which `last` is the payload's last.
    pub(crate) fn unseal_numbered(&self, numbers: &[u64], last: u64, buffer: &mut [u8]) -> Result<(), Error> {
        match self.aead.unseal(&mut self.chunks(numbers.iter().copied(), last, buffer)) {
            None => Ok(()),
            Some(failed) => Err(self.damaged(numbers[failed], last)),
        }
    }

    fn damaged(&self, chunk: u64, last: u64) -> Error {
        let error = Error::new(ErrorKind::ChunkDamaged { chunk });
        // The end of a file that was cut looks like a last chunk that is damaged.
        if chunk == last { error.with_detail("it is the last one: perhaps the file is truncated") } else { error }
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payload").finish_non_exhaustive()
    }
}
