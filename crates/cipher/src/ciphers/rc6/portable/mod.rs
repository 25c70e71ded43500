//! RC6 in 32-bit words, several blocks side by side: constant time, no instructions beyond the target's baseline.
//!
//! One block alone waits for its multiplications and rotations; the work on other blocks fills the gaps. RC6 rotates by secret
//! amounts and multiplies secret words, so "constant time" requires a processor that executes both in a fixed number of cycles:
//! x86-64, aarch64 and all larger cores of the last decades do. Some small cores do not: those whose multiplier ends early when the
//! upper bits are zero (ARM7TDMI, Cortex-M3 for its long products, some PowerPC), and those without a barrel shifter or without a
//! multiplication instruction.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::chain;
use super::keys::{self, Keys, ROUNDS, WORDS};
use super::words::{RoundKeys, decrypt, encrypt, encrypt_block, to_bytes, to_words};
use crate::block::Block;
use crate::engine::{
    CcmEngine, CcmOperation, Direction, Engine, Meanwhile, Operation, scalar_ccm_vector, scalar_vector,
};

/// Number of blocks in a vector.
const BLOCKS: usize = 4;

/// The round keys of all lanes, word by word.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct LaneKeys([[u32; BLOCKS]; WORDS]);

impl RoundKeys for LaneKeys {
    #[inline(always)]
    fn word(&self, index: usize, slot: usize) -> u32 {
        self.0[index][slot]
    }
}

/// Encrypts the blocks of a vector.
#[inline(always)]
fn encrypt_vector(keys: &impl RoundKeys, blocks: &mut [Block; BLOCKS]) {
    let mut x = blocks.map(|block| to_words(&block));
    encrypt(keys, &mut x);
    *blocks = x.map(to_bytes);
}

/// The portable engine, with `BLOCKS` blocks a vector.
#[derive(Clone, Copy)]
pub struct Portable;

impl Engine for Portable {
    type Block = Block;
    type Vector = [Block; BLOCKS];
    const SLOTS: usize = BLOCKS;
    type Keys = Keys;
    type LaneKeys = LaneKeys;

    fn detect() -> Option<Self> {
        Some(Portable)
    }

    fn expand_key(self, key: &[u8]) -> Keys {
        keys::expand_key(key)
    }

    scalar_vector!();

    #[inline(always)]
    fn rounds(_: &Keys) -> usize {
        ROUNDS
    }

    fn run<O: Operation<Block>>(self, keys: &Keys, operation: O) -> O::Output {
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

    /// Supports one group: the vectors of all `K` rows belong to the same lanes.
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
    fn run_ccm<O: CcmOperation>(self, keys: &Keys, operation: O) -> O::Output {
        operation.call::<Self, 1, { Self::SLOTS }>(self, keys)
    }

    scalar_ccm_vector!();

    #[inline(always)]
    fn ccm_blocks(self, keys: &Keys, mac: &mut Block, counter: &mut Block, data: &mut [u8], direction: Direction) {
        chain::ccm_blocks_in_pairs(keys, mac, counter, data, direction);
    }
}
