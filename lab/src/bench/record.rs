//! The document that `tress bench --json` writes and that bench/record/ stores. Fields are added, never changed; a
//! change of meaning takes a new [`SCHEMA`].

use std::collections::BTreeMap;
use std::io;
use std::mem::take;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::ser::Formatter;
use tress_plan::date;

use super::enough::Stopped;
use crate::roofs::Roofline;
use crate::timing::statistics;

/// The version of this schema.
pub const SCHEMA: u32 = 1;

/// Names of our code where it is measured beside a row, as a peer is.
pub(crate) const BASELINES: [&str; 4] = ["equal-lengths", "own-encryption", "own-aes-256", "one-at-a-time"];

/// One run. It is not authenticated: an edited record reads like any other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Document {
    pub schema: u32,
    /// Seconds since 1970-01-01 00:00 UTC at the start.
    pub time: u64,
    pub tress: String,
    /// Whether samples were few and short.
    pub quick: bool,
    /// Whether the run was finished. Older records lack this field; they are of finished runs.
    #[serde(default = "yes")]
    pub complete: bool,
    /// The commit that has the samples, if this record holds medians only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_at: Option<String>,
    pub machine: Machine,
    /// Peers that were asked for and are not installed.
    pub missing: Vec<Missing>,
    pub rows: Vec<BenchRow>,
    /// The rooflines of the machine, measured before the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roofs: Option<Roofline>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    pub model: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Features of the processor that our backends use.
    pub flags: Vec<String>,
    pub memory_bytes: Option<u64>,
    /// Frequency governor, where the system reports it.
    pub governor: Option<String>,
    /// Load average of one minute at the start: programs other than this one that wanted a core.
    pub load: Option<f64>,
    /// Operating system and kernel release.
    pub kernel: String,
    /// Whether a hypervisor runs below the system.
    pub virtual_machine: bool,
    pub rustc: String,
    /// The target triple and profile of this build.
    pub target: String,
    /// The commit of the current folder if it is a checkout, followed by `+` if there are changes.
    pub commit: Option<String>,
}

impl Machine {
    /// Whether this is a debug build, whose figures do not apply to a release build.
    pub(crate) fn is_debug_build(&self) -> bool {
        self.target.ends_with(" debug")
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Missing {
    pub peer: String,
    pub hint: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BenchRow {
    /// For example `aes-128-ccm` or `encrypt-file`.
    pub name: String,
    /// `encrypt` or `decrypt`.
    pub direction: String,
    /// Distinguishes rows with the same name and direction.
    pub workload: String,
    pub backend: String,
    pub threads: usize,
    /// Messages in one call.
    pub lanes: usize,
    /// Bytes of a message; the mean of mixed lengths.
    pub message_bytes: u64,
    /// Median of our rate. It holds for that machine at that hour; comparisons use ratios that were measured alternately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<f64>,
    /// Median of our rate in runs, for rows that do not count bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_s: Option<f64>,
    /// Lower end of the 95 % confidence interval of `bytes_per_s` or `per_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_low: Option<f64>,
    /// Upper end of that interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_high: Option<f64>,
    /// Number of our samples more than 1.5 interquartile ranges beyond their quartiles. They are included in the medians.
    #[serde(default)]
    pub outliers: usize,
    /// Why sampling stopped, in a row without peers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Median of core cycles, measured by the calibrated chain. Absent for commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles_per_byte: Option<f64>,
    /// Largest resident memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// The roofline that limits the row ([`Roofline`]), where a bound is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// Our rate as a fraction of the rate that this roofline allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Comparisons, by the peer's name.
    #[serde(default)]
    pub against: BTreeMap<String, Against>,
    /// Samples of one visit, over all comparisons. The samples are in order of time, so every `per_visit` of them are one visit.
    #[serde(default = "one")]
    pub per_visit: usize,
    /// Number of samples, in a record that holds medians only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// Our rate in each sample, in order of time; bytes or runs per second.
    #[serde(default)]
    pub samples: Vec<f64>,
    /// Core cycles per byte of the same samples, where they could be counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle_samples: Vec<f64>,
}

/// A comparison: our rate over the peer's. Above 1, Tress is faster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Against {
    pub version: String,
    /// Median of the pairs' ratios.
    pub ratio: f64,
    /// Lower end of the median's 95 % confidence interval.
    pub ratio_low: f64,
    pub ratio_high: f64,
    /// Median of the peer's rate.
    pub rate: f64,
    /// Number of ratios more than 1.5 interquartile ranges beyond their quartiles. They are included in the median.
    #[serde(default)]
    pub outliers: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Pairs of one visit.
    #[serde(default = "one")]
    pub per_visit: usize,
    /// Number of pairs, in a record that holds medians only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// Our rate and the peer's rate in each pair, in order of time.
    #[serde(default)]
    pub pairs: Vec<[f64; 2]>,
}

fn yes() -> bool {
    true
}

fn one() -> usize {
    1
}

impl Against {
    fn ratios(&self) -> Vec<f64> {
        self.pairs.iter().map(|[ours, theirs]| ours / theirs).collect()
    }

    /// The ratio of each visit.
    pub(crate) fn visits(&self) -> Vec<f64> {
        statistics::by_visit(&self.ratios(), self.per_visit)
    }
}

impl BenchRow {
    /// Our rate in each visit.
    pub(crate) fn visits(&self) -> Vec<f64> {
        statistics::by_visit(&self.samples, self.per_visit)
    }

    /// Our cycles per byte in each visit.
    pub(crate) fn cycle_visits(&self) -> Vec<f64> {
        // Cycles are counted for all samples or for none.
        let per_visit = if self.cycle_samples.len() == self.samples.len() { self.per_visit } else { 1 };
        statistics::by_visit(&self.cycle_samples, per_visit)
    }

    /// Returns the median of the samples, and stores its interval and the number of outliers in the row.
    pub(crate) fn summarise(&mut self) -> f64 {
        let rate = statistics::median(&self.visits());
        (self.rate_low, self.rate_high) = (Some(rate.low), Some(rate.high));
        self.outliers = statistics::outliers(&self.samples);
        rate.median
    }
}

impl Document {
    pub(crate) fn new(machine: Machine) -> Document {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let tress = env!("CARGO_PKG_VERSION").into();
        let (missing, rows) = (Vec::new(), Vec::new());
        let (quick, complete, samples_at, roofs) = (false, true, None, None);
        Document { schema: SCHEMA, time, tress, quick, complete, samples_at, machine, missing, rows, roofs }
    }

    /// Drops all samples. Medians, intervals and counts stay; those that an older version did not write are computed.
    pub fn keep_medians(&mut self, samples_at: String) {
        self.samples_at = Some(samples_at);
        for row in &mut self.rows {
            if row.bytes_per_s.or(row.per_s).is_some() && !row.samples.is_empty() {
                row.summarise();
            }
            row.cycle_samples.clear();
            row.count = Some(take(&mut row.samples).len());
            for against in row.against.values_mut() {
                against.outliers = statistics::outliers(&against.ratios());
                against.count = Some(take(&mut against.pairs).len());
            }
        }
        for roof in self.roofs.iter_mut().flat_map(|roofs| &mut roofs.roofs) {
            roof.median_per_cycle = roof.median_per_cycle();
            roof.samples.clear();
            roof.cycle_samples.clear();
        }
    }

    /// Writes the document as JSON with a line for each row and each roofline, and a newline at the end.
    pub fn write_lines(&self, mut out: impl io::Write) -> io::Result<()> {
        self.serialize(&mut serde_json::Serializer::with_formatter(&mut out, Lines { is_element: false }))?;
        out.write_all(b"\n")
    }

    /// `<date>-<machine>.json`.
    pub fn file_name(&self) -> String {
        let mut machine = String::new();
        for word in self.machine.model.split(|c: char| !c.is_ascii_alphanumeric()) {
            // Skips trade marks and words that all models have.
            if !matches!(word, "" | "R" | "TM" | "CPU" | "Processor" | "with") {
                machine.push('-');
                machine.push_str(&word.to_ascii_lowercase());
            }
        }
        format!("{}{machine}.json", date(self.time))
    }
}

/// Formatter that begins a new line before each object of an array.
struct Lines {
    is_element: bool,
}

impl Formatter for Lines {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.is_element = true;
        if first { Ok(()) } else { out.write_all(b",") }
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(if take(&mut self.is_element) { b"\n{" } else { b"{" })
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.is_element = false;
        out.write_all(b":")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_short() {
        let model = "Intel(R) Xeon(R) Processor @ 2.80GHz".into();
        let mut document = Document::new(Machine { model, ..Machine::default() });
        document.time = 0;
        assert_eq!(document.file_name(), "1970-01-01-intel-xeon-2-80ghz.json");
    }
}
