//! The paper's first question: the cost of the large memory model, in which a pointer includes its segment.

use super::super::{Claim, Effort, Error, Section, StudyRow, StudyTable, Verdict};
use super::paper::{DOS_LARGE, DOS_SMALL, OPERATIONS, PaperTable, TABLES, WINDOWS_31, WINDOWS_31_LARGE};
use super::span;

pub(super) fn run(_: &Effort) -> Result<Section, Error> {
    let mut section = Section::begin(&super::STUDY, "far-pointers", &[]);
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
    section.tables.push(within_ticks());
    let open = undecided();
    let claim = format!(
        "the large model is slower, in every figure of tables 2 to 4 and for MS-DOS of Table 5: {} times the time under \
         MS-DOS, {} under Windows 3.1. The clock of MS-DOS leaves {} of its {} ratios open: {}",
        span(dos.clone()),
        span(windows),
        open.len(),
        dos.count(),
        open.join(", ")
    );
    section.verdicts.push(Claim::Paper.judge(claim, is_slower));
    section.verdicts.push(Verdict::LeftOut(
        "today: far pointers have no counterpart. Every system here has one flat address space; under MS-DOS our program \
         stays within one segment, like the small model"
            .into(),
    ));
    Ok(section)
}

/// The ratios under MS-DOS that could be 1 or less, since both times are exact to one tick of its clock.
fn undecided() -> Vec<String> {
    let rows = TABLES.iter().flat_map(|table| (0..OPERATIONS.len()).map(move |row| (table, row)));
    let open = rows.filter(|&(table, row)| table.ratio_in_ticks([row, DOS_LARGE], [row, DOS_SMALL])[0] <= 1.0);
    open.map(|(table, row)| format!("{} at {} bits", OPERATIONS[row], table.bits)).collect()
}

/// The powers under MS-DOS in ticks, and the least and the largest ratio that these allow.
fn within_ticks() -> StudyTable {
    let powers = TABLES.iter().flat_map(|table| [6, 7].map(|row| (table, row)));
    let rows = powers.map(|(table, row)| {
        let ratio = table.ns(row, DOS_LARGE) / table.ns(row, DOS_SMALL);
        vec![
            OPERATIONS[row].into(),
            table.bits.to_string(),
            table.ticks(row, DOS_SMALL).to_string(),
            table.ticks(row, DOS_LARGE).to_string(),
            format!("{ratio:.2}"),
            span(table.ratio_in_ticks([row, DOS_LARGE], [row, DOS_SMALL])),
        ]
    });
    StudyTable::new(
        "MS-DOS: powers in ticks of its clock (54.9 ms), and the ratios that they allow",
        &["operation", "bits", "small, ticks", "large, ticks", "large over small, paper", "within one tick"],
    )
    .with(rows)
}

fn ratios(table: &PaperTable, over: usize, under: usize) -> impl Iterator<Item = f64> + Clone + '_ {
    (0..OPERATIONS.len()).map(move |row| table.ns(row, over) / table.ns(row, under))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: only 7 ticks over 6 and 3 over 2 can be 1 or less; the next, 7 / 6 of multiplications, is 39 / 36 at least.
    #[test]
    fn the_clock_leaves_two_ratios_open() {
        assert_eq!(undecided(), ["binary power at 256 bits", "Montgomery power at 256 bits"]);
        let last = within_ticks().rows.pop().expect("a row");
        assert_eq!(last[2..], ["145", "175", "1.20", "1.19 to 1.22"]);
    }

    /// By hand: 0.0087 / 0.0054, and 0.9340 / 0.7362.
    #[test]
    fn quotients() {
        assert!((ratios(&TABLES[0], DOS_LARGE, DOS_SMALL).next().expect("a ratio") - 1.6111).abs() < 1e-4);
    }
}
