//! AES in bitsliced 64-bit words: constant time, no tables, no instructions beyond the target's baseline.
//!
//! Word `b` of a state holds bit `b` of every byte. A 64-bit word holds four blocks: byte `i` (0 to 7), bit `2k + h`
//! belongs to byte `8h + i` of block `k`; so row `r`, column `2h + c` is byte `r + 4c`, and both ShiftRows and
//! MixColumns are shifts and masks inside a word. `L` such words side by side (eight blocks for `L = 2`) let the compiler
//! use whatever vectors the target has.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::sbox::{inverse_sub_bytes, sub_bytes};
use super::{Aes, Inner};
use crate::Block;
use crate::engine::{Direction, Engine, Operation, increment, scalar_vector, xor_block};

/// Words side by side.
const L: usize = 2;
/// Blocks in a state.
const BLOCKS: usize = 4 * L;
const MAX_ROUNDS: usize = 14;

/// A bit of every byte of `4 * L` blocks.
type Word<const L: usize> = [u64; L];
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
fn transpose_bits(x: &mut [u64; 8]) {
    #[inline(always)]
    fn swap(x: &mut [u64; 8], distance: usize, mask: u64) {
        for i in 0..8 {
            if i & distance == 0 {
                let t = ((x[i] >> distance) ^ x[i + distance]) & mask;
                x[i] ^= t << distance;
                x[i + distance] ^= t;
            }
        }
    }
    swap(x, 1, 0x5555_5555_5555_5555);
    swap(x, 2, 0x3333_3333_3333_3333);
    swap(x, 4, 0x0f0f_0f0f_0f0f_0f0f);
}

#[inline(always)]
fn pack(blocks: &[Block; BLOCKS]) -> State<L> {
    let mut state = [[0; L]; 8];
    for l in 0..L {
        let mut words = [0; 8];
        for k in 0..4 {
            let number = u128::from_le_bytes(blocks[4 * l + k]);
            words[2 * k] = number as u64;
            words[2 * k + 1] = (number >> 64) as u64;
        }
        transpose_bits(&mut words);
        for b in 0..8 {
            state[b][l] = words[b];
        }
    }
    state
}

#[inline(always)]
fn unpack(state: &State<L>) -> [Block; BLOCKS] {
    let mut blocks = [[0; 16]; BLOCKS];
    for l in 0..L {
        let mut words = state.map(|word| word[l]);
        transpose_bits(&mut words);
        for k in 0..4 {
            let number = u128::from(words[2 * k]) | u128::from(words[2 * k + 1]) << 64;
            blocks[4 * l + k] = number.to_le_bytes();
        }
    }
    blocks
}

#[inline(always)]
fn add(state: &mut State<L>, round_key: &State<L>) {
    for b in 0..8 {
        for l in 0..L {
            state[b][l] ^= round_key[b][l];
        }
    }
}

/// Swaps columns 0, 1 with columns 2, 3.
#[inline(always)]
fn swap_halves(x: u64) -> u64 {
    (x >> 1) & 0x5555_5555_5555_5555 | (x & 0x5555_5555_5555_5555) << 1
}

/// Row r moves left by r columns. Row 2 swaps the column pairs; rows 1 and 3 move to the other column of a pair, and one
/// of the two to the other pair as well.
#[inline(always)]
fn shift_rows(state: &mut State<L>) {
    for word in state {
        for x in word {
            let y = x.rotate_left(32);
            let stay = *x & 0x0000_00ff_0000_00ff | y & 0xff00_0000_0000_ff00;
            let swap = *x & 0x00ff_0000_00ff_0000 | y & 0x0000_ff00_ff00_0000;
            *x = stay | swap_halves(swap);
        }
    }
}

/// The inverse: rows 1 and 3 change places.
#[inline(always)]
fn inverse_shift_rows(state: &mut State<L>) {
    for word in state {
        for x in word {
            let y = x.rotate_left(32);
            let stay = *x & 0x0000_00ff_0000_00ff | y & 0x0000_ff00_ff00_0000;
            let swap = *x & 0x00ff_0000_00ff_0000 | y & 0xff00_0000_0000_ff00;
            *x = stay | swap_halves(swap);
        }
    }
}

/// The byte one row further down in every column.
#[inline(always)]
fn next_row(x: u64) -> u64 {
    (x >> 8) & 0x00ff_ffff_00ff_ffff | (x << 24) & 0xff00_0000_ff00_0000
}

/// The byte two rows further down.
#[inline(always)]
fn second_row(x: u64) -> u64 {
    (x >> 16) & 0x0000_ffff_0000_ffff | (x << 16) & 0xffff_0000_ffff_0000
}

/// Multiplication by x in GF(2^8), bit by bit: what leaves bit 7 comes back at bits 0, 1, 3 and 4.
#[inline(always)]
fn xtime(a: &State<L>) -> State<L> {
    core::array::from_fn(|b| {
        core::array::from_fn(|l| match b {
            0 => a[7][l],
            1 | 3 | 4 => a[b - 1][l] ^ a[7][l],
            _ => a[b - 1][l],
        })
    })
}

/// With a, b, c, d a byte and the three below it: 2a + 3b + c + d = 2(a + b) + b + (c + d).
#[inline(always)]
fn mix_columns(state: &mut State<L>) {
    let next = state.map(|word| word.map(next_row));
    let sums: State<L> = core::array::from_fn(|b| core::array::from_fn(|l| state[b][l] ^ next[b][l]));
    let doubled = xtime(&sums);
    for b in 0..8 {
        for l in 0..L {
            state[b][l] = doubled[b][l] ^ next[b][l] ^ second_row(sums[b][l]);
        }
    }
}

/// The inverse matrix is MixColumns after a -> a + 4(a + c).
#[inline(always)]
fn inverse_mix_columns(state: &mut State<L>) {
    let sums: State<L> =
        core::array::from_fn(|b| core::array::from_fn(|l| state[b][l] ^ second_row(state[b][l])));
    add(state, &xtime(&xtime(&sums)));
    mix_columns(state);
}

/// Encrypts eight blocks; `round_key` yields the key of a round for all of them.
#[inline(always)]
fn encrypt_state(rounds: usize, round_key: impl Fn(usize) -> State<L>, blocks: &mut [Block; BLOCKS]) {
    let mut state = pack(blocks);
    add(&mut state, &round_key(0));
    for round in 1..rounds {
        sub_bytes(&mut state);
        shift_rows(&mut state);
        mix_columns(&mut state);
        add(&mut state, &round_key(round));
    }
    sub_bytes(&mut state);
    shift_rows(&mut state);
    add(&mut state, &round_key(rounds));
    *blocks = unpack(&state);
}

fn decrypt_state(keys: &Keys, blocks: &mut [Block; BLOCKS]) {
    let mut state = pack(blocks);
    add(&mut state, &keys.round_key(keys.rounds));
    for round in (1..keys.rounds).rev() {
        inverse_shift_rows(&mut state);
        inverse_sub_bytes(&mut state);
        add(&mut state, &keys.round_key(round));
        inverse_mix_columns(&mut state);
    }
    inverse_shift_rows(&mut state);
    inverse_sub_bytes(&mut state);
    add(&mut state, &keys.round_key(0));
    *blocks = unpack(&state);
}

impl Keys {
    #[inline(always)]
    fn round_key(&self, round: usize) -> State<L> {
        self.round_keys[round].map(|word| [word; L])
    }
}

/// SubWord of FIPS 197 section 5.2: the S-box on four bytes.
fn sub_word(word: u32) -> u32 {
    let mut words = [0; 8];
    words[0] = u64::from(word);
    transpose_bits(&mut words);
    let mut state = words.map(|word| [word]);
    sub_bytes(&mut state);
    words = state.map(|[word]| word);
    transpose_bits(&mut words);
    words[0] as u32
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
        *round_key = [low, high, low, high, low, high, low, high];
        transpose_bits(round_key);
    }
    w.zeroize();
    keys
}

/// Eight blocks a vector.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Engine for Portable {
    type Cipher = Aes;
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
        operation.call::<Self, 1>(self, keys)
    }

    fn encrypt<const G: usize, const K: usize>(self, keys: &Keys, x: &mut [[Self::Vector; G]; K]) {
        for blocks in x.as_flattened_mut() {
            encrypt_state(keys.rounds, |round| keys.round_key(round), blocks);
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
        x: &mut [[Self::Vector; G]; K],
    ) {
        const { assert!(G == 1) };
        for blocks in x.as_flattened_mut() {
            encrypt_state(keys.rounds, |round| keys.round_keys[round], blocks);
        }
    }

    fn lane_keys(self) -> LaneKeys {
        LaneKeys { round_keys: [[[0; L]; 8]; MAX_ROUNDS + 1], rounds: 0 }
    }

    fn set_lane_key(self, lane_keys: &mut LaneKeys, lane: usize, keys: &Keys) {
        // The bits 2k and 2k + 1 of every byte belong to block k.
        let mask = 0x0303_0303_0303_0303 << (2 * (lane % 4));
        lane_keys.rounds = keys.rounds;
        for (merged, own) in lane_keys.round_keys.iter_mut().zip(&keys.round_keys) {
            for (merged, own) in merged.iter_mut().zip(own) {
                let merged = &mut merged[lane / 4];
                *merged = *merged & !mask | own & mask;
            }
        }
    }

    fn encrypt_block(self, keys: &Keys, block: &mut Block) {
        let mut blocks = [*block; BLOCKS];
        encrypt_state(keys.rounds, |round| keys.round_key(round), &mut blocks);
        *block = blocks[0];
    }
}
