//! The shape of blocks: columns, rounds, and which byte ShiftRows brings where.

/// Words of the largest state and of the longest key.
pub(super) const MAX_COLUMNS: usize = 8;
/// Rounds of the largest block or key.
pub(super) const MAX_ROUNDS: usize = 14;

/// Rounds for a block of `nb` words and a key of `nk`: the larger of the two, and six.
pub(super) const fn rounds(nb: usize, nk: usize) -> usize {
    (if nb > nk { nb } else { nk }) + 6
}

/// By how many columns ShiftRows moves each row of a block of `nb` columns (the proposal's table 2).
pub(super) const fn shifts(nb: usize) -> [usize; 4] {
    match nb {
        7 => [0, 1, 2, 4],
        8 => [0, 1, 3, 4],
        _ => [0, 1, 2, 3],
    }
}

/// The byte that ShiftRows, or its inverse, brings to a byte of a block of `nb` columns.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const fn source(nb: usize, byte: usize, inverse: bool) -> usize {
    let (column, row) = (byte / 4, byte % 4);
    let shift = if inverse { nb - shifts(nb)[row] } else { shifts(nb)[row] };
    4 * ((column + shift) % nb) + row
}

/// Which byte of `blocks` blocks one behind the other has to stand at `byte` so that the ShiftRows (or its inverse) of an
/// AES instruction, which works on four columns at a time whichever block they belong to, makes the wide blocks' of it.
/// Bytes that only what stands behind the blocks is made of stay where they are.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) const fn before_instruction(nb: usize, blocks: usize, byte: usize, inverse: bool) -> usize {
    // What the instruction makes of the byte goes to `target`.
    let target = byte / 16 * 16 + source(4, byte % 16, !inverse);
    if target < 4 * nb * blocks {
        let block = target / (4 * nb) * (4 * nb);
        block + source(nb, target - block, inverse)
    } else {
        byte
    }
}
