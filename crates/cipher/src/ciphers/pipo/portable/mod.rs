//! PIPO in 64-bit words: constant time, no tables, no instructions beyond the target's baseline.
//!
//! A word holds one row of eight blocks: bit `j` of the row of block `b` is bit `8j + b` of the word. So the R-layer rotates words by
//! whole bytes, without masks; with a byte for each block it would take five operations a row. `L` words side by side let the
//! compiler use the vector instructions of the target.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::keys::{self, MAX_WORDS, RoundKeys};
use super::layers::{Block, MAX_ROUNDS, RoundKeySource, StateRow, decrypt, encrypt};
use crate::engine::{Engine, Interleave, NoInterleave, Operation, scalar_vector};

/// Number of words side by side.
const L: usize = 2;
/// Number of blocks in a state.
const BLOCKS: usize = 8 * L;

/// Rows 0 to 7 of `BLOCKS` blocks.
type State = [[u64; L]; 8];

/// A row with the same value for eight blocks: copies bit `j` of `byte` to all bits of byte `j`.
pub(super) const fn spread(byte: u8) -> u64 {
    (bits_to_bytes(byte)) * 0xff
}

/// Moves bit `j` of `byte` to bit `8j`.
pub(super) const fn bits_to_bytes(byte: u8) -> u64 {
    // Byte j keeps only bit j, which the addition carries to bit 7.
    let bits = (byte as u64 * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
    (bits + 0x0040_6070_787c_7e7f) >> 7 & 0x0101_0101_0101_0101
}

/// A row of one block, in the lowest byte of a word; the other bytes are ignored. Compilers would pack eight `u8` into one register
/// and unpack them in every round.
impl StateRow for u32 {
    type Word = u8;

    #[inline(always)]
    unsafe fn splat(word: u8) -> u32 {
        u32::from(word)
    }

    #[inline(always)]
    unsafe fn xor(self, a: u32) -> u32 {
        self ^ a
    }

    #[inline(always)]
    unsafe fn xor3(self, a: u32, b: u32) -> u32 {
        self ^ a ^ b
    }

    #[inline(always)]
    unsafe fn xnor(self, a: u32) -> u32 {
        self ^ !a
    }

    #[inline(always)]
    unsafe fn xnor3(self, a: u32, b: u32) -> u32 {
        !self ^ a ^ b
    }

    #[inline(always)]
    unsafe fn xor_and(self, a: u32, b: u32) -> u32 {
        self ^ (a & b)
    }

    #[inline(always)]
    unsafe fn xor_or(self, a: u32, b: u32) -> u32 {
        self ^ (a | b)
    }

    #[inline(always)]
    unsafe fn rotate<const LEFT: u32>(self) -> u32 {
        u32::from((self as u8).rotate_left(LEFT))
    }
}

impl StateRow for [u64; L] {
    type Word = u64;

    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        [word; L]
    }

    #[inline(always)]
    unsafe fn xor(mut self, a: Self) -> Self {
        for l in 0..L {
            self[l] ^= a[l];
        }
        self
    }

    #[inline(always)]
    unsafe fn xor3(mut self, a: Self, b: Self) -> Self {
        for l in 0..L {
            self[l] ^= a[l] ^ b[l];
        }
        self
    }

    #[inline(always)]
    unsafe fn xnor(mut self, a: Self) -> Self {
        for l in 0..L {
            self[l] ^= !a[l];
        }
        self
    }

    #[inline(always)]
    unsafe fn xnor3(mut self, a: Self, b: Self) -> Self {
        for l in 0..L {
            self[l] = !self[l] ^ a[l] ^ b[l];
        }
        self
    }

    #[inline(always)]
    unsafe fn xor_and(mut self, a: Self, b: Self) -> Self {
        for l in 0..L {
            self[l] ^= a[l] & b[l];
        }
        self
    }

    #[inline(always)]
    unsafe fn xor_or(mut self, a: Self, b: Self) -> Self {
        for l in 0..L {
            self[l] ^= a[l] | b[l];
        }
        self
    }

    #[inline(always)]
    unsafe fn rotate<const LEFT: u32>(mut self) -> Self {
        for l in 0..L {
            self[l] = self[l].rotate_left(8 * LEFT);
        }
        self
    }
}

/// Transposes the matrix of 8 × 8 parts of `unit` bits in the eight words. The operation is its own inverse.
///
/// For each of three distances, it exchanges the upper part of one word with the lower part of another.
#[inline(always)]
fn transpose(x: &mut State, unit: u32, masks: [u64; 3]) {
    for (step, mask) in masks.into_iter().enumerate() {
        let distance = 1 << step;
        for i in 0..8 {
            if i & distance == 0 {
                for l in 0..L {
                    let t = (x[i][l] >> (unit * distance as u32) ^ x[i + distance][l]) & mask;
                    x[i][l] ^= t << (unit * distance as u32);
                    x[i + distance][l] ^= t;
                }
            }
        }
    }
}

/// Exchanges bit `j` of every byte of word `i` with bit `i` of that byte of word `j`.
#[inline(always)]
fn transpose_bits(x: &mut State) {
    transpose(x, 1, [0x5555_5555_5555_5555, 0x3333_3333_3333_3333, 0x0f0f_0f0f_0f0f_0f0f]);
}

/// Exchanges byte `j` of word `i` with byte `i` of word `j`.
#[inline(always)]
fn transpose_bytes(x: &mut State) {
    transpose(x, 8, [0x00ff_00ff_00ff_00ff, 0x0000_ffff_0000_ffff, 0x0000_0000_ffff_ffff]);
}

/// Converts blocks to rows. Bit `j` of row `r` of block `i` is at first bit `8r + j` of word `i`. The transposition of bits moves it to
/// bit `i` of byte `r` of word `j`, that of bytes to bit `i` of byte `j` of word `r`.
#[inline(always)]
fn pack(blocks: &[Block; BLOCKS]) -> State {
    let mut state = [[0; L]; 8];
    for (i, block) in blocks.iter().enumerate() {
        state[i % 8][i / 8] = u64::from_le_bytes(*block);
    }
    transpose_bits(&mut state);
    transpose_bytes(&mut state);
    state
}

#[inline(always)]
fn unpack(mut state: State) -> [Block; BLOCKS] {
    transpose_bytes(&mut state);
    transpose_bits(&mut state);
    let mut blocks = [[0; 8]; BLOCKS];
    for (i, block) in blocks.iter_mut().enumerate() {
        *block = state[i % 8][i / 8].to_le_bytes();
    }
    blocks
}

/// The round keys of all lanes, a key for each block of a state.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct LaneRoundKeys {
    rounds: usize,
    last_word: usize,
    whitening: State,
    words: [State; MAX_WORDS],
}

impl RoundKeySource<[u64; L]> for LaneRoundKeys {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }

    #[inline(always)]
    unsafe fn whitening(&self) -> State {
        self.whitening
    }

    #[inline(always)]
    unsafe fn round_key(&self, round: usize) -> State {
        let mut rows = self.words[round & self.last_word & (MAX_WORDS - 1)];
        for word in &mut rows[0] {
            *word ^= ROUND_NUMBERS[round];
        }
        rows
    }
}

/// The number of each round as a row.
pub(super) const ROUND_NUMBERS: [u64; MAX_ROUNDS + 1] = {
    let mut numbers = [0; MAX_ROUNDS + 1];
    let mut round = 0;
    while round <= MAX_ROUNDS {
        numbers[round] = spread(round as u8);
        round += 1;
    }
    numbers
};

fn encrypt_blocks(keys: &impl RoundKeySource<[u64; L]>, blocks: &mut [Block; BLOCKS]) {
    let mut state = [pack(blocks)];
    // SAFETY: operations on words need no instructions beyond the target's baseline.
    unsafe { encrypt(keys, &mut state, &mut NoInterleave) };
    *blocks = unpack(state[0]);
}

fn decrypt_blocks(keys: &impl RoundKeySource<[u64; L]>, blocks: &mut [Block; BLOCKS]) {
    let mut state = [pack(blocks)];
    // SAFETY: operations on words need no instructions beyond the target's baseline.
    unsafe { decrypt(keys, &mut state) };
    *blocks = unpack(state[0]);
}

/// Encrypts one block.
pub(super) fn encrypt_block(keys: &RoundKeys, block: &mut Block) {
    let mut state = [[0; 8]];
    for row in 0..8 {
        state[0][row] = u32::from(block[row]);
    }
    // SAFETY: operations on words need no instructions beyond the target's baseline.
    unsafe { encrypt(&keys.one, &mut state, &mut NoInterleave) };
    for row in 0..8 {
        block[row] = state[0][row] as u8;
    }
}

/// The portable engine. A vector has `BLOCKS` blocks, eight in each word.
#[derive(Clone, Copy)]
pub struct Portable;

impl Engine for Portable {
    type Block = Block;
    type Vector = [Block; BLOCKS];
    const SLOTS: usize = BLOCKS;
    type RoundKeys = RoundKeys;
    type LaneRoundKeys = LaneRoundKeys;

    fn detect() -> Option<Self> {
        Some(Portable)
    }

    fn expand_key(self, key: &[u8]) -> RoundKeys {
        keys::expand_key(key, spread)
    }

    scalar_vector!();

    fn rounds(keys: &RoundKeys) -> usize {
        keys.many.rounds
    }

    fn run<O: Operation<Block>>(self, keys: &RoundKeys, operation: O) -> O::Output {
        operation.call::<Self, 1, { Self::SLOTS }>(self, keys)
    }

    fn encrypt<const G: usize, const K: usize>(
        self,
        keys: &RoundKeys,
        x: &mut [[Self::Vector; G]; K],
        between_rounds: &mut impl Interleave,
    ) {
        (1..10).for_each(|part| between_rounds.run_part(part));
        for blocks in x.as_flattened_mut() {
            encrypt_blocks(&keys.many, blocks);
        }
    }

    fn decrypt<const G: usize>(self, keys: &RoundKeys, x: &mut [Self::Vector; G]) {
        for blocks in x {
            decrypt_blocks(&keys.many, blocks);
        }
    }

    /// Supports one group: the vectors of all `K` rows belong to the same lanes.
    fn encrypt_lanes<const G: usize, const K: usize>(
        self,
        keys: &LaneRoundKeys,
        _: usize,
        x: &mut [[Self::Vector; G]; K],
        between_rounds: &mut impl Interleave,
    ) {
        (1..10).for_each(|part| between_rounds.run_part(part));
        const { assert!(G == 1) };
        for blocks in x.as_flattened_mut() {
            encrypt_blocks(keys, blocks);
        }
    }

    fn zero_lane_keys(self) -> LaneRoundKeys {
        let zero = [[0; L]; 8];
        LaneRoundKeys { rounds: 0, last_word: 0, whitening: zero, words: [zero; MAX_WORDS] }
    }

    fn set_lane_key(self, lane_keys: &mut LaneRoundKeys, lane: usize, keys: &RoundKeys) {
        let keys = &keys.many;
        lane_keys.rounds = keys.rounds;
        lane_keys.last_word = keys.last_word;
        let mask = 0x0101_0101_0101_0101 << (lane % 8);
        let merge = |merged: &mut State, own: &[u64; 8]| {
            for (merged, own) in merged.iter_mut().zip(own) {
                let merged = &mut merged[lane / 8];
                *merged = *merged & !mask | own & mask;
            }
        };
        merge(&mut lane_keys.whitening, &keys.whitening);
        for (merged, own) in lane_keys.words.iter_mut().zip(&keys.words[..=keys.last_word]) {
            merge(merged, own);
        }
    }

    fn encrypt_block(self, keys: &RoundKeys, block: &mut Block) {
        encrypt_block(keys, block);
    }
}
