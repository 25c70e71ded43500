//! The paper's first question: the cost of the large memory model, in which a pointer includes its segment.

use super::super::{Claim, Effort, Error, Section, StudyRow, Verdict};
use super::paper::{DOS_LARGE, DOS_SMALL, OPERATIONS, PaperTable, TABLES, WINDOWS_31, WINDOWS_31_LARGE};
use super::span;

pub(super) fn run(_: &Effort) -> Result<Section, Error> {
    let mut section = Section::new(
        "Time of the large model relative to the small or medium one, from the paper's figures at 512 bits. The figures of \
               Table 5 for Windows 3.1 in the large model are copies, see \"Misprints\".",
    );
    let table = &TABLES[1];
    for (row, operation) in OPERATIONS.iter().enumerate() {
        for (system, large, small) in [("MS-DOS", DOS_LARGE, DOS_SMALL), ("Windows 3.1", WINDOWS_31_LARGE, WINDOWS_31)]
        {
            section.rows.push(StudyRow {
                what: format!(
                    "{system}, {operation}: large over {}",
                    if large == DOS_LARGE { "small" } else { "medium" }
                ),
                paper: Some(format!("{:.2}", table.ns(row, large) / table.ns(row, small))),
                ..StudyRow::default()
            });
        }
    }
    let dos = TABLES.iter().flat_map(|table| ratios(table, DOS_LARGE, DOS_SMALL));
    let windows = TABLES[..3].iter().flat_map(|table| ratios(table, WINDOWS_31_LARGE, WINDOWS_31));
    let is_slower = dos.clone().chain(windows.clone()).all(|ratio| ratio > 1.0);
    let claim = format!(
        "the large model is slower, in every figure of tables 2 to 4 and for MS-DOS of Table 5: {} times the time under \
         MS-DOS, {} under Windows 3.1",
        span(dos),
        span(windows)
    );
    section.verdicts.push(Claim::Paper.judge(claim, is_slower));
    section.verdicts.push(Verdict::LeftOut(
        "today: far pointers have no counterpart. Every system here has one flat address space; under MS-DOS our program \
         stays within one segment, like the small model"
            .into(),
    ));
    Ok(section)
}

fn ratios(table: &PaperTable, over: usize, under: usize) -> impl Iterator<Item = f64> + Clone + '_ {
    (0..OPERATIONS.len()).map(move |row| table.ns(row, over) / table.ns(row, under))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 0.0087 / 0.0054, and 0.9340 / 0.7362.
    #[test]
    fn quotients() {
        assert!((ratios(&TABLES[0], DOS_LARGE, DOS_SMALL).next().expect("a ratio") - 1.6111).abs() < 1e-4);
    }
}
