//! RC6 on 32-bit RISC-V, in assembly. It works block by block: a core that issues one instruction a cycle has no gaps that a second
//! block could fill.

mod kernels;

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::keys::{self, ROUNDS, RoundKeys, WORDS};
use crate::engine::{
    CcmEngine, CcmOperation, CipherDirection, Engine, Interleave, Operation, scalar_ccm_vector, scalar_vector,
};
use crate::{Block, cpu};

/// Number of blocks in a vector, for which the assembly is called once.
const BLOCKS: usize = 4;

/// The round keys of all lanes.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct LaneRoundKeys([[u32; WORDS]; BLOCKS]);

/// The engine, which holds the proof of the target.
#[derive(Clone, Copy)]
pub struct Riscv32(cpu::Riscv32);

impl Engine for Riscv32 {
    type Block = Block;
    type Vector = [Block; BLOCKS];
    const SLOTS: usize = BLOCKS;
    type RoundKeys = RoundKeys;
    type LaneRoundKeys = LaneRoundKeys;

    fn detect() -> Option<Self> {
        cpu::Riscv32::detect().map(Riscv32)
    }

    fn expand_key(self, key: &[u8]) -> RoundKeys {
        keys::expand_key(key)
    }

    scalar_vector!();

    fn rounds(_: &RoundKeys) -> usize {
        ROUNDS
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
        kernels::ecb(self.0, &keys.0, x.as_flattened_mut().as_flattened_mut(), CipherDirection::Encrypt);
    }

    fn decrypt<const G: usize>(self, keys: &RoundKeys, x: &mut [Self::Vector; G]) {
        kernels::ecb(self.0, &keys.0, x.as_flattened_mut(), CipherDirection::Decrypt);
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
            for (block, keys) in blocks.iter_mut().zip(&keys.0) {
                kernels::ecb(self.0, keys, core::slice::from_mut(block), CipherDirection::Encrypt);
            }
        }
    }

    fn zero_lane_keys(self) -> LaneRoundKeys {
        LaneRoundKeys([[0; WORDS]; BLOCKS])
    }

    fn set_lane_key(self, lane_keys: &mut LaneRoundKeys, lane: usize, keys: &RoundKeys) {
        lane_keys.0[lane] = keys.0;
    }

    fn encrypt_block(self, keys: &RoundKeys, block: &mut Block) {
        kernels::ecb(self.0, &keys.0, core::slice::from_mut(block), CipherDirection::Encrypt);
    }

    fn ctr(self, keys: &RoundKeys, counter: &Block, data: &mut [u8]) -> bool {
        let mut counter = *counter;
        kernels::ctr(self.0, &keys.0, &mut counter, data);
        true
    }
}

impl CcmEngine for Riscv32 {
    fn run_ccm<O: CcmOperation>(self, keys: &RoundKeys, operation: O) -> O::Output {
        operation.call::<Self, 1, { Self::SLOTS }>(self, keys)
    }

    scalar_ccm_vector!();
}
