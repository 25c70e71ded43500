//! RC6 in 32-bit words, several blocks side by side: constant time, no instructions beyond the target's baseline.
//!
//! One block alone waits for its multiplications and rotations; the work on other blocks fills the gaps. RC6 rotates by secret
//! amounts and multiplies secret words, so "constant time" requires a processor that executes both in a fixed number of cycles:
//! x86-64, aarch64 and all larger cores of the last decades do. Some small cores do not: those whose multiplier ends early when the
//! upper bits are zero (ARM7TDMI, Cortex-M3 for its long products, some PowerPC), and those without a barrel shifter or without a
//! multiplication instruction.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::chain;
use super::keys::{self, ROUNDS, RoundKeys, WORDS};
use super::words::{RoundKeySource, decrypt, encrypt, encrypt_block, to_bytes, to_words};
use crate::block::Block;
use crate::engine::{
    CcmEngine, CcmOperation, CipherDirection, Engine, Interleave, Operation, scalar_ccm_vector, scalar_vector,
};

/// Number of blocks in a vector.
const BLOCKS: usize = 4;

/// The round keys of all lanes, word by word.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct LaneRoundKeys([[u32; BLOCKS]; WORDS]);

impl RoundKeySource for LaneRoundKeys {
    #[inline(always)]
    fn word(&self, index: usize, slot: usize) -> u32 {
        self.0[index][slot]
    }
}

/// Encrypts the blocks of a vector.
#[inline(always)]
fn encrypt_vector(keys: &impl RoundKeySource, blocks: &mut [Block; BLOCKS]) {
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
    type RoundKeys = RoundKeys;
    type LaneRoundKeys = LaneRoundKeys;

    fn detect() -> Option<Self> {
        Some(Portable)
    }

    fn expand_key(self, key: &[u8]) -> RoundKeys {
        keys::expand_key(key)
    }

    scalar_vector!();

    #[inline(always)]
    fn rounds(_: &RoundKeys) -> usize {
        ROUNDS
    }

    fn run<O: Operation<Block>>(self, keys: &RoundKeys, operation: O) -> O::Output {
        operation.call::<Self, 1, { Self::SLOTS }>(self, keys)
    }

    #[inline(always)]
    fn encrypt<const G: usize, const K: usize>(
        self,
        keys: &RoundKeys,
        x: &mut [[Self::Vector; G]; K],
        between_rounds: &mut impl Interleave,
    ) {
        (1..10).for_each(|part| between_rounds.run_part(part));
        for blocks in x.as_flattened_mut() {
            encrypt_vector(keys, blocks);
        }
    }

    #[inline(always)]
    fn decrypt<const G: usize>(self, keys: &RoundKeys, x: &mut [Self::Vector; G]) {
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
        keys: &LaneRoundKeys,
        _: usize,
        x: &mut [[Self::Vector; G]; K],
        between_rounds: &mut impl Interleave,
    ) {
        (1..10).for_each(|part| between_rounds.run_part(part));
        const { assert!(G == 1) };
        for blocks in x.as_flattened_mut() {
            encrypt_vector(keys, blocks);
        }
    }

    #[inline(always)]
    fn zero_lane_keys(self) -> LaneRoundKeys {
        LaneRoundKeys([[0; BLOCKS]; WORDS])
    }

    #[inline(always)]
    fn set_lane_key(self, lane_keys: &mut LaneRoundKeys, lane: usize, keys: &RoundKeys) {
        for (slots, word) in lane_keys.0.iter_mut().zip(&keys.0) {
            slots[lane] = *word;
        }
    }

    #[inline(always)]
    fn encrypt_block(self, keys: &RoundKeys, block: &mut Block) {
        encrypt_block(keys, block);
    }

    #[inline(always)]
    fn cbc_encrypt_blocks(self, keys: &RoundKeys, chain: &mut Block, data: &mut [u8]) {
        chain::cbc_encrypt_blocks(keys, chain, data);
    }
}

impl CcmEngine for Portable {
    fn run_ccm<O: CcmOperation>(self, keys: &RoundKeys, operation: O) -> O::Output {
        operation.call::<Self, 1, { Self::SLOTS }>(self, keys)
    }

    scalar_ccm_vector!();

    #[inline(always)]
    fn ccm_blocks(
        self,
        keys: &RoundKeys,
        mac: &mut Block,
        counter: &mut Block,
        data: &mut [u8],
        direction: CipherDirection,
    ) {
        chain::ccm_blocks_in_pairs(keys, mac, counter, data, direction);
    }
}
