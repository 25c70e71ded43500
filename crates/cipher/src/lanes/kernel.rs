//! The inner loop: four blocks of every lane a step, MAC chains and key stream in one pass.
//!
//! Block `j` of all lanes is one set of `G` vectors. In each phase the MAC takes the blocks of the phase before while the
//! counters of this one are encrypted, so `2 G` independent vectors are in flight, and decryption, whose MAC needs the
//! plaintext first, runs like encryption.

use crate::Block;
use crate::engine::{Engine, MAX_GROUPS};

/// Most lanes of any engine.
pub(super) const MAX_LANES: usize = 32;
/// Blocks of a lane in a step.
pub(super) const STEP_BLOCKS: usize = 4;
/// Bytes of a lane in a step.
pub(super) const STEP_BYTES: usize = 16 * STEP_BLOCKS;

/// What the kernel does with the blocks.
pub(super) type Mode = u8;
/// MAC over the input, output is input XOR key stream.
pub(super) const CCM_ENCRYPT: Mode = 0;
/// MAC over the output, output is input XOR key stream.
pub(super) const CCM_DECRYPT: Mode = 1;
/// Output is the chain.
pub(super) const CBC_ENCRYPT: Mode = 2;

/// One block of every lane.
type Row = [Block; MAX_LANES];

/// The lanes between two calls of the kernel. The blocks of a row that belong to one vector stand side by side.
#[repr(C, align(64))]
pub(super) struct Lanes {
    /// The chains.
    pub chain: Row,
    /// The next counter blocks, their bytes reversed.
    pub counter: Row,
    /// The chains after each of the blocks of the last step.
    pub history: [Row; STEP_BLOCKS],
    /// `CCM_DECRYPT`, ragged steps: ones where the block's bytes are message, zeros where they are header or filling.
    pub message: [Row; STEP_BLOCKS],
    /// A step of each lane whose blocks do not stand in a row in its message.
    pub staging: [[u8; STEP_BYTES]; MAX_LANES],
    /// Where each lane's next step is.
    pub pointers: [*mut u8; MAX_LANES],
    /// How far a lane's pointer moves in a step: `STEP_BYTES`, or 0 for a lane that stays in its staging.
    pub strides: [usize; MAX_LANES],
}

/// Where the round keys come from.
pub(super) enum LaneKeys<'a, E: Engine> {
    /// All lanes share a key.
    Shared(&'a E::Keys),
    /// Each lane has its own.
    Own(&'a mut E::LaneKeys),
}

impl Lanes {
    pub(super) fn new() -> Self {
        Lanes {
            chain: [[0; 16]; MAX_LANES],
            counter: [[0; 16]; MAX_LANES],
            history: [[[0; 16]; MAX_LANES]; STEP_BLOCKS],
            message: [[[0; 16]; MAX_LANES]; STEP_BLOCKS],
            staging: [[0; STEP_BYTES]; MAX_LANES],
            pointers: [core::ptr::null_mut(); MAX_LANES],
            strides: [0; MAX_LANES],
        }
    }
}

#[inline(always)]
fn encrypt<E: Engine, const G: usize, const K: usize>(
    engine: E,
    keys: &LaneKeys<'_, E>,
    shared: bool,
    x: &mut [[E::Vector; G]; K],
) {
    match keys {
        LaneKeys::Shared(keys) if shared => engine.encrypt(keys, x),
        LaneKeys::Own(keys) if !shared => engine.encrypt_lanes(keys, x),
        _ => unreachable!("the kernel is called for the kind of keys that it has"),
    }
}

#[inline(always)]
fn load<E: Engine, const G: usize>(engine: E, row: &Row) -> [E::Vector; G] {
    core::array::from_fn(|g| engine.load(row[g * E::SLOTS..(g + 1) * E::SLOTS].as_flattened()))
}

#[inline(always)]
fn store<E: Engine, const G: usize>(engine: E, vectors: [E::Vector; G], row: &mut Row) {
    for (vector, bytes) in vectors.into_iter().zip(row.chunks_exact_mut(E::SLOTS)) {
        engine.store(vector, bytes.as_flattened_mut());
    }
}

/// Runs `steps` steps of the first `G * SLOTS` lanes. `ragged` steps (one at a time) mind `message` and fill `history`;
/// others leave just the chain's end, in its last row.
///
/// # Safety
/// For each of the lanes, `steps` times its stride and then `STEP_BYTES` bytes have to be readable and writable at its
/// pointer, with no other reference to them in use.
#[inline(always)]
pub(super) unsafe fn steps<E: Engine, const G: usize, const MODE: Mode>(
    engine: E,
    keys: &LaneKeys<'_, E>,
    shared: bool,
    lanes: &mut Lanes,
    steps: usize,
    ragged: bool,
) {
    const { assert!(G <= MAX_GROUPS) };
    let one = engine.splat(&1u128.to_le_bytes());
    let mut chain: [E::Vector; G] = load(engine, &lanes.chain);
    for step in 0..steps {
        let mut blocks: [[E::Vector; STEP_BLOCKS]; G] = core::array::from_fn(|g| {
            // SAFETY: the caller vouches for the pointers.
            unsafe { engine.gather(&lanes.pointers[g * E::SLOTS..(g + 1) * E::SLOTS]) }
        });
        for j in 0..STEP_BLOCKS {
            if MODE == CBC_ENCRYPT {
                chain = core::array::from_fn(|g| engine.xor(chain[g], blocks[g][j]));
                let mut x = [chain];
                encrypt(engine, keys, shared, &mut x);
                [chain] = x;
                for g in 0..G {
                    blocks[g][j] = chain[g];
                }
                continue;
            }
            let counters: [E::Vector; G] = load(engine, &lanes.counter);
            store(engine, counters.map(|counter| engine.add64(counter, one)), &mut lanes.counter);
            let mut x = [chain, counters.map(|counter| engine.reverse(counter))];
            if step == 0 && j == 0 {
                // The chain has nothing to do yet.
                let mut key_stream = [x[1]];
                encrypt(engine, keys, shared, &mut key_stream);
                [x[1]] = key_stream;
            } else {
                encrypt(engine, keys, shared, &mut x);
                if ragged {
                    store(engine, x[0], &mut lanes.history[(j + STEP_BLOCKS - 1) % STEP_BLOCKS]);
                }
            }
            let [before, key_stream] = x;
            let message: [E::Vector; G] = if MODE == CCM_DECRYPT && ragged {
                load(engine, &lanes.message[j])
            } else {
                before
            };
            for g in 0..G {
                let input = blocks[g][j];
                let output = engine.xor(input, key_stream[g]);
                let plain = match MODE {
                    CCM_ENCRYPT => input,
                    _ if ragged => engine.xor(input, engine.and(key_stream[g], message[g])),
                    _ => output,
                };
                chain[g] = engine.xor(before[g], plain);
                blocks[g][j] = output;
            }
        }
        for g in 0..G {
            let pointers = &mut lanes.pointers[g * E::SLOTS..(g + 1) * E::SLOTS];
            // SAFETY: the caller vouches for the pointers.
            unsafe { engine.scatter(blocks[g], pointers) };
            for (pointer, stride) in pointers.iter_mut().zip(&lanes.strides[g * E::SLOTS..]) {
                *pointer = pointer.wrapping_add(*stride);
            }
        }
    }
    if MODE != CBC_ENCRYPT {
        let mut x = [chain];
        encrypt(engine, keys, shared, &mut x);
        [chain] = x;
    }
    store(engine, chain, &mut lanes.chain);
    store(engine, chain, &mut lanes.history[STEP_BLOCKS - 1]);
}
