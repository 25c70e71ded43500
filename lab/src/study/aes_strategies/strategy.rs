//! The strategies to encrypt a file that the study compares: the paper's, and lanes at other places (registers, cores).
//!
//! All encrypt the same bytes in ECB, in place. Threads are started and end inside the measured time.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use std::{hint, io, thread};

use tress_cipher::aes::Aes;
use tress_cipher::modes::ecb;
use tress_cipher::{Backend, BlockCipher};

use super::openmp::OpenMp;
use super::{BLOCK, Direction, KEY};
use crate::study::{Error, Verdict};
use crate::timing::thread_time;

/// Bytes of a thread's batch where lanes are on all cores: 32 chunks of a container.
const BATCH: usize = 32 * 16 * 1024;

/// Code that encrypts blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockCode {
    /// The paper's code.
    Plain,
    /// The library, with the best backend of this machine.
    Library,
}

/// How OpenMP threads wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    Sleeping,
    Spinning,
    /// OpenMP's default: some implementations spin for a while.
    Unspecified,
}

/// A way to encrypt a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// The paper's serial AES.
    Plain,
    /// The paper's parallel AES: rows of one state over threads, with a team of threads for each of the three
    /// functions of a round.
    Rows(Waiting),
    /// Every thread takes the next block from a queue.
    Blocks(BlockCode),
    /// Every thread has one contiguous segment.
    Segments(BlockCode),
    /// The library, called for every block.
    OneByOne,
    /// The library on one core.
    Lanes(Backend),
    /// The library on all cores: every thread takes the next batch from a queue, as the workers of `tress encrypt` do.
    LanesEverywhere,
}

impl Strategy {
    pub(super) fn name(self) -> String {
        match self {
            Strategy::Plain => "plain, one thread".into(),
            Strategy::Rows(Waiting::Sleeping) => "rows over threads, sleeping".into(),
            Strategy::Rows(Waiting::Spinning) => "rows over threads, spinning".into(),
            Strategy::Rows(Waiting::Unspecified) => "rows over threads, OpenMP".into(),
            Strategy::Blocks(BlockCode::Plain) => "blocks over threads, plain".into(),
            Strategy::Blocks(BlockCode::Library) => "blocks over threads, library".into(),
            Strategy::Segments(BlockCode::Plain) => "segments over threads, plain".into(),
            Strategy::Segments(BlockCode::Library) => "segments over threads, library".into(),
            Strategy::OneByOne => "library, block by block".into(),
            Strategy::Lanes(backend) => format!("lanes in one core, {}", backend.name()),
            Strategy::LanesEverywhere => "lanes on all cores".into(),
        }
    }

    /// Whether threads share the rows of one state, which is the paper's idea.
    pub(super) fn is_rows(self) -> bool {
        matches!(self, Strategy::Rows(_))
    }

    /// The strategy's name in the C program. `None` if the program lacks it.
    fn name_in_c(self) -> Option<&'static str> {
        match self {
            Strategy::Rows(_) => Some("rows"),
            Strategy::Blocks(BlockCode::Plain) => Some("blocks"),
            Strategy::Plain | Strategy::Segments(BlockCode::Plain) => Some("segments"),
            _ => None,
        }
    }
}

/// The backend that the library chooses.
pub(super) fn best() -> Backend {
    Backend::best_of(Aes::BACKENDS)
}

pub(super) struct StrategyRunner {
    /// `None` without a C compiler that supports OpenMP.
    pub(super) openmp: Option<OpenMp>,
    /// Threads of the strategies that have several.
    pub(super) threads: usize,
    /// Seconds of one reading of the clock.
    reading_s: f64,
}

/// The times of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct RunTimes {
    pub(super) seconds: f64,
    /// Processor seconds of each thread.
    pub(super) busy_s: Vec<f64>,
    /// Seconds by function, then of blocks that are not divided into functions, of all threads together. Zero unless
    /// the run was watched.
    pub(super) laps: [f64; 5],
    /// Seconds of reading the clock for `laps`.
    pub(super) reading_s: f64,
    /// Seconds in which no thread was in a function, one was, two were at the same time, and so on. Only the C program keeps
    /// them, in runs that are watched; of a long run only its begin.
    pub(super) together_s: Vec<f64>,
}

impl StrategyRunner {
    /// Compiles the C program. If that fails, adds the reason to `left_out`.
    pub(super) fn new(left_out: &mut Vec<Verdict>) -> StrategyRunner {
        let openmp = OpenMp::new().map_err(|why| {
            left_out.push(Verdict::LeftOut(format!(
                "the paper's own construct, OpenMP in C, and with it all rows of the paper: {why}"
            )));
        });
        const READINGS: u32 = 1000;
        let reading = || {
            let start = Instant::now();
            for _ in 0..READINGS {
                hint::black_box(Instant::now());
            }
            start.elapsed().as_secs_f64() / f64::from(READINGS)
        };
        let reading_s = (0..10).map(|_| reading()).fold(f64::INFINITY, f64::min);
        // Two threads, as in the paper; on a machine with one core they share it.
        StrategyRunner { openmp: openmp.ok(), threads: super::cores().max(2), reading_s }
    }

    /// All strategies that this machine can run, those of the paper first.
    pub(super) fn strategies(&self) -> Vec<Strategy> {
        let mut all = vec![Strategy::Plain];
        all.extend([Waiting::Sleeping, Waiting::Spinning, Waiting::Unspecified].map(Strategy::Rows));
        all.extend([BlockCode::Plain, BlockCode::Library].map(Strategy::Blocks));
        all.extend([BlockCode::Plain, BlockCode::Library].map(Strategy::Segments));
        all.extend([Strategy::OneByOne, Strategy::Lanes(Backend::Portable)]);
        if best() != Backend::Portable {
            all.push(Strategy::Lanes(best()));
        }
        all.push(Strategy::LanesEverywhere);
        all.retain(|strategy| self.openmp.is_some() || strategy.name_in_c().is_none());
        all
    }

    pub(super) fn threads(&self, strategy: Strategy) -> usize {
        match strategy {
            Strategy::Plain | Strategy::OneByOne | Strategy::Lanes(_) => 1,
            // A state has four rows.
            Strategy::Rows(_) => self.threads.min(4),
            _ => self.threads,
        }
    }

    /// Encrypts or decrypts whole blocks in place and returns the times. With `is_watched`, it also times the
    /// functions, which makes the run slower.
    ///
    /// # Errors
    /// If the system cannot start a thread. Also errors of the C program; the caller leaves these strategies out and continues.
    pub(super) fn run(
        &self,
        strategy: Strategy,
        direction: Direction,
        is_watched: bool,
        data: &mut [u8],
    ) -> Result<RunTimes, Error> {
        let threads = self.threads(strategy);
        if let (Some(way), Some(openmp)) = (strategy.name_in_c(), &self.openmp) {
            let waiting = if let Strategy::Rows(waiting) = strategy { waiting } else { Waiting::Unspecified };
            return openmp.run(way, waiting, direction, threads, is_watched, data);
        }
        // Keys are prepared before the time begins.
        let cipher = match strategy {
            Strategy::Lanes(backend) => Aes::with_backend(&KEY, backend)?,
            _ => Aes::new(&KEY)?,
        };
        // Bytes that a thread takes at a time, and bytes of one call.
        let piece = match strategy {
            Strategy::Blocks(_) => BLOCK,
            Strategy::LanesEverywhere => BATCH,
            _ => data.len().div_ceil(threads).next_multiple_of(BLOCK).max(BLOCK),
        };
        let call = if strategy == Strategy::OneByOne { BLOCK } else { piece };
        let start = Instant::now();
        let queue = Mutex::new(data.chunks_mut(piece));
        let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || -> Result<(f64, f64, u32), tress_cipher::Error> {
            let (before, mut inside, mut pieces) = (thread_time(), 0.0, 0);
            while let Some(piece) = take() {
                let start = is_watched.then(Instant::now);
                for blocks in piece.chunks_mut(call) {
                    match direction {
                        Direction::Encrypt => ecb::encrypt(&cipher, blocks)?,
                        Direction::Decrypt => ecb::decrypt(&cipher, blocks)?,
                    }
                }
                inside += start.map_or(0.0, |start| start.elapsed().as_secs_f64());
                pieces += 1;
                // Each thread has one segment, even if another starts late.
                if matches!(strategy, Strategy::Segments(_)) {
                    break;
                }
            }
            Ok(((thread_time() - before).as_secs_f64(), inside, pieces))
        };
        let refused = |error: io::Error| Error::Threads(error.to_string());
        let spent = thread::scope(|scope| {
            let others: Result<Vec<_>, Error> =
                (1..threads).map(|_| thread::Builder::new().spawn_scoped(scope, work).map_err(refused)).collect();
            let mut spent = vec![work()?];
            for other in others? {
                spent.push(other.join().map_err(|_| refused(io::Error::other("a thread panicked")))??);
            }
            Ok::<_, Error>(spent)
        })?;
        let mut run = RunTimes { seconds: start.elapsed().as_secs_f64(), ..RunTimes::default() };
        for (busy_s, inside, pieces) in spent {
            if cfg!(unix) {
                run.busy_s.push(busy_s);
            }
            if is_watched {
                // Of the two readings around a piece, the time of about one is included.
                let reading_s = f64::from(pieces) * self.reading_s;
                run.laps[4] += (inside - reading_s).max(0.0);
                run.reading_s += 2.0 * reading_s;
            }
        }
        Ok(run)
    }
}
