//! Rijndael with a block and a key of 128 bits by four tables of 1 KiB, as in the submission to the AES contest: J.
//! Daemen, V. Rijmen, "AES Proposal: Rijndael", version 2, 3 September 1999, section 5.2.1. Words are columns, with row
//! 0 in the lowest byte. [`encrypt_block`] keeps the state in registers. [`in_memory`] keeps it in memory and loads
//! bytes from there, as the submission's C code does.
//!
//! Addresses depend on the key and on data, so this is for studies only. Tress itself encrypts without tables.

const ROUNDS: usize = 10;

/// Round keys, one word per column.
pub type Keys = [[u32; 4]; ROUNDS + 1];

/// Multiplication by x modulo x^8 + x^4 + x^3 + x + 1.
pub(crate) const fn times_2(a: u8) -> u8 {
    a << 1 ^ if a >> 7 == 1 { 0x1b } else { 0 }
}

/// The S-box (section 4.2.1): the inverse, then the affine map. The powers of 3 are all elements except 0, and the
/// power with exponent 255 − i is the inverse of that with exponent i.
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

/// The contribution of a byte in row `r` to its column: the S-box and the column of MixColumn.
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
pub(crate) fn tables() -> &'static [[u32; 256]; 4] {
    &TABLES.0
}

#[inline(always)]
pub(crate) fn byte(word: u32, row: u32) -> usize {
    (word >> (8 * row) & 255) as usize
}

/// The S-box is a byte of a table that MixColumn multiplies by 1: row 1 of the first table.
#[inline(always)]
pub(crate) fn sub(word: u32, row: u32) -> u32 {
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

/// One column of a round, from the rows of the columns that ShiftRow selects.
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

/// Keeps the state in memory: a column is stored as a word, and its bytes are loaded one by one.
pub mod in_memory {
    use core::arch::asm;

    use super::{Keys, ROUNDS, TABLES};

    /// Columns as words and as bytes.
    #[repr(C)]
    union State {
        columns: [u32; 4],
        bytes: [u8; 16],
    }

    impl State {
        /// Makes the compiler store the state to memory and load it again.
        #[inline(always)]
        fn settle(&mut self) {
            // SAFETY: the assembly contains no instruction.
            unsafe { asm!("/* {} */", in(reg) &raw mut *self, options(nostack, preserves_flags)) };
        }

        /// The byte of row `row` that ShiftRow moves to column `c`.
        #[inline(always)]
        fn byte(&self, c: usize, row: usize) -> usize {
            // SAFETY: every bit pattern is valid as bytes.
            usize::from(unsafe { self.bytes }[4 * ((c + row) % 4) + row])
        }
    }

    /// Encrypts a block of four columns.
    #[inline(never)]
    pub fn encrypt_block(keys: &Keys, block: &[u32; 4], out: &mut [u32; 4]) {
        let [mut state, mut added] = [*block, [0; 4]].map(|columns| State { columns });
        for key in &keys[..ROUNDS - 1] {
            state.settle();
            add(&state, key, &mut added);
            for c in 0..4 {
                let t = &TABLES.0;
                let column =
                    t[0][added.byte(c, 0)] ^ t[1][added.byte(c, 1)] ^ t[2][added.byte(c, 2)] ^ t[3][added.byte(c, 3)];
                // SAFETY: every bit pattern is valid as columns.
                unsafe { state.columns[c] = column };
            }
        }
        state.settle();
        add(&state, &keys[ROUNDS - 1], &mut added);
        for c in 0..4 {
            for row in 0..4 {
                let byte = super::sub(added.byte(c, row) as u32, 0) as u8;
                // SAFETY: every bit pattern is valid as bytes.
                unsafe { state.bytes[4 * c + row] = byte };
            }
        }
        state.settle();
        // SAFETY: every bit pattern is valid as columns.
        *out = super::add(unsafe { state.columns }, &keys[ROUNDS]);
    }

    #[inline(always)]
    fn add(state: &State, key: &[u32; 4], added: &mut State) {
        // SAFETY: every bit pattern is valid as columns.
        added.columns = super::add(unsafe { state.columns }, key);
        added.settle();
    }
}
