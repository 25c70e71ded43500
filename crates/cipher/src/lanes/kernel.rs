//! The inner loop: four blocks of every lane a step, MAC chains and key stream in one pass.
//!
//! Block `j` of all lanes is one set of `G` vectors. In each phase the MAC takes the blocks of the phase before while the
//! counters of this one are encrypted, so `2 G` independent vectors are in flight, and decryption, whose MAC needs the
//! plaintext first, runs like encryption.

use crate::Block;
use crate::engine::{Engine, MAX_GROUPS, Meanwhile, Nothing};
use crate::modes;

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

/// An address of every lane.
type Pointers = [*mut u8; MAX_LANES];

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
    /// `CCM_DECRYPT`, a ragged first step: ones where the block's bytes are message, zeros where they are header or filling.
    pub message: [Row; STEP_BLOCKS],
    /// Where each lane's next step is.
    pub pointers: Pointers,
    /// Where the step after it is.
    pub second: Pointers,
    /// How far a lane moves in each step from then on: `STEP_BYTES`, or 0 for a lane that stays in its buffer.
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
            pointers: [core::ptr::null_mut(); MAX_LANES],
            second: [core::ptr::null_mut(); MAX_LANES],
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
    meanwhile: &mut impl Meanwhile,
) {
    match keys {
        LaneKeys::Shared(keys) if shared => engine.encrypt(keys, x, meanwhile),
        LaneKeys::Own(keys) if !shared => engine.encrypt_lanes(keys, x, meanwhile),
        _ => unreachable!("the kernel is called for the kind of keys that it has"),
    }
}

#[inline(always)]
fn load<E: Engine, const G: usize>(engine: E, row: &Row) -> [E::Vector; G] {
    modes::load(engine, row.as_flattened())
}

#[inline(always)]
fn store<E: Engine, const G: usize>(engine: E, vectors: [E::Vector; G], row: &mut Row) {
    modes::store(engine, vectors, row.as_flattened_mut());
}

/// Moves data while the cipher works on one row of blocks: writes a share of the groups of the step before, reads a
/// share of the step after. Two groups a phase, a move every other round.
struct Moves<'a, E: Engine, const G: usize> {
    engine: E,
    /// Where the step before was and the step after is.
    pointers: [&'a Pointers; 2],
    before: Option<&'a [[E::Vector; STEP_BLOCKS]; G]>,
    after: Option<&'a mut [[E::Vector; STEP_BLOCKS]; G]>,
    phase: usize,
}

impl<E: Engine, const G: usize> Meanwhile for Moves<'_, E, G> {
    #[inline(always)]
    fn round(&mut self, round: usize) {
        let groups = G.div_ceil(STEP_BLOCKS);
        let g = groups * self.phase + (round - 1) / 4;
        if round % 2 == 1 || round > 4 * groups || g >= G {
            return;
        }
        // SAFETY: the caller of `steps` vouches for the pointers of the steps before and after, where there are such.
        unsafe {
            match (round % 4, self.before, &mut self.after) {
                (2, Some(before), _) => self.engine.scatter(before[g], group::<E>(self.pointers[0], g)),
                (0, _, Some(after)) => after[g] = self.engine.gather(group::<E>(self.pointers[1], g)),
                _ => {}
            }
        }
    }
}

/// The pointers of one group.
#[inline(always)]
fn group<E: Engine>(pointers: &Pointers, g: usize) -> &[*mut u8] {
    &pointers[g * E::SLOTS..(g + 1) * E::SLOTS]
}

/// Runs `count` steps of the first `G * SLOTS` lanes. If the first is `ragged` it minds `message`. `history` is filled by a
/// single step; several leave just the chains' ends, in its last row.
///
/// # Safety
/// For each of the lanes, `STEP_BYTES` bytes have to be readable and writable at its pointer, and, if there are more
/// steps, at the second pointer and at each stride from there, with no other reference to them in use.
#[inline(always)]
pub(super) unsafe fn steps<E: Engine, const G: usize, const MODE: Mode>(
    engine: E,
    keys: &LaneKeys<'_, E>,
    shared: bool,
    lanes: &mut Lanes,
    count: usize,
    ragged: bool,
) {
    const { assert!(G <= MAX_GROUPS) };
    let one = engine.splat(&1u128.to_le_bytes());
    let mut chain: [E::Vector; G] = load(engine, &lanes.chain);
    // The blocks of three steps: the one at hand, the one before, which is still to be written, and the one after.
    let mut blocks = [[[one; STEP_BLOCKS]; G]; 3];
    for (g, group) in blocks[0].iter_mut().enumerate() {
        // SAFETY: the caller vouches for the pointers.
        *group = unsafe { engine.gather(self::group::<E>(&lanes.pointers, g)) };
    }
    let mut last = lanes.pointers;
    for step in 0..count {
        let ragged = ragged && step == 0;
        let [a, b, c] = &mut blocks;
        let (now, after, before) = match step % 3 {
            0 => (a, b, c),
            1 => (b, c, a),
            _ => (c, a, b),
        };
        for j in 0..STEP_BLOCKS {
            let mut counters: [E::Vector; G] = load(engine, &lanes.counter);
            let mut x = [chain, counters];
            if MODE == CBC_ENCRYPT {
                for g in 0..G {
                    x[0][g] = engine.xor(chain[g], now[g][j]);
                }
            } else {
                for g in 0..G {
                    x[1][g] = engine.reverse(counters[g]);
                    counters[g] = engine.add64(counters[g], one);
                }
                store(engine, counters, &mut lanes.counter);
            }
            let mut moves = Moves {
                engine,
                pointers: [&last, &lanes.second],
                before: (step > 0).then_some(&*before),
                after: (step + 1 < count).then_some(&mut *after),
                phase: j,
            };
            if MODE == CBC_ENCRYPT {
                let mut alone = [x[0]];
                encrypt(engine, keys, shared, &mut alone, &mut moves);
                [chain] = alone;
                for g in 0..G {
                    now[g][j] = chain[g];
                }
                continue;
            }
            if step == 0 && j == 0 {
                // The chain has nothing to do yet.
                let mut alone = [x[1]];
                encrypt(engine, keys, shared, &mut alone, &mut moves);
                [x[1]] = alone;
            } else {
                encrypt(engine, keys, shared, &mut x, &mut moves);
                if count == 1 {
                    store(engine, x[0], &mut lanes.history[(j + STEP_BLOCKS - 1) % STEP_BLOCKS]);
                }
            }
            let [chains, key_stream] = x;
            for g in 0..G {
                let input = now[g][j];
                let output = engine.xor(input, key_stream[g]);
                let plain = match MODE {
                    CCM_ENCRYPT => input,
                    _ if ragged => {
                        let row = lanes.message[j].as_flattened();
                        let message = engine.load(&row[16 * E::SLOTS * g..16 * E::SLOTS * (g + 1)]);
                        engine.xor(input, engine.and(key_stream[g], message))
                    }
                    _ => output,
                };
                chain[g] = engine.xor(chains[g], plain);
                now[g][j] = output;
            }
        }
        last = lanes.pointers;
        lanes.pointers = lanes.second;
        for lane in 0..G * E::SLOTS {
            lanes.second[lane] = lanes.second[lane].wrapping_add(lanes.strides[lane]);
        }
    }
    for g in 0..G {
        // SAFETY: the caller vouches for the pointers, of which this is the last step.
        unsafe { engine.scatter(blocks[(count + 2) % 3][g], group::<E>(&last, g)) };
    }
    if MODE != CBC_ENCRYPT {
        let mut x = [chain];
        encrypt(engine, keys, shared, &mut x, &mut Nothing);
        [chain] = x;
    }
    store(engine, chain, &mut lanes.chain);
    store(engine, chain, &mut lanes.history[STEP_BLOCKS - 1]);
}
