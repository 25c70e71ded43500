//! AES-128 as the paper has it (FIPS 197 on a state of four rows of four bytes), each function over any share of the rows
//! or columns, so that one thread can do all of it and several a share each.
//!
//! Its look-ups depend on secrets: for measuring only.

use std::{
    cell::Cell,
    ops::Range,
    sync::atomic::{AtomicU8, Ordering::Relaxed},
};

/// Bytes of a block.
pub(super) const BLOCK: usize = 16;
pub(super) const ROUNDS: usize = 10;

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Encrypt,
    Decrypt,
}

/// The functions that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    SubBytes,
    ShiftRows,
    MixColumns,
    AddRoundKey,
}

impl Function {
    pub(super) const ALL: [Function; 4] =
        [Function::SubBytes, Function::ShiftRows, Function::MixColumns, Function::AddRoundKey];

    pub(super) fn name(self) -> &'static str {
        match self {
            Function::SubBytes => "SubBytes",
            Function::ShiftRows => "ShiftRows",
            Function::MixColumns => "MixColumns",
            Function::AddRoundKey => "AddRoundKey",
        }
    }
}

/// `state[row][column]`, which is byte row + 4 * column of a block.
pub(super) trait State {
    fn get(&self, row: usize, column: usize) -> u8;
    fn set(&self, row: usize, column: usize, value: u8);

    #[inline(always)]
    fn load(&self, block: &[u8]) {
        for (place, &byte) in block.iter().enumerate().take(BLOCK) {
            self.set(place % 4, place / 4, byte);
        }
    }

    #[inline(always)]
    fn store(&self, block: &mut [u8]) {
        for (place, byte) in block.iter_mut().enumerate().take(BLOCK) {
            *byte = self.get(place % 4, place / 4);
        }
    }
}

/// Of one thread.
#[derive(Default)]
pub(super) struct Own([[Cell<u8>; 4]; 4]);

impl State for Own {
    #[inline(always)]
    fn get(&self, row: usize, column: usize) -> u8 {
        self.0[row][column].get()
    }

    #[inline(always)]
    fn set(&self, row: usize, column: usize, value: u8) {
        self.0[row][column].set(value);
    }
}

/// Of several threads. Its loads and stores are plain ones of a byte; what orders them are the barriers between steps.
#[derive(Default)]
pub(super) struct Shared([[AtomicU8; 4]; 4]);

impl State for Shared {
    #[inline(always)]
    fn get(&self, row: usize, column: usize) -> u8 {
        self.0[row][column].load(Relaxed)
    }

    #[inline(always)]
    fn set(&self, row: usize, column: usize, value: u8) {
        self.0[row][column].store(value, Relaxed);
    }
}

/// Multiplication by x modulo x^8 + x^4 + x^3 + x + 1.
#[inline(always)]
const fn xtime(a: u8) -> u8 {
    (a << 1) ^ ((a >> 7) * 0x1b)
}

/// The S-box (section 5.1.1), from powers of the generator x + 1.
pub(super) const SBOX: [u8; 256] = {
    let (mut power, mut logarithm) = ([0; 256], [0; 256]);
    let (mut a, mut i) = (1u8, 0);
    while i < 255 {
        power[i] = a;
        logarithm[a as usize] = i;
        a ^= xtime(a);
        i += 1;
    }
    let mut table = [0x63; 256];
    let mut a = 1;
    while a < 256 {
        let b = power[(255 - logarithm[a]) % 255];
        table[a] = b ^ b.rotate_left(1) ^ b.rotate_left(2) ^ b.rotate_left(3) ^ b.rotate_left(4) ^ 0x63;
        a += 1;
    }
    table
};

pub(super) const INVERSE_SBOX: [u8; 256] = {
    let mut table = [0; 256];
    let mut a = 0;
    while a < 256 {
        table[SBOX[a] as usize] = a as u8;
        a += 1;
    }
    table
};

/// Round keys, each as the bytes of a block.
#[derive(Clone)]
pub(super) struct Keys([[u8; BLOCK]; ROUNDS + 1]);

impl Keys {
    /// KEYEXPANSION() for 128 bits.
    pub(super) fn new(key: &[u8; BLOCK]) -> Keys {
        let mut keys = [*key; ROUNDS + 1];
        let mut constant = 1;
        for round in 1..=ROUNDS {
            let before = keys[round - 1];
            let mut word = [13, 14, 15, 12].map(|place| SBOX[usize::from(before[place])]);
            word[0] ^= constant;
            constant = xtime(constant);
            for place in 0..BLOCK {
                word[place % 4] ^= before[place];
                keys[round][place] = word[place % 4];
            }
        }
        Keys(keys)
    }
}

/// One function of one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) function: Function,
    round: usize,
    direction: Direction,
}

/// The steps of a block, first to last.
pub(super) fn steps(direction: Direction) -> Vec<Step> {
    use Function::{AddRoundKey, MixColumns, ShiftRows, SubBytes};
    let is_encrypting = direction == Direction::Encrypt;
    let mut steps = Vec::new();
    for place in 0..=ROUNDS {
        let round = if is_encrypting { place } else { ROUNDS - place };
        let functions: &[Function] = match (is_encrypting, place) {
            (_, 0) => &[AddRoundKey],
            (true, ROUNDS) => &[SubBytes, ShiftRows, AddRoundKey],
            (true, _) => &[SubBytes, ShiftRows, MixColumns, AddRoundKey],
            (false, ROUNDS) => &[ShiftRows, SubBytes, AddRoundKey],
            (false, _) => &[ShiftRows, SubBytes, AddRoundKey, MixColumns],
        };
        steps.extend(functions.iter().map(|&function| Step { function, round, direction }));
    }
    steps
}

impl Step {
    /// Does the share of thread `thread` of `threads`: rows of SubBytes, the paper's two sections of ShiftRows, columns of
    /// the others.
    #[inline(always)]
    pub(super) fn share(self, state: &impl State, keys: &Keys, thread: usize, threads: usize) {
        let part = thread * 4 / threads..(thread + 1) * 4 / threads;
        let is_encrypting = self.direction == Direction::Encrypt;
        match self.function {
            Function::SubBytes => sub_bytes(state, part, if is_encrypting { &SBOX } else { &INVERSE_SBOX }),
            Function::ShiftRows => {
                let sections = thread.min(2)..if threads == 1 { 2 } else { (thread + 1).min(2) };
                shift_rows(state, sections, is_encrypting);
            }
            Function::MixColumns if is_encrypting => mix_columns(state, part),
            Function::MixColumns => inverse_mix_columns(state, part),
            Function::AddRoundKey => add_round_key(state, &keys.0[self.round], part),
        }
    }
}

#[inline(always)]
fn sub_bytes(state: &impl State, rows: Range<usize>, table: &[u8; 256]) {
    for i in rows {
        for j in 0..4 {
            state.set(i, j, table[usize::from(state.get(i, j))]);
        }
    }
}

/// The paper's Table 2: the first section does row 1 and a half of row 2, the second the other half and row 3.
#[inline(always)]
fn shift_rows(state: &impl State, sections: Range<usize>, to_the_left: bool) {
    let swap = |one: usize, other: usize| {
        let temp = state.get(2, one);
        state.set(2, one, state.get(2, other));
        state.set(2, other, temp);
    };
    let left = |row: usize| {
        let temp = state.get(row, 0);
        state.set(row, 0, state.get(row, 1));
        state.set(row, 1, state.get(row, 2));
        state.set(row, 2, state.get(row, 3));
        state.set(row, 3, temp);
    };
    let right = |row: usize| {
        let temp = state.get(row, 0);
        state.set(row, 0, state.get(row, 3));
        state.set(row, 3, state.get(row, 2));
        state.set(row, 2, state.get(row, 1));
        state.set(row, 1, temp);
    };
    for section in sections {
        let row = 1 + 2 * section;
        // Three to the left is one to the right.
        if (section == 0) == to_the_left {
            left(row)
        } else {
            right(row)
        }
        swap(section, section + 2);
    }
}

/// The paper's Table 3.
#[inline(always)]
fn mix_columns(state: &impl State, columns: Range<usize>) {
    for i in columns {
        let first = state.get(0, i);
        let sum = first ^ state.get(1, i) ^ state.get(2, i) ^ state.get(3, i);
        for row in 0..4 {
            let next = if row == 3 { first } else { state.get(row + 1, i) };
            let this = state.get(row, i);
            state.set(row, i, this ^ xtime(this ^ next) ^ sum);
        }
    }
}

/// Times 14, 11, 13, 9: that is times 5, 0, 4, 0, then times 2, 3, 1, 1.
#[inline(always)]
fn inverse_mix_columns(state: &impl State, columns: Range<usize>) {
    for i in columns.clone() {
        for row in 0..2 {
            let four_times = xtime(xtime(state.get(row, i) ^ state.get(row + 2, i)));
            state.set(row, i, state.get(row, i) ^ four_times);
            state.set(row + 2, i, state.get(row + 2, i) ^ four_times);
        }
    }
    mix_columns(state, columns);
}

#[inline(always)]
fn add_round_key(state: &impl State, key: &[u8; BLOCK], columns: Range<usize>) {
    for column in columns {
        for row in 0..4 {
            state.set(row, column, state.get(row, column) ^ key[row + 4 * column]);
        }
    }
}

/// One block by one thread: CIPHER() and INVCIPHER().
#[inline(always)]
pub(super) fn block(keys: &Keys, direction: Direction, block: &mut [u8]) {
    let state = Own::default();
    state.load(block);
    match direction {
        Direction::Encrypt => {
            add_round_key(&state, &keys.0[0], 0..4);
            for round in 1..=ROUNDS {
                sub_bytes(&state, 0..4, &SBOX);
                shift_rows(&state, 0..2, true);
                if round < ROUNDS {
                    mix_columns(&state, 0..4);
                }
                add_round_key(&state, &keys.0[round], 0..4);
            }
        }
        Direction::Decrypt => {
            add_round_key(&state, &keys.0[ROUNDS], 0..4);
            for round in (0..ROUNDS).rev() {
                shift_rows(&state, 0..2, false);
                sub_bytes(&state, 0..4, &INVERSE_SBOX);
                add_round_key(&state, &keys.0[round], 0..4);
                if round > 0 {
                    inverse_mix_columns(&state, 0..4);
                }
            }
        }
    }
    state.store(block);
}

/// Blocks, one after the other.
pub(super) fn blocks(keys: &Keys, direction: Direction, data: &mut [u8]) {
    for bytes in data.chunks_exact_mut(BLOCK) {
        block(keys, direction, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 197 appendix C.1.
    const KEY: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    const CIPHERTEXT: [u8; 16] =
        [0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a];

    #[test]
    fn the_standards_example() {
        let keys = Keys::new(&KEY);
        let plain: [u8; 16] = std::array::from_fn(|i| 0x11 * i as u8);
        let mut bytes = plain;
        block(&keys, Direction::Encrypt, &mut bytes);
        assert_eq!(bytes, CIPHERTEXT);
        block(&keys, Direction::Decrypt, &mut bytes);
        assert_eq!(bytes, plain);
    }

    /// Whatever the number of threads, in any order within a step.
    #[test]
    fn shares_make_the_whole() {
        let keys = Keys::new(&KEY);
        for threads in 1..=4 {
            let state = Shared::default();
            let mut bytes: [u8; 16] = std::array::from_fn(|i| 0x11 * i as u8);
            for (direction, expected) in [(Direction::Encrypt, CIPHERTEXT), (Direction::Decrypt, bytes)] {
                state.load(&bytes);
                for step in steps(direction) {
                    (0..threads).rev().for_each(|thread| step.share(&state, &keys, thread, threads));
                }
                state.store(&mut bytes);
                assert_eq!(bytes, expected, "{threads} {direction:?}");
            }
        }
    }

    /// Rounds have 10 SubBytes, 10 ShiftRows, 9 MixColumns and 11 AddRoundKey.
    #[test]
    fn a_block_has_forty_steps() {
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            let count = |function| steps(direction).iter().filter(|step| step.function == function).count();
            assert_eq!(Function::ALL.map(count), [10, 10, 9, 11]);
        }
    }
}
