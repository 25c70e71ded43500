//! Rijndael with blocks and keys of 128, 192 and 256 bits, by the tables of [`crate::rijndael`] and from its source.

use core::array;

use crate::rijndael::{byte, sub, tables, times_2};

/// Round keys of Rijndael for up to 14 rounds of blocks of 8 columns, one word per column.
pub type RijndaelKeys = [u32; 15 * 8];

/// The four bytes of a column through the S-box, rotated down by `rows`.
#[inline(always)]
fn sub_column(x: u32, rows: u32) -> u32 {
    let row = |to: u32| sub(x, (to + rows) % 4) << (8 * to);
    row(0) ^ row(1) ^ row(2) ^ row(3)
}

/// Key schedule of Rijndael (section 4.3.1): a key of `NK` columns, `NR` rounds of blocks of `NB` columns.
#[inline(never)]
pub fn expand_rijndael_key<const NK: usize, const NB: usize, const NR: usize>(
    key: &[u32; NK],
    keys: &mut RijndaelKeys,
) {
    let mut columns = *key;
    let mut constant = 1;
    for keys in keys[..NB * (NR + 1)].chunks_mut(NK) {
        keys.copy_from_slice(&columns[..keys.len()]);
        columns[0] ^= constant ^ sub_column(columns[NK - 1], 1);
        for c in 1..NK {
            columns[c] ^= if NK == 8 && c == 4 { sub_column(columns[3], 0) } else { columns[c - 1] };
        }
        constant = u32::from(times_2(constant as u8));
    }
}

/// Encrypts a block of `NB` columns in `NR` rounds.
#[inline(never)]
pub fn encrypt_rijndael_block<const NB: usize, const NR: usize>(
    keys: &RijndaelKeys,
    block: &[u32; NB],
    out: &mut [u32; NB],
) {
    let (t, keys) = (tables(), keys.as_chunks::<NB>().0);
    let add = |x: [u32; NB], key: &[u32; NB]| array::from_fn(|c| x[c] ^ key[c]);
    // ShiftRow (section 4.2.2): row r of column c comes from the column `shift(r)` to the right.
    let shift = |row: usize| if NB == 8 && row > 1 { row + 1 } else { row };
    let mut x: [u32; NB] = add(*block, &keys[0]);
    for key in &keys[1..NR] {
        let from = |c: usize, row: usize| t[row][byte(x[(c + shift(row)) % NB], row as u32)];
        x = add(array::from_fn(|c| from(c, 0) ^ from(c, 1) ^ from(c, 2) ^ from(c, 3)), key);
    }
    let from = |c: usize, row: usize| sub(x[(c + shift(row)) % NB], row as u32) << (8 * row);
    *out = add(array::from_fn(|c| from(c, 0) | from(c, 1) | from(c, 2) | from(c, 3)), &keys[NR]);
}
