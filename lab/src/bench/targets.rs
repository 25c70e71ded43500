//! The performance targets of Tress, and whether a run reached them: the summary of `make bench`.

use std::io::{self, Write};
use std::sync::LazyLock;

use serde::Deserialize;

use super::record::{BenchRow, Document};
use super::text;

/// The least ratio, or the largest memory, that a row should have.
#[derive(Deserialize)]
struct Target {
    what: &'static str,
    name: &'static str,
    direction: &'static str,
    /// Prefix of the row's workload.
    workload: &'static str,
    message_bytes: Option<u64>,
    limit: Limit,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Limit {
    /// Our rate over this peer's.
    Ratio(&'static str, f64),
    PeakMib(f64),
}

const MIB: u64 = 1 << 20;

/// All targets, in the order of the list; one entry for each direction.
static TARGETS: LazyLock<Vec<Target>> =
    LazyLock::new(|| serde_json::from_str(include_str!("targets.json")).expect("targets"));

/// Writes every target with its result, and returns how many were missed or not measured. The median of a ratio
/// decides whether its target is reached; the interval is printed beside it.
pub fn write(document: &Document, out: &mut dyn Write) -> io::Result<usize> {
    let mut shown =
        text::table(["measurement", "direction", "size", "against", "target", "result (95 % interval)", ""], []);
    let mut missed = 0;
    for target in TARGETS.iter() {
        let row = document.rows.iter().find(|row| target.is_for(row));
        let (against, limit, result, reached) = target.judge(row);
        let verdict = match reached {
            Some(true) => "reached",
            Some(false) => "MISSED",
            None => "not measured",
        };
        missed += usize::from(reached != Some(true));
        let size = row.map_or(String::new(), |row| text::length(row.message_bytes));
        shown.add_row([target.what, target.direction, &size, against, &limit, &result, verdict]);
    }
    writeln!(out, "{shown}")?;
    Ok(missed)
}

impl Target {
    fn is_for(&self, row: &BenchRow) -> bool {
        row.name == self.name
            && row.direction == self.direction
            && row.workload.starts_with(self.workload)
            && self.message_bytes.is_none_or(|bytes| row.message_bytes == bytes)
    }

    /// The peer, the target, the result, and whether the target was reached.
    fn judge(&self, row: Option<&BenchRow>) -> (&'static str, String, String, Option<bool>) {
        match self.limit {
            Limit::Ratio(peer, least) => {
                let against = row.and_then(|row| row.against.get(peer));
                let result = against.map(|a| format!("{:.2}× ({:.2}-{:.2})", a.ratio, a.ratio_low, a.ratio_high));
                let target = format!("≥ {least:.1}×");
                (peer, target, result.unwrap_or_default(), against.map(|against| against.ratio >= least))
            }
            Limit::PeakMib(most) => {
                let peak = row.and_then(|row| row.peak_bytes).map(|bytes| bytes as f64 / MIB as f64);
                let result = peak.map(|mib| format!("{mib:.1} MiB")).unwrap_or_default();
                ("", format!("≤ {most:.0} MiB"), result, peak.map(|mib| mib <= most))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{Against, Machine};
    use super::*;

    #[test]
    fn rows_are_judged_by_their_own_targets() {
        let mut document = Document::new(Machine::default());
        let mut out = Vec::new();
        let all = write(&document, &mut out).unwrap();
        assert_eq!(all, TARGETS.len());

        let mut row = BenchRow {
            name: "aes-128-ccm".into(),
            direction: "encrypt".into(),
            workload: "one message".into(),
            message_bytes: MIB,
            ..BenchRow::default()
        };
        row.against.insert("openssl".into(), Against { ratio: 1.2, ..Against::default() });
        document.rows.push(row);
        let peak_bytes = Some(65 << 20);
        document.rows.push(BenchRow {
            name: "encrypt-memory".into(),
            direction: "encrypt".into(),
            peak_bytes,
            ..BenchRow::default()
        });
        out.clear();
        assert_eq!(write(&document, &mut out).unwrap(), all - 1);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches("MISSED").count(), 1, "{text}");
    }
}
