//! `tress bench`: rows of measurements, each against its peers in turn.
//!
//! A `case::Case` is one piece of work that we and our peers can do over the same buffer, a `plan::Plan` one that was asked for; `sample` times them in
//! turn, and `visits` comes back to them until `enough` says so; [`statistics`] makes medians and intervals; [`record`] is what
//! comes out, and `keep` where it lies while it is made. [`command`] does the same for whole commands; [`compare`] says what
//! changed between two records, and [`builds`] between two programs that take turns.

pub mod builds;
pub mod command;
pub mod compare;
pub mod record;
pub mod statistics;
pub mod targets;

mod aead;
mod blocks;
mod case;
mod enough;
mod error;
mod keep;
mod kinds;
mod machine;
pub mod matrix;
mod messages;
pub mod modular;
mod numbers;
mod plan;
mod process;
pub(crate) mod sample;
mod signatures;
pub(crate) mod table;
mod threads;
mod visits;
mod worker;

use std::{io::Write, path::PathBuf, time::Duration};

use enough::Enough;
use indicatif::{ProgressBar, ProgressStyle};
use keep::Keeper;
use regex::Regex;
use sample::Effort;
use visits::Item;

use crate::roofs;

pub use enough::Stopped;
pub use error::Error;
pub use record::{Against, Document, Missing, Row};
pub use worker::serve;

pub(crate) use machine::inspect as machine;
pub(crate) use table::{write_machine, write_rows};

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
    /// Go on with the unfinished record there: its rows are not measured again.
    pub resume: bool,
    /// A document whose rows and peers are added to this run's: those of a build of its own.
    pub with: Option<PathBuf>,
    /// Fewer and shorter samples, smaller files.
    pub quick: bool,
    /// These rows of ciphers rather than the usual ones.
    pub matrix: Option<matrix::Choice>,
    /// The `tress` program for the rows of whole commands. They run when a filter matches them or a record is kept.
    pub command: Option<PathBuf>,
}

impl Options {
    /// How many visits, or pairs of commands, are enough.
    fn enough(&self) -> Enough {
        let (least, most, half_width) = if self.quick { (11, 61, 0.03) } else { (21, 151, 0.01) };
        Enough { least, most, half_width }
    }

    /// Visits of so long.
    fn effort(&self, visit: Duration) -> Effort {
        let [sample, warm_up] = if self.quick { [2, 2] } else { [4, 10] }.map(Duration::from_millis);
        Effort { sample, warm_up, visit }
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.is_match(name))
    }

    pub(crate) fn wants_against(&self, peer: &str) -> bool {
        self.against.iter().any(|name| name == peer || name == "all")
    }

    fn wants_commands(&self) -> bool {
        self.command.is_some()
            && self.matrix.is_none()
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
    let mut document = Document { quick: options.quick, ..Document::new(machine::inspect()) };
    for peer in &peers {
        if let Err(missing) = &peer.version
            && options.wants_against(peer.name)
        {
            document.missing.push(Missing { peer: peer.name.into(), hint: missing.to_string() });
        }
    }

    let plans = plan::plans(options)?;
    if plans.is_empty() && !options.wants_commands() {
        return Err(Error::NothingMatches);
    }
    let with = options.with.as_deref().map(compare::read_full).transpose()?;
    let mut keeper = match &options.record {
        Some(path) => Some(Keeper::open(path, options.resume, &mut document)?),
        None => None,
    };
    // What only plans need is for records.
    let scope = if options.record.is_some() { roofs::Scope::All } else { roofs::Scope::Machine };
    // A run that goes on has those of the one before.
    if document.roofs.is_none() {
        document.roofs = Some(roofs::measure(scope, options.quick)?);
    }
    document.complete = false;
    let mut items: Vec<Box<dyn Item>> = Vec::new();
    items.extend(plans.into_iter().map(|plan| Box::new(plan) as Box<dyn Item>));
    if options.wants_commands() {
        items.extend(command::rows(options, &mut document)?.into_iter().map(|row| Box::new(row) as Box<dyn Item>));
    }
    // What an earlier run measured against others, or other versions, is measured anew.
    document.rows.retain(|row| items.iter().all(|item| item.made(row) || !item.is_of(row)));
    let measured = visits::measure(options, items, &mut document, &mut keeper);
    if measured.is_err() {
        // What there is stays, and the next run goes on from there.
        if let Some(keeper) = keeper.as_mut().filter(|_| !document.rows.is_empty()) {
            keeper.write(&document)?;
        }
        return measured.map(|()| document);
    }

    for row in with.into_iter().flat_map(|with| with.rows) {
        match document.rows.iter_mut().find(|known| compare::identity(known) == compare::identity(&row)) {
            // The other build may have other peers; a run that goes on may have them already.
            Some(known) => row.against.into_iter().for_each(|(peer, against)| {
                known.against.entry(peer).or_insert(against);
            }),
            None => document.rows.push(row),
        }
    }
    roofs::fill(&mut document);
    document.complete = true;
    if let Some(keeper) = &mut keeper {
        keeper.write(&document)?;
    }
    if options.json {
        serde_json::to_writer_pretty(&mut *out, &document).map_err(|error| Error::Output(error.into()))?;
        writeln!(out).map_err(Error::Output)?;
    } else {
        table::write(&document, out).map_err(Error::Output)?;
    }
    Ok(document)
}

/// The usual rows of these names with the best backend, in a few visits each, without peers.
pub(crate) fn rows(names: &str, roofs: roofs::Roofs) -> Result<Document, Error> {
    const VISITS: usize = 3;
    let filter = Some(Regex::new(names).expect("a pattern of ours"));
    let options = Options { filter, quick: true, ..Options::default() };
    let mut document = Document { quick: true, roofs: Some(roofs), ..Document::new(machine::inspect()) };
    let mut plans = plan::plans(&options)?;
    let progress = progress(plans.len() as u64);
    for plan in &mut plans {
        progress.set_message(plan.title());
        let mut row = None;
        for visit in 0..VISITS {
            row = Some(plan.visit(options.effort(Duration::from_millis(60)), visit == 0, row.take())?);
        }
        document.rows.extend(row);
        progress.inc(1);
    }
    progress.finish_and_clear();
    roofs::fill(&mut document);
    Ok(document)
}

/// A bar on standard error that also says how long it will take still.
fn time_left(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:20} {pos}/{len} {elapsed}, about {eta} left  {wide_msg}")
        .expect("the template has the keys of indicatif");
    progress(steps).with_style(style)
}

/// A bar on standard error when that is a terminal, nothing otherwise.
pub(crate) fn progress(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:20} {pos}/{len} {elapsed} {msg}")
        .expect("the template has the keys of indicatif");
    let bar = ProgressBar::new(steps).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
