//! Measuring strategies in turn: one run of each, then the next of each, so that whatever else the machine does meets all of
//! them. What is too slow for the whole file gets its first blocks, and what it would take for all of them is told as such.

use super::{
    openmp::OpenMp,
    plain::{BLOCK, Direction},
    strategy::{Bench, Run, Strategy},
};
use crate::{
    bench::statistics,
    study::{Error, Measured, Verdict, busy::Looks},
};

/// The first blocks that a strategy is tried on.
const TRIAL: usize = 8 * BLOCK;

/// What a strategy took.
pub(super) struct Turns {
    pub(super) strategy: Strategy,
    /// Bytes of a run, and of the file.
    pub(super) bytes: usize,
    pub(super) of: usize,
    pub(super) runs: Vec<Run>,
}

/// How much a run may take, in seconds.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    /// Of the strategies that are known to be slow.
    pub(super) rows_s: f64,
    /// Of the others.
    pub(super) others_s: f64,
}

impl Turns {
    /// Seconds for the whole file.
    pub(super) fn seconds(&self) -> Measured {
        let scale = self.of as f64 / self.bytes as f64;
        self.median(|run| run.seconds * scale)
    }

    /// Nanoseconds for a byte.
    pub(super) fn ns_per_byte(&self) -> Measured {
        self.median(|run| run.seconds * 1e9 / self.bytes as f64)
    }

    /// How many times as fast as another, from pairs of runs.
    pub(super) fn gain_over(&self, other: &Turns) -> Measured {
        let per_byte = |turns: &Turns, run: &Run| run.seconds / turns.bytes as f64;
        let ratios: Vec<f64> = other
            .runs
            .iter()
            .zip(&self.runs)
            .map(|(theirs, ours)| per_byte(other, theirs) / per_byte(self, ours))
            .collect();
        statistics::median(&ratios).into()
    }

    /// A figure of every run.
    pub(super) fn median(&self, of: impl Fn(&Run) -> f64) -> Measured {
        statistics::median(&self.runs.iter().map(of).collect::<Vec<_>>()).into()
    }

    /// That a figure for the file is not one that was measured; empty where it is.
    pub(super) fn label(&self) -> String {
        if self.bytes == self.of { String::new() } else { format!(", extrapolated from {}", size(self.bytes)) }
    }
}

/// Bytes, for people.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

/// How many bytes of the file a run is given, and what stands in the way of a strategy.
pub(super) fn fitting(
    bench: &Bench<'_>,
    strategy: Strategy,
    direction: Direction,
    file: &[u8],
    budget: Budget,
) -> Result<usize, Error> {
    let limit = if strategy.is_rows() { budget.rows_s } else { budget.others_s };
    let mut bytes = TRIAL.min(file.len());
    loop {
        let mut data = file[..bytes].to_vec();
        let seconds = bench.run(strategy, direction, false, &mut data)?.seconds;
        if bytes == file.len() || seconds > limit / 8.0 {
            let room = bytes as f64 * limit / seconds.max(1e-9);
            return Ok(if seconds > 0.0 && room < file.len() as f64 {
                ((room as usize) / BLOCK * BLOCK).clamp(TRIAL.min(file.len()), file.len())
            } else {
                file.len()
            });
        }
        bytes = (bytes * 8).min(file.len());
    }
}

/// What is found beside figures.
pub(super) struct Notes<'a> {
    /// Strategies that cannot run.
    pub(super) left_out: &'a mut Vec<Verdict>,
    /// What else the machine does meanwhile.
    pub(super) looks: &'a mut Looks,
}

/// Runs all strategies in turn.
pub(super) fn measure(
    bench: &Bench<'_>,
    strategies: &[Strategy],
    direction: Direction,
    file: &[u8],
    samples: usize,
    budget: Budget,
    notes: &mut Notes<'_>,
) -> Result<Vec<Turns>, Error> {
    let progress = crate::bench::progress(((samples + 1) * strategies.len()) as u64);
    let mut turns = Vec::new();
    for &strategy in strategies.iter().filter(|strategy| bench.has(**strategy)) {
        progress.set_message(strategy.name());
        match fitting(bench, strategy, direction, file, budget) {
            Ok(bytes) => turns.push(Turns { strategy, bytes, of: file.len(), runs: Vec::with_capacity(samples) }),
            Err(Error::Worker(why)) => notes.left_out.push(Verdict::LeftOut(format!("{}: {why}", strategy.name()))),
            Err(error) => return Err(error),
        }
        progress.inc(1);
    }
    let mut data = Vec::with_capacity(file.len());
    for _ in 0..samples {
        for turns in &mut turns {
            notes.looks.look();
            progress.set_message(turns.strategy.name());
            data.clear();
            data.extend_from_slice(&file[..turns.bytes]);
            turns.runs.push(bench.run(turns.strategy, direction, false, &mut data)?);
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    Ok(turns)
}

/// The C program, or that it is left out.
pub(super) fn openmp(verdicts: &mut Vec<Verdict>) -> Option<OpenMp> {
    match OpenMp::new() {
        Ok(openmp) => Some(openmp),
        Err(why) => {
            verdicts.push(Verdict::LeftOut(format!("the paper's own construct, OpenMP in C: {why}")));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::aes_strategies::threads::Laps;

    fn turns(bytes: usize, seconds: &[f64]) -> Turns {
        let run = |&seconds| Run { seconds, busy_s: vec![seconds], laps: Laps::default() };
        Turns { strategy: Strategy::Plain, bytes, of: 1000, runs: seconds.iter().map(run).collect() }
    }

    /// By hand.
    #[test]
    fn a_part_stands_for_the_file() {
        let (whole, part) = (turns(1000, &[1.0, 2.0, 3.0]), turns(100, &[1.0, 4.0, 1.0]));
        assert_eq!((whole.seconds().median, whole.label().as_str()), (2.0, ""));
        assert_eq!((part.seconds().median, part.label().as_str()), (10.0, ", extrapolated from 100 bytes"));
        assert!((part.ns_per_byte().median - 1e7).abs() < 1e-3);
        // 1/10, 2/40, 3/10 by pairs.
        assert!((part.gain_over(&whole).median - 0.1).abs() < 1e-12);
    }
}
