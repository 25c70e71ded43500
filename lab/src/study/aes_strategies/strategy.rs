//! The ways to encrypt a file that are compared: the paper's, and those on other rungs of the ladder of lanes.
//!
//! All encrypt the same bytes in ECB, in place. Threads are started in the time that is measured, and live until its end.

use std::{
    hint, io,
    sync::{Mutex, PoisonError},
    thread,
    time::Instant,
};

use tress_cipher::{Backend, BlockCipher, aes::Aes, modes::ecb};

use super::{BLOCK, Direction, KEY, openmp::OpenMp};
use crate::{
    study::{Error, Verdict},
    timing::thread_time,
};

/// Bytes that a thread takes at a time where lanes are on all cores: 32 chunks of a container.
const BATCH: usize = 32 * 16 * 1024;

/// How blocks are encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// The paper's.
    Plain,
    /// The best backend that this machine has.
    Library,
}

/// How threads of OpenMP wait for one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    Sleeping,
    Spinning,
    /// As OpenMP has it: some spin for a while.
    Unsaid,
}

/// One way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// The paper's serial AES.
    Plain,
    /// The paper's: rows of one state over threads, a team of them for each of the three functions of a round.
    Rows(Waiting),
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
    pub(super) fn name(self) -> String {
        match self {
            Strategy::Plain => "plain, one thread".into(),
            Strategy::Rows(Waiting::Sleeping) => "rows over threads, sleeping".into(),
            Strategy::Rows(Waiting::Spinning) => "rows over threads, spinning".into(),
            Strategy::Rows(Waiting::Unsaid) => "rows over threads, OpenMP".into(),
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
        matches!(self, Strategy::Rows(_))
    }

    /// What the C program calls it, if it is one of its.
    fn in_c(self) -> Option<&'static str> {
        match self {
            Strategy::Rows(_) => Some("rows"),
            Strategy::Blocks(Code::Plain) => Some("blocks"),
            Strategy::Plain | Strategy::Segments(Code::Plain) => Some("segments"),
            _ => None,
        }
    }
}

/// The backend that the library takes by itself.
pub(super) fn best() -> Backend {
    Backend::best_of(Aes::BACKENDS)
}

/// What strategies run on.
pub(super) struct Bench {
    /// Where there is a C compiler that knows OpenMP.
    pub(super) openmp: Option<OpenMp>,
    /// Threads of the strategies that have several.
    pub(super) threads: usize,
    /// What one reading of the clock takes.
    reading_s: f64,
}

/// What one run took.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) seconds: f64,
    /// Processor seconds of each thread.
    pub(super) busy_s: Vec<f64>,
    /// Seconds by function, then of what is not divided, of all threads together; nothing unless somebody looked.
    pub(super) laps: [f64; 5],
    /// What reading the clock took for that.
    pub(super) reading_s: f64,
}

impl Bench {
    /// With the C program, or the reason in `left_out` why there is none.
    pub(super) fn new(left_out: &mut Vec<Verdict>) -> Bench {
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
        // The paper has two cores; with one the threads of a strategy share it.
        Bench { openmp: openmp.ok(), threads: super::cores().max(2), reading_s }
    }

    /// All that this machine can do, those of the paper first.
    pub(super) fn strategies(&self) -> Vec<Strategy> {
        let mut all = vec![Strategy::Plain];
        all.extend([Waiting::Sleeping, Waiting::Spinning, Waiting::Unsaid].map(Strategy::Rows));
        all.extend([Code::Plain, Code::Library].map(Strategy::Blocks));
        all.extend([Code::Plain, Code::Library].map(Strategy::Segments));
        all.extend([Strategy::OneByOne, Strategy::Lanes(Backend::Portable)]);
        if best() != Backend::Portable {
            all.push(Strategy::Lanes(best()));
        }
        all.push(Strategy::LanesEverywhere);
        all.retain(|strategy| self.openmp.is_some() || strategy.in_c().is_none());
        all
    }

    /// How many threads work.
    pub(super) fn threads(&self, strategy: Strategy) -> usize {
        match strategy {
            Strategy::Plain | Strategy::OneByOne | Strategy::Lanes(_) => 1,
            // A state has four rows.
            Strategy::Rows(_) => self.threads.min(4),
            _ => self.threads,
        }
    }

    /// Encrypts or decrypts whole blocks in place and says what it took. With `is_watched` it says what functions took, and takes
    /// longer.
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
        let threads = self.threads(strategy);
        if let (Some(way), Some(openmp)) = (strategy.in_c(), &self.openmp) {
            let waiting = if let Strategy::Rows(waiting) = strategy { waiting } else { Waiting::Unsaid };
            return openmp.run(way, waiting, direction, threads, is_watched, data);
        }
        // Keys are prepared before the time begins.
        let cipher = match strategy {
            Strategy::Lanes(backend) => Aes::with_backend(&KEY, backend)?,
            _ => Aes::new(&KEY)?,
        };
        // Bytes that a thread takes at a time, and those of a call.
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
                // Each has one, however late the other comes.
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
        let mut run = Run { seconds: start.elapsed().as_secs_f64(), ..Run::default() };
        for (busy_s, inside, pieces) in spent {
            if cfg!(unix) {
                run.busy_s.push(busy_s);
            }
            if is_watched {
                // Of the two readings of a piece about one is between them.
                let reading_s = f64::from(pieces) * self.reading_s;
                run.laps[4] += (inside - reading_s).max(0.0);
                run.reading_s += 2.0 * reading_s;
            }
        }
        Ok(run)
    }
}
