//! AES in bitsliced 64-bit words: constant time, no tables, no instructions beyond the target's baseline.
//!
//! Word `b` of a state holds bit `b` of every byte. A 64-bit word holds four blocks: byte `i` (0 to 7), bit `2k + h`
//! belongs to byte `8h + i` of block `k`; so row `r`, column `2h + c` is byte `r + 4c`, and both ShiftRows and
//! MixColumns are shifts and masks inside a word. `L` such words side by side (eight blocks for `L = 2`) let the compiler
//! use whatever vectors the target has.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::sbox::{inverse_sub_bytes, sub_bytes};
use super::word::Word;
use super::{Aes, Inner};
use crate::Block;
use crate::engine::{CcmEngine, CcmOperation, Engine, Meanwhile, Operation, scalar_ccm_vector, scalar_vector};

/// Words side by side.
const L: usize = 2;
/// Blocks in a state.
const BLOCKS: usize = 4 * L;
const MAX_ROUNDS: usize = 14;

/// Bits 0 to 7 of every byte of `4 * L` blocks.
type State<const L: usize> = [Word<L>; 8];

/// Round keys, bitsliced, the same for all blocks of a word.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Keys {
    round_keys: [[u64; 8]; MAX_ROUNDS + 1],
    rounds: usize,
}

/// Round keys, bitsliced, with a key for each block of a state.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct LaneKeys {
    round_keys: [State<L>; MAX_ROUNDS + 1],
    rounds: usize,
}

/// Transposes the 8 × 8 bits that byte `i` of the eight words makes, for every `i`.
#[inline(always)]
fn transpose_bits<const L: usize>(x: &mut State<L>) {
    for (distance, mask) in [(1, 0x5555_5555_5555_5555), (2, 0x3333_3333_3333_3333), (4, 0x0f0f_0f0f_0f0f_0f0f)] {
        for i in 0..8 {
            if i & distance == 0 {
                let t = (x[i].right(distance as u32) ^ x[i + distance]).mask(mask);
                x[i] ^= t.left(distance as u32);
                x[i + distance] ^= t;
            }
        }
    }
}

#[inline(always)]
fn pack(blocks: &[Block; BLOCKS]) -> State<L> {
    let mut state = [Word([0; L]); 8];
    for (i, block) in blocks.iter().enumerate() {
        let number = u128::from_le_bytes(*block);
        state[2 * (i % 4)].0[i / 4] = number as u64;
        state[2 * (i % 4) + 1].0[i / 4] = (number >> 64) as u64;
    }
    transpose_bits(&mut state);
    state
}

#[inline(always)]
fn unpack(mut state: State<L>) -> [Block; BLOCKS] {
    transpose_bits(&mut state);
    let mut blocks = [[0; 16]; BLOCKS];
    for (i, block) in blocks.iter_mut().enumerate() {
        let low = state[2 * (i % 4)].0[i / 4];
        let high = state[2 * (i % 4) + 1].0[i / 4];
        *block = (u128::from(low) | u128::from(high) << 64).to_le_bytes();
    }
    blocks
}

#[inline(always)]
fn add(state: &mut State<L>, other: &State<L>) {
    for b in 0..8 {
        state[b] ^= other[b];
    }
}

/// Row r moves left by r columns. Row 2 swaps the column pairs; rows 1 and 3 move to the other column of a pair, and one
/// of the two to the other pair as well. With `stay` and `swap` exchanged for rows 1 and 3 it is the inverse.
#[inline(always)]
fn shift_rows(state: &mut State<L>, inverse: bool) {
    let (stay, swap) = (0xff00_0000_0000_ff00, 0x0000_ff00_ff00_0000);
    let (stay, swap) = if inverse { (swap, stay) } else { (stay, swap) };
    for x in state {
        let y = x.left(32) ^ x.right(32);
        let stay = x.mask(0x0000_00ff_0000_00ff) ^ y.mask(stay);
        let swap = x.mask(0x00ff_0000_00ff_0000) ^ y.mask(swap);
        // Columns 0, 1 change places with columns 2, 3.
        *x = stay ^ swap.right(1).mask(0x5555_5555_5555_5555) ^ swap.mask(0x5555_5555_5555_5555).left(1);
    }
}

/// The byte one row further down in every column.
#[inline(always)]
fn next_row(x: Word<L>) -> Word<L> {
    x.right(8).mask(0x00ff_ffff_00ff_ffff) ^ x.left(24).mask(0xff00_0000_ff00_0000)
}

/// The byte two rows further down.
#[inline(always)]
fn second_row(x: Word<L>) -> Word<L> {
    x.right(16).mask(0x0000_ffff_0000_ffff) ^ x.left(16).mask(0xffff_0000_ffff_0000)
}

/// Multiplication by x in GF(2^8), bit by bit: what leaves bit 7 comes back at bits 0, 1, 3 and 4.
#[inline(always)]
fn xtime([a0, a1, a2, a3, a4, a5, a6, a7]: State<L>) -> State<L> {
    [a7, a0 ^ a7, a1, a2 ^ a7, a3 ^ a7, a4, a5, a6]
}

/// With a, b, c, d a byte and the three below it: 2a + 3b + c + d = 2(a + b) + b + (c + d).
#[inline(always)]
fn mix_columns(state: &mut State<L>) {
    let mut next = *state;
    let mut sums = *state;
    for b in 0..8 {
        next[b] = next_row(state[b]);
        sums[b] ^= next[b];
    }
    let doubled = xtime(sums);
    for b in 0..8 {
        state[b] = doubled[b] ^ next[b] ^ second_row(sums[b]);
    }
}

/// The inverse matrix is MixColumns after a -> a + 4(a + c).
#[inline(always)]
fn inverse_mix_columns(state: &mut State<L>) {
    let mut sums = *state;
    for sum in &mut sums {
        *sum ^= second_row(*sum);
    }
    add(state, &xtime(xtime(sums)));
    mix_columns(state);
}

/// Where the round keys of a state come from.
trait RoundKeys {
    fn rounds(&self) -> usize;
    fn round_key(&self, round: usize) -> State<L>;
}

impl RoundKeys for Keys {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }

    #[inline(always)]
    fn round_key(&self, round: usize) -> State<L> {
        let mut state = [Word::splat(0); 8];
        for (word, key) in state.iter_mut().zip(self.round_keys[round]) {
            *word = Word::splat(key);
        }
        state
    }
}

impl RoundKeys for LaneKeys {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }

    #[inline(always)]
    fn round_key(&self, round: usize) -> State<L> {
        self.round_keys[round]
    }
}

fn encrypt_state(keys: &impl RoundKeys, blocks: &mut [Block; BLOCKS]) {
    let rounds = keys.rounds();
    let mut state = pack(blocks);
    add(&mut state, &keys.round_key(0));
    for round in 1..rounds {
        sub_bytes(&mut state);
        shift_rows(&mut state, false);
        mix_columns(&mut state);
        add(&mut state, &keys.round_key(round));
    }
    sub_bytes(&mut state);
    shift_rows(&mut state, false);
    add(&mut state, &keys.round_key(rounds));
    *blocks = unpack(state);
}

fn decrypt_state(keys: &Keys, blocks: &mut [Block; BLOCKS]) {
    let mut state = pack(blocks);
    add(&mut state, &keys.round_key(keys.rounds));
    for round in (1..keys.rounds).rev() {
        shift_rows(&mut state, true);
        inverse_sub_bytes(&mut state);
        add(&mut state, &keys.round_key(round));
        inverse_mix_columns(&mut state);
    }
    shift_rows(&mut state, true);
    inverse_sub_bytes(&mut state);
    add(&mut state, &keys.round_key(0));
    *blocks = unpack(state);
}

/// SubWord of FIPS 197 section 5.2: the S-box on four bytes.
fn sub_word(word: u32) -> u32 {
    let mut state = [Word([0]); 8];
    state[0].0[0] = u64::from(word);
    transpose_bits(&mut state);
    sub_bytes(&mut state);
    transpose_bits(&mut state);
    state[0].0[0] as u32
}

/// KEYEXPANSION() (FIPS 197 section 5.2), then bitsliced. `key` has 16, 24 or 32 bytes.
pub(crate) fn expand_key(key: &[u8]) -> Keys {
    let nk = key.len() / 4;
    let rounds = nk + 6;
    let mut w = [0u32; 4 * (MAX_ROUNDS + 1)];
    for (word, bytes) in w.iter_mut().zip(key.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let mut rcon = 1;
    for i in nk..4 * (rounds + 1) {
        let mut temp = w[i - 1];
        if i % nk == 0 {
            // Little-endian words: moving the bytes up by one place is a rotation to the right.
            temp = sub_word(temp.rotate_right(8)) ^ rcon;
            // The ninth and tenth constants are 0x1b and 0x36; public, so a branch is fine.
            rcon = if rcon == 0x80 { 0x1b } else { rcon << 1 };
        } else if nk > 6 && i % nk == 4 {
            temp = sub_word(temp);
        }
        w[i] = w[i - nk] ^ temp;
    }
    let mut keys = Keys { round_keys: [[0; 8]; MAX_ROUNDS + 1], rounds };
    for (round_key, words) in keys.round_keys.iter_mut().zip(w.chunks_exact(4)) {
        let low = u64::from(words[0]) | u64::from(words[1]) << 32;
        let high = u64::from(words[2]) | u64::from(words[3]) << 32;
        let mut state = [low, high, low, high, low, high, low, high].map(|word| Word([word]));
        transpose_bits(&mut state);
        *round_key = state.map(|Word([word])| word);
    }
    w.zeroize();
    keys
}

/// Eight blocks a vector.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Engine for Portable {
    type Cipher = Aes;
    type Block = Block;
    type Vector = [Block; BLOCKS];
    const SLOTS: usize = BLOCKS;
    type Keys = Keys;
    type LaneKeys = LaneKeys;

    scalar_vector!();

    fn keys_of(cipher: &Aes) -> Option<&Keys> {
        match &cipher.inner {
            Inner::Portable(keys) => Some(keys),
            _ => None,
        }
    }

    fn rounds(keys: &Keys) -> usize {
        keys.rounds
    }

    fn run<O: Operation<Aes>>(self, keys: &Keys, operation: O) -> O::Output {
        operation.call::<Self, 1, { Self::SLOTS }>(self, keys)
    }

    fn encrypt<const G: usize, const K: usize>(
        self,
        keys: &Keys,
        x: &mut [[Self::Vector; G]; K],
        meanwhile: &mut impl Meanwhile,
    ) {
        (1..10).for_each(|round| meanwhile.round(round));
        for blocks in x.as_flattened_mut() {
            encrypt_state(keys, blocks);
        }
    }

    fn decrypt<const G: usize>(self, keys: &Keys, x: &mut [Self::Vector; G]) {
        for blocks in x {
            decrypt_state(keys, blocks);
        }
    }

    /// One group: the vectors of the `K` rows all belong to the same eight lanes.
    fn encrypt_lanes<const G: usize, const K: usize>(
        self,
        keys: &LaneKeys,
        _: usize,
        x: &mut [[Self::Vector; G]; K],
        meanwhile: &mut impl Meanwhile,
    ) {
        (1..10).for_each(|round| meanwhile.round(round));
        const { assert!(G == 1) };
        for blocks in x.as_flattened_mut() {
            encrypt_state(keys, blocks);
        }
    }

    fn lane_keys(self) -> LaneKeys {
        LaneKeys { round_keys: [[Word::splat(0); 8]; MAX_ROUNDS + 1], rounds: 0 }
    }

    fn set_lane_key(self, lane_keys: &mut LaneKeys, lane: usize, keys: &Keys) {
        // The bits 2k and 2k + 1 of every byte belong to block k.
        let mask = 0x0303_0303_0303_0303 << (2 * (lane % 4));
        lane_keys.rounds = keys.rounds;
        for (merged, own) in lane_keys.round_keys.iter_mut().zip(&keys.round_keys) {
            for (merged, own) in merged.iter_mut().zip(own) {
                let merged = &mut merged.0[lane / 4];
                *merged = (*merged & !mask) | (own & mask);
            }
        }
    }

    fn encrypt_block(self, keys: &Keys, block: &mut Block) {
        let mut blocks = [*block; BLOCKS];
        encrypt_state(keys, &mut blocks);
        *block = blocks[0];
    }
}

impl CcmEngine for Portable {
    fn run_ccm<O: CcmOperation<Aes>>(self, keys: &Keys, operation: O) -> O::Output {
        operation.call::<Self, 1, { Self::SLOTS }>(self, keys)
    }

    scalar_ccm_vector!();
}
