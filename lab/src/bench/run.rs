//! A run, from its options to its document.

use std::io::Write;
use std::time::Duration;

use regex::Regex;

use super::keep::RecordWriter;
use super::options::Options;
use super::record::{Document, Missing};
use super::visits::{self, VisitedRow};
use super::{Error, command, compare, machine, plan, roofline, table, text};
use crate::roofs::{self, Roofline};
use crate::timing::{busy, progress};

/// Peers of rows of whole commands only.
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
    if plans.is_empty() && !command::is_wanted(options) {
        return Err(Error::NothingMatches);
    }
    let with = options.with.as_deref().map(compare::read_full).transpose()?;
    let mut writer = match &options.record {
        Some(path) => Some(RecordWriter::open(path, options.resume, &mut document)?),
        None => None,
    };
    if writer.is_some()
        && !options.force
        && let Some(share) = busy::look()
    {
        return Err(Error::Busy(share));
    }
    // Rooflines that only plans need are measured for records only.
    let scope = if options.record.is_some() { roofs::Scope::All } else { roofs::Scope::Machine };
    // A resumed run has the rooflines of the first part.
    if document.roofs.is_none() {
        document.roofs = Some(roofs::measure(scope, options.quick).map_err(Error::of_thread)?);
    }
    document.complete = false;
    let mut items: Vec<Box<dyn VisitedRow>> = Vec::new();
    items.extend(plans.into_iter().map(|plan| Box::new(plan) as Box<dyn VisitedRow>));
    if command::is_wanted(options) {
        items
            .extend(command::rows(options, &mut document)?.into_iter().map(|row| Box::new(row) as Box<dyn VisitedRow>));
    }
    // Rows that an earlier run measured against other peers, or other versions of them, are measured again.
    document.rows.retain(|row| items.iter().all(|item| item.has_same_peers(row) || !item.is_same_row(row)));
    let measured = visits::measure(options, items, &mut document, &mut writer);
    if measured.is_err() {
        // The record keeps the finished rows, and the next run resumes it.
        if let Some(writer) = writer.as_mut().filter(|_| !document.rows.is_empty()) {
            writer.write(&document)?;
        }
        return measured.map(|()| document);
    }

    for row in with.into_iter().flat_map(|with| with.rows) {
        match document.rows.iter_mut().find(|known| compare::identity(known) == compare::identity(&row)) {
            // The other build may have other peers, and a resumed run may have them already.
            Some(known) => row.against.into_iter().for_each(|(peer, against)| {
                known.against.entry(peer).or_insert(against);
            }),
            None => document.rows.push(row),
        }
    }
    roofline::fill(&mut document);
    document.complete = true;
    if let Some(writer) = &mut writer {
        writer.write(&document)?;
    }
    if options.json {
        text::json(&document, out)?;
    } else {
        table::write(&document, out).map_err(Error::Output)?;
    }
    Ok(document)
}

/// The default rows of these names with the best backend, in a few visits each, without peers.
pub(crate) fn rows(names: &str, roofs: Roofline) -> Result<Document, Error> {
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
    roofline::fill(&mut document);
    Ok(document)
}
