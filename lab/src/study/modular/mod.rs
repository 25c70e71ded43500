//! Arithmetic for signatures on several systems: the paper's tables 2 to 5 beside this machine and beside the records
//! of lab/systems/run; the paper's three questions; and its misprints.

mod compilers;
mod conclude;
mod digits;
mod far_pointers;
mod library;
mod misprints;
mod paper;
mod record;
mod tables;

use std::{ops::Range, time::Duration};

use tress_modular_times::Operation;

use super::{Effort, Error, Study, StudyPart, busy::BusyMonitor};
use crate::bench::modular::{TimedOperation, alternate};

pub(super) const STUDY: Study = Study {
    name: "modular",
    title: "Arithmetic for digital signatures on several systems",
    source: "Choi, Baek, Kim and Won, \"Implementation and Benchmarking Test for the Cryptographic Library on Several \
             OSs\" (in Korean), Sung Kyun Kwan University, 1990s. The paper's machines: a Pentium of 100 MHz, and for \
             UNIX a Unistation 20.",
    parts: &[
        StudyPart { name: "table-2", title: "Table 2: 256 bits", run: tables::table_2 },
        StudyPart { name: "table-3", title: "Table 3: 512 bits", run: tables::table_3 },
        StudyPart { name: "table-4", title: "Table 4: 768 bits", run: tables::table_4 },
        StudyPart { name: "table-5", title: "Table 5: 1024 bits", run: tables::table_5 },
        StudyPart { name: "far-pointers", title: "What does a far pointer cost?", run: far_pointers::run },
        StudyPart { name: "library", title: "What does a shared library cost?", run: library::run },
        StudyPart { name: "compilers", title: "What difference does the compiler make?", run: compilers::run },
        StudyPart { name: "digits", title: "What does a wider digit gain?", run: digits::run },
        StudyPart { name: "misprints", title: "Misprints", run: misprints::run },
    ],
    inputs: record::text,
    conclude: conclude::conclude,
};

/// Alternating samples of the paper's operations of these rows, on numbers of `bits` bits with digits of 16, 32 and 64 bits.
fn samples(
    effort: &Effort,
    bits: usize,
    rows: Range<usize>,
    monitor: &mut BusyMonitor,
) -> Result<Vec<[Vec<f64>; 3]>, Error> {
    // Limits the time of a quick run to about a minute on every machine.
    let limit = if effort.is_quick { Duration::from_millis(200) } else { Duration::from_secs(2) };
    Operation::PAPER[rows]
        .iter()
        .map(|&operation| {
            let mut cells = [16, 32, 64].map(|digit_bits| TimedOperation::new(operation, bits, digit_bits));
            monitor.check();
            let found = alternate(&mut cells, effort.samples(), limit)?;
            monitor.check();
            Ok(found.try_into().unwrap_or_default())
        })
        .collect()
}

/// The smallest and the largest of some figures, as `1.10 to 2.04`.
fn span(figures: impl IntoIterator<Item = f64>) -> String {
    let (low, high) = super::range(figures);
    if low > high { "nothing".into() } else { format!("{low:.2} to {high:.2}") }
}
