//! A batch: consecutive whole chunks in one buffer, in the container's layout, so that they are sealed and unsealed in place. The cipher's
//! lanes are 16,400 bytes apart; at 16,384 bytes they would map to the same set of the L1 cache.

use std::io::{IoSlice, IoSliceMut};
use std::ops::Range;

use crate::container::{CHUNK_BYTES, SEALED_CHUNK_BYTES, TAG_BYTES};

/// Number of chunks in a batch: as many as the widest kernel has lanes (Zen 5; twice those of other processors), 512 KiB. 16 take 1.3
/// times the processor time on an Ice Lake server. With more, data leaves the L2 cache (1 to 2 MiB per core) between reading and sealing, and
/// again between sealing and writing: 64 take up to 1.3 times.
pub const BATCH_CHUNKS: u64 = 32;

/// A worker's buffer and its content.
pub struct Batch {
    /// Position in the order of all batches.
    pub number: u64,
    /// Number of the first chunk.
    pub first_chunk: u64,
    /// Bytes in use: chunks with their tags.
    pub sealed_bytes: usize,
    buffer: Vec<u8>,
}

impl Batch {
    /// Makes a buffer for `chunks` chunks, at most for one batch.
    pub fn new(chunks: u64) -> Self {
        let bytes = chunks.min(BATCH_CHUNKS) as usize * SEALED_CHUNK_BYTES;
        Self { number: 0, first_chunk: 0, sealed_bytes: 0, buffer: vec![0; bytes] }
    }

    /// Number of chunks in use.
    pub fn chunks(&self) -> u64 {
        self.sealed_bytes.div_ceil(SEALED_CHUNK_BYTES) as u64
    }

    /// Bytes of plaintext in use.
    pub fn plain_bytes(&self) -> u64 {
        (self.sealed_bytes - self.chunks() as usize * TAG_BYTES) as u64
    }

    /// Offset of the first chunk's plaintext in the whole plaintext.
    pub fn plain_offset(&self) -> u64 {
        self.first_chunk * CHUNK_BYTES as u64
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
        self.buffer.chunks_mut(SEALED_CHUNK_BYTES).map(|chunk| IoSliceMut::new(&mut chunk[..CHUNK_BYTES])).collect()
    }

    /// The plaintext part of every chunk in use.
    pub fn plain_mut(&mut self) -> Vec<IoSliceMut<'_>> {
        self.sealed_mut()
            .chunks_mut(SEALED_CHUNK_BYTES)
            .map(|chunk| {
                let bytes = chunk.len() - TAG_BYTES;
                IoSliceMut::new(&mut chunk[..bytes])
            })
            .collect()
    }

    /// The plaintext of the first `chunks` chunks, limited to `window` (in bytes of the whole plaintext), and the offset where it begins.
    pub fn plain_within(&self, chunks: u64, window: &Range<u64>) -> (u64, Vec<IoSlice<'_>>) {
        let mut offset = self.plain_offset();
        let begin = offset.max(window.start);
        let mut slices = Vec::with_capacity(BATCH_CHUNKS as usize);
        for chunk in self.sealed().chunks(SEALED_CHUNK_BYTES).take(chunks as usize) {
            let plain = &chunk[..chunk.len() - TAG_BYTES];
            let bytes = plain.len() as u64;
            let from = window.start.saturating_sub(offset).min(bytes);
            let to = window.end.saturating_sub(offset).clamp(from, bytes);
            slices.push(IoSlice::new(&plain[from as usize..to as usize]));
            offset += bytes;
        }
        (begin, slices)
    }
}
