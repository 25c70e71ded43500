//! Maps of sparse files in GNU tar's format 1.0 (GNU tar manual, "PAX Format, Version 1.0"): decimal numbers, each on a line, the number of
//! segments and then offset and length of each, filled up to whole blocks.
use super::blocks::{BLOCK_BYTES, damaged, padding_bytes};
use crate::Error;
use std::ops::Range;

/// Longest map that is read, in bytes.
const MAX_MAP_BYTES: usize = 1 << 20;

/// Bytes of the segments together.
pub(crate) fn data_bytes(segments: &[Range<u64>]) -> u64 {
    segments.iter().map(|segment| segment.end - segment.start).sum()
}

/// The map of these segments, filled up.
pub(crate) fn map(segments: &[Range<u64>]) -> Vec<u8> {
    let numbers = segments.iter().flat_map(|segment| [segment.start, segment.end - segment.start]);
    let mut map: String =
        [segments.len() as u64].into_iter().chain(numbers).map(|number| format!("{number}\n")).collect();
    map.extend(std::iter::repeat_n('\0', padding_bytes(map.len() as u64)));
    map.into_bytes()
}

/// The segments to store for a file with these; `None` if it is stored with its holes: because it has none, or too many.
pub(crate) fn stored(mut segments: Vec<Range<u64>>, real_bytes: u64) -> Option<Vec<Range<u64>>> {
    if data_bytes(&segments) == real_bytes {
        return None;
    }
    // GNU tar takes the length from the last segment.
    if segments.last().is_none_or(|last| last.end < real_bytes) {
        segments.push(real_bytes..real_bytes);
    }
    // The smallest holes are stored until the map is short enough.
    for shift in 12.. {
        if map(&segments).len() <= MAX_MAP_BYTES {
            break;
        }
        segments.dedup_by(|next, last| {
            let joins = next.start - last.end < 1 << shift && next.start < next.end;
            last.end = if joins { next.end } else { last.end };
            joins
        });
    }
    Some(segments)
}

/// Reads a map by calls of `next_block`. Returns the segments and the length of the map.
pub(crate) fn read_map(
    real_bytes: u64,
    mut next_block: impl FnMut() -> Result<[u8; BLOCK_BYTES], Error>,
) -> Result<(Vec<Range<u64>>, u64), Error> {
    let (mut block, mut at, mut map_bytes) = ([0; BLOCK_BYTES], BLOCK_BYTES, 0);
    let mut number = || {
        let mut value: Option<u64> = None;
        loop {
            if at == BLOCK_BYTES {
                map_bytes += BLOCK_BYTES;
                if map_bytes > MAX_MAP_BYTES {
                    return Err(damaged("map of a sparse file is too long"));
                }
                (block, at) = (next_block()?, 0);
            }
            at += 1;
            value = match (block[at - 1], value) {
                (b'\n', Some(value)) => return Ok(value),
                (digit @ b'0'..=b'9', value) => {
                    let tens = value.unwrap_or(0).checked_mul(10);
                    tens.and_then(|tens| tens.checked_add((digit - b'0').into()))
                }
                _ => None,
            };
            if value.is_none() {
                return Err(damaged("malformed map of a sparse file"));
            }
        }
    };
    let count = number()?;
    let mut segments: Vec<Range<u64>> = Vec::new();
    for _ in 0..count {
        let (start, bytes) = (number()?, number()?);
        let end = start.checked_add(bytes).filter(|&end| end <= real_bytes);
        let end = end.filter(|_| segments.last().is_none_or(|last| last.end <= start));
        segments.push(start..end.ok_or_else(|| damaged("segments of a sparse file overlap or exceed it"))?);
    }
    if block[at..].iter().any(|&byte| byte != 0) {
        return Err(damaged("padding is not zero"));
    }
    Ok((segments, map_bytes as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(map: &[u8]) -> Result<(Vec<Range<u64>>, u64), Error> {
        let mut blocks = map.chunks(BLOCK_BYTES);
        read_map(1000, || {
            let mut block = [0; BLOCK_BYTES];
            let bytes = blocks.next().ok_or_else(|| damaged("end"))?;
            block[..bytes.len()].copy_from_slice(bytes);
            Ok(block)
        })
    }

    #[test]
    fn maps_are_read_as_written() {
        let many: Vec<Range<u64>> = (0..200).map(|number| 5 * number..5 * number + 3).collect();
        for segments in [vec![], vec![0..999, 1000..1000], vec![3..4, 4..4, 10..1000, 1000..1000], many] {
            let map = map(&segments);
            assert_eq!(read(&map).unwrap(), (segments, map.len() as u64));
        }
    }

    #[test]
    fn a_map_that_would_be_too_long_has_fewer_holes() {
        let large = 1 << 30;
        let many = (0..200_000).map(|number| 8192 * number..8192 * number + 4096);
        let segments = stored(many.chain(std::iter::once(1 << 40..(1 << 40) + large)).collect(), 1 << 41).unwrap();
        assert_eq!(segments, [0..8192 * 199_999 + 4096, 1 << 40..(1 << 40) + large, 1 << 41..1 << 41]);
        assert_eq!(stored(vec![], 5).unwrap(), std::slice::from_ref(&(5..5)));
    }
}
