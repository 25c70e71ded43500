//! Sections 4.3 and 4.4, which a profiler answered: time by function, threads that were made, and the share of time for which
//! each core was busy.
//!
//! Reading a clock takes longer than a function of one state, so functions are timed in runs of their own: plain code takes 64
//! states through each function before it reads the clock, rows over threads read it around every share; what reading takes
//! is taken off.

use std::hint::black_box;
use std::time::Instant;

use super::files::{self, OnDisk};
use super::plain::{Direction, Function, Keys};
use super::strategy::{Bench, Run, Strategy};
use super::turns::{self, Notes, size};
use super::{KEY, MICRO, budget, header, three};
use crate::bench::statistics;
use crate::picture::{
    Drawing,
    bars::{Bars, Group},
};
use crate::study::{Claim, Effort, Error, Measured, Picture, Row, Section, Table, Verdict, busy::Looks};

/// Runs of one strategy, with and without a watch on its functions.
struct Watched {
    strategy: Strategy,
    threads: usize,
    bytes: usize,
    plainly: Vec<Run>,
    watched: Vec<Run>,
    reading_s: f64,
}

impl Watched {
    /// Nanoseconds a byte of the file, of all threads together: the four functions, the four together, and the rest, in
    /// which threads start and wait.
    fn ns_per_byte(&self) -> [f64; 6] {
        let per_byte = 1e9 / self.bytes as f64;
        let median = |of: &dyn Fn(&Run) -> f64| {
            statistics::median(&self.watched.iter().map(of).collect::<Vec<_>>()).median * per_byte
        };
        let rest = |run: &Run| {
            let known = run.laps.without(self.reading_s).total() + run.laps.readings as f64 * self.reading_s;
            (run.seconds * self.threads as f64 - known).max(0.0)
        };
        std::array::from_fn(|place| match place {
            5 => median(&rest),
            place => median(&|run: &Run| run.laps.without(self.reading_s).seconds[place]),
        })
    }

    /// Per cent of the time for which a thread had a core.
    fn busy(&self, thread: usize) -> Option<Measured> {
        let shares: Option<Vec<f64>> =
            self.plainly.iter().map(|run| Some((100.0 * run.busy_s.get(thread)? / run.seconds).min(100.0))).collect();
        shares.map(|shares| statistics::median(&shares).into())
    }

    fn seconds_per_byte(&self) -> f64 {
        statistics::median(&self.plainly.iter().map(|run| run.seconds / self.bytes as f64).collect::<Vec<_>>()).median
    }
}

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let bytes = if effort.is_quick { 500_000 } else { 5_000_000 };
    let samples = if effort.is_quick { 3 } else { 7 };
    let mut section = Section {
        text: format!(
            "{} of text. Functions are timed in separate runs, because reading a clock takes longer than a function of one state. \
             Plain code processes 64 states with each function before it reads the clock; rows over threads read it around \
             every part of the work. The time of reading is subtracted. The rounds of the library and the blocks of a queue are \
             not timed separately. The remaining time of the threads is *waiting and the rest*: starting, waiting at barriers, \
             for a queue or for each other, and moving blocks in and out of states. *Busy* is the processor time of a thread \
             divided by the elapsed time, in runs without such clocks; a spinning barrier counts as busy.",
            size(bytes)
        ),
        ..Section::default()
    };
    let openmp = turns::openmp(&mut section.verdicts);
    let bench = Bench::new(KEY, openmp.as_ref())?;
    let file = files::padded(&files::text(bytes));
    let mut looks = Looks::default();
    let notes = &mut Notes { left_out: &mut section.verdicts, looks: &mut looks };
    let all = watch(&bench, &file, samples, effort, notes)?;
    once(&mut section, &file, samples)?;
    section.rows.extend(looks.row());
    by_function(&mut section, &all, &looks);
    how_busy(&mut section, &all);
    Ok(section)
}

fn watch(
    bench: &Bench<'_>,
    file: &[u8],
    samples: usize,
    effort: &Effort,
    notes: &mut Notes<'_>,
) -> Result<Vec<Watched>, Error> {
    let reading_s = super::threads::reading_s();
    let mut all = Vec::new();
    for strategy in Strategy::all().into_iter().filter(|&strategy| bench.has(strategy)) {
        match turns::fitting(bench, strategy, Direction::Encrypt, file, budget(effort)) {
            Ok(bytes) => all.push(Watched {
                strategy,
                threads: strategy.threads(bench.threads),
                bytes,
                plainly: Vec::new(),
                watched: Vec::new(),
                reading_s,
            }),
            Err(Error::Worker(why)) => notes.left_out.push(Verdict::LeftOut(format!("{}: {why}", strategy.name()))),
            Err(error) => return Err(error),
        }
    }
    let progress = crate::bench::progress((samples * all.len()) as u64);
    for _ in 0..samples {
        for one in &mut all {
            notes.looks.look();
            progress.set_message(one.strategy.name());
            let mut data = file[..one.bytes].to_vec();
            one.plainly.push(bench.run(one.strategy, Direction::Encrypt, false, &mut data)?);
            one.watched.push(bench.run(one.strategy, Direction::Encrypt, true, &mut data)?);
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    Ok(all)
}

/// What is done once for a file, however it is encrypted.
fn once(section: &mut Section, file: &[u8], samples: usize) -> Result<(), Error> {
    let one = || {
        let start = Instant::now();
        for _ in 0..MICRO {
            black_box(Keys::new(black_box(&KEY)));
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(MICRO)
    };
    let disk = OnDisk::new(file)?;
    let (mut schedule, mut reading, mut writing) = (Vec::new(), Vec::new(), Vec::new());
    let per_byte = 1e9 / file.len() as f64;
    for _ in 0..samples.max(5) {
        schedule.push(one());
        let (read, seconds) = disk.read()?;
        reading.push(seconds * per_byte);
        writing.push(disk.write(&read)? * per_byte);
    }
    for (what, unit, ns) in [
        ("the key schedule, plain, once per file", "ns", schedule),
        ("reading, the same for all strategies", "ns per byte", reading),
        ("writing, the same for all strategies", "ns per byte", writing),
    ] {
        let measured = Some(statistics::median(&ns).into());
        section.rows.push(Row { what: what.into(), unit: unit.into(), measured, ..Row::default() });
    }
    Ok(())
}

pub(super) const REST: &str = "waiting and the rest";

fn by_function(section: &mut Section, all: &[Watched], looks: &Looks) {
    let mut names: Vec<&str> = Function::ALL.iter().map(|function| function.name()).collect();
    names.extend(["all four functions", REST]);
    let mut columns = vec!["strategy", "threads created", "bytes"];
    columns.extend(&names);
    columns.extend(["with clocks, all threads", "without clocks, all threads"]);
    let mut table = Table {
        title: "Measured, ns of thread time per byte of the file".into(),
        header: header(&columns),
        rows: Vec::new(),
    };
    let mut groups = Vec::new();
    for one in all {
        let parts = one.ns_per_byte();
        let total: f64 = parts.iter().sum();
        let mut row = vec![one.strategy.name(), (one.threads - 1).to_string(), one.bytes.to_string()];
        row.extend(parts.iter().map(|&ns| if ns == 0.0 { String::new() } else { three(ns) }));
        row.push(three(total));
        row.push(three(one.seconds_per_byte() * 1e9 * one.threads as f64));
        table.rows.push(row);
        let values = parts.iter().map(|ns| Some(100.0 * ns / total.max(f64::MIN_POSITIVE))).collect();
        groups.push(Group { name: one.strategy.name(), values });
        if one.strategy.is_rows() {
            let waiting = 100.0 * parts[5] / total;
            section.verdicts.push(Claim::Ours.measured(
                format!(
                    "{}: less than half of the thread time is waiting and the rest; measured {waiting:.0} %",
                    one.strategy.name()
                ),
                Some(waiting < 50.0),
                looks,
            ));
        }
    }
    section.tables.push(table);
    let series = names.iter().map(ToString::to_string).collect();
    let title = "Thread time by function, per cent".into();
    section.pictures.push(Picture { name: "functions".into(), drawing: Drawing::Bars(Bars { title, series, groups }) });
}

fn how_busy(section: &mut Section, all: &[Watched]) {
    let most = all.iter().map(|one| one.threads).max().unwrap_or(1);
    if all.iter().all(|one| one.busy(0).is_none()) {
        section
            .verdicts
            .push(Verdict::LeftOut("core usage: this system does not report the processor time of threads".into()));
        return;
    }
    let names: Vec<String> = (1..=most).map(|thread| format!("thread {thread}")).collect();
    let mut table = Table {
        title: "Measured, share of time for which each thread had a core, per cent; the paper's figure 9 has one thread, its \
                figure 11 two"
            .into(),
        header: [header(&["strategy", "threads"]), names.clone(), header(&["in functions"])].concat(),
        rows: Vec::new(),
    };
    let mut groups = Vec::new();
    for one in all {
        let busy: Vec<Option<Measured>> = (0..most).map(|thread| one.busy(thread)).collect();
        let parts = one.ns_per_byte();
        let useful = 100.0 * (1.0 - parts[5] / parts.iter().sum::<f64>().max(f64::MIN_POSITIVE));
        let mut row = vec![one.strategy.name(), one.threads.to_string()];
        row.extend(busy.iter().map(|busy| busy.map_or(String::new(), |busy| format!("{:.0}", busy.median))));
        row.push(format!("{useful:.0}"));
        table.rows.push(row);
        let values = busy.iter().map(|busy| busy.map(|busy| busy.median)).collect();
        groups.push(Group { name: one.strategy.name(), values });
    }
    section.tables.push(table);
    let title = "Share of time for which each thread had a core, per cent".into();
    section
        .pictures
        .push(Picture { name: "busy".into(), drawing: Drawing::Bars(Bars { title, series: names, groups }) });
}

#[cfg(test)]
mod tests {
    use super::super::threads::Laps;
    use super::*;

    /// By hand: two threads for a second are two; 0.5 s in SubBytes, of which a reading of 0.1 s is taken off, and the readings
    /// themselves are no rest.
    #[test]
    fn the_rest_is_what_is_left() {
        let mut laps = Laps { readings: 2, ..Laps::default() };
        (laps.seconds[0], laps.counts[0]) = (0.5, 1);
        let run = Run { seconds: 1.0, busy_s: vec![0.25, 2.0], laps };
        let one = Watched {
            strategy: Strategy::RowsSpinning,
            threads: 2,
            bytes: 1_000_000_000,
            plainly: vec![run.clone()],
            watched: vec![run],
            reading_s: 0.1,
        };
        let parts = one.ns_per_byte();
        assert!((parts[0] - 0.4).abs() < 1e-9 && (parts[5] - (2.0 - 0.4 - 0.2)).abs() < 1e-9, "{parts:?}");
        assert_eq!(one.busy(0).map(|busy| busy.median), Some(25.0));
        assert_eq!(one.busy(1).map(|busy| busy.median), Some(100.0));
        assert!(one.busy(2).is_none());
    }
}
