//! Section 4.3: 100 MB of text. The paper's serial run took 7.4999 s, of which 4.2343 s were in `Encrypt`, and its
//! run with rows over threads 5.0127 s. Here all strategies are measured alternately, in both directions; then the
//! whole run, with reading and writing.

use super::files::{self, disk_s};
use super::strategy::{BlockCode, Strategy, StrategyRunner, Waiting, best};
use super::turns::{Budget, Measurement, StrategyRuns, of, size};
use super::{Direction, paper, times};
use crate::picture::Group;
use crate::picture::bars::Bars;
use crate::study::busy::BusyMonitor;
use crate::study::{Claim, Effort, Error, Measured, Picture, Section, StudyRow, StudyTable, figure};

/// Bytes of the paper's file.
const BYTES: usize = 100_000_000;

pub(super) const WHOLE: &str = "the whole run, including reading and writing";

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let bytes = if effort.is_quick { BYTES / 10 } else { BYTES };
    let mut section =
        Section::begin(&super::STUDY, "headline", &[("size", &size(bytes)), ("threads", &super::cores().max(2))]);
    let bench = StrategyRunner::new(&mut section.verdicts);
    if let Some(openmp) = &bench.openmp {
        section.text += &format!(" The C code is compiled by `{}` with -O2.", openmp.compiler);
    }
    let file = files::padded(&files::text(bytes));
    let (mut by_direction, mut monitor) = (Vec::new(), BusyMonitor::default());
    for (direction, samples) in [(Direction::Encrypt, 5), (Direction::Decrypt, 3)] {
        let (left_out, monitor, budget) = (&mut section.verdicts, &mut monitor, Budget::new(effort));
        let mut measuring = Measurement { bench: &bench, samples, budget, is_watched: false, left_out, monitor };
        by_direction.push(measuring.run(&bench.strategies(), direction, &file)?);
    }
    let [encrypted, decrypted] = &by_direction[..] else { return Ok(section) };
    for (turns, direction) in [(encrypted, ""), (decrypted, "decryption, ")] {
        for turns in turns {
            let is_paper = direction.is_empty() && turns.strategy == Strategy::Plain;
            section.rows.push(StudyRow {
                paper: is_paper.then(|| format!("{} in Encrypt", paper::SERIAL_ENCRYPT_S)),
                ..row(format!("{direction}{}", turns.strategy.name()), turns, &turns.seconds(BYTES))
            });
        }
    }
    whole_runs(&mut section, encrypted, &file)?;
    if let Some(plain) = of(encrypted, Strategy::Plain) {
        for turns in encrypted.iter().filter(|turns| turns.strategy != Strategy::Plain) {
            let is_paper = turns.strategy == Strategy::Rows(Waiting::Unspecified);
            let what = format!("times as fast as plain: {}", turns.strategy.name());
            section.rows.push(StudyRow {
                paper: is_paper.then(|| format!("{:.2}, whole run", paper::SERIAL_S / paper::PARALLEL_S)),
                ..StudyRow::measured(what, "", turns.gain_over(plain))
            });
        }
    }
    ranking_table(&mut section, encrypted);
    pictures(&mut section, encrypted);
    section.rows.extend(monitor.row());
    verdicts(&mut section, encrypted, decrypted, &monitor);
    Ok(section)
}

/// Seconds for the paper's file.
fn row(what: String, turns: &StrategyRuns, seconds: &[f64]) -> StudyRow {
    StudyRow::measured(what, format!("s for 100 MB{}", turns.label(BYTES)), Measured::of(seconds))
}

/// Reading and writing the file, and the whole runs of the paper's two methods.
fn whole_runs(section: &mut Section, encrypted: &[StrategyRuns], file: &[u8]) -> Result<(), Error> {
    let scale = (BYTES as f64 / file.len() as f64).max(1.0);
    let [reading, writing] =
        disk_s(file, 5)?.map(|seconds| seconds.iter().map(|seconds| seconds * scale).collect::<Vec<_>>());
    let from = if scale > 1.0 { format!(", extrapolated from {}", size(file.len())) } else { String::new() };
    for (what, seconds) in [("reading", &reading), ("writing", &writing)] {
        section.rows.push(StudyRow::measured(what, format!("s for 100 MB{from}"), Measured::of(seconds)));
    }
    for (strategy, paper) in
        [(Strategy::Plain, paper::SERIAL_S), (Strategy::Rows(Waiting::Unspecified), paper::PARALLEL_S)]
    {
        let Some(turns) = of(encrypted, strategy) else { continue };
        let both = reading.iter().zip(&writing);
        let seconds: Vec<f64> =
            turns.seconds(BYTES).iter().zip(both).map(|(seconds, (read, write))| seconds + read + write).collect();
        section.rows.push(StudyRow {
            paper: Some(paper.to_string()),
            ..row(format!("{}: {WHOLE}", strategy.name()), turns, &seconds)
        });
    }
    Ok(())
}

fn pictures(section: &mut Section, encrypted: &[StrategyRuns]) {
    let is_slow = |turns: &&StrategyRuns| turns.strategy.is_rows() || turns.strategy == Strategy::Plain;
    let mut bars = |name: &str, title: &str, series: &str, figures: Vec<(String, f64)>| {
        if figures.is_empty() {
            return;
        }
        let groups = figures.into_iter().map(|(name, value)| Group { name, values: vec![Some(value)] }).collect();
        let bars = Bars {
            title: title.into(),
            series: vec![series.into()],
            groups,
            logarithmic: Some(format!("{series}, logarithmic scale")),
        };
        section.pictures.push(Picture::new(name, bars));
    };
    let name = |turns: &StrategyRuns| {
        let part = if turns.bytes >= BYTES { "" } else { "~ " };
        format!("{part}{}", turns.strategy.name())
    };
    let seconds = encrypted
        .iter()
        .filter(is_slow)
        .map(|turns| (name(turns), Measured::of(&turns.seconds(BYTES)).median))
        .collect();
    bars("headline-rows", "The paper's method: seconds for 100 MB; ~ extrapolated", "s", seconds);
    let others = encrypted.iter().filter(|turns| !turns.strategy.is_rows());
    let rates = others.map(|turns| (turns.strategy.name(), 1e3 / turns.ns_per_byte())).collect();
    bars("headline-rates", "Other strategies: MB/s", "MB/s", rates);
}

fn verdicts(section: &mut Section, encrypted: &[StrategyRuns], decrypted: &[StrategyRuns], monitor: &BusyMonitor) {
    let plain = of(encrypted, Strategy::Plain);
    let paper = paper::SERIAL_S / paper::PARALLEL_S;
    let cores = super::cores() as f64;
    for (whose, strategy, text, at_least) in [
        (
            Claim::Paper,
            Strategy::Rows(Waiting::Unspecified),
            format!("rows over threads with OpenMP reach the gain of the paper, {paper:.2} times as fast as plain AES"),
            paper,
        ),
        (Claim::Paper, Strategy::Rows(Waiting::Sleeping), "rows over threads gain with sleeping barriers".into(), 1.0),
        (Claim::Paper, Strategy::Rows(Waiting::Spinning), "rows over threads gain with spinning barriers".into(), 1.0),
        (
            Claim::Ours,
            Strategy::Segments(BlockCode::Plain),
            format!("segments over {cores} cores reach three quarters of the ideal gain"),
            0.75 * cores,
        ),
        (Claim::Ours, Strategy::Lanes(best()), "lanes on one core beat plain AES on all cores".into(), cores),
    ] {
        if let (Some(turns), Some(plain)) = (of(encrypted, strategy), plain) {
            let gain = turns.gain_over(plain);
            let claim = format!("{text}: measured {}", times(gain.median));
            section.verdicts.push(whose.of(claim, gain, at_least..=f64::INFINITY, monitor));
        }
    }
    if let (Some(one), Some(other)) = (plain, of(decrypted, Strategy::Plain)) {
        let ratio = one.gain_over(other);
        section.verdicts.push(Claim::Paper.of(
            format!(
                "decryption takes as long as encryption, as the paper says, within 10 %: {:.2} times as long",
                ratio.median
            ),
            ratio,
            0.9..=1.1,
            monitor,
        ));
    }
    if let Some(first) = encrypted.iter().min_by(|a, b| a.ns_per_byte().total_cmp(&b.ns_per_byte())) {
        section.verdicts.push(Claim::Ours.measured(
            format!("a strategy with lanes is the fastest: {}", first.strategy.name()),
            Some(matches!(
                first.strategy,
                Strategy::Lanes(_) | Strategy::LanesEverywhere | Strategy::Segments(BlockCode::Library)
            )),
            monitor,
        ));
    }
}

/// Adds a table of all strategies, the fastest first.
fn ranking_table(section: &mut Section, encrypted: &[StrategyRuns]) {
    let mut order: Vec<&StrategyRuns> = encrypted.iter().collect();
    order.sort_by(|a, b| a.ns_per_byte().total_cmp(&b.ns_per_byte()));
    let plain = of(encrypted, Strategy::Plain);
    let mut table = StudyTable::new(
        "Encryption, measured, fastest first",
        &["strategy", "ns per byte", "MB/s", "times as fast as plain", "part of the file"],
    );
    for turns in order {
        let ns = turns.ns_per_byte();
        table.rows.push(vec![
            turns.strategy.name(),
            figure(ns),
            figure(1e3 / ns),
            plain.map_or(String::new(), |plain| figure(turns.gain_over(plain).median)),
            if turns.bytes == turns.of { "all".into() } else { size(turns.bytes) },
        ]);
    }
    section.tables.push(table);
}
