//! The page of a study: Markdown that refers to picture files.

use std::fmt::Write as _;

use super::{Findings, Measured, Section, Study, StudyPart, StudyRow, StudyTable, Verdict};

/// The page of a study with these sections.
pub(super) fn write(study: &Study, sections: &[(&'static StudyPart, Section)], quick: bool) -> String {
    let machine = crate::bench::machine();
    let mut page = format!("# {}\n\n{}\n\n", study.title, study.source());
    let _ = writeln!(page, "{}, {} cores, {}.", machine.model, machine.cores, machine.kernel);
    if quick {
        page.push_str("This was a quick run: few samples of small messages.\n");
    }
    if machine.is_debug_build() {
        page.push_str("This is a debug build: its measured figures do not apply to a release build.\n");
    }
    for (part, section) in sections {
        let _ = write!(page, "\n## {}\n", part.title);
        if !section.text.is_empty() {
            let _ = write!(page, "\n{}\n", section.text);
        }
        if !section.rows.is_empty() {
            page.push('\n');
            table(&mut page, &section.rows);
        }
        for table in &section.tables {
            own_table(&mut page, table);
        }
        for picture in &section.pictures {
            let _ = write!(page, "\n![{0}]({0}.svg)\n", picture.name);
        }
        if !section.verdicts.is_empty() {
            page.push('\n');
        }
        for verdict in &section.verdicts {
            let (word, text) = match verdict {
                Verdict::Holds(text) => ("holds", text),
                Verdict::Expected(text) => ("as we expected", text),
                Verdict::Misprint(text) => ("**misprint**", text),
                Verdict::NotReproduced(text) => ("**not reproduced**", text),
                Verdict::Fails(text) => ("**we expected this, and were wrong**", text),
                Verdict::Unclear(text) => ("unclear", text),
                Verdict::Busy(text) => ("unclear, busy machine", text),
                Verdict::LeftOut(text) => ("left out", text),
            };
            let _ = writeln!(page, "- {word}: {text}");
        }
    }
    if let Some(conclusion) = (study.conclude)(Findings::new(sections)) {
        let _ = write!(page, "\n## What held, what did not, and why\n\n{conclusion}\n");
    }
    page
}

/// The table of figures, whose columns are the same in every study.
fn table(page: &mut String, rows: &[StudyRow]) {
    page.push_str("| | unit | paper | model | simulated | measured (95 % interval) |\n|---|---|---|---|---|---|\n");
    let number = |value: Option<f64>| value.map_or(String::new(), exact);
    let measured =
        |Measured { median, low, high }: Measured| format!("{} ({} to {})", figure(median), figure(low), figure(high));
    for row in rows {
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} |",
            row.what,
            row.unit,
            row.paper.as_deref().unwrap_or(""),
            number(row.model),
            number(row.simulated),
            row.measured.map_or(String::new(), measured),
        );
    }
}

/// A table with its own columns: the first is aligned left, the others right.
fn own_table(page: &mut String, StudyTable { title, header, rows }: &StudyTable) {
    let _ = write!(page, "\n{title}:\n\n| {} |\n|---|", header.join(" | "));
    page.push_str(&"---:|".repeat(header.len().saturating_sub(1)));
    page.push('\n');
    for row in rows {
        let _ = writeln!(page, "| {} |", row.join(" | "));
    }
}

/// A figure that was not measured. Whole numbers, such as counts, have no decimals.
pub(crate) fn exact(value: f64) -> String {
    // Above this every number is whole.
    if value.fract() == 0.0 && value.abs() < 9e15 { format!("{value:.0}") } else { figure(value) }
}

/// The value with four significant digits, or one after the point.
pub(crate) fn figure(value: f64) -> String {
    let magnitude = value.abs();
    let decimals = match magnitude {
        0.0 => 0,
        m if m >= 100.0 => 1,
        m if m >= 10.0 => 2,
        m if m >= 1.0 => 3,
        m if m >= 0.1 => 4,
        _ => 6,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_no_decimals() {
        for (value, text) in
            [(734_972.0, "734972"), (64.0, "64"), (0.0, "0"), (-5.0, "-5"), (734_972.5, "734972.5"), (1.04387, "1.044")]
        {
            assert_eq!(exact(value), text);
        }
    }

    #[test]
    fn a_row_has_every_column() {
        let mut page = String::new();
        let measured = Some(Measured { median: 12.3456, low: 12.0, high: 0.5 });
        table(
            &mut page,
            &[StudyRow {
                what: "w".into(),
                paper: Some("1.04".into()),
                model: Some(1.04387),
                measured,
                ..StudyRow::default()
            }],
        );
        assert_eq!(page.lines().last(), Some("| w |  | 1.04 | 1.044 |  | 12.35 (12.00 to 0.5000) |"));
    }

    #[test]
    fn a_table_with_own_columns() {
        let mut page = String::new();
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        let (header, rows) = (words(&["a", "b"]), vec![words(&["1", "2"])]);
        own_table(&mut page, &StudyTable { title: "T".into(), header, rows });
        assert_eq!(page, "\nT:\n\n| a | b |\n|---|---:|\n| 1 | 2 |\n");
    }
}
