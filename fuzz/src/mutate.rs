//! Mutations of inputs, for tests without a fuzzer. Each differs from a kept input by up to four changes.

use crate::common::Seeded as Numbers;

/// Length of the longest piece that is inserted, removed or copied.
const PIECE_BYTES: usize = 64;

/// Inputs of at most `most_bytes` bytes. The same seed gives the same inputs.
pub fn mutations(inputs: &[Vec<u8>], seed: u64, most_bytes: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut numbers = Numbers(seed);
    std::iter::repeat_with(move || {
        let mut bytes = numbers.pick(inputs).clone();
        for _ in 0..1 + numbers.below(4) {
            let other = numbers.pick(inputs);
            change(&mut bytes, other, &mut numbers);
        }
        bytes.truncate(most_bytes);
        bytes
    })
}

fn change(bytes: &mut Vec<u8>, other: &[u8], numbers: &mut Numbers) {
    let position = |length: usize, numbers: &mut Numbers| numbers.below(length as u64 + 1) as usize;
    let piece = |bytes: &[u8], numbers: &mut Numbers| {
        let start = position(bytes.len(), numbers);
        start..start + position(PIECE_BYTES.min(bytes.len() - start), numbers)
    };
    let at = position(bytes.len(), numbers);
    match numbers.below(9) {
        0 if at < bytes.len() => bytes[at] ^= 1 << numbers.below(8),
        1 if at < bytes.len() => bytes[at] = bytes[at].wrapping_add(numbers.below(33) as u8).wrapping_sub(16),
        2 => {
            let integer = numbers.integer();
            let order = if numbers.below(2) == 0 { integer.to_le_bytes() } else { integer.to_be_bytes() };
            let width = *numbers.pick(&[1, 2, 4, 8]);
            let integer = if order == integer.to_le_bytes() { &order[..width] } else { &order[8 - width..] };
            overwrite(bytes, at, integer);
        }
        3 => drop(bytes.drain(piece(bytes, numbers))),
        4 => {
            let copy = bytes[piece(bytes, numbers)].to_vec();
            drop(bytes.splice(at..at, copy));
        }
        5 => drop(bytes.splice(at..at, other[piece(other, numbers)].iter().copied())),
        6 => overwrite(bytes, at, &other[piece(other, numbers)]),
        7 => {
            let byte = numbers.next() as u8;
            drop(bytes.splice(at..at, vec![byte; position(PIECE_BYTES, numbers)]));
        }
        // The beginning of one input and the end of another; every fourth has no end.
        _ => {
            bytes.truncate(at);
            if numbers.below(4) != 0 {
                bytes.extend_from_slice(&other[position(other.len(), numbers)..]);
            }
        }
    }
}

fn overwrite(bytes: &mut Vec<u8>, at: usize, new: &[u8]) {
    bytes.splice(at..bytes.len().min(at + new.len()), new.iter().copied());
}
