//! The engine of a reference: block by block. A vector has one block.

use core::marker::PhantomData;

use zeroize::Zeroize;

use crate::block::{Block, BlockBytes};
use crate::engine::{CcmEngine, CcmOperation, Engine, Interleave, Operation, scalar_ccm_vector, scalar_vector};

/// Round keys, and the cipher as its specification has it.
pub trait ReferenceKeys: Clone + Zeroize + 'static {
    type Block: BlockBytes;
    /// Computes the round keys. The cipher must have keys of this length.
    fn expand_key(key: &[u8]) -> Self;
    /// Number of rounds.
    fn rounds(&self) -> usize;
    /// Encrypts a block.
    fn encrypt_block(&self, block: &mut Self::Block);
    /// Decrypts a block.
    fn decrypt_block(&self, block: &mut Self::Block);
}

/// The reference engine.
pub struct Reference<K>(PhantomData<K>);

impl<K> Clone for Reference<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Reference<K> {}

impl<K: ReferenceKeys> Engine for Reference<K> {
    type Block = K::Block;
    type Vector = [K::Block; 1];
    const SLOTS: usize = 1;
    type RoundKeys = K;
    type LaneRoundKeys = Option<K>;

    fn detect() -> Option<Self> {
        Some(Reference(PhantomData))
    }

    fn expand_key(self, key: &[u8]) -> K {
        K::expand_key(key)
    }

    scalar_vector!(1);

    fn rounds(keys: &K) -> usize {
        keys.rounds()
    }

    fn run<O: Operation<K::Block>>(self, keys: &K, operation: O) -> O::Output {
        operation.call::<Self, 1, 1>(self, keys)
    }

    fn encrypt<const G: usize, const N: usize>(
        self,
        keys: &K,
        x: &mut [[Self::Vector; G]; N],
        between_rounds: &mut impl Interleave,
    ) {
        (1..10).for_each(|part| between_rounds.run_part(part));
        for block in x.as_flattened_mut().as_flattened_mut() {
            keys.encrypt_block(block);
        }
    }

    fn decrypt<const G: usize>(self, keys: &K, x: &mut [Self::Vector; G]) {
        for block in x.as_flattened_mut() {
            keys.decrypt_block(block);
        }
    }

    fn encrypt_lanes<const G: usize, const N: usize>(
        self,
        keys: &Option<K>,
        _: usize,
        x: &mut [[Self::Vector; G]; N],
        between_rounds: &mut impl Interleave,
    ) {
        let Some(keys) = keys else { return };
        self.encrypt(keys, x, between_rounds);
    }

    fn zero_lane_keys(self) -> Option<K> {
        None
    }

    fn set_lane_key(self, lane_keys: &mut Option<K>, _: usize, keys: &K) {
        *lane_keys = Some(keys.clone());
    }

    fn encrypt_block(self, keys: &K, block: &mut K::Block) {
        keys.encrypt_block(block);
    }
}

impl<K: ReferenceKeys<Block = Block>> CcmEngine for Reference<K> {
    fn run_ccm<O: CcmOperation>(self, keys: &K, operation: O) -> O::Output {
        operation.call::<Self, 1, 1>(self, keys)
    }

    scalar_ccm_vector!();
}
