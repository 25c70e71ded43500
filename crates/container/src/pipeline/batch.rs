//! A batch: consecutive whole chunks in one buffer, in the container's own layout, so that sealing and unsealing happen
//! in place and the lanes of the cipher lie 16,400 bytes apart (at 16,384 they would share a set of the L1 cache).

use std::io::{IoSlice, IoSliceMut};
use std::ops::Range;

use crate::container::{CHUNK_BYTES, SEALED_CHUNK_BYTES, TAG_BYTES};

/// Chunks of one batch: one round of the 32 lanes that the widest kernel has, 512 KiB. Fewer would leave lanes empty (16
/// take 1.3 times the processor time on an Ice Lake server). With more, what was just read has left the L2 cache (1 to
/// 2 MiB a core) before it is sealed, and again before it is written: 64 take up to 1.3 times.
pub const BATCH_CHUNKS: u64 = 32;

/// A worker's buffer and what is in it.
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
    /// Room for so many chunks, or for those of a batch.
    pub fn new(chunks: u64) -> Self {
        let bytes = chunks.min(BATCH_CHUNKS) as usize * SEALED_CHUNK_BYTES;
        Self { number: 0, first_chunk: 0, sealed_bytes: 0, buffer: vec![0; bytes] }
    }

    /// Chunks in use.
    pub fn chunks(&self) -> u64 {
        self.sealed_bytes.div_ceil(SEALED_CHUNK_BYTES) as u64
    }

    /// Bytes of plaintext in use.
    pub fn plain_bytes(&self) -> u64 {
        (self.sealed_bytes - self.chunks() as usize * TAG_BYTES) as u64
    }

    /// Where the plaintext of the first chunk lies in the whole plaintext.
    pub fn plain_offset(&self) -> u64 {
        self.first_chunk * CHUNK_BYTES as u64
    }

    /// The bytes in use.
    pub fn sealed(&self) -> &[u8] {
        &self.buffer[..self.sealed_bytes]
    }

    /// The bytes in use.
    pub fn sealed_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[..self.sealed_bytes]
    }

    /// The whole buffer, in use or not.
    pub fn whole(&mut self) -> &mut [u8] {
        &mut self.buffer
    }

    /// The places of the plaintext of every chunk that the buffer can hold.
    pub fn whole_plain(&mut self) -> Vec<IoSliceMut<'_>> {
        self.buffer.chunks_mut(SEALED_CHUNK_BYTES).map(|chunk| IoSliceMut::new(&mut chunk[..CHUNK_BYTES])).collect()
    }

    /// The places of the plaintext in use.
    pub fn plain_mut(&mut self) -> Vec<IoSliceMut<'_>> {
        self.sealed_mut()
            .chunks_mut(SEALED_CHUNK_BYTES)
            .map(|chunk| {
                let bytes = chunk.len() - TAG_BYTES;
                IoSliceMut::new(&mut chunk[..bytes])
            })
            .collect()
    }

    /// The part of the plaintext of the first `chunks` chunks that lies in `window` (in bytes of the whole plaintext),
    /// and where it begins there.
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
