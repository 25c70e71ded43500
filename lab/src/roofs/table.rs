//! The roofs as a table for people.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Row, Table, presets};

use super::{Roof, Roofline};

/// A table without lines and with these column names. The columns with these numbers are aligned to the right.
pub(crate) fn empty_table(header: impl Into<Row>, right: impl IntoIterator<Item = usize>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for column in right {
        table.column_mut(column).expect("a column of the header").set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Writes every roof, and the loops that need instructions which the machine lacks.
pub(crate) fn write(roofs: &Roofline, out: &mut dyn Write) -> io::Result<()> {
    let header = ["roof", "at most", "per cycle", "median (95 % interval)", "threads", "counts"];
    let mut table = empty_table(header, [1, 2, 4]);
    for roof in &roofs.roofs {
        table.add_row([
            roof.name.clone(),
            figure(roof, roof.per_s),
            roof.per_cycle.map_or(String::new(), |rate| format!("{rate:.2}")),
            spread(roof),
            roof.threads.to_string(),
            roof.counts.clone(),
        ]);
    }
    writeln!(out, "{table}")?;
    if !roofs.missing.is_empty() {
        writeln!(out, "not measured, because this machine lacks the instructions: {}", roofs.missing.join(", "))?;
    }
    Ok(())
}

/// The median and its interval, the smaller figure first. If the figures are times, that is the higher rate.
fn spread(roof: &Roof) -> String {
    let is_time = figure(roof, roof.median_per_s).ends_with("µs");
    let (low, high) = if is_time { (roof.high_per_s, roof.low_per_s) } else { (roof.low_per_s, roof.high_per_s) };
    format!("{} ({} to {})", figure(roof, roof.median_per_s), figure(roof, low), figure(roof, high))
}

/// A rate; or the time of one unit, where that is more usual.
fn figure(roof: &Roof, per_s: f64) -> String {
    match per_s {
        rate if roof.counts.starts_with("bytes") => format!("{:.1} GB/s", rate / 1e9),
        rate if rate >= 1e8 => format!("{:.2} G/s", rate / 1e9),
        rate => format!("{:.2} µs", 1e6 / rate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        let roof = |counts: &str| Roof { counts: counts.into(), ..Roof::default() };
        assert_eq!(figure(&roof("bytes read"), 12.34e9), "12.3 GB/s");
        assert_eq!(figure(&roof("AES rounds of a block"), 12.34e9), "12.34 G/s");
        assert_eq!(figure(&roof("empty stages"), 2e5), "5.00 µs");
    }

    #[test]
    fn times_rise() {
        let counts = "empty stages".into();
        let roof = Roof { counts, median_per_s: 2e5, low_per_s: 1e5, high_per_s: 4e5, ..Roof::default() };
        assert_eq!(spread(&roof), "5.00 µs (2.50 µs to 10.00 µs)");
    }

    #[test]
    fn missing_loops_are_named() {
        let roofs = Roofline { missing: vec!["aes-512".into(), "ifma-512".into()], ..Roofline::default() };
        let mut out = Vec::new();
        write(&roofs, &mut out).expect("a table");
        let text = String::from_utf8(out).expect("text");
        assert!(text.contains("aes-512, ifma-512"), "{text}");
    }
}
