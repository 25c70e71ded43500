//! `tress bench modular`: every operation of `tress-modular` at every digit size, measured by the program that also
//! runs on other systems (`tress-modular-times`). Its clock here is the processor time of this thread.

use std::io::{self, Write};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use regex::Regex;
use serde::{Deserialize, Serialize};
use tress_modular::Limb;
use tress_modular_times::{BITS, Clock, Inlined, Operation, measure};

use super::record::Machine;
use super::{Error, machine, table, text};
use crate::timing::{progress, statistics, thread_time};

/// The version of [`ModularDocument`].
pub const SCHEMA: u32 = 1;

/// Default lengths of numbers in bits. With [`Options::quick`] the first four, which are those of the paper.
pub const SIZES: [usize; 8] = [BITS[0], BITS[1], BITS[2], BITS[3], 2048, 3072, 4096, 8192];

/// Sizes of digits in bits.
pub const DIGITS: [u32; 3] = [16, 32, 64];

/// Measure modular arithmetic for signatures
///
/// Prints a table for each size of numbers, with every operation at every size of digits, as in the paper behind 'tress study
/// modular'. A figure is the median CPU time of one operation. A full run takes a few minutes, --quick less than one.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = "\
Examples:
  tress bench modular --quick
  tress bench modular --bits 2048,4096 --digits 64 --json ^montgomery")]
pub struct Options {
    /// Measure only operations that match this regular expression, e.g. ^power
    #[arg(value_name = "FILTER")]
    pub filter: Option<Regex>,
    /// Sizes of digits (limbs) in bits: 16, 32, 64 [default: all]
    #[arg(long, value_name = "BITS,...", value_delimiter = ',', value_parser = digit)]
    pub digits: Vec<u32>,
    /// Sizes of numbers in bits, multiples of 64 from 128 to 8192 [default: 256 to 8192, with --quick 256 to 1024]
    #[arg(long, value_name = "BITS,...", value_delimiter = ',', value_parser = bits)]
    pub bits: Vec<usize>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Take fewer samples
    #[arg(long)]
    pub quick: bool,
}

fn digit(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|bits| matches!(bits, 16 | 32 | 64)).ok_or_else(|| "a digit has 16, 32 or 64 bits".into())
}

fn bits(text: &str) -> Result<usize, String> {
    let is_measured = |bits: &usize| (128..=8192).contains(bits) && bits.is_multiple_of(64);
    text.parse().ok().filter(is_measured).ok_or_else(|| "must be a multiple of 64 from 128 to 8192".into())
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModularDocument {
    pub schema: u32,
    /// Seconds since 1970-01-01 00:00 UTC at the start.
    pub time: u64,
    pub tress: String,
    /// Whether samples were few.
    pub quick: bool,
    pub machine: Machine,
    pub rows: Vec<ModularRow>,
}

/// One operation on numbers of one length in digits of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModularRow {
    pub operation: String,
    pub bits: usize,
    pub digit_bits: u32,
    /// Median time of one run in nanoseconds.
    pub ns: f64,
    /// The lower end of the median's 95 % confidence interval.
    pub ns_low: f64,
    pub ns_high: f64,
    pub ns_least: f64,
    pub samples: usize,
}

struct ThreadTime;

impl Clock for ThreadTime {
    const UNIT: &'static str = "ns";
    const ENOUGH: u64 = 1_000_000;

    fn now(&mut self) -> u64 {
        u64::try_from(thread_time().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// An operation with its memory. A call returns the nanoseconds of one run.
pub(crate) struct TimedOperation(Box<dyn FnMut() -> Result<f64, tress_modular::Error>>);

impl TimedOperation {
    /// An unknown digit size means 64 bits.
    pub(crate) fn new(operation: Operation, bits: usize, digit_bits: u32) -> TimedOperation {
        fn of<L: Limb>(operation: Operation, bits: usize) -> TimedOperation {
            let mut memory = vec![L::ZERO; operation.memory::<L>(bits)];
            TimedOperation(Box::new(move || {
                let time = measure::<L, Inlined>(operation, bits, &mut ThreadTime, &mut memory)?;
                Ok(time.elapsed as f64 / f64::from(time.runs.max(1)))
            }))
        }
        match digit_bits {
            16 => of::<u16>(operation, bits),
            32 => of::<u32>(operation, bits),
            _ => of::<u64>(operation, bits),
        }
    }

    /// Takes one sample: nanoseconds of one run.
    pub(crate) fn sample(&mut self) -> Result<f64, tress_modular::Error> {
        (self.0)()
    }
}

/// Samples several cells alternately, until each has the given number of samples or the time is up. Each cell gets at
/// least one sample.
pub(crate) fn alternate(
    cells: &mut [TimedOperation],
    samples: usize,
    limit: Duration,
) -> Result<Vec<Vec<f64>>, tress_modular::Error> {
    let mut found = vec![Vec::with_capacity(samples); cells.len()];
    let start = Instant::now();
    for round in 0..samples.max(1) {
        if round > 0 && start.elapsed() > limit {
            break;
        }
        for (cell, found) in cells.iter_mut().zip(&mut found) {
            found.push(cell.sample()?);
        }
    }
    Ok(found)
}

/// Measures what `options` ask for and writes a table, or the document as JSON. Progress goes to a terminal on standard
/// error.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<ModularDocument, Error> {
    let wants = |operation: &Operation| options.filter.as_ref().is_none_or(|filter| filter.is_match(operation.name()));
    let operations: Vec<Operation> = Operation::ALL.iter().copied().filter(wants).collect();
    let digits: Vec<u32> =
        DIGITS.into_iter().filter(|bits| options.digits.is_empty() || options.digits.contains(bits)).collect();
    let default = if options.quick { &SIZES[..BITS.len()] } else { &SIZES[..] };
    let mut sizes = if options.bits.is_empty() { default.to_vec() } else { options.bits.clone() };
    sizes.sort_unstable();
    sizes.dedup();
    if operations.is_empty() || digits.is_empty() {
        return Err(Error::NothingMatches);
    }
    let (samples, limit) =
        if options.quick { (5, Duration::from_millis(100)) } else { (15, Duration::from_millis(1000)) };
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let tress = env!("CARGO_PKG_VERSION").into();
    let machine = machine::inspect();
    let mut document = ModularDocument { schema: SCHEMA, time, tress, quick: options.quick, machine, rows: Vec::new() };
    let progress = progress((sizes.len() * operations.len()) as u64);
    for &bits in &sizes {
        for &operation in &operations {
            progress.set_message(format!("{} of {bits} bits", operation.name()));
            let mut cells: Vec<TimedOperation> =
                digits.iter().map(|&digit| TimedOperation::new(operation, bits, digit)).collect();
            let found = alternate(&mut cells, samples, limit).map_err(Error::Modular)?;
            document.rows.extend(digits.iter().zip(found).map(|(&digit, ns)| row(operation, bits, digit, &ns)));
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    if options.json {
        text::json(&document, out)?;
    } else {
        write(&document, &digits, out).map_err(Error::Output)?;
    }
    Ok(document)
}

fn row(operation: Operation, bits: usize, digit_bits: u32, ns: &[f64]) -> ModularRow {
    let median = statistics::median(ns);
    ModularRow {
        operation: operation.name().into(),
        bits,
        digit_bits,
        ns: median.median,
        ns_low: median.low,
        ns_high: median.high,
        ns_least: ns.iter().copied().fold(f64::INFINITY, f64::min),
        samples: ns.len(),
    }
}

/// Writes the tables in the paper's form: a table for each length, with a row for each operation and a column for
/// each digit size.
fn write(document: &ModularDocument, digits: &[u32], out: &mut dyn Write) -> io::Result<()> {
    table::write_machine(&document.machine, out)?;
    for rows in document.rows.chunk_by(|a, b| a.bits == b.bits) {
        writeln!(out, "\n{} bits: median of one run", rows[0].bits)?;
        let header = digits.iter().map(|digit| format!("digits of {digit} bits"));
        let mut table = text::table(std::iter::once("operation".into()).chain(header), 1..=digits.len());
        for cells in rows.chunks(digits.len()) {
            let times = cells.iter().map(|cell| duration(cell.ns));
            table.add_row(std::iter::once(cells[0].operation.clone()).chain(times));
        }
        writeln!(out, "{table}")?;
    }
    Ok(())
}

/// A time with up to three digits before the point, in the fitting unit.
pub(crate) fn duration(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns >= 1e9 => (ns / 1e9, "s"),
        ns if ns >= 1e6 => (ns / 1e6, "ms"),
        ns if ns >= 1e3 => (ns / 1e3, "µs"),
        ns => (ns, "ns"),
    };
    let decimals = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        for (ns, text) in
            [(1.5, "1.50 ns"), (17.96, "18.0 ns"), (235.4, "235 ns"), (1031e3, "1.03 ms"), (2.5e9, "2.50 s")]
        {
            assert_eq!(duration(ns), text);
        }
    }

    #[test]
    fn every_operation_at_the_sizes_that_the_tables_have() {
        for bits in [SIZES[0], SIZES[2], SIZES[5]] {
            for &operation in Operation::ALL {
                // Exponentiations of large numbers are slow.
                let is_slow = bits > 1024 && operation.name().starts_with("power");
                if !is_slow {
                    for digit in DIGITS {
                        let ns = TimedOperation::new(operation, bits, digit).sample().expect("a time");
                        assert!(ns > 0.0, "{} {bits} {digit}", operation.name());
                    }
                }
            }
        }
    }
}
