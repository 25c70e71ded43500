//! The paper's third question: the gain of a wider digit. Twice the bits are half the digits and a quarter of the digit products.

use tress_modular_times::BITS;

use super::super::busy::BusyMonitor;
use super::super::{Claim, Effort, Error, Measured, Picture, Section, StudyRow, chart, range};
use super::paper::{OPERATIONS, TABLES, WINDOWS_31, WINDOWS_95};
use super::samples;
use crate::picture::{Chart, Line, Scale};

/// Rows of the tables: multiplication, Montgomery product, Montgomery power.
const ROWS: [usize; 3] = [2, 5, 7];
const POWER: usize = 7;

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let mut section = Section::begin(&super::STUDY, "digits", &[]);
    let mut lines: Vec<Line> = [("paper, 16-bit digits", WINDOWS_31), ("paper, 32-bit digits", WINDOWS_95)]
        .map(|(name, column)| Line {
            name: name.into(),
            points: TABLES.iter().map(|table| (table.bits as f64, table.ns(POWER, column) / 1e3)).collect(),
        })
        .into();
    lines.extend(
        ["here, 16-bit digits", "here, 32-bit digits", "here, 64-bit digits"]
            .map(|name| Line { name: name.into(), points: Vec::new() }),
    );
    let mut monitor = BusyMonitor::default();
    // Gains of Montgomery powers, 16 over 32 and 32 over 64 bits, by size.
    let mut gains: [Vec<Measured>; 2] = Default::default();
    for (size, bits) in BITS.into_iter().enumerate() {
        for row in ROWS {
            let found = samples(effort, bits, row..row + 1, &mut monitor)?;
            let [narrow, middle, wide] = &found[0];
            let (first, second) = (Measured::ratio(narrow, middle), Measured::ratio(middle, wide));
            let table = &TABLES[size];
            section.rows.push(StudyRow {
                paper: Some(format!("{:.2}", table.ns(row, WINDOWS_31) / table.ns(row, WINDOWS_95))),
                ..StudyRow::measured(format!("{bits} bits, {}: 16 over 32", OPERATIONS[row]), "", first)
            });
            section.rows.push(StudyRow::measured(format!("{bits} bits, {}: 32 over 64", OPERATIONS[row]), "", second));
            if row == POWER {
                gains[0].push(first);
                gains[1].push(second);
                for (line, samples) in lines[2..].iter_mut().zip([narrow, middle, wide]) {
                    line.points.push((bits as f64, Measured::of(samples).median / 1e3));
                }
            }
        }
    }
    section.rows.extend(monitor.row());
    section.pictures.push(Picture::new("digits", picture(lines)));

    for (gains, what) in gains.iter().zip(["32 bits instead of 16", "64 bits instead of 32"]) {
        let claim = format!(
            "Montgomery powers of 1024 bits: digits of {what} take at most a third of the time ({:.2} times as fast)",
            gains[BITS.len() - 1].median
        );
        section.verdicts.push(Claim::Ours.of(claim, gains[BITS.len() - 1], 3.0..=f64::INFINITY, &monitor));
        let (small, large) = (gains[0], gains[BITS.len() - 1]);
        let claim = format!(
            "the gain grows with the length of the numbers, as section 4 says, {what}: {:.2} at 256 bits, {:.2} at 1024",
            small.median, large.median
        );
        let grows = if large.low > small.high { Some(true) } else { (large.high < small.low).then_some(false) };
        section.verdicts.push(Claim::Paper.measured(claim, grows, &monitor));
    }
    Ok(section)
}

fn picture(lines: Vec<Line>) -> Chart {
    let points = || lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let (low, high) = range(points());
    chart(
        "Montgomery powers with digits of 16, 32 and 64 bits",
        ("bits of the numbers", 192.0, 1088.0, Scale::Linear),
        ("µs", low / 2.0, high * 3.0, Scale::Logarithmic),
        lines,
    )
}
