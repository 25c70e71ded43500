//! `tress bench --compare A B`: what changed between two records beyond their noise.
//!
//! Two runs of one program never give the same figures. A change counts only if two things hold: the 99.99 % interval
//! of the ratio of the later record's visits to the earlier one's does not contain 1, and the change is larger than
//! [`LEAST_CHANGE`], which moved code or pages cause without any change to the work. The output names the smallest
//! change that a row could have shown; on a busy machine it is large.
//!
//! Of three measures, rows are compared by the one with the least noise that both records have: our ratio to a peer
//! of the same version, which was measured alternately with ours and met the same conditions; our cycles per byte;
//! our rate.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::record::{BASELINES, BenchRow, Document, SCHEMA};
use super::{Error, text};
use crate::timing::statistics::{Median, paired_ratio, ratio};

/// Smaller changes are not reported, however sure they are.
pub const LEAST_CHANGE: f64 = 0.02;

/// Size of the largest record in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// How sure a change has to be. A record has some fifty rows, and the quietest of several measures is taken.
const CONFIDENCE: f64 = 0.9999;

#[derive(Clone, Debug)]
pub struct Options {
    pub before: PathBuf,
    pub after: PathBuf,
    pub force: bool,
    pub json: bool,
}

#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Comparison {
    /// Rows that both records have with enough visits for a verdict, in the order of the later record.
    pub rows: Vec<Change>,
    /// Names of rows that both records have with too few visits for a verdict.
    pub unsure: Vec<String>,
    /// Rows of the earlier record only.
    pub gone: Vec<String>,
    /// Rows of the later record only.
    pub new: Vec<String>,
}

#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Change {
    /// Name, direction and workload.
    pub row: String,
    /// The measure: `rate`, `cycles`, or the name of a peer.
    pub measure: String,
    /// The later speed over the earlier one: above 1, the row became faster.
    pub ratio: f64,
    /// Lower end of the ratio's interval.
    pub ratio_low: f64,
    /// Upper end of the ratio's interval.
    pub ratio_high: f64,
    pub verdict: Verdict,
}

/// Whether a row became faster or slower.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Faster,
    Slower,
    /// No change that exceeds the noise.
    Same,
}

impl Change {
    fn new(row: &str, measure: &str, Median { median: ratio, low: ratio_low, high: ratio_high }: Median) -> Self {
        let verdict = if ratio_low > 1.0 && ratio > 1.0 + LEAST_CHANGE {
            Verdict::Faster
        } else if ratio_high < 1.0 && ratio < 1.0 - LEAST_CHANGE {
            Verdict::Slower
        } else {
            Verdict::Same
        };
        Change { row: row.into(), measure: measure.into(), ratio, ratio_low, ratio_high, verdict }
    }

    fn relative_interval(&self) -> f64 {
        self.ratio_high / self.ratio_low
    }

    /// The smallest change that the row would have shown: half the width of the interval.
    pub(super) fn smallest_visible_change(&self) -> f64 {
        self.relative_interval().sqrt() - 1.0
    }
}

impl Comparison {
    pub fn has_regression(&self) -> bool {
        self.rows.iter().any(|change| change.verdict == Verdict::Slower)
    }

    /// Whether any row has a verdict. Without one, the absence of slower rows means little.
    pub fn has_verdict(&self) -> bool {
        !self.rows.is_empty()
    }
}

/// Reads both records, compares them and writes what changed.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<Comparison, Error> {
    let (before, after) = (read_full(&options.before)?, read_full(&options.after)?);
    check(&before, &after, options.force)?;
    write_comparison(compare(&before, &after), options.json, out)
}

pub(super) fn write_comparison(comparison: Comparison, json: bool, out: &mut dyn Write) -> Result<Comparison, Error> {
    if json {
        text::json(&comparison, out)?;
    } else {
        write(&comparison, out).map_err(Error::Output)?;
    }
    Ok(comparison)
}

/// Reads a record whose schema this version knows.
pub fn read(path: &Path) -> Result<Document, Error> {
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    let failed = |error: io::Error| Error::Record { path: path.to_path_buf(), error };
    let text = read_bounded(path).map_err(failed)?;
    let Version { schema } = serde_json::from_slice(&text).map_err(|error| failed(error.into()))?;
    if schema != SCHEMA {
        return Err(Error::Schema { path: path.to_path_buf(), schema, reads: SCHEMA });
    }
    serde_json::from_slice(&text).map_err(|error| failed(error.into()))
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut text)?;
    match text.len() as u64 > MOST_BYTES {
        true => Err(io::Error::other(format!("larger than {MOST_BYTES} bytes"))),
        false => Ok(text),
    }
}

/// Reads a record that has its samples.
pub fn read_full(path: &Path) -> Result<Document, Error> {
    let document = read(path)?;
    match document.samples_at {
        Some(commit) => Err(Error::NoSamples { path: path.to_path_buf(), commit }),
        None => Ok(document),
    }
}

/// Returns an error for records that cannot be compared, unless `force` is set.
pub(super) fn check(before: &Document, after: &Document, force: bool) -> Result<(), Error> {
    match first_difference(before, after) {
        Some(what) if !force => Err(Error::NotComparable { what }),
        _ => Ok(()),
    }
}

/// The first difference that makes two records incomparable.
pub(crate) fn first_difference(before: &Document, after: &Document) -> Option<&'static str> {
    let (a, b) = (&before.machine, &after.machine);
    if a.model != b.model || a.cores != b.cores || a.flags != b.flags {
        Some("machines")
    } else if a.target != b.target {
        Some("targets")
    } else if before.quick != after.quick {
        Some("efforts (only one is from --quick)")
    } else {
        None
    }
}

pub fn compare(before: &Document, after: &Document) -> Comparison {
    let mut earlier: BTreeMap<String, &BenchRow> = before.rows.iter().map(|row| (identity(row), row)).collect();
    let (mut rows, mut unsure, mut new) = (Vec::new(), Vec::new(), Vec::new());
    for row in &after.rows {
        let name = identity(row);
        match earlier.remove(&name).map(|old| change(&name, old, row)) {
            Some(Some(change)) => rows.push(change),
            Some(None) => unsure.push(name),
            None => new.push(name),
        }
    }
    Comparison { rows, unsure, gone: earlier.into_keys().collect(), new }
}

/// The fields that make two rows the same measurement. The backend is not one of them: a new backend is a change to show.
pub(super) fn identity(row: &BenchRow) -> String {
    let threads = if row.threads > 1 { format!(", {} threads", row.threads) } else { String::new() };
    format!("{} {}: {}, {}{threads}", row.name, row.direction, row.workload, text::length(row.message_bytes))
}

fn change(name: &str, old: &BenchRow, new: &BenchRow) -> Option<Change> {
    let mut measures: Vec<(String, Vec<f64>, Vec<f64>)> = Vec::new();
    // Our own code, beside which some rows are measured, may have changed itself.
    for (peer, then) in old.against.iter().filter(|(peer, _)| !BASELINES.contains(&peer.as_str())) {
        if let Some(now) = new.against.get(peer)
            && now.version == then.version
        {
            measures.push((peer.clone(), then.visits(), now.visits()));
        }
    }
    let speeds = |row: &BenchRow| row.cycle_visits().iter().map(|cycles| cycles.recip()).collect();
    measures.push(("cycles".into(), speeds(old), speeds(new)));
    measures.push(("rate".into(), old.visits(), new.visits()));
    let candidates = measures.into_iter().filter_map(|(measure, then, now)| {
        let found = [&then, &now].iter().all(|speeds| is_usable(speeds)).then(|| ratio(&then, &now, CONFIDENCE))??;
        Some(Change::new(name, &measure, found))
    });
    quietest(candidates)
}

/// The change of a row, computed from its ratios of each turn or visit by several measures.
pub(super) fn change_of_pairs(name: &str, measures: &[(&str, Vec<f64>)]) -> Option<Change> {
    let candidates = measures.iter().filter_map(|(measure, ratios)| {
        let found = is_usable(ratios).then(|| paired_ratio(ratios, CONFIDENCE))??;
        Some(Change::new(name, measure, found))
    });
    quietest(candidates)
}

fn quietest(changes: impl Iterator<Item = Change>) -> Option<Change> {
    changes.min_by(|a, b| a.relative_interval().total_cmp(&b.relative_interval()))
}

/// More visits than any run makes. The comparison looks at all pairs of visits, and a record may contain any number of them.
const MOST_VISITS: usize = 4000;

/// Whether all values are positive rates, and not too many.
fn is_usable(speeds: &[f64]) -> bool {
    speeds.len() <= MOST_VISITS && speeds.iter().all(|speed| speed.is_finite() && *speed > 0.0)
}

fn write(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let changed: Vec<&Change> = comparison.rows.iter().filter(|change| change.verdict != Verdict::Same).collect();
    if !changed.is_empty() {
        let mut table = text::table(["", "speed", "interval", "measured by", "row"], []);
        for change in &changed {
            table.add_row([
                if change.verdict == Verdict::Faster { "faster" } else { "slower" }.into(),
                percent(change.ratio),
                format!("{} to {}", percent(change.ratio_low), percent(change.ratio_high)),
                change.measure.clone(),
                change.row.clone(),
            ]);
        }
        writeln!(out, "{table}")?;
    }
    if comparison.rows.is_empty() {
        writeln!(out, "no row has enough samples in both: run again without --quick, or on an idle machine")?;
    }
    let same = comparison.rows.len() - changed.len();
    if same > 0 {
        let mut seen: Vec<f64> = comparison.rows.iter().map(|change| change.smallest_visible_change()).collect();
        seen.sort_by(f64::total_cmp);
        writeln!(
            out,
            "{same} of {} rows: no change beyond noise; smallest change that shows: {:.1} % in half of all rows, {:.1} % in every row",
            comparison.rows.len(),
            100.0 * seen[seen.len() / 2].max(LEAST_CHANGE),
            100.0 * seen[seen.len() - 1].max(LEAST_CHANGE),
        )?;
    }
    let left_out = [
        ("too few samples", &comparison.unsure),
        ("only in the first record", &comparison.gone),
        ("only in the second record", &comparison.new),
    ];
    for (what, rows) in left_out {
        for row in rows {
            writeln!(out, "{what}: {row}")?;
        }
    }
    Ok(())
}

fn percent(ratio: f64) -> String {
    format!("{:+.1} %", 100.0 * (ratio - 1.0))
}

#[cfg(test)]
#[path = "compare_test.rs"]
mod tests;
