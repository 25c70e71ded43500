//! Tables 2 to 5: the paper's figures, this machine, and the recorded systems. Times of machines are in one table,
//! counts of emulators in separate ones.

use std::fmt::Display;

use tress_modular_times::Operation;

use super::super::busy::BusyMonitor;
use super::super::{Claim, Effort, Error, Section, StudyTable, Verdict};
use super::paper::{OPERATIONS, SYSTEMS, TABLES, UNIX, WINDOWS_31_LARGE};
use super::record::{RecordedSystem, systems};
use super::samples;
use tress_plan::date;

use crate::bench::modular::duration;
use crate::timing::statistics;

const DIGITS: [u32; 3] = [16, 32, 64];

/// The table with this index.
pub(super) fn section(effort: &Effort, which: usize) -> Result<Section, Error> {
    let table = &TABLES[which];
    let bits = table.bits;
    let mut monitor = BusyMonitor::default();
    let here = samples(effort, bits, 0..Operation::PAPER.len(), &mut monitor)?;
    let systems = systems(effort)?;
    let mut machines: Vec<String> = systems
        .iter()
        .filter(|system| system.is_real())
        .map(|system| format!("{} on {}", system.machine, date(system.time)))
        .collect();
    machines.dedup();
    let recorded_on = if machines.is_empty() { "nothing".into() } else { machines.join("; ") };
    let marked = if bits == 1024 { " (!) marks misprints, see the last part." } else { "" };
    let values: [(&str, &dyn Display); 3] =
        [("number", &table.number), ("machines", &recorded_on), ("marked", &marked)];
    let mut section = Section::begin(&super::STUDY, "tables", &values);

    let header = [&["system", "digit, bits"], &OPERATIONS[..]].concat();
    let mut real = StudyTable::new(format!("Time of one run on numbers of {bits} bits"), &header);
    for (column, (name, digit_bits)) in SYSTEMS.into_iter().enumerate() {
        let figures = (0..OPERATIONS.len()).map(|row| {
            let is_misprint = bits == 1024 && ((column == WINDOWS_31_LARGE && row < 6) || (column == UNIX && row >= 6));
            table.text(row, column) + if is_misprint { " (!)" } else { "" }
        });
        real.rows.push(line(format!("paper: {name}"), digit_bits, figures));
    }
    for (digit, digit_bits) in DIGITS.into_iter().enumerate() {
        let figures = here.iter().map(|samples| duration(statistics::median(&samples[digit]).median));
        real.rows.push(line("**this machine, now**".into(), digit_bits, figures));
    }
    for system in systems.iter().filter(|system| system.is_real()) {
        recorded(&mut real, system, bits, duration);
    }
    section.tables.push(real);

    let mut units: Vec<&str> =
        systems.iter().filter(|system| !system.is_real()).map(|system| system.unit.as_str()).collect();
    units.sort_unstable();
    units.dedup();
    for unit in units {
        let title = format!("Emulated, {unit} per run on numbers of {bits} bits (not times)");
        let mut emulated = StudyTable::new(title, &header);
        for system in systems.iter().filter(|system| system.unit == unit) {
            recorded(&mut emulated, system, bits, count);
        }
        section.tables.push(emulated);
    }

    section.verdicts.push(faster(table, &here, &monitor));
    section.verdicts.push(wider(&here, &monitor));
    Ok(section)
}

fn line(system: String, digit_bits: u32, figures: impl Iterator<Item = String>) -> Vec<String> {
    [system, digit_bits.to_string()].into_iter().chain(figures).collect()
}

/// Adds a row for each digit size that the system has.
fn recorded(table: &mut StudyTable, system: &RecordedSystem, bits: usize, show: fn(f64) -> String) {
    let through = system.through.as_ref().map_or(String::new(), |through| format!(", through {through}"));
    for digit_bits in DIGITS {
        let figures = Operation::PAPER.map(|operation| system.per_run(digit_bits, bits, operation));
        if figures.iter().any(Option::is_some) {
            let figures = figures.into_iter().map(|figure| figure.map_or(String::new(), show));
            table.rows.push(line(format!("recorded: {}{through}", system.title), digit_bits, figures));
        }
    }
}

/// A count with four digits, or all digits before the point.
fn count(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.1} million", value / 1e6),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.5}"),
    }
}

/// How many times as fast as the fastest of the paper's systems with digits of the same size.
fn faster(table: &super::paper::PaperTable, here: &[[Vec<f64>; 3]], monitor: &BusyMonitor) -> Verdict {
    let mut least = (f64::INFINITY, String::new());
    let mut most = (0.0, String::new());
    for (row, samples) in here.iter().enumerate() {
        for (digit, digit_bits) in DIGITS.into_iter().enumerate().take(2) {
            let columns = SYSTEMS.iter().enumerate().filter(|(_, system)| system.1 == digit_bits);
            let best = columns.map(|(column, _)| table.ns(row, column)).fold(f64::INFINITY, f64::min);
            let factor = best / statistics::median(&samples[digit]).median;
            let what = format!("{} with digits of {digit_bits} bits", OPERATIONS[row]);
            if factor < least.0 {
                least = (factor, what.clone());
            }
            if factor > most.0 {
                most = (factor, what);
            }
        }
    }
    let claim = format!(
        "this machine is faster than the fastest of the paper's systems with digits of the same size: {:.0} ({}) to {:.0} \
         times as fast ({})",
        least.0, least.1, most.0, most.1
    );
    Claim::Ours.measured(claim, Some(least.0 > 1.0), monitor)
}

/// The paper assumes that digits of 32 bits are faster than those of 16.
fn wider(here: &[[Vec<f64>; 3]], monitor: &BusyMonitor) -> Verdict {
    let slower: Vec<&str> = here
        .iter()
        .zip(OPERATIONS)
        .filter(|(samples, _)| statistics::median(&samples[1]).median >= statistics::median(&samples[0]).median)
        .map(|(_, name)| name)
        .collect();
    let claim = "wider digits are faster in all operations (section 4), 32 bits compared with 16".to_string();
    let is_so = slower.is_empty();
    let claim = if is_so { claim } else { format!("{claim}: except {}", slower.join(", ")) };
    Claim::Paper.measured(claim, Some(is_so), monitor)
}
