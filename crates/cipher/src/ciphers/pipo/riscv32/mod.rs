//! PIPO on 32-bit RISC-V: the engine over the kernels of [`crate::riscv32::pipo`].

pub mod kernels;

use zeroize::Zeroize;

use super::layers::Block;
use crate::block::flat_mut;
use crate::engine::{Engine, Interleave, Operation, scalar_vector};
use kernels::{Group, Key, Lanes};

/// Number of vectors in flight, for which a kernel is called once.
const FLIGHT: usize = 4;

/// The engine, with four blocks in eight registers.
#[derive(Clone, Copy)]
pub struct Riscv32(crate::cpu::Riscv32);

/// The round keys of all lanes of a flight.
#[derive(Clone, Zeroize)]
pub struct LaneRoundKeys([Lanes; FLIGHT]);

/// Calls a kernel for each vector, on an aligned copy.
fn for_each_aligned_group(vectors: &mut [[Block; 4]], mut kernel: impl FnMut(&mut [Group])) {
    for vector in vectors {
        let mut group = Group([0; 32]);
        group.0.copy_from_slice(flat_mut(vector));
        kernel(core::slice::from_mut(&mut group));
        flat_mut(vector).copy_from_slice(&group.0);
        group.zeroize();
    }
}

/// Calls a kernel once for all vectors if they are aligned, otherwise for each on an aligned copy.
fn with_groups(vectors: &mut [[Block; 4]], mut kernel: impl FnMut(&mut [Group])) {
    let count = vectors.len();
    let first: *mut Group = vectors.as_mut_ptr().cast();
    if first.is_aligned() {
        // SAFETY: a group and a vector are both 32 bytes, of which any value is valid, and the alignment was checked.
        kernel(unsafe { core::slice::from_raw_parts_mut(first, count) });
    } else {
        for_each_aligned_group(vectors, kernel);
    }
}

impl Engine for Riscv32 {
    type Block = Block;
    type Vector = [Block; 4];
    const SLOTS: usize = 4;
    type RoundKeys = Key;
    type LaneRoundKeys = LaneRoundKeys;

    fn detect() -> Option<Self> {
        crate::cpu::Riscv32::detect().map(Self)
    }

    fn expand_key(self, key: &[u8]) -> Key {
        Key::new(key).unwrap_or_else(|_| unreachable!("the length was checked"))
    }

    scalar_vector!();

    fn rounds(keys: &Key) -> usize {
        keys.lanes().rounds()
    }

    fn run<O: Operation<Block>>(self, keys: &Key, operation: O) -> O::Output {
        operation.call::<Self, FLIGHT, { FLIGHT * Self::SLOTS }>(self, keys)
    }

    fn encrypt<const G: usize, const K: usize>(
        self,
        keys: &Key,
        x: &mut [[Self::Vector; G]; K],
        between_rounds: &mut impl Interleave,
    ) {
        (1..10).for_each(|part| between_rounds.run_part(part));
        with_groups(x.as_flattened_mut(), |groups| keys.lanes().encrypt(groups));
    }

    fn decrypt<const G: usize>(self, keys: &Key, x: &mut [Self::Vector; G]) {
        with_groups(x, |groups| keys.lanes().decrypt(groups));
    }

    fn encrypt_lanes<const G: usize, const K: usize>(
        self,
        keys: &LaneRoundKeys,
        first: usize,
        x: &mut [[Self::Vector; G]; K],
        between_rounds: &mut impl Interleave,
    ) {
        (1..10).for_each(|part| between_rounds.run_part(part));
        for row in x {
            for (vector, lanes) in row.iter_mut().zip(&keys.0[first..]) {
                with_groups(core::slice::from_mut(vector), |groups| lanes.encrypt(groups));
            }
        }
    }

    fn zero_lane_keys(self) -> LaneRoundKeys {
        LaneRoundKeys(core::array::from_fn(|_| Lanes::empty()))
    }

    fn set_lane_key(self, lane_keys: &mut LaneRoundKeys, lane: usize, keys: &Key) {
        lane_keys.0[lane / 4].set_lane(lane % 4, keys);
    }

    fn encrypt_block(self, keys: &Key, block: &mut Block) {
        keys.encrypt_block(block);
    }

    fn cbc_encrypt_blocks(self, keys: &Key, chain: &mut Block, data: &mut [u8]) {
        let (blocks, _) = data.as_chunks_mut();
        keys.cbc_encrypt(chain, blocks);
    }
}
