//! A batch: consecutive whole chunks in one buffer, in their payload's layout, so that they are sealed and unsealed in place. With
//! 16,384 bytes and a tag, the cipher's lanes are 16,400 bytes apart; at 16,384 bytes they would map to one set of the L1 cache.

use std::io::{IoSlice, IoSliceMut};
use std::ops::Range;

use crate::Error;
use crate::format::{LAYOUT, Layout, Payload};

/// Number of chunks in a batch of a container.
pub const BATCH_CHUNKS: u64 = LAYOUT.batch_chunks();

/// A worker's buffer and its content.
pub struct Batch {
    layout: Layout,
    /// Number of the first chunk.
    pub first_chunk: u64,
    /// Bytes in use: chunks with their tags.
    sealed_bytes: usize,
    /// Whether the last chunk in use is the payload's last.
    ends: bool,
    buffer: Vec<u8>,
}

impl Batch {
    /// Makes a buffer for `chunks` chunks, at most for one batch.
    pub fn new(layout: Layout, chunks: u64) -> Self {
        let bytes = chunks.min(layout.batch_chunks()) as usize * layout.sealed_chunk_bytes();
        Self { layout, first_chunk: 0, sealed_bytes: 0, ends: false, buffer: vec![0; bytes] }
    }

    /// Takes this many bytes into use, for chunks from this number on; `ends` is whether the payload ends with them.
    pub fn hold(&mut self, first_chunk: u64, sealed_bytes: usize, ends: bool) {
        (self.first_chunk, self.sealed_bytes, self.ends) = (first_chunk, sealed_bytes, ends);
    }

    /// Encrypts the chunks in use. For errors see [`Payload::seal`].
    pub fn seal(&mut self, payload: &Payload) -> Result<(), Error> {
        payload.seal(self.first_chunk, &mut self.buffer[..self.sealed_bytes], self.ends)
    }

    /// Verifies and decrypts the chunks in use. For errors see [`Payload::unseal`].
    pub fn unseal(&mut self, payload: &Payload) -> Result<(), Error> {
        payload.unseal(self.first_chunk, &mut self.buffer[..self.sealed_bytes], self.ends)
    }

    /// Number of chunks in use.
    pub fn chunks(&self) -> u64 {
        self.sealed_bytes.div_ceil(self.layout.sealed_chunk_bytes()) as u64
    }

    /// Bytes in use: chunks with their tags.
    pub fn sealed_bytes(&self) -> usize {
        self.sealed_bytes
    }

    /// Bytes of plaintext in use.
    pub fn plain_bytes(&self) -> u64 {
        self.layout.plain_within(self.sealed_bytes) as u64
    }

    /// Whether the payload ends with the last chunk in use.
    pub fn ends(&self) -> bool {
        self.ends
    }

    /// Offset of the first chunk's plaintext in the whole plaintext.
    pub fn plain_offset(&self) -> u64 {
        self.layout.plain_offset(self.first_chunk)
    }

    /// Offset of the first chunk among the sealed chunks.
    pub fn sealed_offset(&self) -> u64 {
        self.layout.sealed_offset(self.first_chunk)
    }

    /// The chunks in use, with their tags.
    pub fn sealed(&self) -> &[u8] {
        &self.buffer[..self.sealed_bytes]
    }

    /// The chunks in use, with their tags.
    pub fn sealed_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[..self.sealed_bytes]
    }

    /// The whole buffer.
    pub fn whole(&mut self) -> &mut [u8] {
        &mut self.buffer
    }

    /// The plaintext part of every chunk that the buffer can hold.
    pub fn whole_plain(&mut self) -> Vec<IoSliceMut<'_>> {
        self.layout.plain_parts_mut(&mut self.buffer).map(IoSliceMut::new).collect()
    }

    /// The plaintext part of every chunk in use.
    pub fn plain_mut(&mut self) -> Vec<IoSliceMut<'_>> {
        self.layout.plain_parts_mut(&mut self.buffer[..self.sealed_bytes]).map(IoSliceMut::new).collect()
    }

    /// The plaintext of the first `chunks` chunks, limited to `window` (in bytes of the whole plaintext), and the offset where it begins.
    pub fn plain_within(&self, chunks: u64, window: &Range<u64>) -> (u64, Vec<IoSlice<'_>>) {
        let mut offset = self.plain_offset();
        let begin = offset.max(window.start);
        let mut slices = Vec::with_capacity(self.chunks() as usize);
        for plain in self.layout.plain_parts(self.sealed()).take(chunks as usize) {
            let bytes = plain.len() as u64;
            let from = window.start.saturating_sub(offset).min(bytes);
            let to = window.end.saturating_sub(offset).clamp(from, bytes);
            slices.push(IoSlice::new(&plain[from as usize..to as usize]));
            offset += bytes;
        }
        (begin, slices)
    }
}
