//! Alternating measurements of strategies: one run of each, then the next of each, so that disturbances of the
//! machine affect all of them. A strategy that is too slow for the whole file gets its first blocks, and the
//! extrapolated time is labelled as such.

use super::strategy::{RunTimes, Strategy, StrategyRunner};
use super::{BLOCK, Direction};
use crate::study::busy::BusyMonitor;
use crate::study::{Effort, Error, Measured, Verdict};

/// Bytes of the first trial of a strategy.
const TRIAL: usize = 8 * BLOCK;

pub(super) struct StrategyRuns {
    pub(super) strategy: Strategy,
    /// Bytes of a run, and bytes of the file.
    pub(super) bytes: usize,
    pub(super) of: usize,
    pub(super) runs: Vec<RunTimes>,
    /// Runs with clocks around functions, if they were asked for.
    pub(super) watched: Vec<RunTimes>,
}

/// The longest time of a run, in seconds.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    /// For the strategies with rows, which are slow.
    pub(super) rows_s: f64,
    /// For the other strategies.
    pub(super) others_s: f64,
}

impl Budget {
    pub(super) fn new(effort: &Effort) -> Budget {
        if effort.is_quick { Budget { rows_s: 0.1, others_s: 1.0 } } else { Budget { rows_s: 0.4, others_s: 10.0 } }
    }
}

impl StrategyRuns {
    /// Seconds of each run, scaled up to a file of `bytes` bytes; unscaled if the run was longer.
    pub(super) fn seconds(&self, bytes: usize) -> Vec<f64> {
        let scale = if self.bytes >= bytes { 1.0 } else { bytes as f64 / self.bytes as f64 };
        self.runs.iter().map(|run| run.seconds * scale).collect()
    }

    /// Median of nanoseconds per byte.
    pub(super) fn ns_per_byte(&self) -> f64 {
        Measured::of(&self.seconds(0)).median * 1e9 / self.bytes as f64
    }

    /// How many times as fast as another strategy, from pairs of runs.
    pub(super) fn gain_over(&self, other: &StrategyRuns) -> Measured {
        let bytes = self.bytes.max(other.bytes);
        Measured::ratio(&other.seconds(bytes), &self.seconds(bytes))
    }

    /// Label for a figure that was extrapolated to `bytes` bytes. Empty for a measured figure.
    pub(super) fn label(&self, bytes: usize) -> String {
        if self.bytes >= bytes { String::new() } else { format!(", extrapolated from {}", size(self.bytes)) }
    }
}

pub(super) fn of(turns: &[StrategyRuns], strategy: Strategy) -> Option<&StrategyRuns> {
    turns.iter().find(|turns| turns.strategy == strategy)
}

/// A number of bytes, for people.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

/// Bytes of the file that fit into the budget, or the reason why a strategy cannot run.
pub(super) fn bytes_in_budget(
    bench: &StrategyRunner,
    strategy: Strategy,
    direction: Direction,
    file: &[u8],
    budget: Budget,
) -> Result<usize, Error> {
    let limit = if strategy.is_rows() { budget.rows_s } else { budget.others_s };
    let mut bytes = TRIAL.min(file.len());
    loop {
        let seconds = bench.run(strategy, direction, false, &mut file[..bytes].to_vec())?.seconds;
        if bytes == file.len() || seconds > limit / 8.0 {
            let room = (bytes as f64 * limit / seconds.max(1e-9)) as usize / BLOCK * BLOCK;
            return Ok(room.clamp(TRIAL.min(file.len()), file.len()));
        }
        bytes = (bytes * 8).min(file.len());
    }
}

/// Settings and results of a measurement of several strategies.
pub(super) struct Measurement<'a> {
    pub(super) bench: &'a StrategyRunner,
    pub(super) samples: usize,
    pub(super) budget: Budget,
    /// Whether every run is followed by one with clocks around functions.
    pub(super) is_watched: bool,
    /// Strategies that cannot run.
    pub(super) left_out: &'a mut Vec<Verdict>,
    /// Checks whether the machine is busy during the measurement.
    pub(super) monitor: &'a mut BusyMonitor,
}

impl Measurement<'_> {
    /// Runs all strategies alternately.
    pub(super) fn run(
        &mut self,
        strategies: &[Strategy],
        direction: Direction,
        file: &[u8],
    ) -> Result<Vec<StrategyRuns>, Error> {
        let progress = crate::timing::progress(((self.samples + 1) * strategies.len()) as u64);
        let mut all = Vec::new();
        for &strategy in strategies {
            progress.set_message(strategy.name());
            match bytes_in_budget(self.bench, strategy, direction, file, self.budget) {
                Ok(bytes) => {
                    all.push(StrategyRuns { strategy, bytes, of: file.len(), runs: Vec::new(), watched: Vec::new() });
                }
                Err(Error::Worker(why)) => {
                    self.left_out.push(Verdict::LeftOut(format!("{}: {why}", strategy.name())));
                }
                Err(error) => return Err(error),
            }
            progress.inc(1);
        }
        for _ in 0..self.samples {
            for turns in &mut all {
                self.monitor.check();
                progress.set_message(turns.strategy.name());
                let mut data = file[..turns.bytes].to_vec();
                turns.runs.push(self.bench.run(turns.strategy, direction, false, &mut data)?);
                if self.is_watched {
                    turns.watched.push(self.bench.run(turns.strategy, direction, true, &mut data)?);
                }
                progress.inc(1);
            }
        }
        progress.finish_and_clear();
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(bytes: usize, seconds: &[f64]) -> StrategyRuns {
        let run = |&seconds| RunTimes { seconds, ..RunTimes::default() };
        let runs = seconds.iter().map(run).collect();
        StrategyRuns { strategy: Strategy::Plain, bytes, of: 1000, runs, watched: Vec::new() }
    }

    /// By hand.
    #[test]
    fn a_part_is_extrapolated_to_the_file() {
        let (whole, part) = (turns(1000, &[1.0, 2.0, 3.0]), turns(100, &[1.0, 4.0, 1.0]));
        assert_eq!((whole.seconds(1000), whole.label(1000).as_str()), (vec![1.0, 2.0, 3.0], ""));
        assert_eq!(
            (part.seconds(1000), part.label(1000).as_str()),
            (vec![10.0, 40.0, 10.0], ", extrapolated from 100 bytes")
        );
        assert!((part.ns_per_byte() - 1e7).abs() < 1e-3);
        // 1/10, 2/40, 3/10 by pairs.
        assert!((part.gain_over(&whole).median - 0.1).abs() < 1e-12);
    }
}
