//! Sections 4.3 and 4.4, for which the paper used a profiler: time by function, the number of threads that were
//! created, and the share of time in which each core was busy.
//!
//! Reading a clock takes longer than a function of one state, so functions are timed in separate runs. Plain code
//! processes 64 states with each function before it reads the clock; rows over threads read it around every share.
//! The time of the readings is subtracted.

use super::files::{self, disk_s};
use super::strategy::{RunTimes, Strategy, StrategyRunner, Waiting};
use super::turns::{self, Budget, Measurement, StrategyRuns, size};
use super::{Direction, Function};
use crate::picture::Group;
use crate::picture::bars::Bars;
use crate::study::busy::BusyMonitor;
use crate::study::{Claim, Effort, Error, Measured, Picture, Section, StudyRow, StudyTable, Verdict, figure};

/// Nanoseconds of thread time per byte of the file: the four functions, blocks that are not divided into functions,
/// and the rest, in which threads start and wait.
fn ns_per_byte(turns: &StrategyRuns, threads: usize) -> [f64; 6] {
    let rest = |run: &RunTimes| (run.seconds * threads as f64 - run.laps.iter().sum::<f64>() - run.reading_s).max(0.0);
    std::array::from_fn(|place| {
        let part = |run: &RunTimes| run.laps.get(place).copied().unwrap_or_else(|| rest(run));
        Measured::of(&turns.watched.iter().map(part).collect::<Vec<_>>()).median * 1e9 / turns.bytes as f64
    })
}

/// Per cent of the time in which a thread had a core.
fn busy(turns: &StrategyRuns, thread: usize) -> Option<f64> {
    let shares: Option<Vec<f64>> =
        turns.runs.iter().map(|run| Some((100.0 * run.busy_s.get(thread)? / run.seconds).min(100.0))).collect();
    shares.map(|shares| Measured::of(&shares).median)
}

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let bytes = if effort.is_quick { 500_000 } else { 5_000_000 };
    let samples = if effort.is_quick { 3 } else { 7 };
    let mut section = Section::begin(&super::STUDY, "functions", &[("size", &size(bytes))]);
    let bench = StrategyRunner::new(&mut section.verdicts);
    let file = files::padded(&files::text(bytes));
    let mut monitor = BusyMonitor::default();
    let (left_out, budget) = (&mut section.verdicts, Budget::new(effort));
    let mut measuring =
        Measurement { bench: &bench, samples, budget, is_watched: true, left_out, monitor: &mut monitor };
    let all = measuring.run(&bench.strategies(), Direction::Encrypt, &file)?;
    work_per_file(&mut section, &bench, &file, samples.max(5))?;
    section.rows.extend(monitor.row());
    by_function(&mut section, &bench, &all, &monitor);
    match monitor.busy() {
        None => section.tables.extend(efficiency(&all, |strategy| bench.threads(strategy))),
        Some(why) => section.verdicts.push(Verdict::LeftOut(format!("efficiency in each function. {why}"))),
    }
    core_usage(&mut section, &bench, &all);
    at_the_same_time(&mut section, &all, &monitor);
    Ok(section)
}

/// Work that is done once for a file, by every strategy.
fn work_per_file(section: &mut Section, bench: &StrategyRunner, file: &[u8], samples: usize) -> Result<(), Error> {
    if let Some(openmp) = &bench.openmp {
        let schedule = || openmp.micro(Waiting::Unspecified, 1).map(|micro| micro.schedule * 1e9);
        let ns = (0..samples).map(|_| schedule()).collect::<Result<Vec<_>, _>>()?;
        section.rows.push(StudyRow::measured("the key schedule, plain, once per file", "ns", Measured::of(&ns)));
    }
    for (what, seconds) in ["reading", "writing"].into_iter().zip(disk_s(file, samples)?) {
        let ns: Vec<f64> = seconds.iter().map(|seconds| seconds * 1e9 / file.len() as f64).collect();
        let what = format!("{what}, the same for all strategies");
        section.rows.push(StudyRow::measured(what, "ns per byte", Measured::of(&ns)));
    }
    Ok(())
}

pub(super) const REST: &str = "waiting and the rest";

fn by_function(section: &mut Section, bench: &StrategyRunner, all: &[StrategyRuns], monitor: &BusyMonitor) {
    let mut names: Vec<&str> = Function::ALL.iter().map(|function| function.name()).collect();
    names.extend(["all four functions", REST]);
    let columns =
        [&["strategy", "threads", "bytes"], &names[..], &["with clocks, all threads", "without clocks, all threads"]];
    let mut table = StudyTable::new("Measured, ns of thread time per byte of the file", &columns.concat());
    let mut groups = Vec::new();
    for turns in all {
        let (name, threads) = (turns.strategy.name(), bench.threads(turns.strategy));
        let parts = ns_per_byte(turns, threads);
        let total: f64 = parts.iter().sum();
        let mut row = vec![name.clone(), threads.to_string(), turns.bytes.to_string()];
        row.extend(parts.iter().map(|&ns| if ns == 0.0 { String::new() } else { figure(ns) }));
        row.extend([figure(total), figure(turns.ns_per_byte() * threads as f64)]);
        table.rows.push(row);
        if turns.strategy.is_rows() {
            let waiting = 100.0 * parts[5] / total;
            section.verdicts.push(Claim::Ours.measured(
                format!("{name}: less than half of the thread time is waiting and the rest; measured {waiting:.0} %"),
                Some(waiting < 50.0),
                monitor,
            ));
        }
        let values = parts.iter().map(|ns| Some(100.0 * ns / total.max(f64::MIN_POSITIVE))).collect();
        groups.push(Group { name, values });
    }
    section.tables.push(table);
    let series = names.iter().map(ToString::to_string).collect();
    let title = "Thread time by function, per cent".into();
    section.pictures.push(Picture::new("functions", Bars { title, series, groups, logarithmic: None }));
}

/// Figures 8 and 10 of the paper: the time of a function with plain AES, over that of all threads in it.
fn efficiency(all: &[StrategyRuns], threads: impl Fn(Strategy) -> usize) -> Option<StudyTable> {
    let plain = turns::of(all, Strategy::Plain)?;
    let one = ns_per_byte(plain, 1);
    let names = Function::ALL.map(Function::name);
    let title = "Measured, efficiency of the threads in each function without waiting, and of a run with it, per cent: the paper's \
                 figure 8 is plain, its figure 10 is rows over threads";
    let mut table = StudyTable::new(title, &[&["strategy"], &names[..], &["the run"]].concat());
    for turns in all {
        let threads = threads(turns.strategy);
        let parts = ns_per_byte(turns, threads);
        let run = plain.ns_per_byte() / (turns.ns_per_byte() * threads as f64);
        let shares = one.iter().zip(parts).take(names.len()).map(|(one, all)| one / all).chain([run]);
        if parts[0] > 0.0 {
            let cells = shares.map(|share| if share.is_finite() { figure(100.0 * share) } else { String::new() });
            table.rows.push([turns.strategy.name()].into_iter().chain(cells).collect());
        }
    }
    Some(table)
}

fn core_usage(section: &mut Section, bench: &StrategyRunner, all: &[StrategyRuns]) {
    if all.iter().all(|turns| busy(turns, 0).is_none()) {
        let why = "core usage: this system does not report the processor time of threads";
        section.verdicts.push(Verdict::LeftOut(why.into()));
        return;
    }
    let names: Vec<String> = (1..=bench.threads).map(|thread| format!("thread {thread}")).collect();
    let columns: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut table = StudyTable::new(
        "Measured, share of time for which each thread had a core, per cent; the paper's figure 9 has one thread, its figure 11 two",
        &[&["strategy", "threads"], &columns[..], &["in functions"]].concat(),
    );
    let mut groups = Vec::new();
    for turns in all {
        let threads = bench.threads(turns.strategy);
        let values: Vec<Option<f64>> = (0..bench.threads).map(|thread| busy(turns, thread)).collect();
        let parts = ns_per_byte(turns, threads);
        let useful = 100.0 * (1.0 - parts[5] / parts.iter().sum::<f64>().max(f64::MIN_POSITIVE));
        let mut row = vec![turns.strategy.name(), threads.to_string()];
        row.extend(values.iter().map(|busy| busy.map_or(String::new(), |busy| format!("{busy:.0}"))));
        row.push(format!("{useful:.0}"));
        table.rows.push(row);
        groups.push(Group { name: turns.strategy.name(), values });
    }
    section.tables.push(table);
    let title = "Share of time for which each thread had a core, per cent".into();
    section.pictures.push(Picture::new("busy", Bars { title, series: names, groups, logarithmic: None }));
}

/// The last of the numbers of cores counts all larger numbers too.
const CORES_TOGETHER: [&str; 5] = ["no core", "1 core", "2 cores", "3 cores", "4 cores or more"];

/// Per cent of the time for which this number of threads was in functions at the same time.
fn together(turns: &StrategyRuns) -> Option<[f64; CORES_TOGETHER.len()]> {
    let shares = |run: &RunTimes| {
        let all: f64 = run.together_s.iter().sum();
        let mut shares = [0.0; CORES_TOGETHER.len()];
        for (number, seconds) in run.together_s.iter().enumerate() {
            shares[number.min(CORES_TOGETHER.len() - 1)] += 100.0 * seconds / all;
        }
        (all > 0.0).then_some(shares)
    };
    let runs: Vec<_> = turns.watched.iter().filter_map(shares).collect();
    let median = |number| Measured::of(&runs.iter().map(|run| run[number]).collect::<Vec<f64>>()).median;
    (!runs.is_empty()).then(|| std::array::from_fn(median))
}

/// Figures 9 and 11 of the paper: how long how many cores were busy at the same time.
fn at_the_same_time(section: &mut Section, all: &[StrategyRuns], monitor: &BusyMonitor) {
    let found: Vec<_> = all.iter().filter_map(|turns| Some((turns.strategy, together(turns)?))).collect();
    if found.is_empty() {
        return;
    }
    let mut table = StudyTable::new(
        "Measured, share of time for which this number of cores was in the functions of AES at the same time, per cent: the \
         paper's figure 9 is plain, its figure 11 is rows over threads",
        &[&["strategy"], &CORES_TOGETHER[..]].concat(),
    );
    let mut groups = Vec::new();
    for (strategy, shares) in &found {
        let cells = shares.iter().map(|share| if *share == 0.0 { String::new() } else { format!("{share:.1}") });
        table.rows.push([strategy.name()].into_iter().chain(cells).collect());
        groups.push(Group { name: strategy.name(), values: shares.map(Some).into() });
        if *strategy == Strategy::Rows(Waiting::Unspecified) {
            let (name, several) = (strategy.name(), shares[2..].iter().sum::<f64>());
            let claim = format!(
                "{name}: the cores work at the same time (section 4.4, figure 11), two or more for at least half of the time; \
                 measured {several:.0} %"
            );
            section.verdicts.push(Claim::Paper.measured(claim, Some(several >= 50.0), monitor));
        }
    }
    section.tables.push(table);
    let title = "Share of time by number of cores in functions of AES at the same time, per cent".into();
    let series = CORES_TOGETHER.map(String::from).into();
    section.pictures.push(Picture::new("together", Bars { title, series, groups, logarithmic: None }));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: two threads for a second are two seconds; 0.4 s in SubBytes and 0.2 s of reading the clock are not
    /// part of the rest.
    #[test]
    fn the_rest_is_what_is_left() {
        let run = RunTimes {
            seconds: 1.0,
            busy_s: vec![0.25, 2.0],
            laps: [0.4, 0.0, 0.0, 0.0, 0.0],
            reading_s: 0.2,
            // Half of 0.4 s with no thread; 0.1 s with one; five and six threads have 0.05 s each.
            together_s: vec![0.2, 0.1, 0.0, 0.0, 0.0, 0.05, 0.05],
        };
        let of = |strategy, run: RunTimes| StrategyRuns {
            strategy,
            bytes: 1_000_000_000,
            of: 1_000_000_000,
            runs: vec![run.clone()],
            watched: vec![run],
        };
        let turns = of(Strategy::Rows(Waiting::Spinning), run);
        let parts = ns_per_byte(&turns, 2);
        assert!((parts[0] - 0.4).abs() < 1e-9 && (parts[5] - (2.0 - 0.4 - 0.2)).abs() < 1e-9, "{parts:?}");
        let shares = together(&turns).expect("shares");
        assert!(shares.iter().zip([50.0, 25.0, 0.0, 0.0, 25.0]).all(|(a, b)| (a - b).abs() < 1e-9), "{shares:?}");
        assert_eq!([0, 1, 2].map(|thread| busy(&turns, thread)), [Some(25.0), Some(100.0), None]);
        // 0.3 s of 0.4 s in SubBytes, none in the others; 0.5 s of two threads for 1 s.
        let plain = RunTimes { seconds: 0.5, laps: [0.3, 0.0, 0.0, 0.0, 0.0], ..RunTimes::default() };
        let table = efficiency(&[of(Strategy::Plain, plain), turns], |strategy| if strategy.is_rows() { 2 } else { 1 });
        let rows = table.expect("a table").rows;
        assert_eq!(rows[1], ["rows over threads, spinning", "75.00", "", "", "", "25.00"]);
    }
}
