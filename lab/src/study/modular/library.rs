//! The paper's second question: the cost of calling the same code in a shared library instead of in the program.

use tress_modular_times::{BITS, Operation};

use super::super::{Claim, Effort, Error, Picture, Section, StudyTable, Verdict, chart};
use super::paper::{OPERATIONS, TABLES, WINDOWS_31, WINDOWS_31_DLL, WINDOWS_95, WINDOWS_95_DLL};
use super::record::{RecordedSystem, systems};
use super::span;
use crate::picture::{Chart, Level, Line, Scale};

/// Digit size of the recorded systems that are compared.
const DIGIT_BITS: u32 = 64;

/// Shared library over static library, of the paper or of two recorded systems.
struct LibraryPair<'a> {
    name: &'static str,
    of: PairSource<'a>,
}

enum PairSource<'a> {
    Paper(usize, usize),
    Recorded(&'a RecordedSystem, &'a RecordedSystem),
}

impl LibraryPair<'_> {
    fn ratio(&self, row: usize, size: usize) -> Option<f64> {
        match self.of {
            PairSource::Paper(shared, alone) => Some(TABLES[size].ns(row, shared) / TABLES[size].ns(row, alone)),
            PairSource::Recorded(shared, linked) => {
                let of = |system: &RecordedSystem| system.per_run(DIGIT_BITS, BITS[size], Operation::PAPER[row]);
                Some(of(shared)? / of(linked)?)
            }
        }
    }

    /// All ratios of these rows.
    fn ratios(&self, rows: std::ops::Range<usize>) -> Vec<f64> {
        rows.flat_map(|row| (0..BITS.len()).filter_map(move |size| self.ratio(row, size))).collect()
    }
}

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let systems = systems(effort)?;
    let of = |name: &str| systems.iter().find(|system| system.name == name);
    let mut pairs = vec![
        LibraryPair { name: "Windows 3.1, paper", of: PairSource::Paper(WINDOWS_31_DLL, WINDOWS_31) },
        LibraryPair { name: "Windows 95, paper", of: PairSource::Paper(WINDOWS_95_DLL, WINDOWS_95) },
    ];
    let mut section = Section::begin(&super::STUDY, "library", &[("digit_bits", &DIGIT_BITS)]);
    for (name, shared, linked) in
        [("Linux, recorded", "linux-shared", "linux-static"), ("Windows, recorded", "windows-shared", "windows-static")]
    {
        match of(shared).zip(of(linked)) {
            Some((shared, linked)) => pairs.push(LibraryPair { name, of: PairSource::Recorded(shared, linked) }),
            None => section.verdicts.push(Verdict::LeftOut(format!("{name}: the record lacks {shared} or {linked}"))),
        }
    }
    section.tables.push(table(&pairs));
    section.pictures.push(Picture::new("library", picture(&pairs)));

    for pair in &pairs {
        section.verdicts.push(match pair.name {
            "Windows 3.1, paper" => {
                let ratios = pair.ratios(0..8);
                let claim =
                    format!("a DLL is slower under Windows 3.1: {} times the time in the paper", span(ratios.clone()));
                Claim::Paper.judge(claim, ratios.iter().all(|&ratio| ratio > 1.0))
            }
            "Windows 95, paper" => almost_free(pair, "under Windows 95 a DLL costs almost nothing", 0..8),
            name => {
                let claim = format!("{name}: products and powers are as fast through a shared library");
                almost_free(pair, &claim, 2..8)
            }
        });
    }
    Ok(section)
}

/// Whether most figures are within a tenth of 1. The paper's claim is meant like this: some of its figures are below 1.
fn almost_free(pair: &LibraryPair<'_>, claim: &str, rows: std::ops::Range<usize>) -> Verdict {
    let ratios = pair.ratios(rows);
    let near = ratios.iter().filter(|ratio| (0.9..=1.1).contains(*ratio)).count();
    let sums = pair.ratios(0..2);
    let claim = format!(
        "{claim}: {near} of {} figures are within 10 %; all are {}, sums and differences {}",
        ratios.len(),
        span(ratios.iter().copied()),
        span(sums)
    );
    Claim::Paper.judge(claim, 4 * near >= 3 * ratios.len() && !ratios.is_empty())
}

fn table(pairs: &[LibraryPair<'_>]) -> StudyTable {
    let header: Vec<&str> = ["operation", "bits"].into_iter().chain(pairs.iter().map(|pair| pair.name)).collect();
    let mut table = StudyTable::new("Shared library relative to static", &header);
    for (row, operation) in OPERATIONS.iter().enumerate() {
        for (size, bits) in BITS.into_iter().enumerate() {
            let figures =
                pairs.iter().map(|pair| pair.ratio(row, size).map_or(String::new(), |ratio| format!("{ratio:.2}")));
            table.rows.push([operation.to_string(), bits.to_string()].into_iter().chain(figures).collect());
        }
    }
    table
}

fn picture(pairs: &[LibraryPair<'_>]) -> Chart {
    let lines: Vec<Line> = pairs
        .iter()
        .map(|pair| Line {
            name: pair.name.into(),
            points: (0..BITS.len())
                .filter_map(|size| pair.ratio(0, size).map(|ratio| (BITS[size] as f64, ratio)))
                .collect(),
        })
        .collect();
    let ratios = || lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let (least, most) = (ratios().fold(0.9, f64::min), ratios().fold(2.0, f64::max));
    let levels = vec![Level { name: "no difference".into(), at: 1.0 }];
    let title = "Addition: shared library relative to static";
    let y = ("relative time", least * 0.9, most * 1.1, Scale::Linear);
    Chart { levels, ..chart(title, ("bits of the numbers", 192.0, 1088.0, Scale::Linear), y, lines) }
}
