//! Section 4.3: 100 MB of text, which took the paper 7.4999 s, 4.2343 s of them in `Encrypt`, and 5.0127 s with rows over
//! threads. Every strategy in turn, both directions; then the whole run, with reading and writing.

use super::files::{self, OnDisk};
use super::plain::Direction;
use super::strategy::{Bench, Code, Strategy, best};
use super::turns::{self, Notes, Turns, size};
use super::{KEY, budget, openmp, paper, three, times};
use crate::bench::statistics;
use crate::picture::{
    Drawing,
    bars::{Bars, Group},
};
use crate::study::{Claim, Effort, Error, Measured, Picture, Row, Section, Table, busy::Looks};

/// Bytes of the paper's file.
const BYTES: usize = 100_000_000;

pub(super) const WHOLE: &str = "the whole run, including reading and writing";

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let bytes = if effort.is_quick { BYTES / 10 } else { BYTES };
    let mut section = Section {
        text: format!(
            "{} of text, with all strategies measured alternately, and {} threads where a strategy has several. Runs on less than \
             100 MB are extrapolated to 100 MB and labelled. Ratios are of pairs of runs.",
            size(bytes),
            super::cores().max(2)
        ),
        ..Section::default()
    };
    let openmp = turns::openmp(&mut section.verdicts);
    if let Some(openmp) = &openmp {
        section.text += &format!(" The C code is compiled by `{}` with -O2.", openmp.compiler);
    }
    let bench = Bench::new(KEY, openmp.as_ref())?;
    let file = files::padded(&files::text(bytes));
    let strategies = Strategy::all();
    let (mut by_direction, mut looks) = (Vec::new(), Looks::default());
    for (direction, samples) in [(Direction::Encrypt, 5), (Direction::Decrypt, 3)] {
        let notes = &mut Notes { left_out: &mut section.verdicts, looks: &mut looks };
        by_direction.push(turns::measure(&bench, &strategies, direction, &file, samples, budget(effort), notes)?);
    }
    let [encrypted, decrypted] = &by_direction[..] else { return Ok(section) };
    for (turns, direction) in [(encrypted, ""), (decrypted, "decryption, ")] {
        for turns in turns {
            let is_paper = direction.is_empty() && turns.strategy == Strategy::Plain;
            section.rows.push(Row {
                what: format!("{direction}{}", turns.strategy.name()),
                unit: format!("s for 100 MB{}", label(turns)),
                paper: is_paper.then(|| format!("{} in Encrypt", paper::SERIAL_ENCRYPT)),
                measured: Some(for_paper(turns)),
                ..Row::default()
            });
        }
    }
    whole_runs(&mut section, encrypted, &file)?;
    gains(&mut section, encrypted);
    order(&mut section, encrypted);
    pictures(&mut section, encrypted);
    section.rows.extend(looks.row());
    verdicts(&mut section, encrypted, decrypted, &looks);
    Ok(section)
}

/// Seconds for the paper's file.
fn for_paper(turns: &Turns) -> Measured {
    let scale = if turns.bytes >= BYTES { 1.0 } else { BYTES as f64 / turns.bytes as f64 };
    turns.median(|run| run.seconds * scale)
}

fn label(turns: &Turns) -> String {
    if turns.bytes >= BYTES { String::new() } else { format!(", extrapolated from {}", size(turns.bytes)) }
}

fn of(turns: &[Turns], strategy: Strategy) -> Option<&Turns> {
    turns.iter().find(|turns| turns.strategy == strategy)
}

/// Reading and writing the file, and what that makes of the paper's two runs.
fn whole_runs(section: &mut Section, encrypted: &[Turns], file: &[u8]) -> Result<(), Error> {
    let disk = OnDisk::new(file)?;
    let (mut reading, mut writing) = (Vec::new(), Vec::new());
    let scale = (BYTES as f64 / file.len() as f64).max(1.0);
    for _ in 0..encrypted.first().map_or(0, |turns| turns.runs.len()) {
        let (read, seconds) = disk.read()?;
        reading.push(seconds * scale);
        writing.push(disk.write(&read)? * scale);
    }
    if reading.is_empty() {
        return Ok(());
    }
    let unit = if scale > 1.0 {
        format!("s for 100 MB, extrapolated from {}", size(file.len()))
    } else {
        "s for 100 MB".into()
    };
    for (what, seconds) in [("reading", &reading), ("writing", &writing)] {
        let measured = Some(statistics::median(seconds).into());
        section.rows.push(Row { what: what.into(), unit: unit.clone(), measured, ..Row::default() });
    }
    for (strategy, paper) in [
        (Strategy::Plain, Some(paper::SERIAL)),
        (Strategy::C(openmp::Way::Plain), None),
        (Strategy::C(openmp::Way::Rows), Some(paper::PARALLEL)),
    ] {
        let Some(turns) = of(encrypted, strategy) else { continue };
        let scale = if turns.bytes >= BYTES { 1.0 } else { BYTES as f64 / turns.bytes as f64 };
        let both = reading.iter().zip(&writing);
        let seconds: Vec<f64> =
            turns.runs.iter().zip(both).map(|(run, (read, write))| run.seconds * scale + read + write).collect();
        section.rows.push(Row {
            what: format!("{}: {WHOLE}", strategy.name()),
            unit: format!("s for 100 MB{}", label(turns)),
            paper: paper.map(Into::into),
            measured: Some(statistics::median(&seconds).into()),
            ..Row::default()
        });
    }
    Ok(())
}

/// Beside which run a strategy stands: C beside C.
fn beside(strategy: Strategy) -> Strategy {
    if let Strategy::C(_) = strategy { Strategy::C(openmp::Way::Plain) } else { Strategy::Plain }
}

fn gains(section: &mut Section, encrypted: &[Turns]) {
    for turns in encrypted {
        let plain = beside(turns.strategy);
        let Some(serial) = of(encrypted, plain).filter(|_| turns.strategy != plain) else { continue };
        let is_paper = turns.strategy == Strategy::C(openmp::Way::Rows);
        section.rows.push(Row {
            what: format!("times as fast as plain: {}", turns.strategy.name()),
            paper: is_paper.then(|| format!("{:.2}, whole run", paper::SERIAL_S / paper::PARALLEL_S)),
            measured: Some(turns.gain_over(serial)),
            ..Row::default()
        });
    }
}

fn pictures(section: &mut Section, encrypted: &[Turns]) {
    let bars = |title: &str, series: &str, figures: Vec<(String, f64)>| {
        let groups = figures.into_iter().map(|(name, value)| Group { name, values: vec![Some(value)] }).collect();
        Drawing::Bars(Bars { title: title.into(), series: vec![series.into()], groups })
    };
    let is_slow = |turns: &&Turns| {
        turns.strategy.is_rows() || [Strategy::Plain, Strategy::C(openmp::Way::Plain)].contains(&turns.strategy)
    };
    let name = |turns: &Turns| {
        let part = if turns.bytes >= BYTES { "" } else { "~ " };
        format!("{part}{}", turns.strategy.name())
    };
    let slow = encrypted.iter().filter(is_slow).map(|turns| (name(turns), for_paper(turns).median)).collect();
    let rates = encrypted
        .iter()
        .filter(|turns| !turns.strategy.is_rows())
        .map(|turns| (turns.strategy.name(), 1e3 / turns.ns_per_byte().median))
        .collect();
    let title = "The paper's method: seconds for 100 MB; ~ extrapolated";
    section.pictures.push(Picture { name: "headline-rows".into(), drawing: bars(title, "s", slow) });
    let title = "Other strategies: MB/s";
    section.pictures.push(Picture { name: "headline-rates".into(), drawing: bars(title, "MB/s", rates) });
}

fn verdicts(section: &mut Section, encrypted: &[Turns], decrypted: &[Turns], looks: &Looks) {
    let gain = |strategy| Some(of(encrypted, strategy)?.gain_over(of(encrypted, beside(strategy))?));
    let paper = paper::SERIAL_S / paper::PARALLEL_S;
    let mut claim = |whose: Claim, strategy: Strategy, text: String, at_least: f64| {
        if let Some(gain) = gain(strategy) {
            let claim = format!("{text}: measured {}", times(gain.median));
            section.verdicts.push(whose.of(claim, gain, at_least..=f64::INFINITY, looks));
        }
    };
    claim(
        Claim::Paper,
        Strategy::C(openmp::Way::Rows),
        format!("rows over threads with OpenMP reach the gain of the paper, {paper:.2} times as fast as plain AES"),
        paper,
    );
    claim(Claim::Paper, Strategy::RowsSleeping, "rows over threads gain with sleeping barriers".into(), 1.0);
    claim(Claim::Paper, Strategy::RowsSpinning, "rows over threads gain with spinning barriers".into(), 1.0);
    let cores = super::cores() as f64;
    let most = 0.75 * cores;
    claim(
        Claim::Ours,
        Strategy::Segments(Code::Plain),
        format!("segments over {cores} cores reach three quarters of the ideal gain"),
        most,
    );
    claim(Claim::Ours, Strategy::Lanes(best()), "lanes on one core beat plain AES on all cores".into(), cores);
    if let (Some(one), Some(other)) = (of(encrypted, Strategy::Plain), of(decrypted, Strategy::Plain)) {
        let ratio = one.gain_over(other);
        section.verdicts.push(Claim::Paper.of(
            format!(
                "decryption takes as long as encryption, as the paper says, within 10 %: {:.2} times as long",
                ratio.median
            ),
            ratio,
            0.9..=1.1,
            looks,
        ));
    }
    let first = encrypted.iter().min_by(|a, b| a.ns_per_byte().median.total_cmp(&b.ns_per_byte().median));
    if let Some(first) = first {
        section.verdicts.push(Claim::Ours.measured(
            format!("a strategy with lanes is the fastest: {}", first.strategy.name()),
            Some(matches!(
                first.strategy,
                Strategy::Lanes(_) | Strategy::LanesEverywhere | Strategy::Segments(Code::Library)
            )),
            looks,
        ));
    }
}

/// All strategies, the first one first.
fn order(section: &mut Section, encrypted: &[Turns]) {
    let mut order: Vec<&Turns> = encrypted.iter().collect();
    order.sort_by(|a, b| a.ns_per_byte().median.total_cmp(&b.ns_per_byte().median));
    let plain = of(encrypted, Strategy::Plain);
    let row = |turns: &&Turns| {
        let ns = turns.ns_per_byte().median;
        super::cells([
            turns.strategy.name(),
            three(ns),
            three(1e3 / ns),
            plain.map_or(String::new(), |plain| three(turns.gain_over(plain).median)),
            if turns.bytes == turns.of { "all".into() } else { size(turns.bytes) },
        ])
    };
    section.tables.push(Table {
        title: "Encryption, measured, fastest first".into(),
        header: super::header(&["strategy", "ns per byte", "MB/s", "times as fast as plain", "part of the file"]),
        rows: order.iter().map(row).collect(),
    });
}
