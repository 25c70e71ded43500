//! Rijndael with a block and a key of 128 bits by four tables of 1 KiB, as the submission to the AES contest programs it:
//! J. Daemen, V. Rijmen, "AES Proposal: Rijndael", version 2, 3 September 1999, section 5.2.1. Words are columns, row 0 in
//! the lowest byte.
//!
//! Addresses depend on the key and on data, so this is for studies only; what Tress encrypts with has no tables.

const ROUNDS: usize = 10;

/// Round keys, a column a word.
pub type Keys = [[u32; 4]; ROUNDS + 1];

/// Multiplication by x modulo x^8 + x^4 + x^3 + x + 1.
const fn times_2(a: u8) -> u8 {
    a << 1 ^ if a >> 7 == 1 { 0x1b } else { 0 }
}

/// The S-box (section 4.2.1): the inverse, then the affine map. Powers of 3 go through all elements but 0, and that with
/// exponent 255 − i is the inverse of that with i.
const S_BOX: [u8; 256] = {
    let mut powers = [1u8; 256];
    let mut i = 1;
    while i < 256 {
        powers[i] = times_2(powers[i - 1]) ^ powers[i - 1];
        i += 1;
    }
    let mut s_box = [0x63; 256];
    let mut i = 0;
    while i < 255 {
        let x = powers[255 - i];
        s_box[powers[i] as usize] ^= x ^ x.rotate_left(1) ^ x.rotate_left(2) ^ x.rotate_left(3) ^ x.rotate_left(4);
        i += 1;
    }
    s_box
};

/// What a byte in row `r` adds to its column: the S-box and the column of MixColumn.
#[repr(align(64))]
struct Tables([[u32; 256]; 4]);

static TABLES: Tables = Tables({
    let mut tables = [[0; 256]; 4];
    let mut x = 0;
    while x < 256 {
        let s = S_BOX[x];
        let s2 = times_2(s);
        let column = u32::from_le_bytes([s2, s, s, s2 ^ s]);
        let mut row = 0;
        while row < 4 {
            tables[row][x] = column.rotate_left(8 * row as u32);
            row += 1;
        }
        x += 1;
    }
    tables
});

#[inline(always)]
fn byte(word: u32, row: u32) -> usize {
    (word >> (8 * row) & 255) as usize
}

/// The S-box is a byte of the tables that MixColumn multiplies by 1: row 1 of the first.
#[inline(always)]
fn sub(word: u32, row: u32) -> u32 {
    TABLES.0[0][byte(word, row)] >> 8 & 255
}

/// Key schedule (section 4.3.1).
#[inline(never)]
pub fn expand_key(key: &[u32; 4], keys: &mut Keys) {
    let mut column = *key;
    let mut constant = 1;
    keys[0] = column;
    for round in 1..=ROUNDS {
        let last = column[3];
        column[0] ^= constant ^ sub(last, 1) ^ sub(last, 2) << 8 ^ sub(last, 3) << 16 ^ sub(last, 0) << 24;
        column[1] ^= column[0];
        column[2] ^= column[1];
        column[3] ^= column[2];
        keys[round] = column;
        constant = u32::from(times_2(constant as u8));
    }
}

/// One column of a round: rows of the columns to which ShiftRow has moved them.
#[inline(always)]
fn column(t: &[[u32; 256]; 4], x: &[u32; 4], c: usize) -> u32 {
    t[0][byte(x[c], 0)] ^ t[1][byte(x[(c + 1) % 4], 1)] ^ t[2][byte(x[(c + 2) % 4], 2)] ^ t[3][byte(x[(c + 3) % 4], 3)]
}

/// One column of the last round, which has no MixColumn.
#[inline(always)]
fn last_column(x: &[u32; 4], c: usize) -> u32 {
    sub(x[c], 0) | sub(x[(c + 1) % 4], 1) << 8 | sub(x[(c + 2) % 4], 2) << 16 | sub(x[(c + 3) % 4], 3) << 24
}

#[inline(always)]
fn add(x: [u32; 4], key: &[u32; 4]) -> [u32; 4] {
    [x[0] ^ key[0], x[1] ^ key[1], x[2] ^ key[2], x[3] ^ key[3]]
}

/// Encrypts a block of four columns.
#[inline(never)]
pub fn encrypt_block(keys: &Keys, block: &[u32; 4], out: &mut [u32; 4]) {
    let t = &TABLES.0;
    let mut x = add(*block, &keys[0]);
    for key in &keys[1..ROUNDS] {
        x = add([column(t, &x, 0), column(t, &x, 1), column(t, &x, 2), column(t, &x, 3)], key);
    }
    *out = add([last_column(&x, 0), last_column(&x, 1), last_column(&x, 2), last_column(&x, 3)], &keys[ROUNDS]);
}
