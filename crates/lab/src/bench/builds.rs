//! `tress bench --against-build PROGRAM`: what changed between two builds, which take turns as processes.
//!
//! Where a program's code and memory lie is decided when it starts, and changes a row by some percent, whatever is sampled
//! afterwards. So two records of one build can differ by more than their visits say. Here every visit is a process of its own, of
//! the one build and of the other in turn: what a start decides becomes noise like any other, and changes of a percent or two
//! show.

use std::{
    ffi::OsString,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::{
    Document, Error, Options, Row,
    compare::{self, Comparison},
    machine, plan, process, progress,
    record::SCHEMA,
    sample::Effort,
    visits::Item,
};

/// Two programs, and how to ask both of them for a visit.
#[derive(Clone, Debug)]
pub struct Builds {
    /// The build to judge.
    pub program: PathBuf,
    /// The build that it is compared with.
    pub other: PathBuf,
    /// What else `tress bench --visit` gets: a filter and a choice of rows.
    pub arguments: Vec<OsString>,
    /// How many processes of each.
    pub turns: usize,
    /// Compare builds for different targets, too.
    pub force: bool,
    /// Print a JSON object rather than a table.
    pub json: bool,
}

/// Samples of one row in one visit.
const VISIT: Effort =
    Effort { sample: Duration::from_millis(2), warm_up: Duration::from_millis(3), visit: Duration::from_millis(30) };

/// Has both programs take turns, and writes what changed from the other one to this one.
pub fn run(builds: &Builds, out: &mut dyn Write) -> Result<Comparison, Error> {
    let bar = progress(2 * builds.turns as u64);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for turn in 0..builds.turns {
        let mut pair = [(&builds.program, &mut ours), (&builds.other, &mut theirs)];
        if turn % 2 == 1 {
            pair.reverse();
        }
        for (program, documents) in pair {
            bar.set_message(program.display().to_string());
            documents.push(ask(program, &builds.arguments)?);
            bar.inc(1);
        }
        // Before the time that all turns take.
        if let ([one], [other]) = (&ours[..], &theirs[..]) {
            compare::check(one, other, builds.force)?;
        }
    }
    bar.finish_and_clear();
    let (Some(before), Some(after)) = (gather(theirs), gather(ours)) else { return Err(Error::NothingMatches) };
    compare::tell(compare::compare(&before, &after), builds.json, out)
}

/// One visit by another process.
fn ask(program: &Path, arguments: &[OsString]) -> Result<Document, Error> {
    let failed = |message: String| Error::Command { program: format!("{} bench --visit", program.display()), message };
    let mut command = Command::new(program);
    command.args(["bench", "--visit"]).args(arguments);
    let text = process::output_of(&mut command).map_err(|error| match error {
        Error::Command { message, .. } => failed(message),
        error => error,
    })?;
    let document: Document = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
    if document.schema != SCHEMA {
        return Err(failed(format!("answered in schema {}, this program knows {SCHEMA}", document.schema)));
    }
    Ok(document)
}

/// Whether there is anything to measure.
pub fn check(options: &Options) -> Result<(), Error> {
    if plan::plans(options)?.is_empty() { Err(Error::NothingMatches) } else { Ok(()) }
}

/// What a process that is asked for a visit does: every row once, without peers, as a document.
pub fn visit(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    check(options)?;
    let mut document = Document { quick: options.quick, ..Document::new(machine()) };
    for mut plan in plan::plans(options)? {
        document.rows.push(plan.visit(VISIT, true, None)?);
    }
    serde_json::to_writer(&mut *out, &document).map_err(|error| Error::Output(error.into()))?;
    writeln!(out).map_err(Error::Output)
}

/// One document of all, in which a process is a visit. Rows that are not in all of them are left out.
fn gather(documents: Vec<Document>) -> Option<Document> {
    let count = documents.len();
    let mut documents = documents.into_iter();
    let mut all = documents.next()?;
    all.rows = all.rows.into_iter().map(one_visit).collect();
    for document in documents {
        for row in document.rows.into_iter().map(one_visit) {
            if let Some(known) = all.rows.iter_mut().find(|known| compare::identity(known) == compare::identity(&row)) {
                known.samples.extend(row.samples);
                known.cycle_samples.extend(row.cycle_samples);
            }
        }
    }
    all.rows.retain(|row| row.samples.len() == count);
    Some(all)
}

/// The row with a sample for each visit, and no comparison with itself.
fn one_visit(mut row: Row) -> Row {
    row.cycle_samples = row.cycle_visits();
    row.samples = row.visits();
    row.per_visit = 1;
    row.against.clear();
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::compare::Verdict;

    fn document(name: &str, rate: f64) -> Document {
        let row = Row {
            name: name.into(),
            // Two samples, whose median is their mean.
            samples: vec![rate * 0.9, rate * 1.1],
            cycle_samples: vec![1.1 / rate, 0.9 / rate],
            per_visit: 2,
            ..Row::default()
        };
        Document { rows: vec![row], ..Document::new(machine()) }
    }

    #[test]
    fn a_process_is_a_visit() {
        let documents = || (1..=20).map(|turn| document("a", 100.0 + f64::from(turn) / 10.0));
        let before = gather(documents().collect()).unwrap();
        assert_eq!(before.rows[0].samples.len(), 20);
        assert!((before.rows[0].samples[4] - 100.5).abs() < 1e-9);
        // The same but for 3 %.
        let mut after = before.clone();
        after.rows[0].samples.iter_mut().for_each(|rate| *rate *= 0.97);
        after.rows[0].cycle_samples.iter_mut().for_each(|cycles| *cycles /= 0.97);
        let found = compare::compare(&before, &after);
        assert_eq!(found.rows[0].verdict, Verdict::Slower);
        assert!((found.rows[0].ratio - 0.97).abs() < 0.002, "{:?}", found.rows[0]);
    }

    #[test]
    fn rows_that_are_not_always_there() {
        assert!(gather(vec![]).is_none());
        let mixed = gather(vec![document("a", 1.0), document("b", 1.0)]).unwrap();
        assert_eq!(mixed.rows.len(), 0);
    }
}
