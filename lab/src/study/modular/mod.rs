//! Arithmetic for signatures on several systems: the paper's tables 2 to 5 beside this machine and beside the records
//! of lab/systems/run; the paper's three questions; and its misprints.

mod compilers;
mod conclude;
mod digits;
mod library;
mod paper;
mod record;
mod tables;

use std::ops::Range;
use std::time::Duration;

use tress_modular_times::Operation;

use super::busy::BusyMonitor;
use super::{Effort, Error, Section, Study, misprints, part, text};
use crate::bench::modular::{TimedOperation, alternate};

pub(super) const STUDY: Study = Study {
    name: "modular",
    title: "Arithmetic for digital signatures on several systems",
    texts: include_str!("texts.txt"),
    parts: &[
        part("table-2", "Table 2: 256 bits", |effort| tables::section(effort, 0)),
        part("table-3", "Table 3: 512 bits", |effort| tables::section(effort, 1)),
        part("table-4", "Table 4: 768 bits", |effort| tables::section(effort, 2)),
        part("table-5", "Table 5: 1024 bits", |effort| tables::section(effort, 3)),
        part("far-pointers", "What does a far pointer cost?", |_| Ok(far_pointers())),
        part("library", "What does a shared library cost?", library::run),
        part("compilers", "What difference does the compiler make?", compilers::run),
        part("digits", "What does a wider digit gain?", digits::run),
        part("misprints", "Misprints", |_| misprints(&STUDY, include_str!("misprints.txt"))),
    ],
    machine: None,
    inputs: record::text,
    conclude: conclude::conclude,
};

/// The paper's first question: the cost of the large memory model, in which a pointer includes its segment. All of its figures are the
/// paper's, or follow from them, so they are kept.
fn far_pointers() -> Section {
    let kept: Section = serde_json::from_str(include_str!("far-pointers.json")).expect("a section");
    Section { text: text(&STUDY, "far-pointers", &[]), ..kept }
}

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
