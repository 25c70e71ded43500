//! AES on 32-bit RISC-V, in assembly. It supports only blocks of 128 bits.

mod kernels;

use core::marker::PhantomData;

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::expand;
use super::portable::Circuit;
use super::shape::{MAX_COLUMNS, MAX_ROUNDS};
use crate::block::{Block, BlockBytes};
use crate::cpu;
use crate::engine::{
    CcmEngine, CcmOperation, CipherDirection, Engine, Interleave, Operation, cbc_encrypt_by_block, ccm_by_block,
    scalar_ccm_vector, scalar_vector,
};
use kernels::{EightBlockKeys, TwoBlockKeys};

/// Number of blocks in a vector.
const BLOCKS: usize = 8;

/// The round keys of one key, in the form for many blocks and in that for chains.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct RoundKeys {
    eight: EightBlockKeys,
    two: TwoBlockKeys,
}

impl RoundKeys {
    /// The form for chains, whose kernel takes only even numbers of rounds: keys of 20 and 28 bytes, of which AES has none, have 11 and 13.
    fn two(&self) -> Option<&TwoBlockKeys> {
        self.eight.rounds().is_multiple_of(2).then_some(&self.two)
    }
}

/// The round keys of eight lanes, a bit of each byte for each lane.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct LaneRoundKeys(EightBlockKeys);

/// The engine, with eight blocks a vector. `detect` returns it only for blocks of 16 bytes.
#[derive(Clone, Copy)]
pub struct Riscv32<B>(cpu::Riscv32, PhantomData<B>);

/// Converts blocks to those of AES. An engine exists only for blocks of that length.
fn blocks<B: BlockBytes>(blocks: &mut [B]) -> &mut [Block] {
    crate::block::flat_mut(blocks).as_chunks_mut().0
}

/// Converts one block.
fn block<B: BlockBytes>(one: &mut B) -> &mut Block {
    &mut blocks(core::slice::from_mut(one))[0]
}

impl<B: BlockBytes> Engine for Riscv32<B> {
    type Block = B;
    type Vector = [B; BLOCKS];
    const SLOTS: usize = BLOCKS;
    type RoundKeys = RoundKeys;
    type LaneRoundKeys = LaneRoundKeys;

    fn detect() -> Option<Self> {
        cpu::Riscv32::detect().filter(|_| B::BYTES == 16).map(|token| Riscv32(token, PhantomData))
    }

    fn expand_key(self, key: &[u8]) -> RoundKeys {
        let mut w = [[0; 4]; MAX_COLUMNS * (MAX_ROUNDS + 1)];
        let rounds = expand::expand_key(&Circuit, 4, key, &mut w);
        let (round_keys, _) = w.as_flattened().as_chunks::<16>();
        // Keys of 20 and 28 bytes belong to Rijndael. They have at most as many rounds as the longest keys of AES.
        let round_keys = &round_keys[..=rounds];
        let keys = RoundKeys { eight: EightBlockKeys::new(round_keys), two: TwoBlockKeys::new(round_keys) };
        w.zeroize();
        keys
    }

    scalar_vector!(BLOCKS);

    fn rounds(keys: &RoundKeys) -> usize {
        keys.eight.rounds()
    }

    fn run<O: Operation<B>>(self, keys: &RoundKeys, operation: O) -> O::Output {
        operation.call::<Self, 1, BLOCKS>(self, keys)
    }

    fn encrypt<const G: usize, const K: usize>(
        self,
        keys: &RoundKeys,
        x: &mut [[Self::Vector; G]; K],
        between_rounds: &mut impl Interleave,
    ) {
        (1..10).for_each(|part| between_rounds.run_part(part));
        keys.eight.ecb(self.0, blocks(x.as_flattened_mut().as_flattened_mut()), CipherDirection::Encrypt);
    }

    fn decrypt<const G: usize>(self, keys: &RoundKeys, x: &mut [Self::Vector; G]) {
        keys.eight.ecb(self.0, blocks(x.as_flattened_mut()), CipherDirection::Decrypt);
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
        keys.0.ecb(self.0, blocks(x.as_flattened_mut().as_flattened_mut()), CipherDirection::Encrypt);
    }

    fn zero_lane_keys(self) -> LaneRoundKeys {
        LaneRoundKeys(EightBlockKeys::ZERO)
    }

    fn set_lane_key(self, lane_keys: &mut LaneRoundKeys, lane: usize, keys: &RoundKeys) {
        lane_keys.0.set_lane(lane, &keys.eight);
    }

    fn encrypt_block(self, keys: &RoundKeys, one: &mut B) {
        let Some(two) = keys.two() else {
            return keys.eight.ecb(self.0, core::slice::from_mut(block(one)), CipherDirection::Encrypt);
        };
        let mut both = [*block(one), [0; 16]];
        two.encrypt(self.0, &mut both);
        *block(one) = both[0];
    }

    fn cbc_encrypt_blocks(self, keys: &RoundKeys, chain: &mut B, data: &mut [u8]) {
        match keys.two() {
            Some(two) => two.cbc_encrypt(self.0, block(chain), data),
            None => cbc_encrypt_by_block(self, keys, chain, data),
        }
    }

    fn ctr(self, keys: &RoundKeys, counter: &B, data: &mut [u8]) -> bool {
        let mut counter = *counter;
        keys.eight.ctr(self.0, block(&mut counter), data);
        true
    }

    fn cbc_decrypt(self, keys: &RoundKeys, iv: &B, data: &mut [u8]) -> bool {
        let mut iv = *iv;
        keys.eight.cbc_decrypt(self.0, block(&mut iv), data);
        true
    }
}

impl CcmEngine for Riscv32<Block> {
    fn run_ccm<O: CcmOperation>(self, keys: &RoundKeys, operation: O) -> O::Output {
        operation.call::<Self, 1, BLOCKS>(self, keys)
    }

    scalar_ccm_vector!();

    fn ccm_blocks(
        self,
        keys: &RoundKeys,
        mac: &mut Block,
        counter: &mut Block,
        data: &mut [u8],
        direction: CipherDirection,
    ) {
        match keys.two() {
            Some(two) => two.ccm(self.0, mac, counter, data, direction),
            None => ccm_by_block(self, keys, (mac, counter), data, direction),
        }
    }
}
