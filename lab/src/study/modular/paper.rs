//! The paper's tables 2 to 5, as printed. Columns are systems, rows operations.

use std::sync::LazyLock;

use serde::Deserialize;
use tress_modular_times::Operation;

/// The columns, with the bits of a digit. All but the last ran on a Pentium of 100 MHz, UNIX on a Unistation 20 (a SPARC).
pub(super) const SYSTEMS: [(&str, u32); 8] = [
    ("MS-DOS, small", 16),
    ("MS-DOS, large", 16),
    ("Windows 3.1, medium", 16),
    ("Windows 3.1, large", 16),
    ("Windows 3.1, DLL", 16),
    ("Windows 95", 32),
    ("Windows 95, DLL", 32),
    ("UNIX (Solaris 2.3)", 32),
];

/// Indexes of columns.
pub(super) const WINDOWS_31: usize = 2;
pub(super) const WINDOWS_31_LARGE: usize = 3;
pub(super) const WINDOWS_31_DLL: usize = 4;
pub(super) const WINDOWS_95: usize = 5;
pub(super) const WINDOWS_95_DLL: usize = 6;
pub(super) const UNIX: usize = 7;

/// One of tables 2 to 5.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub(super) struct PaperTable {
    pub(super) number: u32,
    pub(super) bits: usize,
    /// Rows are [`Operation::PAPER`], in milliseconds; the last two rows are in seconds.
    pub(super) figures: [[&'static str; 8]; 8],
}

impl PaperTable {
    /// A figure in nanoseconds.
    pub(super) fn ns(&self, row: usize, column: usize) -> f64 {
        self.figures[row][column].parse().unwrap_or(f64::NAN) * if is_in_seconds(row) { 1e9 } else { 1e6 }
    }

    /// A figure with all its printed digits, in a unit in which it is at least 1.
    pub(super) fn text(&self, row: usize, column: usize) -> String {
        let text = self.figures[row][column];
        let (unit, smaller) = if is_in_seconds(row) { ("s", "ms") } else { ("ms", "µs") };
        match text.split_once('.') {
            Some(("0", decimals)) if decimals.len() >= 3 => {
                let (whole, rest) = decimals.split_at(3);
                let whole = whole.trim_start_matches('0');
                let whole = if whole.is_empty() { "0" } else { whole };
                if rest.is_empty() { format!("{whole} {smaller}") } else { format!("{whole}.{rest} {smaller}") }
            }
            _ => format!("{text} {unit}"),
        }
    }
}

/// Whether the row is an exponentiation, whose figures are in seconds.
pub(super) fn is_in_seconds(row: usize) -> bool {
    row >= Operation::PAPER.len() - 2
}

/// The rows' names in English.
pub(super) const OPERATIONS: [&str; 8] = [
    "addition",
    "subtraction",
    "multiplication",
    "squaring",
    "classical reduction",
    "Montgomery product",
    "binary power",
    "Montgomery power",
];

/// Tables 2 to 5.
pub(super) static TABLES: LazyLock<[PaperTable; 4]> =
    LazyLock::new(|| serde_json::from_str(include_str!("paper.json")).expect("four tables"));

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums over the rows and the columns of each table, computed by a program from the paper's text. Together they find every wrong
    /// figure, also two that cancel each other.
    #[test]
    fn figures_are_those_of_the_paper() {
        let sums = [
            [0.0552, 0.0903, 1.675, 1.0372, 0.7663, 3.688, 2.2666, 1.1174],
            [0.0962, 0.1609, 5.9764, 3.4929, 1.6573, 12.1747, 15.4989, 7.901],
            [0.1405, 0.2337, 12.9688, 7.3822, 1.9531, 26.4325, 49.167, 25.517],
            [0.1762, 0.2992, 21.9297, 12.4422, 2.9275, 44.2688, 102.837, 65.193],
        ];
        for (table, sums) in TABLES.iter().zip(sums) {
            for (row, sum) in sums.into_iter().enumerate() {
                let unit = if is_in_seconds(row) { 1e9 } else { 1e6 };
                let found: f64 = (0..8).map(|column| table.ns(row, column) / unit).sum();
                assert!((found - sum).abs() < 1e-9, "table {}, row {row}: {found}", table.number);
            }
        }
        let sums = [
            [1.2756, 1.7208, 0.8251, 1.0379, 3.6931, 0.4192, 0.4129, 1.3114],
            [6.0427, 7.9483, 3.592, 4.327, 17.2954, 1.1228, 1.12, 5.5101],
            [15.7594, 20.8768, 9.5467, 11.555, 46.0792, 2.565, 2.5545, 14.8582],
            [33.0799, 43.0374, 19.3851, 20.898, 93.99, 4.6908, 4.6849, 30.3075],
        ];
        for (table, sums) in TABLES.iter().zip(sums) {
            for (column, sum) in sums.into_iter().enumerate() {
                let found: f64 = table.figures.iter().map(|row| row[column].parse::<f64>().expect("a figure")).sum();
                assert!((found - sum).abs() < 1e-9, "table {}, column {column}: {found}", table.number);
            }
        }
    }

    #[test]
    fn no_printed_digit_is_lost() {
        assert_eq!(TABLES[0].text(0, 0), "5.4 µs");
        assert_eq!(TABLES[0].text(2, 0), "192.3 µs");
        assert_eq!(TABLES[0].text(6, 5), "48.3 ms");
        assert_eq!(TABLES[0].text(7, 0), "109 ms");
        assert_eq!(TABLES[3].text(5, 4), "18.562 ms");
        assert_eq!(TABLES[3].text(6, 1), "19.560 s");
    }
}
