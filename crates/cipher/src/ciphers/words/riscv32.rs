//! The engine of ciphers on 32-bit words with kernels in assembly for 32-bit RISC-V.

use core::marker::PhantomData;

use zeroize::Zeroize;

use super::WordKeys;
use crate::engine::{
    CcmEngine, CcmOperation, CipherDirection, Engine, Interleave, Operation, scalar_ccm_vector, scalar_vector,
};
use crate::{Block, cpu};

/// Number of blocks in a vector, for which the assembly is called once.
const BLOCKS: usize = 4;

/// Round keys, and the kernels that use them.
pub(crate) trait KernelKeys: WordKeys {
    /// ECB in place.
    fn ecb(&self, proof: cpu::Riscv32, blocks: &mut [Block], direction: CipherDirection);
    /// CTR from a counter block, which wraps.
    fn ctr(&self, proof: cpu::Riscv32, counter: &Block, data: &mut [u8]);
}

/// The round keys of all lanes.
#[derive(Zeroize)]
pub struct LaneRoundKeys<K: WordKeys>([K; BLOCKS]);

/// The engine, which holds the proof of the target.
pub struct Riscv32<K>(cpu::Riscv32, PhantomData<K>);

impl<K> Clone for Riscv32<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Riscv32<K> {}

impl<K: KernelKeys> Engine for Riscv32<K> {
    type Block = Block;
    type Vector = [Block; BLOCKS];
    const SLOTS: usize = BLOCKS;
    type RoundKeys = K;
    type LaneRoundKeys = LaneRoundKeys<K>;

    fn detect() -> Option<Self> {
        cpu::Riscv32::detect().map(|proof| Riscv32(proof, PhantomData))
    }

    fn expand_key(self, key: &[u8]) -> K {
        K::expand_key(key)
    }

    scalar_vector!(BLOCKS);

    fn rounds(keys: &K) -> usize {
        WordKeys::rounds(keys)
    }

    fn run<O: Operation<Block>>(self, keys: &K, operation: O) -> O::Output {
        operation.call::<Self, 1, BLOCKS>(self, keys)
    }

    fn encrypt<const G: usize, const N: usize>(
        self,
        keys: &K,
        x: &mut [[Self::Vector; G]; N],
        between_rounds: &mut impl Interleave,
    ) {
        (1..10).for_each(|part| between_rounds.run_part(part));
        keys.ecb(self.0, x.as_flattened_mut().as_flattened_mut(), CipherDirection::Encrypt);
    }

    fn decrypt<const G: usize>(self, keys: &K, x: &mut [Self::Vector; G]) {
        keys.ecb(self.0, x.as_flattened_mut(), CipherDirection::Decrypt);
    }

    /// Supports one group: the vectors of all `N` rows belong to the same lanes.
    fn encrypt_lanes<const G: usize, const N: usize>(
        self,
        keys: &LaneRoundKeys<K>,
        _: usize,
        x: &mut [[Self::Vector; G]; N],
        between_rounds: &mut impl Interleave,
    ) {
        const { assert!(G == 1) };
        (1..10).for_each(|part| between_rounds.run_part(part));
        for blocks in x.as_flattened_mut() {
            for (block, keys) in blocks.iter_mut().zip(&keys.0) {
                keys.ecb(self.0, core::slice::from_mut(block), CipherDirection::Encrypt);
            }
        }
    }

    fn zero_lane_keys(self) -> LaneRoundKeys<K> {
        LaneRoundKeys([const { K::ZERO }; BLOCKS])
    }

    fn set_lane_key(self, lane_keys: &mut LaneRoundKeys<K>, lane: usize, keys: &K) {
        lane_keys.0[lane].clone_from(keys);
    }

    fn encrypt_block(self, keys: &K, block: &mut Block) {
        keys.ecb(self.0, core::slice::from_mut(block), CipherDirection::Encrypt);
    }

    fn ctr(self, keys: &K, counter: &Block, data: &mut [u8]) -> bool {
        keys.ctr(self.0, counter, data);
        true
    }
}

impl<K: KernelKeys> CcmEngine for Riscv32<K> {
    fn run_ccm<O: CcmOperation>(self, keys: &K, operation: O) -> O::Output {
        operation.call::<Self, 1, BLOCKS>(self, keys)
    }

    scalar_ccm_vector!();
}
