//! `tress bench --against-build PROGRAM`: what changed between two builds, which measure alternately.
//!
//! Two things make records of one build differ by more than their samples say. First, the addresses of a program's
//! code and memory are decided when it starts, and change a row by some percent. Second, the machine changes within a
//! minute: a neighbour that shares a core can take a third of the rate away for any length of time.
//!
//! A run therefore has many **turns**. In each turn both programs start anew, on the same core. They take samples of
//! every row alternately, a few milliseconds each, so that both meet the same neighbours. A turn counts as one
//! observation, the median of its ratios. A row has turns until its interval is narrow.

use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::compare::{self, Change, Comparison, LEAST_CHANGE};
use super::options::Options;
use super::process::LineProcess;
use super::record::{Document, SCHEMA};
use super::sample::{self, Sample, SampleEffort};
use super::work::Contender;
use super::{Error, machine, plan};
use crate::timing::progress;
use crate::timing::statistics::median;

/// Two programs, and how to start them for samples.
#[derive(Clone, Debug)]
pub struct Builds {
    /// The build to judge.
    pub program: PathBuf,
    /// The build that it is compared with.
    pub other: PathBuf,
    /// Further arguments of `tress bench --visit`: a filter and a choice of rows.
    pub arguments: Vec<OsString>,
    pub quick: bool,
    /// Whether rows have several threads, so that the programs must not be pinned to one core.
    pub has_threads: bool,
    pub force: bool,
    pub json: bool,
}

/// Samples of a row in a turn.
const SAMPLE: SampleEffort =
    SampleEffort { sample: Duration::from_millis(2), warm_up: Duration::from_millis(3), visit: Duration::ZERO };

/// Samples of each program for a row in a turn.
const PAIRS: usize = 7;

/// Turns after which the intervals are checked; rows that are sure enough get no more turns. A check after every turn
/// would stop too often at an interval that is narrow by chance.
const CHECK_TURNS: [usize; 6] = [21, 29, 41, 57, 80, 120];
const QUICK_CHECK_TURNS: [usize; 1] = [21];

/// Runs both programs alternately, and writes what changed from `other` to `program`.
pub fn run(builds: &Builds, out: &mut dyn Write) -> Result<Comparison, Error> {
    let check_turns = if builds.quick { &QUICK_CHECK_TURNS[..] } else { &CHECK_TURNS };
    let mut found = BuildRatios::default();
    let bar = progress(check_turns[0] as u64);
    for turn in 1..=check_turns[check_turns.len() - 1] {
        found.turn(builds, turn, &bar)?;
        bar.inc(1);
        if let Some(place) = check_turns.iter().position(|check_turn| *check_turn == turn) {
            found.rows.iter_mut().for_each(RowRatios::judge);
            let Some(next) = check_turns.get(place + 1).filter(|_| found.rows.iter().any(|row| !row.is_sure())) else {
                break;
            };
            bar.set_length(*next as u64);
        }
    }
    bar.finish_and_clear();
    compare::write_comparison(found.into(), builds.json, out)
}

/// The ratios of all rows that both programs have, and the names of the others.
#[derive(Default)]
struct BuildRatios {
    rows: Vec<RowRatios>,
    gone: Vec<String>,
    new: Vec<String>,
}

/// The speed of one row over that of the other build, one value for each turn.
struct RowRatios {
    name: String,
    by_cycles: Vec<f64>,
    by_rate: Vec<f64>,
    change: Option<Change>,
}

impl BuildRatios {
    /// Starts both programs and takes samples of every row that is not sure yet.
    fn turn(&mut self, builds: &Builds, turn: usize, bar: &indicatif::ProgressBar) -> Result<(), Error> {
        // Two successive turns use the same core; they differ in which program is first.
        let processor = (!builds.has_threads).then_some(turn / 2);
        let (mut our_process, our_document) = start(&builds.program, &builds.arguments, processor)?;
        let (mut other_process, other_document) = start(&builds.other, &builds.arguments, processor)?;
        let (our_names, other_names) = (names(&our_document), names(&other_document));
        if turn == 1 {
            compare::check(&other_document, &our_document, builds.force)?;
            let without = |names: &[String], others: &[String]| -> Vec<String> {
                names.iter().filter(|name| !others.contains(name)).cloned().collect()
            };
            self.gone = without(&other_names, &our_names);
            self.new = without(&our_names, &other_names);
            self.rows =
                our_names.iter().filter(|name| other_names.contains(name)).map(|name| RowRatios::new(name)).collect();
            if self.rows.is_empty() {
                return Err(Error::NothingMatches);
            }
        }
        for row in self.rows.iter_mut().filter(|row| !row.is_sure()) {
            bar.set_message(row.name.clone());
            let place = |names: &[String]| names.iter().position(|name| *name == row.name);
            // This happens with a program that has other rows each time it starts.
            let (Some(our_row), Some(other_row)) = (place(&our_names), place(&other_names)) else {
                return Err(Error::NothingMatches);
            };
            let (mut by_cycles, mut by_rate) = (Vec::new(), Vec::new());
            for pair in 0..PAIRS {
                // The order alternates, and differs between the two turns of a core.
                let (mine, other) = if (pair + turn).is_multiple_of(2) {
                    let mine = ask(&mut our_process, our_row)?;
                    (mine, ask(&mut other_process, other_row)?)
                } else {
                    let other = ask(&mut other_process, other_row)?;
                    (ask(&mut our_process, our_row)?, other)
                };
                by_rate.push(mine.bytes_per_s / other.bytes_per_s);
                by_cycles.extend(mine.cycles_per_byte.zip(other.cycles_per_byte).map(|(mine, other)| other / mine));
            }
            row.by_rate.push(median(&by_rate).median);
            if by_cycles.len() == PAIRS {
                row.by_cycles.push(median(&by_cycles).median);
            }
        }
        our_process.finish()?;
        other_process.finish()
    }
}

impl From<BuildRatios> for Comparison {
    fn from(found: BuildRatios) -> Self {
        let BuildRatios { rows, gone, new } = found;
        let unsure = rows.iter().filter(|row| row.change.is_none()).map(|row| row.name.clone()).collect();
        Comparison { rows: rows.into_iter().filter_map(|row| row.change).collect(), unsure, gone, new }
    }
}

impl RowRatios {
    fn new(name: &str) -> Self {
        RowRatios { name: name.into(), by_cycles: Vec::new(), by_rate: Vec::new(), change: None }
    }

    fn judge(&mut self) {
        if !self.is_sure() {
            let measures = [("cycles", self.by_cycles.clone()), ("rate", self.by_rate.clone())];
            self.change = compare::change_of_pairs(&self.name, &measures);
        }
    }

    /// Whether the row would have shown a change of half [`LEAST_CHANGE`].
    fn is_sure(&self) -> bool {
        self.change.as_ref().is_some_and(|change| change.smallest_visible_change() <= LEAST_CHANGE / 2.0)
    }
}

fn names(document: &Document) -> Vec<String> {
    document.rows.iter().map(compare::identity).collect()
}

/// Starts a program that takes samples on request, pinned to one core if `processor` is set. Also returns the rows
/// that it can measure.
fn start(program: &Path, arguments: &[OsString], processor: Option<usize>) -> Result<(LineProcess, Document), Error> {
    let mut command = Command::new(program);
    command.args(["bench", "--visit"]).args(arguments);
    let mut process = LineProcess::start(format!("{} bench --visit", program.display()), &mut command)?;
    let document: Document = answer(&mut process)?;
    // Pinned only now: the program counts the cores of the machine when it starts.
    if let Some(processor) = processor {
        process.pin(processor);
    }
    if document.schema != SCHEMA {
        let schema = document.schema;
        return Err(process.failed(format!("answered with schema {schema}, this version of tress reads {SCHEMA}")));
    }
    Ok((process, document))
}

fn ask(process: &mut LineProcess, row: usize) -> Result<Sample, Error> {
    process.ask(row);
    let sample: Sample = answer(process)?;
    let is_figure = |figure: f64| figure.is_finite() && figure > 0.0;
    if is_figure(sample.bytes_per_s) && sample.cycles_per_byte.is_none_or(is_figure) {
        Ok(sample)
    } else {
        Err(process.failed(format!("{sample:?} is not a valid sample")))
    }
}

fn answer<T: DeserializeOwned>(process: &mut LineProcess) -> Result<T, Error> {
    serde_json::from_str(&process.answer()?).map_err(|error| process.failed(error))
}

/// Checks that the options select at least one row.
pub fn check(options: &Options) -> Result<(), Error> {
    if plan::plans(options)?.is_empty() { Err(Error::NothingMatches) } else { Ok(()) }
}

/// Answers another build's requests for samples: writes the rows as a document, then reads row numbers from
/// `questions`, one a line, and takes one sample of each row, without peers.
pub fn serve_samples(options: &Options, questions: impl BufRead, out: &mut dyn Write) -> Result<(), Error> {
    check(options)?;
    let plans = plan::plans(options)?;
    let rows = plans.iter().map(plan::Plan::row_without_work).collect();
    write_line(&Document { rows, quick: options.quick, ..Document::new(machine::inspect()) }, out)?;
    let mut open = None;
    for question in questions.lines() {
        let question = question.map_err(Error::Output)?;
        let row: usize = question.parse().map_err(|_| Error::NoSuchRow(question.clone()))?;
        let plan = plans.get(row).ok_or(Error::NoSuchRow(question))?;
        let (mut work, runs) = match open.take() {
            Some((of, work, runs)) if of == row => (work, runs),
            _ => {
                let mut work = plan.work(true)?;
                let runs = sample::warm_up(&mut *work, Contender::Tress, SAMPLE)?;
                (work, runs)
            }
        };
        write_line(&sample::sample(&mut *work, Contender::Tress, runs)?, out)?;
        open = Some((row, work, runs));
    }
    Ok(())
}

fn write_line(what: &impl serde::Serialize, out: &mut dyn Write) -> Result<(), Error> {
    serde_json::to_writer(&mut *out, what).map_err(|error| Error::Output(error.into()))?;
    writeln!(out).and_then(|()| out.flush()).map_err(Error::Output)
}

#[cfg(test)]
mod tests {
    use super::super::compare::Verdict;
    use super::*;

    fn judged(ratios: Vec<f64>) -> RowRatios {
        let mut row = RowRatios { by_rate: ratios, ..RowRatios::new("a") };
        row.judge();
        row
    }

    #[test]
    fn a_turn_is_one_observation() {
        // Around 0.97, by up to half a percent.
        let ratio = |turn: u32| 0.97 * (1.0 + f64::from(turn % 11) / 1000.0 - 0.005);
        let row = judged((0..21).map(ratio).collect());
        assert!(row.is_sure());
        let change = row.change.unwrap();
        assert_eq!((change.verdict, change.measure.as_str()), (Verdict::Slower, "rate"));
        assert!((change.ratio - 0.97).abs() < 0.001, "{change:?}");
    }

    #[test]
    fn a_noisy_row_has_more_turns() {
        let row = judged((0..21).map(|turn| if turn % 2 == 0 { 0.8 } else { 1.25 }).collect());
        assert!(!row.is_sure() && row.change.is_some_and(|change| change.verdict == Verdict::Same));
        let row = judged(vec![0.9; 10]);
        assert!(!row.is_sure() && row.change.is_none());
    }

    #[test]
    fn cycles_have_to_be_there_for_all_turns() {
        let mut row = RowRatios { by_cycles: vec![2.0; 5], by_rate: vec![1.0; 30], ..RowRatios::new("a") };
        row.judge();
        assert_eq!(row.change.unwrap().measure, "rate");
    }
}
