//! Alternating samples: ours, a peer's, ours, the peer's, so that disturbances of the machine affect both.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Error;
use super::enough::Stopped;
use super::record::{Against, BenchRow};
use super::work::{Contender, TimedWork};
use crate::timing::{cycles_per_s, statistics, thread_time};

/// The lengths of samples and visits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SampleEffort {
    pub(crate) sample: Duration,
    pub(crate) warm_up: Duration,
    /// Time for one comparison, warm-up included.
    pub(crate) visit: Duration,
}

/// The most pairs in a visit. More would add little, because pairs of one visit are alike.
const MOST_PAIRS: usize = 3;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Sample {
    pub(crate) bytes_per_s: f64,
    pub(crate) cycles_per_byte: Option<f64>,
}

/// One visit: adds samples to the measured part of `row`. Every visit after the first adds as many as the first.
pub(crate) fn visit(
    work: &mut dyn TimedWork,
    peers: &[Contender],
    effort: SampleEffort,
    row: &mut BenchRow,
) -> Result<(), Error> {
    let start = Instant::now();
    let runs_of_ours = warm_up(work, Contender::Tress, effort)?;
    let mut ours = Vec::new();
    if peers.is_empty() {
        let spent = start.elapsed();
        ours.push(sample(work, Contender::Tress, runs_of_ours)?);
        let fits = pairs(effort, spent, start.elapsed() - spent);
        for _ in 1..if row.per_visit == 0 { fits } else { row.per_visit } {
            ours.push(sample(work, Contender::Tress, runs_of_ours)?);
        }
    }
    for &contender in peers {
        let start = Instant::now();
        let runs = warm_up(work, contender, effort)?;
        let spent = start.elapsed();
        let (mut rates, per_visit) = match row.against.remove(contender.name()) {
            Some(against) => (against.pairs, against.per_visit),
            None => (Vec::new(), 0),
        };
        let mut count = per_visit.max(1);
        let mut made = 0;
        while made < count {
            // The order alternates, so that a steady drift favours neither.
            let (mine, theirs) = if rates.len() % 2 == 0 {
                let mine = sample(work, Contender::Tress, runs_of_ours)?;
                (mine, sample(work, contender, runs)?)
            } else {
                let theirs = sample(work, contender, runs)?;
                (sample(work, Contender::Tress, runs_of_ours)?, theirs)
            };
            ours.push(mine);
            rates.push([mine.bytes_per_s, theirs.bytes_per_s]);
            made += 1;
            if per_visit == 0 && made == 1 {
                count = pairs(effort, spent, start.elapsed() - spent);
            }
        }
        row.against.insert(contender.name().into(), compare(contender.version(), rates, count, None));
    }
    row.per_visit = ours.len();
    row.samples.extend(ours.iter().map(|sample| sample.bytes_per_s));
    row.cycle_samples.extend(ours.iter().filter_map(|sample| sample.cycles_per_byte));
    row.bytes_per_s = Some(row.summarise());
    row.cycles_per_byte = (!row.cycle_samples.is_empty()).then(|| statistics::median(&row.cycle_samples).median);
    Ok(())
}

/// How many pairs fit into a visit. The number is set once, so that all visits are alike.
fn pairs(effort: SampleEffort, spent: Duration, pair: Duration) -> usize {
    let fits = effort.visit.saturating_sub(spent).as_nanos() / pair.as_nanos().max(1);
    usize::try_from(fits).unwrap_or(MOST_PAIRS).clamp(1, MOST_PAIRS)
}

/// Makes a comparison from pairs of rates, ours first.
pub(crate) fn compare(version: String, pairs: Vec<[f64; 2]>, per_visit: usize, stopped: Option<Stopped>) -> Against {
    let ratios: Vec<f64> = pairs.iter().map(|[ours, theirs]| ours / theirs).collect();
    let theirs: Vec<f64> = pairs.iter().map(|pair| pair[1]).collect();
    let ratio = statistics::median(&statistics::by_visit(&ratios, per_visit));
    Against {
        version,
        ratio: ratio.median,
        ratio_low: ratio.low,
        ratio_high: ratio.high,
        rate: statistics::median(&theirs).median,
        outliers: statistics::outliers(&ratios),
        per_visit,
        stopped,
        count: None,
        pairs,
    }
}

/// Runs until the warm-up time is over, and returns how many runs make a sample.
pub(crate) fn warm_up(work: &mut dyn TimedWork, contender: Contender, effort: SampleEffort) -> Result<u32, Error> {
    let start = Instant::now();
    let (mut fastest, mut count) = (Duration::MAX, 0);
    while count == 0 || start.elapsed() < effort.warm_up {
        fastest = fastest.min(timed(work, contender, 1)?);
        count += 1;
    }
    Ok(runs(effort.sample, fastest, start.elapsed() / count))
}

/// How many runs fill a sample. A clock that stood still once, as under a hypervisor, must not make a sample take
/// minutes, so a run counts as at least a fraction of the average.
fn runs(sample: Duration, fastest: Duration, average: Duration) -> u32 {
    let one = fastest.max(average / 8).max(Duration::from_nanos(1));
    u32::try_from(sample.as_nanos().div_ceil(one.as_nanos())).unwrap_or(u32::MAX).max(1)
}

pub(crate) fn sample(work: &mut dyn TimedWork, contender: Contender, runs: u32) -> Result<Sample, Error> {
    let counts_cycles = work.counts_cycles();
    let before = counts_cycles.then(cycles_per_s).flatten();
    // A rate must be a number, even of a clock that stood still.
    let seconds = timed(work, contender, runs)?.max(Duration::from_nanos(1)).as_secs_f64();
    let after = counts_cycles.then(cycles_per_s).flatten();
    let bytes = work.bytes(contender) as f64 * f64::from(runs);
    // An interruption makes the chain look slower, and nothing makes it look faster, so the larger figure is right.
    let cycles_per_byte = before.zip(after).map(|(before, after)| before.max(after) * seconds / bytes);
    Ok(Sample { bytes_per_s: bytes / seconds, cycles_per_byte })
}

fn timed(work: &mut dyn TimedWork, contender: Contender, runs: u32) -> Result<Duration, Error> {
    if let Some(time) = work.external_time(contender, runs) {
        return time;
    }
    if !work.needs_preparation() {
        let start = thread_time();
        for _ in 0..runs {
            work.run(contender)?;
        }
        return Ok(thread_time() - start);
    }
    // Reading the clock takes a considerable part of each run's time, so the shortest reading is subtracted.
    let reading = (0..8)
        .map(|_| {
            let start = thread_time();
            thread_time() - start
        })
        .min()
        .unwrap_or_default();
    let mut total = Duration::ZERO;
    for _ in 0..runs {
        work.prepare(contender)?;
        let start = thread_time();
        work.run(contender)?;
        total += (thread_time() - start).saturating_sub(reading);
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_as_many_runs_as_fill_it() {
        let micros = Duration::from_micros;
        assert_eq!(runs(micros(4000), micros(3), micros(4)), 1334);
        assert_eq!(runs(micros(4000), micros(9000), micros(9000)), 1);
        // The clock stood still.
        assert_eq!(runs(micros(4000), Duration::ZERO, micros(4)), 8000);
        assert_eq!(runs(micros(4000), Duration::ZERO, Duration::ZERO), 4_000_000);
    }
}
