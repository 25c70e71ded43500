//! Rijndael in bitsliced 64-bit words: constant time, no tables, no instructions beyond the target's baseline.
//!
//! A state is eight bit planes of four rows. A row of plane `b` is a 64-bit word; its byte `c` holds bit `b` of column `c` of eight
//! blocks, a bit for each block `k`. So ShiftRows is a rotation of a word, MixColumns adds whole words, and SubBytes is a circuit over
//! the planes, four words at a time, which compilers turn into the vector instructions of the target. Blocks of four columns
//! share words in pairs: byte `2 c + h` of a word is column `c` of block `k + 8 h`.

mod sbox;
mod word;

use core::marker::PhantomData;

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::expand::{self, SubWord};
use super::keys::RoundKeys;
use super::shape::{MAX_COLUMNS, MAX_ROUNDS, shifts};
use crate::block::{Block, BlockBytes, wipe};
use crate::engine::{
    CcmEngine, CcmOperation, CipherDirection, Engine, Interleave, Operation, increment, scalar_ccm_vector,
    scalar_vector, xor_block,
};
use sbox::{inverse_sub_bytes, sub_bytes};
use word::Word;

/// The bit planes 0 to 7 of four rows, eight columns and eight blocks.
type State = [Word<4>; 8];

const ZERO: State = [Word::splat(0); 8];

/// Bitsliced round keys of all lanes, with a key for each block of a state.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct LaneRoundKeys {
    round_keys: [State; MAX_ROUNDS + 1],
    rounds: usize,
}

/// A source of bitsliced round keys.
trait RoundKeySource {
    fn rounds(&self) -> usize;
    fn round_key(&self, round: usize) -> State;
}

/// One key for all blocks. It stores the rows of each round key with a byte for each column, an eighth of the bitsliced form, and
/// expands them on use. With four columns, two rows share a word: the first is in its even bytes, the second in its odd ones.
impl<const BYTES: usize> RoundKeySource for RoundKeys<[u8; BYTES]> {
    #[inline(always)]
    fn rounds(&self) -> usize {
        RoundKeys::rounds(self)
    }

    /// Repeats every bit of each byte for all blocks.
    #[inline(always)]
    fn round_key(&self, round: usize) -> State {
        let (words, _) = self.round_keys[round].as_chunks();
        let share = share(BYTES);
        let mut rows = Word::splat(0);
        for row in 0..4 {
            rows.0[row] = u64::from_le_bytes(words[row / share]) >> (8 * (row % share));
        }
        let mut state = ZERO;
        for b in 0..8 {
            let bits =
                rows.right(b as u32).mask(if share == 2 { 0x0001_0001_0001_0001 } else { 0x0101_0101_0101_0101 });
            state[b] = bits;
            for row in 0..4 {
                state[b].0[row] = (bits.0[row] << (8 * share)).wrapping_sub(bits.0[row]);
            }
        }
        state
    }
}

impl RoundKeySource for LaneRoundKeys {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }

    #[inline(always)]
    fn round_key(&self, round: usize) -> State {
        self.round_keys[round]
    }
}

/// For every `i`, transposes the matrix of 8 × 8 bits in byte `i` of the eight words.
#[inline(always)]
fn transpose_bits<const L: usize>(x: &mut [Word<L>; 8]) {
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

/// Exchanges the bits of `mask` with those `distance` positions above them.
#[inline(always)]
fn swap(x: Word<4>, distance: u32, mask: u64) -> Word<4> {
    let t = (x ^ x.right(distance)).mask(mask);
    x ^ t ^ t.left(distance)
}

/// Transposes the matrix of 4 × 4 byte pairs: four words of two columns each become four rows, or the reverse.
#[inline(always)]
fn transpose_pairs(x: Word<4>) -> Word<4> {
    let Word([mut a, mut b, mut c, mut d]) = x;
    for (low, high) in [(&mut a, &mut b), (&mut c, &mut d)] {
        let t = (*low >> 16 ^ *high) & 0x0000_ffff_0000_ffff;
        *low ^= t << 16;
        *high ^= t;
    }
    for (low, high) in [(&mut a, &mut c), (&mut b, &mut d)] {
        let t = (*low >> 32 ^ *high) & 0xffff_ffff;
        *low ^= t << 32;
        *high ^= t;
    }
    Word([a, b, c, d])
}

/// Converts the columns of up to 32 bytes to rows, with column `c` in byte `c`.
#[inline(always)]
fn rows(columns: Word<4>) -> Word<4> {
    transpose_pairs(swap(swap(columns, 16, 0x0000_0000_ffff_0000), 8, 0x0000_ff00_0000_ff00))
}

/// The inverse of `rows`.
#[inline(always)]
fn columns(rows: Word<4>) -> Word<4> {
    swap(swap(transpose_pairs(rows), 8, 0x0000_ff00_0000_ff00), 16, 0x0000_0000_ffff_0000)
}

/// Reads a block, with columns 2 i and 2 i + 1 in word `i`.
#[inline(always)]
fn read<B: BlockBytes>(block: &B) -> [u64; 4] {
    let mut padded = [[0; 8]; 4];
    padded.as_flattened_mut()[..B::BYTES].copy_from_slice(block.as_ref());
    padded.map(u64::from_le_bytes)
}

#[inline(always)]
fn write<B: BlockBytes>(words: [u64; 4], block: &mut B) {
    block.as_mut().copy_from_slice(&words.map(u64::to_le_bytes).as_flattened()[..B::BYTES]);
}

/// The number of blocks that share a word.
const fn share(block_bytes: usize) -> usize {
    if block_bytes == 16 { 2 } else { 1 }
}

/// Interleaves the columns of two blocks: column `c` of the first block goes to byte `2 c` of its row, that of the second to the byte
/// after it.
#[inline(always)]
fn pair([a0, a1, ..]: [u64; 4], [b0, b1, ..]: [u64; 4]) -> [u64; 4] {
    let low = 0xffff_ffff;
    [a0 & low | b0 << 32, a0 >> 32 | b0 & !low, a1 & low | b1 << 32, a1 >> 32 | b1 & !low]
}

/// The inverse of `pair`.
#[inline(always)]
fn unpair([a, b, c, d]: [u64; 4]) -> [[u64; 4]; 2] {
    let low = 0xffff_ffff;
    [[a & low | b << 32, c & low | d << 32, 0, 0], [a >> 32 | b & !low, c >> 32 | d & !low, 0, 0]]
}

/// Bitslices at most eight blocks, or sixteen of four columns. Missing blocks are zero.
#[inline(always)]
fn pack<B: BlockBytes>(blocks: &[B]) -> State {
    debug_assert!(blocks.len() <= 8 * share(B::BYTES));
    let mut state = ZERO;
    for k in 0..blocks.len().min(8) {
        let mut words = read(&blocks[k]);
        if share(B::BYTES) == 2 {
            let second = if blocks.len() > 8 { read(&blocks[k + 8]) } else { [0; 4] };
            words = pair(words, second);
        }
        state[k] = rows(Word(words));
    }
    transpose_bits(&mut state);
    state
}

/// The inverse of `pack`.
#[inline(always)]
fn unpack<B: BlockBytes>(mut state: State, blocks: &mut [B]) {
    transpose_bits(&mut state);
    for k in 0..blocks.len().min(8) {
        let Word(words) = columns(state[k]);
        if share(B::BYTES) == 2 {
            let [first, second] = unpair(words);
            write(first, &mut blocks[k]);
            if blocks.len() > 8 {
                write(second, &mut blocks[k + 8]);
            }
        } else {
            write(words, &mut blocks[k]);
        }
    }
}

/// The rows of a block, with each column repeated for all blocks that share a word.
#[inline(always)]
fn rows_of<B: BlockBytes>(block: &B) -> Word<4> {
    let words = read(block);
    rows(Word(if share(B::BYTES) == 2 { pair(words, words) } else { words }))
}

#[inline(always)]
fn add(state: &mut State, other: &State) {
    for b in 0..8 {
        state[b] ^= other[b];
    }
}

/// Moves row r left by `shifts[r]` columns, or right for the inverse. Bytes above the columns of the block are ignored and become
/// zero.
#[inline(always)]
fn shift_rows<B: BlockBytes>(state: &mut State, inverse: bool) {
    let bits = 2 * B::BYTES as u32 * share(B::BYTES) as u32;
    let shifts = const { shifts(B::BYTES / 4) };
    for word in state {
        for row in 1..4 {
            let down = 8 * (share(B::BYTES) * shifts[row]) as u32;
            let down = if inverse { bits - down } else { down };
            let x = word.0[row] & (u64::MAX >> (64 - bits));
            word.0[row] = x >> down | x << (bits - down);
        }
    }
}

/// Moves each row up by `rows` rows, cyclically.
#[inline(always)]
fn row_below(x: Word<4>, rows: usize) -> Word<4> {
    Word([x.0[rows % 4], x.0[(1 + rows) % 4], x.0[(2 + rows) % 4], x.0[(3 + rows) % 4]])
}

/// Multiplication by x in GF(2^8), bit by bit: bit 7 is reduced to bits 0, 1, 3 and 4.
#[inline(always)]
fn xtime([a0, a1, a2, a3, a4, a5, a6, a7]: State) -> State {
    [a7, a0 ^ a7, a1, a2 ^ a7, a3 ^ a7, a4, a5, a6]
}

/// MixColumns. For a byte a and the bytes b, c, d below it, the result is 2a + 3b + c + d = 2(a + b) + b + (c + d).
#[inline(always)]
fn mix_columns(state: &mut State) {
    let mut next = *state;
    let mut sums = *state;
    for b in 0..8 {
        next[b] = row_below(state[b], 1);
        sums[b] ^= next[b];
    }
    let doubled = xtime(sums);
    for b in 0..8 {
        state[b] = doubled[b] ^ next[b] ^ row_below(sums[b], 2);
    }
}

/// InvMixColumns: MixColumns after a -> a + 4(a + c).
#[inline(always)]
fn inverse_mix_columns(state: &mut State) {
    let mut sums = *state;
    for sum in &mut sums {
        *sum ^= row_below(*sum, 2);
    }
    add(state, &xtime(xtime(sums)));
    mix_columns(state);
}

/// Encrypts at most as many blocks as a state holds.
#[inline(always)]
fn encrypt_state<B: BlockBytes>(keys: &impl RoundKeySource, blocks: &mut [B]) {
    let mut state = pack(blocks);
    let rounds = keys.rounds();
    add(&mut state, &keys.round_key(0));
    for round in 1..rounds {
        sub_bytes(&mut state);
        shift_rows::<B>(&mut state, false);
        mix_columns(&mut state);
        add(&mut state, &keys.round_key(round));
    }
    sub_bytes(&mut state);
    shift_rows::<B>(&mut state, false);
    add(&mut state, &keys.round_key(rounds));
    unpack(state, blocks);
}

/// Encrypts as many blocks as a state holds.
fn encrypt_whole<B: BlockBytes, const BLOCKS: usize>(keys: &impl RoundKeySource, blocks: &mut [B; BLOCKS]) {
    encrypt_state(keys, blocks);
}

/// Encrypts one block or two.
fn encrypt_few<B: BlockBytes>(keys: &impl RoundKeySource, blocks: &mut [B]) {
    encrypt_state(keys, blocks);
}

fn decrypt_whole<B: BlockBytes, const BLOCKS: usize>(keys: &impl RoundKeySource, blocks: &mut [B; BLOCKS]) {
    let mut state = pack(blocks);
    add(&mut state, &keys.round_key(keys.rounds()));
    for round in (1..keys.rounds()).rev() {
        shift_rows::<B>(&mut state, true);
        inverse_sub_bytes(&mut state);
        add(&mut state, &keys.round_key(round));
        inverse_mix_columns(&mut state);
    }
    shift_rows::<B>(&mut state, true);
    inverse_sub_bytes(&mut state);
    add(&mut state, &keys.round_key(0));
    unpack(state, blocks);
}

/// SubWord with the bitsliced S-box.
pub(super) struct Circuit;

impl SubWord for Circuit {
    fn sub_word(&self, word: u32) -> u32 {
        let mut state = [Word([0]); 8];
        state[0].0[0] = u64::from(word);
        transpose_bits(&mut state);
        sub_bytes(&mut state);
        transpose_bits(&mut state);
        state[0].0[0] as u32
    }
}

/// The portable engine. A vector has eight blocks, with round keys of 32 bytes, or sixteen blocks of 128 bits, with round keys of 16
/// bytes.
#[derive(Clone, Copy)]
pub struct Portable<B, const BLOCKS: usize, const KEY_BYTES: usize>(PhantomData<B>);

impl<B: BlockBytes, const BLOCKS: usize, const KEY_BYTES: usize> Engine for Portable<B, BLOCKS, KEY_BYTES> {
    type Block = B;
    type Vector = [B; BLOCKS];
    const SLOTS: usize = BLOCKS;
    type RoundKeys = RoundKeys<[u8; KEY_BYTES]>;
    type LaneRoundKeys = LaneRoundKeys;

    fn detect() -> Option<Self> {
        Some(Portable(PhantomData))
    }

    fn expand_key(self, key: &[u8]) -> Self::RoundKeys {
        let mut w = [[0; 4]; MAX_COLUMNS * (MAX_ROUNDS + 1)];
        let rounds = expand::expand_key(&Circuit, B::BYTES / 4, key, &mut w);
        let mut round_keys = Self::RoundKeys::ZERO;
        for (round_key, bytes) in round_keys[..=rounds].iter_mut().zip(w.as_flattened().chunks_exact(B::BYTES)) {
            let mut block = B::ZERO;
            block.as_mut().copy_from_slice(bytes);
            let Word(rows) = rows_of(&block);
            for (word, rows) in round_key.as_chunks_mut().0.iter_mut().zip(rows.chunks(share(KEY_BYTES))) {
                // `rows_of` repeats each byte, so two rows fit into one word.
                let row =
                    if let [a, b] = rows { a & 0x00ff_00ff_00ff_00ff | b & 0xff00_ff00_ff00_ff00 } else { rows[0] };
                *word = row.to_le_bytes();
            }
            block.zeroize();
        }
        wipe(&mut w);
        RoundKeys::new(rounds, round_keys)
    }

    scalar_vector!(BLOCKS);

    fn rounds(keys: &Self::RoundKeys) -> usize {
        keys.rounds()
    }

    fn run<O: Operation<B>>(self, keys: &Self::RoundKeys, operation: O) -> O::Output {
        operation.call::<Self, 1, BLOCKS>(self, keys)
    }

    fn encrypt<const G: usize, const K: usize>(
        self,
        keys: &Self::RoundKeys,
        x: &mut [[Self::Vector; G]; K],
        between_rounds: &mut impl Interleave,
    ) {
        (1..10).for_each(|part| between_rounds.run_part(part));
        for blocks in x.as_flattened_mut() {
            encrypt_whole(keys, blocks);
        }
    }

    fn decrypt<const G: usize>(self, keys: &Self::RoundKeys, x: &mut [Self::Vector; G]) {
        for blocks in x {
            decrypt_whole(keys, blocks);
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
        const { assert!(G == 1) };
        (1..10).for_each(|part| between_rounds.run_part(part));
        for blocks in x.as_flattened_mut() {
            encrypt_whole(keys, blocks);
        }
    }

    fn zero_lane_keys(self) -> LaneRoundKeys {
        LaneRoundKeys { round_keys: [ZERO; MAX_ROUNDS + 1], rounds: 0 }
    }

    fn set_lane_key(self, lane_keys: &mut LaneRoundKeys, lane: usize, keys: &Self::RoundKeys) {
        // Bit k of every byte, or of every other byte, belongs to block k.
        let mask = if share(B::BYTES) == 2 { 0x0001_0001_0001_0001 << (lane / 8 * 8) } else { 0x0101_0101_0101_0101 };
        let mask = mask << (lane % 8);
        lane_keys.rounds = keys.rounds();
        for (round, merged) in lane_keys.round_keys[..=keys.rounds()].iter_mut().enumerate() {
            let own = keys.round_key(round);
            for b in 0..8 {
                merged[b] = merged[b].mask(!mask) ^ own[b].mask(mask);
            }
        }
    }

    fn encrypt_block(self, keys: &Self::RoundKeys, block: &mut B) {
        encrypt_few(keys, core::slice::from_mut(block));
    }
}

impl<const BLOCKS: usize, const KEY_BYTES: usize> CcmEngine for Portable<Block, BLOCKS, KEY_BYTES> {
    fn run_ccm<O: CcmOperation>(self, keys: &Self::RoundKeys, operation: O) -> O::Output {
        operation.call::<Self, 1, BLOCKS>(self, keys)
    }

    scalar_ccm_vector!();

    /// Computes the key stream of a block and the chain of the block before it in one state.
    fn ccm_blocks(
        self,
        keys: &Self::RoundKeys,
        mac: &mut Block,
        counter: &mut Block,
        data: &mut [u8],
        direction: CipherDirection,
    ) {
        for (index, block) in data.chunks_exact_mut(16).enumerate() {
            // The chain over a block is encrypted together with the counter of the next block.
            let mut both = [*counter, *mac];
            let running = if index == 0 { 1 } else { 2 };
            encrypt_few(keys, &mut both[..running]);
            [_, *mac] = both;
            increment(counter);
            if direction == CipherDirection::Encrypt {
                xor_block(mac, block);
            }
            for (byte, key) in block.iter_mut().zip(both[0]) {
                *byte ^= key;
            }
            if direction == CipherDirection::Decrypt {
                xor_block(mac, block);
            }
            both.zeroize();
        }
        if !data.is_empty() {
            encrypt_few(keys, core::slice::from_mut(mac));
        }
    }
}
