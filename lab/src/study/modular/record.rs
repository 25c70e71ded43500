//! Times of other systems: a file of lab/systems/run, JSON lines in the format of docs/contributing/systems.md. The
//! file is untrusted.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use tress_modular_times::Operation;

use super::super::{Effort, Error};

/// The first record in this program, whose systems are not the reader's machine.
const BUILT_IN: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../bench/record/2026-11-22-intel-xeon-2-80ghz-systems.jsonl"));

/// Counts on the kinds of processor that the paper had, a Pentium and a SPARC. They do not depend on the machine.
const COUNTED: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../bench/record/2026-11-28-amd-epyc-systems.jsonl"));

/// The record of compilers in this program: one machine, Rust by two back ends and C by two compilers.
const COMPILERS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../bench/record/2026-11-25-amd-epyc-systems.jsonl"));

/// Largest size of a file in bytes: more than any that lab/systems/run writes.
const MOST_BYTES: u64 = 16 << 20;

const SCHEMA: u32 = 1;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum RecordLine {
    System {
        schema: u32,
        #[serde(flatten)]
        system: RecordedSystem,
    },
    Time {
        system: String,
        digit_bits: u32,
        bits: usize,
        operation: String,
        runs: u64,
        elapsed: u64,
    },
}

/// A system and its times.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct RecordedSystem {
    #[serde(rename = "system")]
    pub(super) name: String,
    pub(super) title: String,
    /// `ns` for real times; other units are counts of an emulator.
    pub(super) unit: String,
    /// The emulator that runs the system's programs, if there is one.
    pub(super) through: Option<String>,
    pub(super) compiler: String,
    pub(super) machine: String,
    pub(super) time: u64,
    /// By bits of a digit, bits of numbers, and the operation's name.
    #[serde(skip)]
    pub(super) times: BTreeMap<(u32, usize, &'static str), f64>,
}

impl RecordedSystem {
    /// Whether its times are those of a real machine.
    pub(super) fn is_real(&self) -> bool {
        self.unit == "ns"
    }

    /// Cost of one run, in the system's unit.
    pub(super) fn per_run(&self, digit_bits: u32, bits: usize, operation: Operation) -> Option<f64> {
        self.times.get(&(digit_bits, bits, operation.name())).copied()
    }
}

/// The systems of the file in `effort`, or of the built-in record.
pub(super) fn systems(effort: &Effort) -> Result<Vec<RecordedSystem>, Error> {
    parsed(effort, &text(effort)?)
}

/// The systems of the file in `effort`, or of the built-in record of compilers.
pub(super) fn compilers(effort: &Effort) -> Result<Vec<RecordedSystem>, Error> {
    if effort.systems.is_some() { systems(effort) } else { parsed(effort, COMPILERS) }
}

fn parsed(effort: &Effort, text: &str) -> Result<Vec<RecordedSystem>, Error> {
    parse(text).map_err(|(line, why)| Error::Record { path: path(effort), line, why })
}

/// The contents of that file.
pub(super) fn text(effort: &Effort) -> Result<String, Error> {
    match &effort.systems {
        None => Ok([BUILT_IN, COUNTED].concat()),
        Some(path) => read(path).map_err(|error| Error::files(path, error)),
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    use std::io::Read as _;
    let mut text = String::new();
    fs::File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}

fn path(effort: &Effort) -> std::path::PathBuf {
    effort.systems.clone().unwrap_or_else(|| "the built-in record".into())
}

/// The systems in order, or the line with an error and the reason.
fn parse(text: &str) -> Result<Vec<RecordedSystem>, (usize, String)> {
    let mut systems: Vec<RecordedSystem> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |why: &str| (number + 1, why.to_string());
        match serde_json::from_str(line).map_err(|error| (number + 1, error.to_string()))? {
            RecordLine::System { schema, .. } if schema != SCHEMA => {
                return Err(wrong("unknown version of the record"));
            }
            RecordLine::System { system, .. } => {
                if systems.iter().any(|other| other.name == system.name) {
                    return Err(wrong("duplicate system"));
                }
                systems.push(RecordedSystem {
                    title: cell_text(&system.title),
                    unit: cell_text(&system.unit),
                    machine: cell_text(&system.machine),
                    compiler: cell_text(&system.compiler),
                    through: system.through.as_deref().map(cell_text),
                    ..system
                });
            }
            RecordLine::Time { system, digit_bits, bits, operation, runs, elapsed } => {
                let Some(system) = systems.iter_mut().find(|other| other.name == system) else {
                    return Err(wrong("time of a system that has no description above"));
                };
                let operation = Operation::of_name(&operation).ok_or_else(|| wrong("unknown operation"))?;
                if !matches!(digit_bits, 16 | 32 | 64) || runs == 0 {
                    return Err(wrong("digits must have 16, 32 or 64 bits, and runs must be at least 1"));
                }
                let per_run = elapsed as f64 / runs as f64;
                if system.times.insert((digit_bits, bits, operation.name()), per_run).is_some() {
                    return Err(wrong("duplicate time"));
                }
            }
        }
    }
    if systems.is_empty() {
        return Err((1, "the record has no system".into()));
    }
    Ok(systems)
}

/// A text that cannot break out of a table cell.
fn cell_text(text: &str) -> String {
    let is_plain = |letter: &char| !letter.is_control() && !matches!(letter, '|' | '<' | '>' | '[' | ']' | '`');
    text.chars().filter(is_plain).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYSTEM: &str = r#"{"kind":"system","schema":1,"system":"a","title":"A | b","unit":"ns","through":null,"calls":"inlined",
        "compiler":"c","machine":"m","time":1}"#;
    const TIME: &str =
        r#"{"kind":"time","system":"a","digit_bits":16,"bits":256,"operation":"add","runs":4,"elapsed":10}"#;

    fn lines(lines: &[&str]) -> String {
        lines.iter().map(|line| line.replace('\n', "") + "\n").collect()
    }

    #[test]
    fn a_record() {
        let systems = parse(&lines(&[SYSTEM, TIME])).expect("systems");
        assert_eq!(systems[0].per_run(16, 256, Operation::Add), Some(2.5));
        assert_eq!(systems[0].per_run(32, 256, Operation::Add), None);
        assert_eq!((systems[0].title.as_str(), systems[0].is_real()), ("A  b", true));
        assert!(parse(BUILT_IN).expect("the built-in record").len() > 10);
    }

    #[test]
    fn errors_name_their_line() {
        for (wrong, line) in [
            (lines(&[]), 1),
            (lines(&["{}"]), 1),
            (lines(&["no JSON"]), 1),
            (lines(&[&SYSTEM.replace("\"schema\":1", "\"schema\":2")]), 1),
            (lines(&[SYSTEM, SYSTEM]), 2),
            (lines(&[TIME]), 1),
            (lines(&[SYSTEM, TIME, TIME]), 3),
            (lines(&[SYSTEM, &TIME.replace("add", "divide")]), 2),
            (lines(&[SYSTEM, &TIME.replace(":16", ":8")]), 2),
            (lines(&[SYSTEM, &TIME.replace("\"runs\":4", "\"runs\":0")]), 2),
            (lines(&[SYSTEM, &TIME.replace("\"elapsed\":10", "\"elapsed\":-1")]), 2),
            (lines(&[SYSTEM, &TIME[..TIME.len() / 2]]), 2),
        ] {
            assert_eq!(parse(&wrong).expect_err(&wrong).0, line, "{wrong}");
        }
    }
}
