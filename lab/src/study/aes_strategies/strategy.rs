//! The ways to encrypt a file that are compared: the paper's, and those on other rungs of the ladder of lanes.
//!
//! All encrypt the same bytes in ECB, in place. Threads are started in the time that is measured, and live until its end.

use std::{
    io,
    slice::ChunksMut,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use tress_cipher::{Backend, BlockCipher, aes::Aes, modes::ecb};

use super::{
    openmp::{self, OpenMp},
    plain::{self, BLOCK, Direction, Function, Keys, Own, Shared, State},
    threads::{Gate, Laps, Other, Part, Sleeping, Spent, Spinning, Stopwatch, Unwatched, Watch, beside, spend},
};
use crate::study::Error;

/// Bytes that a thread takes at a time where lanes are on all cores: 32 chunks of a container.
const BATCH: usize = 32 * 16 * 1024;
/// States that go through a function together where its time is taken, so that the clock is read once for all of them.
const TOGETHER: usize = 64;

/// How blocks are encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// The paper's.
    Plain,
    /// The best backend that this machine has.
    Library,
}

/// One way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// The paper's serial AES.
    Plain,
    /// The paper's: rows of one state over threads that sleep, or ask, where they wait.
    RowsSleeping,
    RowsSpinning,
    /// In C, by the construct that the paper used.
    C(openmp::Way),
    /// Every thread takes the next block of a queue.
    Blocks(Code),
    /// Every thread has one contiguous part.
    Segments(Code),
    /// The library, called for every block.
    OneByOne,
    /// The library on one core.
    Lanes(Backend),
    /// The library on all cores: every thread takes the next batch of a queue, as the workers of `tress encrypt` do.
    LanesEverywhere,
}

impl Strategy {
    /// All that this machine can do, those of the paper first.
    pub(super) fn all() -> Vec<Strategy> {
        let mut all = vec![Strategy::Plain, Strategy::RowsSleeping, Strategy::RowsSpinning];
        all.extend(openmp::Way::ALL.map(Strategy::C));
        all.extend([Code::Plain, Code::Library].map(Strategy::Blocks));
        all.extend([Code::Plain, Code::Library].map(Strategy::Segments));
        all.push(Strategy::OneByOne);
        all.push(Strategy::Lanes(Backend::Portable));
        if best() != Backend::Portable {
            all.push(Strategy::Lanes(best()));
        }
        all.push(Strategy::LanesEverywhere);
        all
    }

    pub(super) fn name(self) -> String {
        match self {
            Strategy::Plain => "plain, one thread".into(),
            Strategy::RowsSleeping => "rows over threads, sleeping".into(),
            Strategy::RowsSpinning => "rows over threads, spinning".into(),
            Strategy::C(way) => way.name().into(),
            Strategy::Blocks(Code::Plain) => "blocks over threads, plain".into(),
            Strategy::Blocks(Code::Library) => "blocks over threads, library".into(),
            Strategy::Segments(Code::Plain) => "segments over threads, plain".into(),
            Strategy::Segments(Code::Library) => "segments over threads, library".into(),
            Strategy::OneByOne => "library, block by block".into(),
            Strategy::Lanes(backend) => format!("lanes in one core, {}", backend.name()),
            Strategy::LanesEverywhere => "lanes on all cores".into(),
        }
    }

    /// Whether the rows of one state are shared out: the paper's idea.
    pub(super) fn is_rows(self) -> bool {
        matches!(self, Strategy::RowsSleeping | Strategy::RowsSpinning | Strategy::C(openmp::Way::Rows))
    }

    /// How many threads work, of those that there may be.
    pub(super) fn threads(self, most: usize) -> usize {
        match self {
            Strategy::Plain | Strategy::OneByOne | Strategy::Lanes(_) | Strategy::C(openmp::Way::Plain) => 1,
            // A state has four rows.
            Strategy::RowsSleeping | Strategy::RowsSpinning | Strategy::C(openmp::Way::Rows) => most.min(4),
            _ => most,
        }
    }
}

/// The backend that the library takes by itself.
pub(super) fn best() -> Backend {
    Backend::best_of(Aes::BACKENDS)
}

/// A key, prepared for all strategies, and what they run on.
pub(super) struct Bench<'a> {
    key: [u8; BLOCK],
    keys: Keys,
    library: Aes,
    /// Where there is a C compiler that knows OpenMP.
    openmp: Option<&'a OpenMp>,
    /// Threads of the strategies that have several.
    pub(super) threads: usize,
}

/// What one run took.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) seconds: f64,
    /// Processor seconds of each thread.
    pub(super) busy_s: Vec<f64>,
    /// By function, of all threads together; nothing unless somebody looked.
    pub(super) laps: Laps,
}

impl<'a> Bench<'a> {
    /// # Errors
    /// None that a machine can cause.
    pub(super) fn new(key: [u8; BLOCK], openmp: Option<&'a OpenMp>) -> Result<Bench<'a>, Error> {
        // The paper has two cores; with one the threads of a strategy share it.
        let threads = super::cores().max(2);
        Ok(Bench { key, keys: Keys::new(&key), library: Aes::new(&key)?, openmp, threads })
    }

    pub(super) fn has(&self, strategy: Strategy) -> bool {
        self.openmp.is_some() || !matches!(strategy, Strategy::C(_))
    }

    /// Encrypts or decrypts whole blocks in place and says what it took. With `is_watched` it says what functions took,
    /// and takes longer.
    ///
    /// # Errors
    /// When the system has no more threads; what the C program says, which is left out rather than a failure of the study.
    pub(super) fn run(
        &self,
        strategy: Strategy,
        direction: Direction,
        is_watched: bool,
        data: &mut [u8],
    ) -> Result<Run, Error> {
        if let (Strategy::C(way), Some(openmp)) = (strategy, self.openmp) {
            let threads = strategy.threads(self.threads);
            return openmp.run(way, direction, &self.key, threads, is_watched, data);
        }
        // A backend that is no part of the strategy is prepared before the time begins, as all keys are.
        let library = match strategy {
            Strategy::Lanes(backend) => Aes::with_backend(&self.key, backend)?,
            _ => self.library.clone(),
        };
        let start = Instant::now();
        let spent = if is_watched {
            self.spend::<Stopwatch>(strategy, direction, &library, data)
        } else {
            self.spend::<Unwatched>(strategy, direction, &library, data)
        };
        let seconds = start.elapsed().as_secs_f64();
        let spent = spent.map_err(|error| Error::Threads(error.to_string()))?;
        let mut laps = Laps::default();
        spent.iter().for_each(|spent| laps.add(&spent.laps));
        Ok(Run { seconds, busy_s: spent.iter().filter_map(|spent| spent.busy_s).collect(), laps })
    }

    fn spend<W: Watch>(
        &self,
        strategy: Strategy,
        direction: Direction,
        library: &Aes,
        data: &mut [u8],
    ) -> io::Result<Vec<Spent>> {
        let threads = strategy.threads(self.threads);
        let keys = &self.keys;
        let plainly = move |watch: &mut W, data: &mut [u8]| plain_blocks(keys, direction, watch, data);
        let by_library = move |watch: &mut W, data: &mut [u8]| {
            ecb_in_place(library, direction, data);
            watch.lap(Part::Together);
        };
        match strategy {
            Strategy::Plain => Ok(vec![spend(|watch| plainly(watch, data))]),
            Strategy::RowsSleeping => rows::<W, Sleeping>(keys, direction, threads, data),
            Strategy::RowsSpinning => rows::<W, Spinning>(keys, direction, threads, data),
            Strategy::Blocks(code) => queue(threads, BLOCK, data, |watch: &mut W, data| match code {
                Code::Plain => {
                    plain::block(keys, direction, data);
                    watch.lap(Part::Together);
                }
                Code::Library => by_library(watch, data),
            }),
            Strategy::Segments(Code::Plain) => segments(threads, data, plainly),
            Strategy::Segments(Code::Library) => segments(threads, data, by_library),
            Strategy::OneByOne => Ok(vec![spend(|watch: &mut W| {
                for block in data.chunks_exact_mut(BLOCK) {
                    ecb_in_place(library, direction, block);
                }
                watch.lap(Part::Together);
            })]),
            Strategy::LanesEverywhere => queue(threads, BATCH, data, by_library),
            // Without a C compiler nobody comes here.
            Strategy::Lanes(_) | Strategy::C(_) => Ok(vec![spend(|watch| by_library(watch, data))]),
        }
    }
}

fn ecb_in_place(library: &Aes, direction: Direction, data: &mut [u8]) {
    // Only a part of a block is refused, and there is none.
    let _ = match direction {
        Direction::Encrypt => ecb::encrypt(library, data),
        Direction::Decrypt => ecb::decrypt(library, data),
    };
}

/// The paper's serial AES. Where somebody looks, some blocks go through each function together: the same work in another
/// order.
fn plain_blocks<W: Watch>(keys: &Keys, direction: Direction, watch: &mut W, data: &mut [u8]) {
    if std::mem::size_of::<W>() == 0 {
        plain::blocks(keys, direction, data);
        return;
    }
    let states: Vec<Own> = (0..TOGETHER).map(|_| Own::default()).collect();
    let steps = plain::steps(direction);
    watch.skip();
    for group in data.chunks_mut(TOGETHER * BLOCK) {
        let used = group.len() / BLOCK;
        for (state, block) in states.iter().zip(group.chunks_exact(BLOCK)) {
            state.load(block);
        }
        watch.skip();
        for step in &steps {
            for state in &states[..used] {
                step.share(state, keys, 0, 1);
            }
            watch.lap(Part::One(step.function));
        }
        for (state, block) in states.iter().zip(group.chunks_exact_mut(BLOCK)) {
            state.store(block);
        }
        watch.skip();
    }
}

/// The paper's idea: SubBytes, ShiftRows and MixColumns of one state over threads, with a barrier after each; the rest by the
/// first thread.
fn rows<W: Watch, G: Gate>(
    keys: &Keys,
    direction: Direction,
    threads: usize,
    data: &mut [u8],
) -> io::Result<Vec<Spent>> {
    let (gate, state, steps) = (G::new(threads), Shared::default(), plain::steps(direction));
    let (gate, state, steps) = (&gate, &state, &steps[..]);
    let last = steps.len() - 1;
    let blocks = data.len() / BLOCK;
    let other = move |thread: usize| {
        move || {
            spend(|watch: &mut W| {
                for _ in 0..blocks {
                    for step in &steps[..last] {
                        if step.function != Function::AddRoundKey {
                            step.share(state, keys, thread, threads);
                            watch.lap(Part::One(step.function));
                        }
                        gate.wait();
                        watch.skip();
                    }
                }
            })
        }
    };
    let first = || {
        spend(|watch: &mut W| {
            for block in data.chunks_exact_mut(BLOCK) {
                state.load(block);
                watch.skip();
                for (place, step) in steps.iter().enumerate() {
                    let threads = if step.function == Function::AddRoundKey { 1 } else { threads };
                    step.share(state, keys, 0, threads);
                    watch.lap(Part::One(step.function));
                    // After its last step a block waits for nobody: the next one begins in this thread.
                    if place < last {
                        gate.wait();
                        watch.skip();
                    }
                }
                state.store(block);
            }
        })
    };
    beside(first, (1..threads).map(|thread| Box::new(other(thread)) as Other<'_>).collect())
}

/// Every thread takes the next piece.
fn queue<W: Watch>(
    threads: usize,
    piece: usize,
    data: &mut [u8],
    work: impl Fn(&mut W, &mut [u8]) + Sync,
) -> io::Result<Vec<Spent>> {
    let queue: Mutex<ChunksMut<'_, u8>> = Mutex::new(data.chunks_mut(piece));
    let (queue, work) = (&queue, &work);
    let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let thread = || {
        spend(|watch: &mut W| {
            while let Some(piece) = take() {
                watch.skip();
                work(watch, piece);
            }
        })
    };
    beside(thread, (1..threads).map(|_| Box::new(thread) as Other<'_>).collect())
}

/// Every thread has one contiguous part.
fn segments<W: Watch>(
    threads: usize,
    data: &mut [u8],
    work: impl Fn(&mut W, &mut [u8]) + Sync,
) -> io::Result<Vec<Spent>> {
    let work = &work;
    let segment = data.len().div_ceil(threads).next_multiple_of(BLOCK).max(BLOCK);
    let mut parts = data.chunks_mut(segment);
    let first = parts.next();
    let others = parts.map(|part| Box::new(move || spend(|watch: &mut W| work(watch, part))) as Other<'_>).collect();
    beside(|| spend(|watch: &mut W| first.into_iter().for_each(|part| work(watch, part))), others)
}
