//! The inner loop. A step processes four blocks of every lane, MAC chains and key stream in one pass.
//!
//! Block `j` of all lanes is a row of `G` vectors. Phase `j` of a step encrypts the counters of row `j` together with the MAC chains
//! over the row before. So `2 G` independent vectors are in flight, and decryption, whose MAC needs the plaintext first, runs like
//! encryption.

use core::marker::PhantomData;

use crate::block::BlockBytes;
use crate::engine::{CcmEngine, Engine, Interleave, NoInterleave, STEP_BLOCKS, wipe};

/// The mode of operation that the kernel computes.
pub(super) trait LaneMode<E: Engine> {
    /// Whether the mode has a key stream in addition to the chains.
    const HAS_KEY_STREAM: bool;
    /// Whether the chains take the output of the mode instead of its input.
    const DECRYPTS: bool;

    /// Counter blocks 0, and counter blocks 1 with their bytes reversed, of messages with these first blocks.
    fn first_counters(engine: E, first: E::Vector, mask: E::Vector) -> [E::Vector; 2];
    /// Returns the counter blocks of `counters` and increments these.
    fn next_counters(engine: E, counters: &mut E::Vector) -> E::Vector;
    /// The bytes that the chains take: the plaintext where `message` has ones, the input elsewhere.
    fn chain_input(engine: E, input: E::Vector, key_stream: E::Vector, message: E::Vector) -> E::Vector;
}

/// The output is input XOR key stream. The MAC is over the input, or over the output of a mode that decrypts.
pub(super) struct Ccm<const DECRYPTS: bool>;
/// The output is the chain.
pub(super) struct CbcEncrypt;

impl<E: CcmEngine, const DECRYPTS: bool> LaneMode<E> for Ccm<DECRYPTS> {
    const HAS_KEY_STREAM: bool = true;
    const DECRYPTS: bool = DECRYPTS;

    #[inline(always)]
    fn first_counters(engine: E, first: E::Vector, mask: E::Vector) -> [E::Vector; 2] {
        let zero = engine.and(first, mask);
        [zero, engine.increment(engine.reverse(zero))]
    }

    #[inline(always)]
    fn next_counters(engine: E, counters: &mut E::Vector) -> E::Vector {
        let blocks = engine.reverse(*counters);
        *counters = engine.increment(*counters);
        blocks
    }

    #[inline(always)]
    fn chain_input(engine: E, input: E::Vector, key_stream: E::Vector, message: E::Vector) -> E::Vector {
        if DECRYPTS { engine.xor(input, engine.and(key_stream, message)) } else { input }
    }
}

impl<E: Engine> LaneMode<E> for CbcEncrypt {
    const HAS_KEY_STREAM: bool = false;
    const DECRYPTS: bool = false;

    #[inline(always)]
    fn first_counters(_: E, first: E::Vector, _: E::Vector) -> [E::Vector; 2] {
        [first; 2]
    }

    #[inline(always)]
    fn next_counters(_: E, counters: &mut E::Vector) -> E::Vector {
        *counters
    }

    #[inline(always)]
    fn chain_input(_: E, input: E::Vector, _: E::Vector, _: E::Vector) -> E::Vector {
        input
    }
}

/// One block of every lane.
type LaneRow<E, const G: usize> = [<E as Engine>::Vector; G];

/// The blocks of a step, vector of lanes by vector of lanes.
type LaneStep<E, const G: usize> = [[<E as Engine>::Vector; STEP_BLOCKS]; G];

/// The state of all lanes between two calls of the kernel. `LANES` is `G * SLOTS`.
#[repr(align(64))]
pub(super) struct LaneStates<E: Engine, const G: usize, const LANES: usize> {
    pub chain: LaneRow<E, G>,
    /// The next counter blocks, with their bytes reversed.
    pub counter: LaneRow<E, G>,
    /// The chains after each of the blocks of the last step.
    pub history: [LaneRow<E, G>; STEP_BLOCKS],
    /// For the last step of a decryption: ones for bytes of the message, zeros for the padding of its last block.
    pub message: [LaneRow<E, G>; STEP_BLOCKS],
    /// Three steps: the current one, the one before, which is still to be written, and the one after, which is being read.
    blocks: [LaneStep<E, G>; 3],
    /// The data of each lane's next step.
    pub pointers: [*mut u8; LANES],
    /// The data of each lane's last step; between two calls, that of the next.
    pub last: [*mut u8; LANES],
    /// All ones for a lane whose pointer advances with each step; zero for one whose pointer stays.
    pub moves: [usize; LANES],
}

impl<E: Engine, const G: usize, const LANES: usize> LaneStates<E, G, LANES> {
    /// Wipes chains, counters and blocks.
    #[inline(always)]
    pub(super) fn wipe(&mut self, engine: E) {
        wipe(engine, &mut self.chain);
        wipe(engine, &mut self.counter);
        wipe(engine, self.history.as_flattened_mut());
        wipe(engine, self.blocks.as_flattened_mut().as_flattened_mut());
    }
}

/// The round keys of the lanes.
pub(super) enum BatchKeys<'a, E: Engine> {
    /// All lanes have the same key.
    Shared(&'a E::RoundKeys),
    /// Each lane has its own key.
    PerLane(&'a mut E::LaneRoundKeys),
}

/// Encrypts the rows `x`, whose first vector has the keys of group `first`. `shared` repeats the variant of `keys`; callers pass it
/// as a constant, so that each call compiles for one variant.
#[inline(always)]
pub(super) fn encrypt<E: Engine, const G: usize, const K: usize>(
    engine: E,
    keys: &BatchKeys<'_, E>,
    shared: bool,
    first: usize,
    x: &mut [LaneRow<E, G>; K],
    between_rounds: &mut impl Interleave,
) {
    match keys {
        BatchKeys::Shared(keys) if shared => engine.encrypt(keys, x, between_rounds),
        BatchKeys::PerLane(keys) if !shared => engine.encrypt_lanes(keys, first, x, between_rounds),
        _ => unreachable!("`shared` is the variant of `keys`"),
    }
}

/// Reads and writes data while the cipher works on one row of blocks: it writes some groups of the step before and reads some of the
/// step after, one group every other part, up to two groups a phase.
struct DataMoves<'a, E: Engine, M, const G: usize> {
    engine: E,
    mode: PhantomData<M>,
    /// The data of the step before and of the step after.
    pointers: [&'a [*mut u8]; 2],
    before: Option<&'a LaneStep<E, G>>,
    after: Option<&'a mut LaneStep<E, G>>,
    phase: usize,
}

impl<E: Engine, M: LaneMode<E>, const G: usize> Interleave for DataMoves<'_, E, M, G> {
    const PARTS: usize = 4 * G.div_ceil(STEP_BLOCKS);

    #[inline(always)]
    fn run_part(&mut self, part: usize) {
        // Two groups a phase take parts 1 to 8; a third group would need more.
        const { assert!(G <= 2 * STEP_BLOCKS, "more groups than a step's phases can move") };
        let groups = G.div_ceil(STEP_BLOCKS);
        let g = groups * self.phase + (part - 1) / 4;
        if part % 2 == 1 || part > 4 * groups || g >= G {
            return;
        }
        let by_blocks = M::HAS_KEY_STREAM || E::SPARE_REGISTERS;
        // SAFETY: the caller of `steps` guarantees that a step's bytes are valid at the pointers of the steps before and after, if there
        // are such steps.
        unsafe {
            match (part % 4, self.before, &mut self.after) {
                (2, Some(before), _) if by_blocks => {
                    self.engine.scatter_from(&before[g], group::<E>(self.pointers[0], g));
                }
                (2, Some(before), _) => self.engine.scatter(before[g], group::<E>(self.pointers[0], g)),
                (0, _, Some(after)) if by_blocks => {
                    self.engine.gather_to(group::<E>(self.pointers[1], g), &mut after[g]);
                }
                (0, _, Some(after)) => after[g] = self.engine.gather(group::<E>(self.pointers[1], g)),
                _ => {}
            }
        }
    }
}

/// The pointers of one group.
#[inline(always)]
fn group<E: Engine>(pointers: &[*mut u8], g: usize) -> &[*mut u8] {
    &pointers[g * E::SLOTS..(g + 1) * E::SLOTS]
}

/// Runs `count` steps of all lanes and sets `history` to the chains of the last step. The data of the last step is at `last`. If
/// `ragged`, messages end inside that step, and `message` masks their padding.
///
/// # Safety
/// For each lane, the bytes of a step must be readable and writable at its `pointers`, at each following step if its `moves` is ones,
/// and at its `last`. No other reference to these bytes may be in use.
#[inline(always)]
pub(super) unsafe fn steps<E: Engine, M: LaneMode<E>, const G: usize, const LANES: usize>(
    engine: E,
    keys: &BatchKeys<'_, E>,
    shared: bool,
    lanes: &mut LaneStates<E, G, LANES>,
    count: usize,
    ragged: bool,
) {
    // With one key, the chains of a decryption take the plaintext at the start of the next phase, where it does not wait for the key
    // stream. This takes more registers, and is slower with a key each.
    let late = M::DECRYPTS && shared && E::SPARE_REGISTERS;
    let LaneStates { blocks, history, message, counter, pointers, last, moves, .. } = lanes;
    let mut chain = lanes.chain;
    // The data of the steps in `blocks`.
    let first = if count == 1 { &*last } else { &*pointers };
    for (g, group) in blocks[0].iter_mut().enumerate() {
        // Not from `places`: a vector of pointers that were just written is read late. SAFETY: the caller guarantees that a step's bytes
        // are readable at each pointer.
        *group = unsafe { engine.gather(self::group::<E>(first, g)) };
    }
    let mut places = [*first; 3];
    for step in 0..count {
        let [a, b, c] = &mut *blocks;
        let [a_at, b_at, c_at] = &mut places;
        let (now, next, done, at, after, before) = match step % 3 {
            0 => (a, b, c, a_at, b_at, c_at),
            1 => (b, c, a, b_at, c_at, a_at),
            _ => (c, a, b, c_at, a_at, b_at),
        };
        let is_last = step + 1 == count;
        if step + 2 < count {
            for lane in 0..LANES {
                after[lane] = at[lane].wrapping_add(moves[lane] & step_bytes::<E>());
            }
        } else {
            *after = *last;
        }
        for j in 0..STEP_BLOCKS {
            let mut x = [chain, *counter];
            if M::HAS_KEY_STREAM {
                for g in 0..G {
                    x[1][g] = M::next_counters(engine, &mut counter[g]);
                }
            } else {
                for g in 0..G {
                    x[0][g] = engine.xor(chain[g], now[g][j]);
                }
            }
            let mut moves = DataMoves {
                engine,
                mode: PhantomData::<M>,
                pointers: [&*before, &*after],
                before: (step > 0).then_some(&*done),
                after: (!is_last).then_some(&mut *next),
                phase: j,
            };
            if !M::HAS_KEY_STREAM {
                let mut alone = [x[0]];
                encrypt(engine, keys, shared, 0, &mut alone, &mut moves);
                [chain] = alone;
                for g in 0..G {
                    now[g][j] = chain[g];
                }
                if is_last {
                    history[j] = chain;
                }
                continue;
            }
            if step == 0 && j == 0 {
                // There is no block for the chains yet.
                let mut alone = [x[1]];
                encrypt(engine, keys, shared, 0, &mut alone, &mut moves);
                for g in 0..G {
                    x[1][g] = engine.xor(alone[0][g], now[g][j]);
                    if !M::DECRYPTS {
                        x[0][g] = engine.xor(chain[g], now[g][j]);
                    }
                }
            } else {
                if late {
                    for g in 0..G {
                        let plain = if j == 0 { done[g][STEP_BLOCKS - 1] } else { now[g][j - 1] };
                        x[0][g] = engine.xor(chain[g], plain);
                    }
                }
                let input = (&*now, j);
                match keys {
                    BatchKeys::Shared(keys) if shared => {
                        engine.encrypt_ccm(keys, &mut x, input, M::DECRYPTS, &mut moves)
                    }
                    BatchKeys::PerLane(keys) if !shared => {
                        engine.encrypt_ccm_lanes(keys, &mut x, input, M::DECRYPTS, &mut moves);
                    }
                    _ => unreachable!("`shared` is the variant of `keys`"),
                }
                if is_last {
                    let ends = &mut history[(j + STEP_BLOCKS - 1) % STEP_BLOCKS];
                    for g in 0..G {
                        ends[g] = if M::DECRYPTS { x[0][g] } else { engine.xor(x[0][g], now[g][j]) };
                    }
                }
            }
            chain = x[0];
            for g in 0..G {
                let output = x[1][g];
                if M::DECRYPTS {
                    if !late {
                        chain[g] = engine.xor(chain[g], output);
                    }
                    if ragged && is_last {
                        // Padding is no plaintext.
                        let key_stream = engine.xor(output, now[g][j]);
                        let plain = M::chain_input(engine, now[g][j], key_stream, message[j][g]);
                        chain[g] = engine.xor(chain[g], engine.xor(output, plain));
                    }
                }
                now[g][j] = output;
            }
        }
    }
    for g in 0..G {
        // SAFETY: the caller guarantees that a step's bytes are writable at each pointer of the last step.
        unsafe { engine.scatter(blocks[(count + 2) % 3][g], group::<E>(last, g)) };
    }
    if M::HAS_KEY_STREAM {
        let mut x = [chain];
        if late {
            for g in 0..G {
                x[0][g] = engine.xor(chain[g], blocks[(count + 2) % 3][g][STEP_BLOCKS - 1]);
            }
        }
        encrypt(engine, keys, shared, 0, &mut x, &mut NoInterleave);
        [chain] = x;
        history[STEP_BLOCKS - 1] = chain;
    }
    lanes.chain = chain;
}

/// Length of a lane's data in a step, in bytes.
pub(super) const fn step_bytes<E: Engine>() -> usize {
    STEP_BLOCKS * E::Block::BYTES
}
