//! How a payload is cut into chunks, and where they lie. Everything outside of the formats asks a [`Layout`].

use std::ops::Range;

use crate::{Error, ErrorKind};

/// Bytes of plaintext in a batch, which one worker processes at a time. With 16 KiB chunks it has as many as the widest kernel has lanes
/// (Zen 5, Emerald Rapids; other processors have 8 or 16). With more, data leaves the L2 cache (1 to 2 MiB per core) between reading and
/// sealing, and again between sealing and writing: twice as much takes up to 1.3 times.
const BATCH_BYTES: usize = 512 * 1024;

/// Which chunk ends a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LastChunk {
    /// One that is shorter than the others, perhaps empty: its length shows that it is the last.
    Shorter,
    /// Any that says so in its nonce. It may be full, and is empty only if the whole plaintext is.
    Flagged,
}

/// The division of a plaintext into chunks, each of which is sealed and followed by its tag.
///
/// Offsets and lengths are in bytes. Those of the plaintext count from its start, those of sealed chunks from the start of the
/// first one. Chunks have numbers, from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    chunk_bytes: usize,
    tag_bytes: usize,
    max_chunks: u64,
    last: LastChunk,
}

impl Layout {
    /// A layout whose chunks hold `chunk_bytes` bytes of plaintext, except for the last one.
    ///
    /// # Panics
    /// When a chunk is empty, or a payload of `max_chunks` chunks is 2^63 bytes or longer.
    pub const fn new(chunk_bytes: usize, tag_bytes: usize, max_chunks: u64, last: LastChunk) -> Self {
        assert!(chunk_bytes > 0 && max_chunks > 0 && max_chunks < (1 << 63) / (chunk_bytes + tag_bytes) as u64);
        Self { chunk_bytes, tag_bytes, max_chunks, last }
    }

    /// Bytes of plaintext in every chunk but the last.
    pub const fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    /// Bytes of a tag.
    pub const fn tag_bytes(&self) -> usize {
        self.tag_bytes
    }

    /// Bytes of a full chunk with its tag.
    pub const fn sealed_chunk_bytes(&self) -> usize {
        self.chunk_bytes + self.tag_bytes
    }

    /// Largest number of chunks of one payload.
    pub const fn max_chunks(&self) -> u64 {
        self.max_chunks
    }

    /// Number of chunks in a batch.
    pub const fn batch_chunks(&self) -> u64 {
        let chunks = BATCH_BYTES / self.chunk_bytes;
        if chunks == 0 { 1 } else { chunks as u64 }
    }

    /// Number of chunks of a plaintext of this length, however long.
    pub const fn chunks(&self, plain_bytes: u64) -> u64 {
        match (self.last, plain_bytes) {
            (LastChunk::Shorter, _) => plain_bytes / self.chunk_bytes as u64 + 1,
            (LastChunk::Flagged, 0) => 1,
            (LastChunk::Flagged, _) => plain_bytes.div_ceil(self.chunk_bytes as u64),
        }
    }

    /// Number of the chunk that holds the byte at this offset of the plaintext.
    pub const fn chunk_at(&self, plain_offset: u64) -> u64 {
        plain_offset / self.chunk_bytes as u64
    }

    /// The chunks that hold these bytes of the plaintext; none for no bytes.
    pub fn covering(&self, plain: &Range<u64>) -> Range<u64> {
        let start = self.chunk_at(plain.start);
        if plain.is_empty() { start..start } else { start..plain.end.div_ceil(self.chunk_bytes as u64) }
    }

    /// Offset of a chunk's plaintext. Saturates.
    pub const fn plain_offset(&self, chunk: u64) -> u64 {
        chunk.saturating_mul(self.chunk_bytes as u64)
    }

    /// Offset of a sealed chunk. Saturates.
    pub const fn sealed_offset(&self, chunk: u64) -> u64 {
        chunk.saturating_mul(self.sealed_chunk_bytes() as u64)
    }

    /// Length of these chunks with their tags, in a payload with a plaintext of `plain_bytes`.
    pub fn sealed_range_bytes(&self, plain_bytes: u64, chunks: &Range<u64>) -> u64 {
        let end = self.sealed_offset(chunks.end).min(self.sealed_bytes(plain_bytes));
        end.saturating_sub(self.sealed_offset(chunks.start))
    }

    /// Length of all sealed chunks of `plain_bytes` bytes of plaintext. Saturates far beyond the longest payload.
    pub const fn sealed_bytes(&self, plain_bytes: u64) -> u64 {
        plain_bytes.saturating_add(self.chunks(plain_bytes).saturating_mul(self.tag_bytes as u64))
    }

    /// Length of the plaintext in `sealed_bytes` bytes that are all sealed chunks of a payload.
    ///
    /// # Errors
    /// `Truncated` for a length that no payload has, `TooManyChunks` for a payload beyond the format's limit.
    pub fn plain_bytes(&self, sealed_bytes: u64) -> Result<u64, Error> {
        let chunks = sealed_bytes.div_ceil(self.sealed_chunk_bytes() as u64);
        let plain_bytes = sealed_bytes.checked_sub(chunks * self.tag_bytes as u64).filter(|_| sealed_bytes > 0);
        match plain_bytes {
            Some(bytes) if self.sealed_bytes(bytes) == sealed_bytes => self.checked_chunks(bytes).map(|_| bytes),
            _ => Err(ErrorKind::Truncated.into()),
        }
    }

    /// Number of chunks of a plaintext of this length.
    ///
    /// # Errors
    /// `TooManyChunks` beyond the format's limit.
    pub fn checked_chunks(&self, plain_bytes: u64) -> Result<u64, Error> {
        Some(self.chunks(plain_bytes))
            .filter(|&chunks| chunks <= self.max_chunks)
            .ok_or(ErrorKind::TooManyChunks.into())
    }

    /// Number of consecutive chunks from `first` on that have this length with their tags; `ends` is whether their last is the
    /// payload's last.
    ///
    /// # Errors
    /// `Truncated` when chunks of this length cannot be there.
    pub fn run(&self, first: u64, sealed_bytes: usize, ends: bool) -> Result<usize, Error> {
        let chunks = sealed_bytes.div_ceil(self.sealed_chunk_bytes());
        let is_valid = match (sealed_bytes % self.sealed_chunk_bytes(), self.last) {
            (0, LastChunk::Shorter) => !ends,
            (0, LastChunk::Flagged) => !ends || chunks > 0,
            (rest, LastChunk::Shorter) => ends && rest >= self.tag_bytes,
            (rest, LastChunk::Flagged) => {
                let is_only = first == 0 && chunks == 1;
                ends && (rest > self.tag_bytes || rest == self.tag_bytes && is_only)
            }
        };
        if is_valid { Ok(chunks) } else { Err(ErrorKind::Truncated.into()) }
    }

    /// Whether the last chunk may be full, so that a reader knows only at the end of its input that it is the last.
    pub const fn may_end_full(&self) -> bool {
        matches!(self.last, LastChunk::Flagged)
    }

    /// Bytes of plaintext in consecutive sealed chunks, of which the last may be shorter.
    pub const fn plain_within(&self, sealed_bytes: usize) -> usize {
        sealed_bytes - sealed_bytes.div_ceil(self.sealed_chunk_bytes()) * self.tag_bytes
    }

    /// The plaintext parts of consecutive sealed chunks.
    pub fn plain_parts<'b>(&self, sealed: &'b [u8]) -> impl Iterator<Item = &'b [u8]> {
        let tag_bytes = self.tag_bytes;
        sealed.chunks(self.sealed_chunk_bytes()).map(move |chunk| &chunk[..chunk.len() - tag_bytes])
    }

    /// The plaintext parts of consecutive sealed chunks.
    pub fn plain_parts_mut<'b>(&self, sealed: &'b mut [u8]) -> impl Iterator<Item = &'b mut [u8]> {
        let tag_bytes = self.tag_bytes;
        sealed.chunks_mut(self.sealed_chunk_bytes()).map(move |chunk| {
            let bytes = chunk.len() - tag_bytes;
            &mut chunk[..bytes]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::LastChunk::{Flagged, Shorter};
    use super::*;
    use proptest::prelude::*;

    fn layouts() -> impl Strategy<Value = Layout> {
        let last = prop_oneof![Just(Shorter), Just(Flagged)];
        (1..50_usize, 1..20_usize, 1..200_u64, last)
            .prop_map(|(chunk, tag, most, last)| Layout::new(chunk, tag, most, last))
    }

    /// The lengths of the sealed chunks of a plaintext, made one by one, by the words of the format.
    fn chunking(layout: &Layout, plain_bytes: usize) -> Vec<usize> {
        let mut chunks = vec![layout.sealed_chunk_bytes(); plain_bytes / layout.chunk_bytes];
        let rest = plain_bytes % layout.chunk_bytes;
        if layout.last == Shorter || rest > 0 || plain_bytes == 0 {
            chunks.push(rest + layout.tag_bytes);
        }
        chunks
    }

    proptest! {
        #[test]
        fn a_plaintext_has_one_chunking(layout in layouts(), plain_bytes in 0..3000_usize, at in 0..3000_usize) {
            let (bytes, chunks) = (plain_bytes as u64, chunking(&layout, plain_bytes));
            prop_assert_eq!(layout.chunks(bytes), chunks.len() as u64);
            prop_assert_eq!(layout.checked_chunks(bytes).is_ok(), chunks.len() as u64 <= layout.max_chunks);
            let (mut plain, mut sealed) = (0, 0);
            for (number, &length) in (0..).zip(&chunks) {
                prop_assert_eq!((layout.plain_offset(number), layout.sealed_offset(number)), (plain, sealed));
                prop_assert_eq!(layout.sealed_range_bytes(bytes, &(number..number + 1)), length as u64);
                prop_assert_eq!(layout.chunk_at(plain), number);
                let end = plain + (length - layout.tag_bytes) as u64;
                if plain < end {
                    prop_assert_eq!(layout.covering(&(plain..end)), number..number + 1);
                    prop_assert_eq!(layout.chunk_at(end - 1), number);
                }
                (plain, sealed) = (end, sealed + length as u64);
            }
            prop_assert_eq!((plain, sealed), (bytes, layout.sealed_bytes(bytes)));
            let buffer: Vec<u8> = (0..sealed).map(|byte| byte as u8).collect();
            prop_assert_eq!(layout.run(0, buffer.len(), true).unwrap(), chunks.len());
            let is_empty_end = layout.last == Flagged && chunks.last() == Some(&layout.tag_bytes);
            prop_assert_eq!(layout.run(1, buffer.len(), true).is_err(), is_empty_end);
            let is_full = buffer.len().is_multiple_of(layout.sealed_chunk_bytes());
            prop_assert_eq!(layout.run(0, buffer.len(), false).is_ok(), is_full);
            prop_assert_eq!(layout.plain_within(buffer.len()), plain_bytes);
            let parts: Vec<usize> = layout.plain_parts(&buffer).map(<[u8]>::len).collect();
            prop_assert_eq!(parts, chunks.iter().map(|length| length - layout.tag_bytes).collect::<Vec<_>>());
            let first = at.min(plain_bytes) as u64;
            let cover = layout.covering(&(first..bytes));
            prop_assert_eq!(cover.is_empty(), first == bytes);
            prop_assert!(cover.is_empty() || layout.plain_offset(cover.start) <= first && layout.plain_offset(cover.end) >= bytes);
        }

        #[test]
        fn a_length_is_that_of_one_plaintext_or_refused(layout in layouts(), sealed in 0..4000_u64) {
            let mut plaintexts = (0..=sealed).filter(|&plain| layout.sealed_bytes(plain) == sealed);
            let expected = match (plaintexts.next(), plaintexts.next()) {
                (Some(plain), None) => layout.checked_chunks(plain).map(|_| plain).map_err(|error| error.kind),
                (None, _) => Err(ErrorKind::Truncated),
                (Some(_), Some(_)) => panic!("two plaintexts of one length"),
            };
            prop_assert_eq!(layout.plain_bytes(sealed).map_err(|error| error.kind), expected);
        }
    }

    #[test]
    fn nothing_overflows() {
        for last in [Shorter, Flagged] {
            let layout = Layout::new(16384, 16, 1 << 37, last);
            assert_eq!(layout.sealed_bytes(u64::MAX), u64::MAX);
            for claimed in [u64::MAX, u64::MAX - 16400, 1 << 63] {
                assert!(layout.plain_bytes(claimed).is_err() && layout.checked_chunks(claimed).is_err());
                assert!(layout.sealed_range_bytes(claimed, &(0..u64::MAX)) > 1 << 62);
            }
        }
    }
}
