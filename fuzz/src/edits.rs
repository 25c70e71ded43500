//! Damage to a container: flipped bits, and bytes that are lost, added, moved or from another container.

use crate::input::Input;
use crate::vectors::{Container, containers};

/// Length of a chunk with its tag in bytes (docs/reference/formats/container.md).
const SEALED_CHUNK_BYTES: usize = 16384 + 16;
const PREFIX_BYTES: usize = 56;
const HEADER_BYTES: usize = 4096;

/// A container of the vectors, and its bytes after up to four edits.
pub fn edited(input: &mut Input<'_>) -> (&'static Container, Vec<u8>) {
    let base = input.pick(containers());
    let mut bytes = base.sealed.to_vec();
    for _ in 0..input.below(5) {
        edit(&mut bytes, input);
    }
    (base, bytes)
}

pub fn edit(bytes: &mut Vec<u8>, input: &mut Input<'_>) {
    let kind = input.byte() % 9;
    let at = offset(bytes.len(), input);
    match kind {
        0 if at < bytes.len() => bytes[at] ^= 1 << input.below(8),
        1 if at < bytes.len() => bytes[at] = input.byte(),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..bytes.len().min(at + input.short()))),
        4 => {
            let length = input.below(20);
            let added = input.take(length);
            bytes.splice(at..at, added.iter().copied());
        }
        5 => {
            let end = bytes.len().min(at + input.short());
            let twice = bytes[at..end].to_vec();
            bytes.splice(at..at, twice);
        }
        6 => {
            // Exchange two chunks.
            let (one, other) = (chunk_offset(input), chunk_offset(input));
            if one < other && other + SEALED_CHUNK_BYTES <= bytes.len() {
                let (front, back) = bytes.split_at_mut(other);
                front[one..one + SEALED_CHUNK_BYTES].swap_with_slice(&mut back[..SEALED_CHUNK_BYTES]);
            }
        }
        7 => {
            // Replace the rest by that of another container.
            let other = input.pick(containers()).sealed;
            bytes.truncate(at);
            bytes.extend_from_slice(&other[at.min(other.len())..]);
        }
        _ => bytes.extend(std::iter::repeat_n(input.byte(), input.below(0x8000))),
    }
}

/// The offset of a chunk, if the header is a short one.
fn chunk_offset(input: &mut Input<'_>) -> usize {
    HEADER_BYTES + PREFIX_BYTES + input.below(4) * SEALED_CHUNK_BYTES
}

/// An offset: any, or one near a boundary of the format.
fn offset(length: usize, input: &mut Input<'_>) -> usize {
    let near = usize::from(input.byte() % 4);
    let offset = match input.byte() % 6 {
        0 => input.below(400),
        1 => HEADER_BYTES + input.below(PREFIX_BYTES + 20),
        2 => chunk_offset(input) + near,
        3 => chunk_offset(input).saturating_sub(near),
        4 => length.saturating_sub(input.below(40)),
        _ => input.below(length + 1),
    };
    offset.min(length)
}
