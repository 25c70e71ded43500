//! Records of `tress bench` as the page shows them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::drawing::PictureView;
use super::figures::{self, Cell, PageTable, anchor, figure};
use super::read;
use crate::bench::compare::{self, Verdict};
use crate::bench::{Against, BenchRow, Document, length as bytes, roofline};
use crate::picture::intervals::{Interval, Intervals};
use crate::picture::{Drawing, Group, Scale};

/// Most raw samples on a page. A page with more records has none; they are in the records.
const MOST_SAMPLES: usize = 60_000;
/// Digits of a raw sample on the page. Medians, ratios and intervals have all their digits.
const DIGITS: usize = 6;
/// Most rows in one picture.
const MOST_GROUPS: usize = 40;

/// One record, ready for the page.
pub(super) struct RecordView {
    pub(super) anchor: String,
    pub(super) title: String,
    pub(super) conditions: String,
    pub(super) tables: Vec<PageTable>,
    pub(super) pictures: Vec<PictureView>,
}

/// Changes between two records of one machine.
pub(super) struct Changes {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) table: PageTable,
}

/// The data that tables.js reads of a record.
#[derive(Serialize)]
pub(super) struct RecordData<'a> {
    path: &'a str,
    document: Document,
}

/// Records with their samples to six digits, or without samples if there are too many.
pub(super) fn data(records: &[read::Record]) -> Vec<RecordData<'_>> {
    let is_carried = has_samples(records);
    let shortened = |record: &read::Record| {
        let mut document = record.document.clone();
        for row in &mut document.rows {
            let pairs = row.against.values_mut().map(|against| &mut against.pairs);
            if is_carried {
                row.samples.iter_mut().chain(&mut row.cycle_samples).for_each(shorten);
                pairs.flatten().flatten().for_each(shorten);
            } else {
                row.samples.clear();
                row.cycle_samples.clear();
                pairs.for_each(Vec::clear);
            }
        }
        document
    };
    records.iter().map(|record| RecordData { path: &record.path, document: shortened(record) }).collect()
}

/// Whether the page has the samples.
pub(super) fn has_samples(records: &[read::Record]) -> bool {
    let count = |row: &BenchRow| {
        row.samples.len()
            + row.cycle_samples.len()
            + row.against.values().map(|against| 2 * against.pairs.len()).sum::<usize>()
    };
    records.iter().flat_map(|record| &record.document.rows).map(count).sum::<usize>() <= MOST_SAMPLES
}

/// Rounds to six digits, so that JSON has no more.
fn shorten(sample: &mut f64) {
    *sample = format!("{sample:.*e}", DIGITS - 1).parse().unwrap_or(*sample);
}

impl RecordView {
    pub(super) fn new(place: usize, record: &read::Record, has_samples: bool) -> RecordView {
        let document = &record.document;
        let machine = &document.machine;
        let own = anchor(&format!("record-{}-", place + 1), &record.path);
        let mut conditions = format!(
            "{}, {} cores, {}; {}; Tress {}{}.",
            machine.model,
            machine.cores,
            machine.kernel,
            machine.rustc,
            document.tress,
            machine.commit.as_ref().map_or(String::new(), |commit| format!(" at {commit}")),
        );
        if document.quick {
            conditions.push_str(" This was a quick run: few and short samples.");
        }
        if machine.is_debug_build() {
            conditions.push_str(" This is a debug build: its figures do not apply to a release build.");
        }
        if !document.complete {
            conditions.push_str(" The run was interrupted: rows are missing.");
        }
        if let Some(load) = machine.load.filter(|load| *load > 0.5) {
            conditions
                .push_str(&format!(" The machine was busy (load {load:.1}): the figures may be too low or too high."));
        }
        let mut table = table(record);
        if let Some(commit) = &document.samples_at {
            conditions.push_str(&format!(" This record holds medians only: its samples are in commit {commit}."));
        } else if has_samples {
            table.samples = format!("{place}/document/rows");
        } else {
            conditions.push_str(" There are too many raw samples for this page: see the record.");
        }
        let pictures = pictures(document)
            .iter()
            .enumerate()
            .map(|(number, drawing)| PictureView::new(format!("{own}-picture-{}", number + 1), drawing))
            .collect();
        RecordView {
            title: format!("Measured {}", figures::moment(document.time)),
            conditions,
            tables: [table].into_iter().chain(roofline(record)).collect(),
            pictures,
            anchor: own,
        }
    }
}

/// Every row, with a column for each peer.
fn table(record: &read::Record) -> PageTable {
    let document = &record.document;
    let mut peers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (peer, against) in document.rows.iter().flat_map(|row| &row.against) {
        let versions = peers.entry(peer).or_default();
        if !versions.contains(&against.version.as_str()) {
            versions.push(&against.version);
        }
    }
    let named = |name: &str, note: &str| (name.to_string(), note.to_string());
    let mut names: Vec<(String, String)> =
        ["name", "direction", "work", "backend", "threads", "message"].map(|name| named(name, "")).into();
    names.extend(["rate", "runs/s"].map(|name| named(name, "95 % interval")));
    names.extend([
        named("cycles/byte", "median"),
        named("memory", "peak"),
        named("of the roof", ""),
        named("roof", ""),
    ]);
    names.extend(peers.keys().map(|peer| named(&format!("ratio to {peer}"), "95 % interval")));
    let rows = document.rows.iter().map(|row| {
        let mut cells = vec![
            Cell::text(&row.name),
            Cell::text(&row.direction),
            Cell::text(&row.workload),
            Cell::text(&row.backend),
            Cell::shown(row.threads.to_string(), row.threads as f64),
            Cell::shown(bytes(row.message_bytes), row.message_bytes as f64),
            rate(row.bytes_per_s, row, 1e-9, " GB/s"),
            rate(row.per_s, row, 1.0, ""),
            Cell::number(row.cycles_per_byte),
            row.peak_bytes.map_or_else(Cell::default, |peak| {
                Cell::shown(format!("{} MiB", figure(peak as f64 / f64::from(1 << 20))), peak as f64)
            }),
            row.share.map_or_else(Cell::default, |share| Cell::shown(format!("{:.0} %", share * 100.0), share)),
            Cell::text(row.bound.as_deref().unwrap_or_default()),
        ];
        cells.extend(peers.keys().map(|peer| {
            row.against.get(*peer).map_or_else(Cell::default, |Against { ratio, ratio_low, ratio_high, .. }| {
                Cell::between(*ratio, *ratio_low, *ratio_high, "×", |ratio| format!("{ratio:.2}"))
            })
        }));
        cells
    });
    let caption = format!("Rates of {}, and speed ratios to peers", record.path);
    let units = [("message", "bytes"), ("rate", "bytes/s"), ("memory", "bytes"), ("of the roof", "of 1")];
    PageTable::with_notes(&caption, names, rows.collect()).in_units(&units)
}

/// A median with its interval, where the record has one.
fn rate(median: Option<f64>, row: &BenchRow, scale: f64, unit: &str) -> Cell {
    let Some(median) = median else { return Cell::default() };
    let shown = |rate: f64| figure(rate * scale);
    match row.rate_low.zip(row.rate_high) {
        Some((low, high)) => Cell::between(median, low, high, unit, shown),
        None => Cell::shown(format!("{}{unit}", shown(median)), median),
    }
}

/// The rooflines of the machine.
fn roofline(record: &read::Record) -> Option<PageTable> {
    let rows = record.document.roofs.as_ref()?.roofs.iter().map(|roof| {
        vec![
            Cell::text(&roof.name),
            Cell::text(&roof.counts),
            Cell::shown(roof.threads.to_string(), roof.threads as f64),
            Cell::number(Some(roof.per_s)),
            Cell::number(roof.per_cycle),
        ]
    });
    let names = ["roof", "counts", "threads", "per second", "per cycle"];
    Some(PageTable::new(&format!("Limits of the machine (roofs), {}", record.path), &names, rows.collect()))
}

/// The roofline, and our speed relative to each peer, in a picture for each family of ciphers.
fn pictures(document: &Document) -> Vec<Drawing> {
    let mut families: Vec<(&str, Vec<&BenchRow>)> = Vec::new();
    for row in document.rows.iter().filter(|row| !row.against.is_empty()) {
        let family = row.name.split('-').next().unwrap_or_default();
        match families.iter_mut().find(|(name, rows)| *name == family && rows.len() < MOST_GROUPS) {
            Some((_, rows)) => rows.push(row),
            None => families.push((family, vec![row])),
        }
    }
    let roofline = document.roofs.as_ref().map(|roofs| roofline::picture::chart(document, roofs).into());
    roofline.into_iter().chain(families.into_iter().map(|(family, rows)| intervals(family, &rows).into())).collect()
}

fn intervals(family: &str, rows: &[&BenchRow]) -> Intervals {
    let mut series: Vec<String> = Vec::new();
    for peer in rows.iter().flat_map(|row| row.against.keys()) {
        if !series.contains(peer) {
            series.push(peer.clone());
        }
    }
    let groups = rows
        .iter()
        .map(|row| Group {
            name: format!("{} {}, {}, {}", row.name, row.direction, row.workload, bytes(row.message_bytes)),
            values: series
                .iter()
                .map(|peer| {
                    row.against.get(peer).map(|against| Interval {
                        middle: against.ratio,
                        low: against.ratio_low,
                        high: against.ratio_high,
                    })
                })
                .collect(),
        })
        .collect();
    Intervals {
        title: format!("{family}: speed of Tress relative to peers, with 95 % intervals"),
        axis: "speed relative to the peer".into(),
        scale: Scale::Logarithmic,
        level: Some(1.0),
        series,
        groups,
    }
}

/// Changes from each record to the next one of the same machine, target and effort that has rows in common.
pub(super) fn changes(records: &[read::Record]) -> Vec<Changes> {
    let mut changes = Vec::new();
    for (place, after) in records.iter().enumerate() {
        let before = records[..place].iter().rev().find_map(|before| {
            if compare::first_difference(&before.document, &after.document).is_some() {
                return None;
            }
            let comparison = compare::compare(&before.document, &after.document);
            (!comparison.rows.is_empty()).then_some((before, comparison))
        });
        let Some((before, comparison)) = before else { continue };
        let of = |verdict| comparison.rows.iter().filter(move |change| change.verdict == verdict);
        let rows = of(Verdict::Slower).chain(of(Verdict::Faster)).map(|change| {
            vec![
                Cell::text(&change.row),
                Cell::text(if change.verdict == Verdict::Slower { "slower" } else { "faster" }),
                Cell::between(change.ratio, change.ratio_low, change.ratio_high, "×", |ratio| format!("{ratio:.3}")),
                Cell::text(&change.measure),
            ]
        });
        let names = [("row", ""), ("change", ""), ("speed ratio", "99.99 % interval"), ("measured by", "")];
        let names = names.map(|(name, note)| (name.to_string(), note.to_string())).into();
        let title = format!("{} to {}", figures::moment(before.document.time), figures::moment(after.document.time));
        let table =
            PageTable::with_notes(&format!("Changed rows, {} to {}", before.path, after.path), names, rows.collect());
        changes.push(Changes {
            text: format!(
                "{} and {}: {} rows can be compared; {} are faster, {} slower, {} show no change beyond noise. {} have too few \
                 samples, {} are only in the first record, {} only in the second.",
                before.path,
                after.path,
                comparison.rows.len(),
                of(Verdict::Faster).count(),
                of(Verdict::Slower).count(),
                of(Verdict::Same).count(),
                comparison.unsure.len(),
                comparison.gone.len(),
                comparison.new.len()
            ),
            title,
            table,
        });
    }
    changes
}
