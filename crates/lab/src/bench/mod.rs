//! `tress bench`: rows of measurements, each against its peers in turn.
//!
//! A `case::Case` is one piece of work that we and our peers can do over the same buffer; `sample` times them in
//! turn; [`statistics`] makes medians and intervals; [`record`] is what comes out. [`command`] does the same for whole
//! commands; [`compare`] says what changed between two records.

pub mod command;
pub mod compare;
pub mod record;
pub mod statistics;
pub mod targets;

mod aead;
mod blocks;
mod case;
mod error;
mod kinds;
mod machine;
pub mod modular;
mod numbers;
mod sample;
mod signatures;
pub(crate) mod table;
mod worker;

use std::{
    fs,
    io::{self, Write},
    iter,
    path::{Path, PathBuf},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use regex::Regex;
use tress_cipher::Backend;

pub use error::Error;
pub use record::{Against, Document, Missing, Row};
pub use worker::serve;

pub(crate) use machine::inspect as machine;

/// What to measure, and what to do with it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Rows whose name matches; all kernel rows without one.
    pub filter: Option<Regex>,
    /// Names of peers to measure against ([`tress_peers::list`]; for commands `age`, `openssl` and `cp`), or `all`.
    pub against: Vec<String>,
    /// Write the document instead of a table.
    pub json: bool,
    /// A file to write the document to, or a folder in which to name one after the day and the machine.
    pub record: Option<PathBuf>,
    /// A document whose rows are added to this run's: those of a build of its own.
    pub with: Option<PathBuf>,
    /// Fewer and shorter samples, smaller files.
    pub quick: bool,
    /// The backend of our side; the best of the machine without one.
    pub backend: Option<Backend>,
    /// The `tress` program for the rows of whole commands. They run when a filter matches them or a record is kept.
    pub command: Option<PathBuf>,
}

/// How long and how often to sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) pairs: usize,
    pub(crate) sample: Duration,
    pub(crate) warm_up: Duration,
}

impl Options {
    fn effort(&self) -> Effort {
        if self.quick {
            Effort { pairs: 15, sample: Duration::from_millis(2), warm_up: Duration::from_millis(20) }
        } else {
            Effort { pairs: 41, sample: Duration::from_millis(8), warm_up: Duration::from_millis(100) }
        }
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.is_match(name))
    }

    pub(crate) fn wants_against(&self, peer: &str) -> bool {
        self.against.iter().any(|name| name == peer || name == "all")
    }

    fn wants_commands(&self) -> bool {
        self.command.is_some()
            && (self.record.is_some() || self.filter.is_some())
            && command::NAMES.iter().any(|name| self.wants(name))
    }
}

/// Peers that only whole commands are measured against.
const COMMAND_PEERS: [&str; 2] = ["age", "cp"];

/// Measures what `options` ask for and writes a table, or the document as JSON. Progress goes to a terminal on standard
/// error.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<Document, Error> {
    let peers = tress_peers::list();
    for name in &options.against {
        let known = peers.iter().any(|peer| peer.name == name) || COMMAND_PEERS.contains(&name.as_str());
        if !known && name != "all" {
            return Err(Error::UnknownPeer(name.clone()));
        }
    }
    let mut document = Document::new(machine::inspect());
    document.quick = options.quick;
    for peer in &peers {
        if let Err(missing) = &peer.version
            && options.wants_against(peer.name)
        {
            document.missing.push(Missing { peer: peer.name.into(), hint: missing.to_string() });
        }
    }

    let cases: Vec<_> =
        case::all().into_iter().filter(|case| options.wants(case.name) && case.has(options.backend)).collect();
    if cases.is_empty() && !options.wants_commands() {
        return Err(Error::NothingMatches);
    }
    let progress = progress(cases.len() as u64);
    for case in cases {
        progress.set_message(format!("{} {} {}", case.name, case.direction, case.workload));
        document.rows.push(case::measure(&case, options)?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    if options.wants_commands() {
        command::run(options, &mut document)?;
    }

    if let Some(path) = &options.with {
        document.rows.extend(compare::read(path)?.rows);
    }
    if let Some(path) = &options.record {
        write_record(path, &document)?;
    }
    if options.json {
        serde_json::to_writer_pretty(&mut *out, &document).map_err(|error| Error::Output(error.into()))?;
        writeln!(out).map_err(Error::Output)?;
    } else {
        table::write(&document, out).map_err(Error::Output)?;
    }
    Ok(document)
}

/// A bar on standard error when that is a terminal, nothing otherwise.
pub(crate) fn progress(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:20} {pos}/{len} {elapsed} {msg}")
        .expect("the template has the keys of indicatif");
    let bar = ProgressBar::new(steps).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// A file of this name in the folder, or one with a number where there is one: an earlier record of the day stays.
fn free_name(folder: &Path, name: &str) -> PathBuf {
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let numbered = (2..).map(|number| folder.join(format!("{stem}-{number}.json")));
    iter::once(folder.join(name)).chain(numbered).find(|file| !file.exists()).expect("numbers do not end")
}

fn write_record(path: &Path, document: &Document) -> Result<(), Error> {
    let file = if path.is_dir() { free_name(path, &document.file_name()) } else { path.to_path_buf() };
    let failed = |error: io::Error| Error::Record { path: file.clone(), error };
    let mut text = serde_json::to_vec_pretty(document).map_err(|error| failed(error.into()))?;
    text.push(b'\n');
    fs::write(&file, text).map_err(failed)
}
