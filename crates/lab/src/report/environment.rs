//! Where the figures come from: machines, builds, peers.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    figures::{Cell, Table, figure, moment},
    read::{Found, Kind, Record},
    studies::title,
};
use crate::bench::record::Machine;

/// Above this many programs that wanted a core, what was measured is to be taken with care.
const BUSY: f64 = 0.5;

/// One machine with one build, and what was done on it.
pub(super) struct Place {
    /// The studies and records.
    pub(super) title: String,
    pub(super) facts: Vec<(&'static str, String)>,
}

/// What was made in one go.
struct Source<'a> {
    name: String,
    tress: &'a str,
    quick: bool,
    time: u64,
    machine: &'a Machine,
}

fn sources(found: &Found) -> Vec<Source<'_>> {
    let sections = found.studies.iter().flat_map(|kind| {
        kind.parts.iter().map(move |(_, kept)| Source {
            name: title(&kind.name),
            tress: &kept.tress,
            quick: kept.quick,
            time: kept.time,
            machine: &kept.machine,
        })
    });
    let records = found.records.iter().map(|Record { path, document }| Source {
        name: path.clone(),
        tress: &document.tress,
        quick: document.quick,
        time: document.time,
        machine: &document.machine,
    });
    sections.chain(records).collect()
}

/// Each machine with each build once.
pub(super) fn places(found: &Found) -> Vec<Place> {
    let mut places: Vec<(Vec<(&'static str, String)>, Vec<Source>)> = Vec::new();
    for source in sources(found) {
        let facts = facts(&source);
        match places.iter_mut().find(|(known, _)| *known == facts) {
            Some((_, sources)) => sources.push(source),
            None => places.push((facts, vec![source])),
        }
    }
    places
        .into_iter()
        .map(|(mut facts, sources)| {
            facts.extend(circumstances(&sources));
            let mut names: Vec<&str> = Vec::new();
            for source in &sources {
                if !names.contains(&source.name.as_str()) {
                    names.push(&source.name);
                }
            }
            Place { title: names.join("; "), facts }
        })
        .collect()
}

/// What is the same for everything that one build does on one machine.
fn facts(source: &Source) -> Vec<(&'static str, String)> {
    let effort = if source.quick { "quick: few samples of small messages" } else { "full" };
    let machine = source.machine;
    let memory = machine.memory_bytes.map(|bytes| format!("{} GiB", figure(bytes as f64 / f64::from(1 << 30))));
    let kind = if machine.virtual_machine { " (virtual machine)" } else { "" };
    let mut facts = vec![
        ("machine", format!("{}{kind}", machine.model)),
        ("cores", machine.cores.to_string()),
        ("instructions", machine.flags.join(" ")),
        ("memory", memory.unwrap_or_default()),
        ("kernel", machine.kernel.clone()),
        ("governor", machine.governor.clone().unwrap_or_else(|| "not told by the system".into())),
        ("compiler", machine.rustc.clone()),
        ("build", machine.target.clone()),
        ("commit", machine.commit.clone().unwrap_or_default()),
    ];
    facts.push(("Tress", source.tress.into()));
    facts.push(("effort", effort.into()));
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// What changes from one run to the next.
fn circumstances(sources: &[Source]) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let times = || sources.iter().map(|source| source.time);
    if let (Some(first), Some(last)) = (times().min(), times().max()) {
        let (first, last) = (moment(first), moment(last));
        facts.push(("taken", if first == last { first } else { format!("{first} to {last}") }));
    }
    let loads = || sources.iter().filter_map(|source| source.machine.load).filter(|load| load.is_finite());
    if let Some(most) = loads().reduce(f64::max) {
        let care = if most > BUSY { ": busy, take what was measured with care" } else { "" };
        facts.push(("load at the start", format!("{most:.2}{care}")));
    }
    facts
}

/// Machines in a few words each.
pub(super) fn machines(found: &Found) -> Vec<String> {
    let mut machines: Vec<String> = Vec::new();
    for source in sources(found) {
        let words = in_words(source.machine);
        if !machines.contains(&words) {
            machines.push(words);
        }
    }
    machines
}

fn in_words(machine: &Machine) -> String {
    format!("{}, {} cores, {}", machine.model, machine.cores, machine.kernel)
}

pub(super) fn is_any_quick(found: &Found) -> bool {
    sources(found).iter().any(|source| source.quick)
}

/// A sentence on how a study was made.
pub(super) fn conditions(kind: &Kind) -> String {
    let machines: BTreeSet<String> = kind.parts.iter().map(|(_, kept)| in_words(&kept.machine)).collect();
    let quick = kind.parts.iter().filter(|(_, kept)| kept.quick).count();
    let effort = match quick {
        0 => "",
        all if all == kind.parts.len() => " A quick run: few samples of small messages.",
        _ => " Some parts are of a quick run: few samples of small messages.",
    };
    let loads = kind.parts.iter().filter_map(|(_, kept)| kept.machine.load);
    let busy = loads.filter(|load| *load > BUSY).reduce(f64::max).map_or(String::new(), |load| {
        format!(" The machine was busy (load {load:.1}): take what was measured with care.")
    });
    format!("{}.{effort}{busy}", machines.into_iter().collect::<Vec<_>>().join("; "))
}

/// Peers with their versions, and those that were missed.
pub(super) fn peers(records: &[Record]) -> Table {
    let mut versions: BTreeMap<(String, String), usize> = BTreeMap::new();
    for Record { document, .. } in records {
        for (peer, against) in document.rows.iter().flat_map(|row| &row.against) {
            *versions.entry((peer.clone(), against.version.clone())).or_default() += 1;
        }
        for missing in &document.missing {
            versions.entry((missing.peer.clone(), format!("not there: {}", missing.hint))).or_default();
        }
    }
    let rows = versions.into_iter().map(|((peer, version), rows)| {
        vec![Cell::text(peer), Cell::text(version), Cell::shown(rows.to_string(), rows as f64)]
    });
    Table::new("Peers that were measured against", &["peer", "version", "rows"], rows.collect())
}
