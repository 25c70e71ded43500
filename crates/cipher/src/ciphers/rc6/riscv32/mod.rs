//! RC6 on 32-bit RISC-V, in assembly. It works block by block: a core that issues one instruction a cycle has no gaps that a second
//! block could fill.

mod kernels;

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::keys::{self, Keys, ROUNDS, WORDS};
use crate::engine::{
    CcmEngine, CcmOperation, Direction, Engine, Meanwhile, Operation, scalar_ccm_vector, scalar_vector,
};
use crate::{Block, cpu};

/// Number of blocks in a vector, for which the assembly is called once.
const BLOCKS: usize = 4;

/// The round keys of all lanes.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct LaneKeys([[u32; WORDS]; BLOCKS]);

/// The engine, which holds the proof of the target.
#[derive(Clone, Copy)]
pub struct Riscv32(cpu::Riscv32);

impl Engine for Riscv32 {
    type Block = Block;
    type Vector = [Block; BLOCKS];
    const SLOTS: usize = BLOCKS;
    type Keys = Keys;
    type LaneKeys = LaneKeys;

    fn detect() -> Option<Self> {
        cpu::Riscv32::detect().map(Riscv32)
    }

    fn expand_key(self, key: &[u8]) -> Keys {
        keys::expand_key(key)
    }

    scalar_vector!();

    fn rounds(_: &Keys) -> usize {
        ROUNDS
    }

    fn run<O: Operation<Block>>(self, keys: &Keys, operation: O) -> O::Output {
        operation.call::<Self, 1, { Self::SLOTS }>(self, keys)
    }

    fn encrypt<const G: usize, const K: usize>(
        self,
        keys: &Keys,
        x: &mut [[Self::Vector; G]; K],
        meanwhile: &mut impl Meanwhile,
    ) {
        (1..10).for_each(|round| meanwhile.round(round));
        kernels::ecb(self.0, &keys.0, x.as_flattened_mut().as_flattened_mut(), Direction::Encrypt);
    }

    fn decrypt<const G: usize>(self, keys: &Keys, x: &mut [Self::Vector; G]) {
        kernels::ecb(self.0, &keys.0, x.as_flattened_mut(), Direction::Decrypt);
    }

    /// Supports one group: the vectors of all `K` rows belong to the same lanes.
    fn encrypt_lanes<const G: usize, const K: usize>(
        self,
        keys: &LaneKeys,
        _: usize,
        x: &mut [[Self::Vector; G]; K],
        meanwhile: &mut impl Meanwhile,
    ) {
        const { assert!(G == 1) };
        (1..10).for_each(|round| meanwhile.round(round));
        for blocks in x.as_flattened_mut() {
            for (block, keys) in blocks.iter_mut().zip(&keys.0) {
                kernels::ecb(self.0, keys, core::slice::from_mut(block), Direction::Encrypt);
            }
        }
    }

    fn lane_keys(self) -> LaneKeys {
        LaneKeys([[0; WORDS]; BLOCKS])
    }

    fn set_lane_key(self, lane_keys: &mut LaneKeys, lane: usize, keys: &Keys) {
        lane_keys.0[lane] = keys.0;
    }

    fn encrypt_block(self, keys: &Keys, block: &mut Block) {
        kernels::ecb(self.0, &keys.0, core::slice::from_mut(block), Direction::Encrypt);
    }

    fn ctr(self, keys: &Keys, counter: &Block, data: &mut [u8]) -> bool {
        let mut counter = *counter;
        kernels::ctr(self.0, &keys.0, &mut counter, data);
        true
    }
}

impl CcmEngine for Riscv32 {
    fn run_ccm<O: CcmOperation>(self, keys: &Keys, operation: O) -> O::Output {
        operation.call::<Self, 1, { Self::SLOTS }>(self, keys)
    }

    scalar_ccm_vector!();
}
