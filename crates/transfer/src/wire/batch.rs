//! Which bytes a batch of a transfer has.

use std::ops::Range;

use crate::wire::ranges::Ranges;
use tress_container::format::LAYOUT;
use tress_container::pipeline::batch::BATCH_CHUNKS;

/// Plaintext bytes of the largest batch.
pub(crate) const BATCH_PLAIN_BYTES: u64 = LAYOUT.plain_offset(BATCH_CHUNKS);

/// Offset of a chunk in a file of this size: the number of plaintext bytes of the chunks before it.
pub(crate) fn plain_bytes(size_bytes: u64, chunk: u64) -> u64 {
    LAYOUT.plain_offset(chunk).min(size_bytes)
}

/// Plaintext bytes of these chunks of a file, of which the last one is never full. `size_bytes` is `None` for a stream.
pub(crate) fn plain_bytes_of(size_bytes: Option<u64>, chunks: &Ranges) -> u64 {
    let bytes = LAYOUT.plain_offset(chunks.count());
    bytes - size_bytes.map_or(0, |size_bytes| LAYOUT.plain_offset(chunks.end()).saturating_sub(size_bytes))
}

/// Bytes of these chunks of a file of this size, with their tags. `None` if the file does not have these chunks or if their number is
/// not that of a batch.
pub(crate) fn batch_sealed_bytes(size_bytes: u64, chunks: &Range<u64>) -> Option<usize> {
    let is_batch = (1..=BATCH_CHUNKS).contains(&chunks.end.checked_sub(chunks.start)?);
    let has_them = chunks.end <= LAYOUT.chunks(size_bytes);
    (is_batch && has_them).then(|| LAYOUT.sealed_range_bytes(size_bytes, chunks) as usize)
}

/// Number of chunks in this number of sealed bytes, and whether the last chunk is the last of its file, the only one that is not
/// full. `None` if the length is not that of a batch.
pub(crate) fn batch_chunks(sealed_bytes: usize) -> Option<(u64, bool)> {
    let run = |ends| Some((LAYOUT.run(0, sealed_bytes, ends).ok()? as u64, ends));
    run(false).or_else(|| run(true)).filter(|(chunks, _)| (1..=BATCH_CHUNKS).contains(chunks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_batches() {
        // By hand: a chunk has 16,384 bytes, 16,400 with its tag. The last one is never full.
        for (size, all, range, sealed) in [
            (0, 1, 0..1, Some(16)),
            (1, 1, 0..1, Some(17)),
            (16_383, 1, 0..1, Some(16_399)),
            (16_384, 2, 0..1, Some(16_400)),
            (16_384, 2, 0..2, Some(16_416)),
            (16_384, 2, 1..2, Some(16)),
            (524_287, 32, 0..32, Some(524_799)),
            (524_288, 33, 0..32, Some(524_800)),
            (524_288, 33, 1..33, Some(31 * 16_400 + 16)),
            // More chunks than a batch, chunks beyond the end, no chunks.
            (524_288, 33, 0..33, None),
            (524_288, 33, 33..34, None),
            (524_288, 33, 32..34, None),
            (524_288, 33, 3..3, None),
        ] {
            assert_eq!(LAYOUT.chunks(size), all, "{size}");
            assert_eq!(batch_sealed_bytes(size, &range), sealed, "{size} {range:?}");
            if let Some(sealed) = sealed {
                assert_eq!(batch_chunks(sealed), Some((range.end - range.start, range.end == all)), "{size} {range:?}");
            }
        }
        for (size, chunks, bytes) in [
            (Some(0), 0..0, 0),
            (Some(0), 0..1, 0),
            (Some(16_384), 1..2, 0),
            (Some(16_389), 0..1, 16_384),
            (Some(16_389), 1..2, 5),
            (Some(16_389), 0..2, 16_389),
            (None, 1..2, 16_384),
        ] {
            let mut held = Ranges::new();
            held.insert(chunks.clone());
            assert_eq!(plain_bytes_of(size, &held), bytes, "{size:?} {chunks:?}");
        }
        for wrong in [0, 15, 16_401, 16_415, 524_801, 524_816, 1_000_000] {
            assert_eq!(batch_chunks(wrong), None, "{wrong}");
        }
    }
}
