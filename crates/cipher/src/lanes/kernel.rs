//! The inner loop. A step processes four blocks of every lane, MAC chains and key stream in one pass.
//!
//! Block `j` of all lanes is a row of `G` vectors. Phase `j` of a step encrypts the counters of row `j` together with the MAC chains
//! over the row before. So `2 G` independent vectors are in flight, and decryption, whose MAC needs the plaintext first, runs like
//! encryption.

use crate::block::BlockBytes;
use crate::engine::{CcmEngine, Engine, Meanwhile, Nothing, STEP_BLOCKS, wipe};

/// The mode of operation that the kernel computes.
pub(super) trait Mode<E: Engine> {
    /// Whether the mode has a key stream beside the chains.
    const COUNTS: bool;
    /// Whether the chains take the output of the mode instead of its input.
    const DECRYPTS: bool;

    /// Returns the counter blocks of `counters` and increments these.
    fn count(engine: E, counters: &mut E::Vector) -> E::Vector;
    /// The bytes that the chains take: the plaintext where `message` has ones, the input elsewhere.
    fn masked(engine: E, input: E::Vector, key_stream: E::Vector, message: E::Vector) -> E::Vector;
}

/// The MAC is over the input; the output is input XOR key stream.
pub(super) struct CcmEncrypt;
/// The MAC is over the output; the output is input XOR key stream.
pub(super) struct CcmDecrypt;
/// The output is the chain.
pub(super) struct CbcEncrypt;

impl<E: CcmEngine> Mode<E> for CcmEncrypt {
    const COUNTS: bool = true;
    const DECRYPTS: bool = false;

    #[inline(always)]
    fn count(engine: E, counters: &mut E::Vector) -> E::Vector {
        let blocks = engine.reverse(*counters);
        *counters = engine.increment(*counters);
        blocks
    }

    #[inline(always)]
    fn masked(_: E, input: E::Vector, _: E::Vector, _: E::Vector) -> E::Vector {
        input
    }
}

impl<E: CcmEngine> Mode<E> for CcmDecrypt {
    const COUNTS: bool = true;
    const DECRYPTS: bool = true;

    #[inline(always)]
    fn count(engine: E, counters: &mut E::Vector) -> E::Vector {
        CcmEncrypt::count(engine, counters)
    }

    #[inline(always)]
    fn masked(engine: E, input: E::Vector, key_stream: E::Vector, message: E::Vector) -> E::Vector {
        engine.xor(input, engine.and(key_stream, message))
    }
}

impl<E: Engine> Mode<E> for CbcEncrypt {
    const COUNTS: bool = false;
    const DECRYPTS: bool = false;

    #[inline(always)]
    fn count(_: E, counters: &mut E::Vector) -> E::Vector {
        *counters
    }

    #[inline(always)]
    fn masked(_: E, input: E::Vector, _: E::Vector, _: E::Vector) -> E::Vector {
        input
    }
}

/// One block of every lane.
type Row<E, const G: usize> = [<E as Engine>::Vector; G];

/// The blocks of a step, vector of lanes by vector of lanes.
type Step<E, const G: usize> = [[<E as Engine>::Vector; STEP_BLOCKS]; G];

/// The state of all lanes between two calls of the kernel. `LANES` is `G * SLOTS`.
#[repr(align(64))]
pub(super) struct Lanes<E: Engine, const G: usize, const LANES: usize> {
    pub chain: Row<E, G>,
    /// The next counter blocks, with their bytes reversed.
    pub counter: Row<E, G>,
    /// The chains after each of the blocks of the last step.
    pub history: [Row<E, G>; STEP_BLOCKS],
    /// For the last step of a decryption: ones for bytes of the message, zeros for the padding of its last block.
    pub message: [Row<E, G>; STEP_BLOCKS],
    /// Three steps: the current one, the one before, which is still to be written, and the one after, which is being read.
    blocks: [Step<E, G>; 3],
    /// The data of each lane's next step.
    pub pointers: [*mut u8; LANES],
    /// The data of each lane's last step, if that is not the first.
    pub last: [*mut u8; LANES],
    /// All ones for a lane whose pointer advances with each step; zero for one whose pointer stays.
    pub moves: [usize; LANES],
}

impl<E: Engine, const G: usize, const LANES: usize> Lanes<E, G, LANES> {
    #[inline(always)]
    pub(super) fn new(engine: E) -> Self {
        const { assert!(LANES == G * E::SLOTS) };
        let zero = engine.zero();
        Lanes {
            chain: [zero; G],
            counter: [zero; G],
            history: [[zero; G]; STEP_BLOCKS],
            message: [[zero; G]; STEP_BLOCKS],
            blocks: [[[zero; STEP_BLOCKS]; G]; 3],
            pointers: [core::ptr::null_mut(); LANES],
            last: [core::ptr::null_mut(); LANES],
            moves: [0; LANES],
        }
    }

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
pub(super) enum LaneKeys<'a, E: Engine> {
    /// All lanes have the same key.
    Shared(&'a E::Keys),
    /// Each lane has its own key.
    Own(&'a mut E::LaneKeys),
}

/// Encrypts the rows `x`, whose first vector has the keys of group `first`. `shared` repeats the variant of `keys`; callers pass it
/// as a constant, so that each call compiles for one variant.
#[inline(always)]
pub(super) fn encrypt<E: Engine, const G: usize, const K: usize>(
    engine: E,
    keys: &LaneKeys<'_, E>,
    shared: bool,
    first: usize,
    x: &mut [Row<E, G>; K],
    meanwhile: &mut impl Meanwhile,
) {
    match keys {
        LaneKeys::Shared(keys) if shared => engine.encrypt(keys, x, meanwhile),
        LaneKeys::Own(keys) if !shared => engine.encrypt_lanes(keys, first, x, meanwhile),
        _ => unreachable!("`shared` is the variant of `keys`"),
    }
}

/// Reads and writes data while the cipher works on one row of blocks: it writes some groups of the step before and reads some of the
/// step after, one group every other round, up to two groups a phase.
struct Moves<'a, E: Engine, const G: usize> {
    engine: E,
    /// The data of the step before and of the step after.
    pointers: [&'a [*mut u8]; 2],
    before: Option<&'a Step<E, G>>,
    after: Option<&'a mut Step<E, G>>,
    phase: usize,
}

impl<E: Engine, const G: usize> Meanwhile for Moves<'_, E, G> {
    #[inline(always)]
    fn round(&mut self, round: usize) {
        // Two groups a phase take rounds 1 to 8. Every cipher has these, but a third group would need more.
        const { assert!(G <= 2 * STEP_BLOCKS, "more groups than a step's phases can move") };
        let groups = G.div_ceil(STEP_BLOCKS);
        let g = groups * self.phase + (round - 1) / 4;
        if round % 2 == 1 || round > 4 * groups || g >= G {
            return;
        }
        // SAFETY: the caller of `steps` guarantees that a step's bytes are valid at the pointers of the steps before and after, if there
        // are such steps.
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
pub(super) unsafe fn steps<E: Engine, M: Mode<E>, const G: usize, const LANES: usize>(
    engine: E,
    keys: &LaneKeys<'_, E>,
    shared: bool,
    lanes: &mut Lanes<E, G, LANES>,
    count: usize,
    ragged: bool,
) {
    let Lanes { blocks, history, message, counter, pointers, last, moves, .. } = lanes;
    let mut chain = lanes.chain;
    // The data of the steps in `blocks`.
    let mut places = [if count == 1 { *last } else { *pointers }; 3];
    for (g, group) in blocks[0].iter_mut().enumerate() {
        // SAFETY: the caller guarantees that a step's bytes are readable at each pointer.
        *group = unsafe { engine.gather(self::group::<E>(&places[0], g)) };
    }
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
            if M::COUNTS {
                for g in 0..G {
                    x[1][g] = M::count(engine, &mut counter[g]);
                }
            } else {
                for g in 0..G {
                    x[0][g] = engine.xor(chain[g], now[g][j]);
                }
            }
            let mut moves = Moves {
                engine,
                pointers: [&*before, &*after],
                before: (step > 0).then_some(&*done),
                after: (!is_last).then_some(&mut *next),
                phase: j,
            };
            if !M::COUNTS {
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
                [x[1]] = alone;
            } else {
                encrypt(engine, keys, shared, 0, &mut x, &mut moves);
                if is_last {
                    history[(j + STEP_BLOCKS - 1) % STEP_BLOCKS] = x[0];
                }
            }
            let [chains, key_stream] = x;
            for g in 0..G {
                let input = now[g][j];
                let output = engine.xor(input, key_stream[g]);
                let plain = if !M::DECRYPTS {
                    input
                } else if ragged && is_last {
                    M::masked(engine, input, key_stream[g], message[j][g])
                } else {
                    output
                };
                chain[g] = engine.xor(chains[g], plain);
                now[g][j] = output;
            }
        }
    }
    for g in 0..G {
        // SAFETY: the caller guarantees that a step's bytes are writable at each pointer of the last step.
        unsafe { engine.scatter(blocks[(count + 2) % 3][g], group::<E>(last, g)) };
    }
    if M::COUNTS {
        let mut x = [chain];
        encrypt(engine, keys, shared, 0, &mut x, &mut Nothing);
        [chain] = x;
        history[STEP_BLOCKS - 1] = chain;
    }
    lanes.chain = chain;
}

/// Length of a lane's data in a step, in bytes.
pub(super) const fn step_bytes<E: Engine>() -> usize {
    STEP_BLOCKS * E::Block::BYTES
}
