//! The portable engine of ciphers on 32-bit words: several blocks side by side, whose rounds fill each other's waiting time.

use core::marker::PhantomData;

use zeroize::Zeroize;

use super::{RoundKeySource, WordKeys, chain, to_bytes, to_words};
use crate::block::Block;
use crate::engine::{
    CcmEngine, CcmOperation, CipherDirection, Engine, Interleave, Operation, scalar_ccm_vector, scalar_vector,
};

/// Number of blocks in a vector.
const BLOCKS: usize = 4;

/// The round keys of all lanes, and their number of rounds.
#[derive(Zeroize)]
pub struct LaneRoundKeys<K: WordKeys> {
    lanes: [K; BLOCKS],
    rounds: usize,
}

impl<K: WordKeys> RoundKeySource for LaneRoundKeys<K> {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }

    #[inline(always)]
    fn word(&self, index: usize, slot: usize) -> u32 {
        self.lanes[slot].word(index)
    }
}

/// Encrypts the blocks of a vector.
#[inline(always)]
fn encrypt_vector<K: WordKeys>(keys: &impl RoundKeySource, blocks: &mut [Block; BLOCKS]) {
    let mut x = blocks.map(|block| to_words(&block));
    K::encrypt(keys, &mut x);
    *blocks = x.map(to_bytes);
}

/// The portable engine, with `BLOCKS` blocks a vector.
pub struct Portable<K>(PhantomData<K>);

impl<K> Clone for Portable<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Portable<K> {}

impl<K: WordKeys> Engine for Portable<K> {
    type Block = Block;
    type Vector = [Block; BLOCKS];
    const SLOTS: usize = BLOCKS;
    type RoundKeys = K;
    type LaneRoundKeys = LaneRoundKeys<K>;

    fn detect() -> Option<Self> {
        Some(Portable(PhantomData))
    }

    fn expand_key(self, key: &[u8]) -> K {
        K::expand_key(key)
    }

    scalar_vector!(BLOCKS);

    #[inline(always)]
    fn rounds(keys: &K) -> usize {
        WordKeys::rounds(keys)
    }

    fn run<O: Operation<Block>>(self, keys: &K, operation: O) -> O::Output {
        operation.call::<Self, 1, BLOCKS>(self, keys)
    }

    #[inline(always)]
    fn encrypt<const G: usize, const N: usize>(
        self,
        keys: &K,
        x: &mut [[Self::Vector; G]; N],
        between_rounds: &mut impl Interleave,
    ) {
        (1..10).for_each(|part| between_rounds.run_part(part));
        for blocks in x.as_flattened_mut() {
            encrypt_vector::<K>(keys, blocks);
        }
    }

    #[inline(always)]
    fn decrypt<const G: usize>(self, keys: &K, x: &mut [Self::Vector; G]) {
        for blocks in x {
            let mut words = blocks.map(|block| to_words(&block));
            K::decrypt(keys, &mut words);
            *blocks = words.map(to_bytes);
        }
    }

    /// Supports one group: the vectors of all `N` rows belong to the same lanes.
    #[inline(always)]
    fn encrypt_lanes<const G: usize, const N: usize>(
        self,
        keys: &LaneRoundKeys<K>,
        _: usize,
        x: &mut [[Self::Vector; G]; N],
        between_rounds: &mut impl Interleave,
    ) {
        (1..10).for_each(|part| between_rounds.run_part(part));
        const { assert!(G == 1) };
        for blocks in x.as_flattened_mut() {
            encrypt_vector::<K>(keys, blocks);
        }
    }

    #[inline(always)]
    fn zero_lane_keys(self) -> LaneRoundKeys<K> {
        LaneRoundKeys { lanes: [const { K::ZERO }; BLOCKS], rounds: 0 }
    }

    #[inline(always)]
    fn set_lane_key(self, lane_keys: &mut LaneRoundKeys<K>, lane: usize, keys: &K) {
        lane_keys.lanes[lane].clone_from(keys);
        lane_keys.rounds = WordKeys::rounds(keys);
    }

    #[inline(always)]
    fn encrypt_block(self, keys: &K, block: &mut Block) {
        super::encrypt_block(keys, block);
    }

    #[inline(always)]
    fn cbc_encrypt_blocks(self, keys: &K, chain: &mut Block, data: &mut [u8]) {
        chain::cbc_encrypt_blocks(keys, chain, data);
    }
}

impl<K: WordKeys> CcmEngine for Portable<K> {
    fn run_ccm<O: CcmOperation>(self, keys: &K, operation: O) -> O::Output {
        operation.call::<Self, 1, BLOCKS>(self, keys)
    }

    scalar_ccm_vector!();

    #[inline(always)]
    fn ccm_blocks(self, keys: &K, mac: &mut Block, counter: &mut Block, data: &mut [u8], direction: CipherDirection) {
        chain::ccm_blocks_in_pairs(keys, mac, counter, data, direction);
    }
}
