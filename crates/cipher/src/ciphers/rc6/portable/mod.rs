//! RC6 in 32-bit words, several blocks side by side: constant time, no instructions beyond the target's baseline.
//!
//! A block alone waits for its multiplications and rotations; others fill the gaps. Rotations by secret amounts and
//! multiplications of secret words are what RC6 is made of, so "constant time" here takes a processor that has both as
//! instructions of fixed duration: x86-64, aarch64 and all larger cores of the last decades do. Small cores do not
//! always: a multiplier that ends early when the upper bits are zero (ARM7TDMI, Cortex-M3 for its long products, some
//! PowerPC), a processor without a barrel shifter, or a target without multiplication at all.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::chain;
use super::keys::{Keys, WORDS};
use super::{Inner, ROUNDS, Rc6};
use crate::Block;
use crate::engine::{
    CcmEngine, CcmOperation, Direction, Engine, Meanwhile, Operation, scalar_ccm_vector, scalar_vector,
};

/// Blocks side by side.
const BLOCKS: usize = 4;

/// The words A, B, C and D of a block.
pub(super) type State = [u32; 4];

#[inline(always)]
pub(super) fn to_words(block: &Block) -> State {
    let number = u128::from_le_bytes(*block);
    [number as u32, (number >> 32) as u32, (number >> 64) as u32, (number >> 96) as u32]
}

#[inline(always)]
pub(super) fn to_bytes([a, b, c, d]: State) -> Block {
    let low = u128::from(a) | u128::from(b) << 32;
    (low | u128::from(c) << 64 | u128::from(d) << 96).to_le_bytes()
}

/// Where the round keys of the blocks come from.
pub(super) trait RoundKeys {
    /// A word of the round keys of block `slot`.
    fn word(&self, index: usize, slot: usize) -> u32;
}

impl RoundKeys for Keys {
    #[inline(always)]
    fn word(&self, index: usize, _: usize) -> u32 {
        self.0[index]
    }
}

/// Round keys of as many lanes as there are slots, word by word.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct LaneKeys([[u32; BLOCKS]; WORDS]);

impl RoundKeys for LaneKeys {
    #[inline(always)]
    fn word(&self, index: usize, slot: usize) -> u32 {
        self.0[index][slot]
    }
}

/// x (2x + 1), rotated by lg 32.
#[inline(always)]
fn quadratic(x: u32) -> u32 {
    x.wrapping_mul(x.wrapping_add(x) | 1).rotate_left(5)
}

/// One round of all blocks; A is word `P`, then come B, C and D: words change their names instead of their places.
#[inline(always)]
fn round<const P: usize, const N: usize>(keys: &impl RoundKeys, number: usize, x: &mut [State; N]) {
    let (a, b, c, d) = (P % 4, (P + 1) % 4, (P + 2) % 4, (P + 3) % 4);
    for slot in 0..N {
        let x = &mut x[slot];
        let t = quadratic(x[b]);
        let u = quadratic(x[d]);
        x[a] = (x[a] ^ t).rotate_left(u & 31).wrapping_add(keys.word(2 * number, slot));
        x[c] = (x[c] ^ u).rotate_left(t & 31).wrapping_add(keys.word(2 * number + 1, slot));
    }
}

#[inline(always)]
fn inverse_round<const P: usize, const N: usize>(keys: &impl RoundKeys, number: usize, x: &mut [State; N]) {
    let (a, b, c, d) = (P % 4, (P + 1) % 4, (P + 2) % 4, (P + 3) % 4);
    for slot in 0..N {
        let x = &mut x[slot];
        let t = quadratic(x[b]);
        let u = quadratic(x[d]);
        x[c] = x[c].wrapping_sub(keys.word(2 * number + 1, slot)).rotate_right(t & 31) ^ u;
        x[a] = x[a].wrapping_sub(keys.word(2 * number, slot)).rotate_right(u & 31) ^ t;
    }
}

/// Encrypts `N` blocks side by side.
#[inline(always)]
pub(super) fn encrypt<const N: usize>(keys: &impl RoundKeys, x: &mut [State; N]) {
    let mut y = *x;
    for slot in 0..N {
        y[slot][1] = y[slot][1].wrapping_add(keys.word(0, slot));
        y[slot][3] = y[slot][3].wrapping_add(keys.word(1, slot));
    }
    for four in 0..ROUNDS / 4 {
        round::<0, N>(keys, 4 * four + 1, &mut y);
        round::<1, N>(keys, 4 * four + 2, &mut y);
        round::<2, N>(keys, 4 * four + 3, &mut y);
        round::<3, N>(keys, 4 * four + 4, &mut y);
    }
    for slot in 0..N {
        y[slot][0] = y[slot][0].wrapping_add(keys.word(WORDS - 2, slot));
        y[slot][2] = y[slot][2].wrapping_add(keys.word(WORDS - 1, slot));
    }
    *x = y;
}

/// Decrypts `N` blocks side by side.
#[inline(always)]
fn decrypt<const N: usize>(keys: &impl RoundKeys, x: &mut [State; N]) {
    let mut y = *x;
    for slot in 0..N {
        y[slot][0] = y[slot][0].wrapping_sub(keys.word(WORDS - 2, slot));
        y[slot][2] = y[slot][2].wrapping_sub(keys.word(WORDS - 1, slot));
    }
    for four in (0..ROUNDS / 4).rev() {
        inverse_round::<3, N>(keys, 4 * four + 4, &mut y);
        inverse_round::<2, N>(keys, 4 * four + 3, &mut y);
        inverse_round::<1, N>(keys, 4 * four + 2, &mut y);
        inverse_round::<0, N>(keys, 4 * four + 1, &mut y);
    }
    for slot in 0..N {
        y[slot][1] = y[slot][1].wrapping_sub(keys.word(0, slot));
        y[slot][3] = y[slot][3].wrapping_sub(keys.word(1, slot));
    }
    *x = y;
}

/// Encrypts the blocks of a vector.
#[inline(always)]
fn encrypt_vector(keys: &impl RoundKeys, blocks: &mut [Block; BLOCKS]) {
    let mut x = blocks.map(|block| to_words(&block));
    encrypt(keys, &mut x);
    *blocks = x.map(to_bytes);
}

/// Encrypts a block alone.
#[inline(always)]
pub(super) fn encrypt_block(keys: &Keys, block: &mut Block) {
    let mut x = [to_words(block)];
    encrypt(keys, &mut x);
    *block = to_bytes(x[0]);
}

/// A few blocks a vector.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Engine for Portable {
    type Cipher = Rc6;
    type Block = Block;
    type Vector = [Block; BLOCKS];
    const SLOTS: usize = BLOCKS;
    type Keys = Keys;
    type LaneKeys = LaneKeys;

    scalar_vector!();

    #[inline(always)]
    fn keys_of(cipher: &Rc6) -> Option<&Keys> {
        matches!(cipher.inner, Inner::Portable(_)).then_some(&cipher.keys)
    }

    #[inline(always)]
    fn rounds(_: &Keys) -> usize {
        ROUNDS
    }

    fn run<O: Operation<Rc6>>(self, keys: &Keys, operation: O) -> O::Output {
        operation.call::<Self, 1, { Self::SLOTS }>(self, keys)
    }

    #[inline(always)]
    fn encrypt<const G: usize, const K: usize>(
        self,
        keys: &Keys,
        x: &mut [[Self::Vector; G]; K],
        meanwhile: &mut impl Meanwhile,
    ) {
        (1..10).for_each(|round| meanwhile.round(round));
        for blocks in x.as_flattened_mut() {
            encrypt_vector(keys, blocks);
        }
    }

    #[inline(always)]
    fn decrypt<const G: usize>(self, keys: &Keys, x: &mut [Self::Vector; G]) {
        for blocks in x {
            let mut words = blocks.map(|block| to_words(&block));
            decrypt(keys, &mut words);
            *blocks = words.map(to_bytes);
        }
    }

    /// One group: the vectors of the `K` rows all belong to the same lanes.
    #[inline(always)]
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
            encrypt_vector(keys, blocks);
        }
    }

    #[inline(always)]
    fn lane_keys(self) -> LaneKeys {
        LaneKeys([[0; BLOCKS]; WORDS])
    }

    #[inline(always)]
    fn set_lane_key(self, lane_keys: &mut LaneKeys, lane: usize, keys: &Keys) {
        for (slots, word) in lane_keys.0.iter_mut().zip(&keys.0) {
            slots[lane] = *word;
        }
    }

    #[inline(always)]
    fn encrypt_block(self, keys: &Keys, block: &mut Block) {
        encrypt_block(keys, block);
    }

    #[inline(always)]
    fn cbc_encrypt_blocks(self, keys: &Keys, chain: &mut Block, data: &mut [u8]) {
        chain::cbc_encrypt_blocks(keys, chain, data);
    }
}

impl CcmEngine for Portable {
    fn run_ccm<O: CcmOperation<Rc6>>(self, keys: &Keys, operation: O) -> O::Output {
        operation.call::<Self, 1, { Self::SLOTS }>(self, keys)
    }

    scalar_ccm_vector!();

    #[inline(always)]
    fn ccm_blocks(self, keys: &Keys, mac: &mut Block, counter: &mut Block, data: &mut [u8], direction: Direction) {
        chain::ccm_blocks_in_pairs(keys, mac, counter, data, direction);
    }
}
