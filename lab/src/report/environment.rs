//! Where the figures come from: machines, builds and peers.

use std::collections::{BTreeMap, BTreeSet};

use super::figures::{Cell, PageTable, figure, moment};
use super::read::{FolderContents, Record, StudySections};
use crate::bench::record::Machine;

/// Load average at the start above which a run's figures get a warning.
const BUSY: f64 = 0.5;

/// The files of one run.
struct RunSource<'a> {
    name: String,
    tress: &'a str,
    quick: bool,
    time: u64,
    machine: &'a Machine,
}

fn sources(found: &FolderContents) -> Vec<RunSource<'_>> {
    let sections = found.studies.iter().flat_map(|kind| {
        kind.parts.iter().map(move |(part, kept)| RunSource {
            name: format!("{}: {part}", kind.name),
            tress: &kept.tress,
            quick: kept.quick,
            time: kept.time,
            machine: &kept.machine,
        })
    });
    let records = found.records.iter().map(|Record { path, document, .. }| RunSource {
        name: path.clone(),
        tress: &document.tress,
        quick: document.quick,
        time: document.time,
        machine: &document.machine,
    });
    sections.chain(records).collect()
}

/// Properties of a machine.
fn properties(machine: &Machine) -> Vec<(&'static str, String)> {
    let memory = machine.memory_bytes.map(|bytes| format!("{} GiB", figure(bytes as f64 / f64::from(1 << 30))));
    let kind = if machine.virtual_machine { " (virtual machine)" } else { "" };
    let mut facts = vec![
        ("machine", format!("{}{kind}", machine.model)),
        ("cores", machine.cores.to_string()),
        ("memory", memory.unwrap_or_default()),
        ("kernel", machine.kernel.clone()),
        ("governor", machine.governor.clone().unwrap_or_else(|| "not reported by the system".into())),
        ("compiler", machine.rustc.clone()),
        ("instructions", machine.flags.join(" ")),
    ];
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// The machines of all runs, each one once.
pub(super) fn machines(found: &FolderContents) -> Vec<Vec<(&'static str, String)>> {
    let mut machines = Vec::new();
    for source in sources(found) {
        let facts = properties(source.machine);
        if !machines.contains(&facts) {
            machines.push(facts);
        }
    }
    machines
}

/// Time, build and load of each run.
pub(super) fn runs(found: &FolderContents) -> PageTable {
    let rows = sources(found).into_iter().map(|source| {
        let load = source.machine.load.filter(|load| load.is_finite()).map_or_else(Cell::default, |load| {
            Cell::shown(format!("{load:.2}{}", if load > BUSY { ", busy" } else { "" }), load)
        });
        vec![
            Cell::text(source.name),
            Cell::text(moment(source.time)),
            load,
            Cell::text(if source.quick { "quick" } else { "full" }),
            Cell::text(source.tress),
            Cell::text(source.machine.commit.clone().unwrap_or_default()),
            Cell::text(&source.machine.target),
            Cell::text(&source.machine.model),
        ]
    });
    let names = ["source", "time", "load at start", "effort", "Tress", "commit", "build", "machine"];
    PageTable::new("Runs", &names, rows.collect())
}

/// A short description of each machine.
pub(super) fn names(found: &FolderContents) -> Vec<String> {
    let mut machines: Vec<String> = Vec::new();
    for source in sources(found) {
        let words = short_description(source.machine);
        if !machines.contains(&words) {
            machines.push(words);
        }
    }
    machines
}

fn short_description(machine: &Machine) -> String {
    format!("{}, {} cores, {}", machine.model, machine.cores, machine.kernel)
}

pub(super) fn is_any_quick(found: &FolderContents) -> bool {
    sources(found).iter().any(|source| source.quick)
}

/// A sentence on the conditions of a study's runs.
pub(super) fn conditions(kind: &StudySections) -> String {
    let machines: BTreeSet<String> = kind.parts.iter().map(|(_, kept)| short_description(&kept.machine)).collect();
    let quick = kind.parts.iter().filter(|(_, kept)| kept.quick).count();
    let effort = match quick {
        0 => "",
        all if all == kind.parts.len() => " This was a quick run: few samples of small messages.",
        _ => " Some parts are from a quick run: few samples of small messages.",
    };
    let build = match kind.parts.iter().any(|(_, kept)| kept.machine.is_debug_build()) {
        true => " This is a debug build: its measured figures do not apply to a release build.",
        false => "",
    };
    format!("{}.{effort}{build}", machines.into_iter().collect::<Vec<_>>().join("; "))
}

/// Peers with their versions, and peers that were not installed.
pub(super) fn peers(records: &[Record]) -> PageTable {
    let mut versions: BTreeMap<(String, String), usize> = BTreeMap::new();
    for Record { document, .. } in records {
        for (peer, against) in document.rows.iter().flat_map(|row| &row.against) {
            *versions.entry((peer.clone(), against.version.clone())).or_default() += 1;
        }
        for missing in &document.missing {
            versions.entry((missing.peer.clone(), format!("not installed: {}", missing.hint))).or_default();
        }
    }
    let rows = versions.into_iter().map(|((peer, version), rows)| {
        vec![Cell::text(peer), Cell::text(version), Cell::shown(rows.to_string(), rows as f64)]
    });
    PageTable::new("Libraries and programs compared with (peers)", &["peer", "version", "rows"], rows.collect())
}
