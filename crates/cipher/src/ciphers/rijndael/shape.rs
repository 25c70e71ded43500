//! The number of columns and rounds of a block, and the byte permutation of ShiftRows.

/// Number of words in the largest state and the longest key.
pub(super) const MAX_COLUMNS: usize = 8;
/// Number of rounds for the largest block or key.
pub(super) const MAX_ROUNDS: usize = 14;

/// Number of rounds for a block of `nb` words and a key of `nk`: the larger of the two plus six.
pub(super) const fn rounds(nb: usize, nk: usize) -> usize {
    (if nb > nk { nb } else { nk }) + 6
}

/// The number of columns by which ShiftRows moves each row of a block of `nb` columns (the proposal's table 2).
pub(super) const fn shifts(nb: usize) -> [usize; 4] {
    match nb {
        7 => [0, 1, 2, 4],
        8 => [0, 1, 3, 4],
        _ => [0, 1, 2, 3],
    }
}

/// The index of the byte that ShiftRows, or its inverse, moves to index `byte` in a block of `nb` columns.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const fn source(nb: usize, byte: usize, inverse: bool) -> usize {
    let (column, row) = (byte / 4, byte % 4);
    let shift = if inverse { nb - shifts(nb)[row] } else { shifts(nb)[row] };
    4 * ((column + shift) % nb) + row
}

/// The permutation before an AES instruction that makes its ShiftRows (or the inverse) that of larger blocks. The instruction works on
/// four columns at a time, without regard to block boundaries. `blocks` blocks are stored one after another. Returns the index of the
/// byte that has to move to index `byte`. Bytes that the instruction moves behind the blocks stay.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) const fn before_instruction(nb: usize, blocks: usize, byte: usize, inverse: bool) -> usize {
    // The instruction moves the byte to `target`.
    let target = byte / 16 * 16 + source(4, byte % 16, !inverse);
    if target < 4 * nb * blocks {
        let block = target / (4 * nb) * (4 * nb);
        block + source(nb, target - block, inverse)
    } else {
        byte
    }
}
