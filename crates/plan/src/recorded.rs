//! Reads a record of `tress bench` as figures for a plan: R_comp from its rows, R_comm and T_syn from its roofs.

use std::time::{Duration, UNIX_EPOCH};

use serde::Deserialize;
use tress_container::format::LAYOUT;

use crate::measure::{Machine, SyncKind};
use crate::planner::MAX_CORES;
use crate::{Compute, Rate, Strategy, SyncCost};

/// Version of the records that are read.
const SCHEMA: u32 = 1;
/// Name of the rows for the algorithm that `tress encrypt` applies to a chunk.
const ALGORITHM: &str = "aes-128-ccm";
/// Numbers of threads for which a record has roofs of synchronisation.
const SYNC_THREADS: [usize; 3] = [2, 4, 8];

/// Recorded figures of a machine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recorded {
    /// R_comp: chunks in lanes.
    pub compute: Compute,
    /// The row with the rate of all lanes of one core.
    pub row: Row,
    /// R_comm of that machine to itself, in seconds per byte; `None` if the record has no loopback.
    pub r_comm: Option<f64>,
    sync: Vec<(SyncKind, Vec<(usize, f64)>)>,
    /// Processor of the machine.
    pub model: String,
    /// Number of cores of the machine.
    pub cores: usize,
    /// Day of the record in UTC, such as `2026-11-21`.
    pub date: String,
    /// Whether the machine is this one.
    pub is_here: bool,
}

/// A row of a record, with the fields that a plan needs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Row {
    /// Algorithm, such as `aes-128-ccm`.
    pub name: String,
    /// `encrypt` or `decrypt`.
    pub direction: String,
    /// Backend, such as `vaes512`.
    pub backend: String,
    /// Number of threads.
    pub threads: usize,
    /// Number of messages that one call processes.
    pub lanes: usize,
    /// Length of a message in bytes.
    pub message_bytes: u64,
    /// Rate in bytes per second, if measured.
    pub bytes_per_s: Option<f64>,
}

/// Why a record cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The text is not a record.
    #[error(transparent)]
    Damaged(#[from] serde_json::Error),
    /// The record has another schema.
    #[error("the record has schema {0}, this version of tress reads {SCHEMA}")]
    Schema(u32),
    /// A row or roof is missing, or its value is not valid.
    #[error("the record has no {0}")]
    Lacks(&'static str),
}

#[derive(Deserialize)]
struct SchemaVersion {
    schema: u32,
}

#[derive(Deserialize)]
struct RecordDocument {
    time: u64,
    machine: RecordMachine,
    rows: Vec<Row>,
    #[serde(default)]
    roofs: Option<RecordRoofs>,
}

#[derive(Deserialize)]
struct RecordMachine {
    model: String,
    cores: usize,
}

#[derive(Deserialize)]
struct RecordRoofs {
    roofs: Vec<RecordRoof>,
}

#[derive(Deserialize)]
struct RecordRoof {
    name: String,
    median_per_s: f64,
}

impl Recorded {
    /// Reads the figures of a record, which is JSON.
    ///
    /// # Errors
    /// `Damaged` and `Schema`; `Lacks` if no row has the rate of chunks in lanes, or a figure is not valid.
    pub fn parse(text: &[u8]) -> Result<Recorded, RecordError> {
        let SchemaVersion { schema } = serde_json::from_slice(text)?;
        if schema != SCHEMA {
            return Err(RecordError::Schema(schema));
        }
        let document: RecordDocument = serde_json::from_slice(text)?;
        let lacks = RecordError::Lacks("row for aes-128-ccm with lanes and 16 KiB chunks");
        let (row, compute) = compute(&document.rows).ok_or(lacks)?;
        let roofs = document.roofs.map_or(Vec::new(), |roofs| roofs.roofs);
        let roof = |name: &str| Some(roofs.iter().find(|roof| roof.name == name)?.median_per_s.recip());
        let r_comm = roof("loopback");
        let sync = SyncKind::ALL.map(|kind| {
            let costs = SYNC_THREADS.into_iter().filter_map(|count| Some((count, roof(&sync_name(kind, count))?)));
            (kind, costs.collect::<Vec<_>>())
        });
        let costs = sync.iter().flat_map(|(_, costs)| costs).map(|(_, seconds)| *seconds);
        if !costs.chain(r_comm).all(is_cost) {
            return Err(RecordError::Lacks("valid roof: each must be a number above zero"));
        }
        let here = Machine::this();
        let RecordMachine { model, cores } = document.machine;
        let is_here = (&here.model, here.cores) == (&model, cores);
        Ok(Recorded { compute, row, r_comm, sync: sync.into(), model, cores, date: date(document.time), is_here })
    }

    /// T_syn; `None` if the record has no such roofs.
    pub fn sync_cost(&self, kind: SyncKind) -> Option<SyncCost> {
        let (_, costs) = self.sync.iter().find(|(of, _)| *of == kind)?;
        (!costs.is_empty()).then(|| SyncCost::Measured(costs.clone()))
    }
}

/// The name of a kind of synchronisation among the roofs of a record.
pub fn sync_name(kind: SyncKind, threads: usize) -> String {
    format!("{}-{threads}", kind.name().replace(' ', "-"))
}

/// The day of a time in seconds since 1970, in UTC.
pub fn date(time: u64) -> String {
    // The library formats times up to the last second of the year 9999.
    let time = UNIX_EPOCH + Duration::from_secs(time.min(253_402_300_799));
    let text = humantime::format_rfc3339_seconds(time).to_string();
    text.split('T').next().unwrap_or_default().into()
}

fn is_cost(seconds: f64) -> bool {
    seconds.is_finite() && seconds > 0.0
}

/// Finds the row of one thread with the most lanes of chunks under one key, and the related rows with fewer lanes or more threads. If
/// rows differ only in the backend, the fastest is the one that `encrypt` would choose.
fn compute(rows: &[Row]) -> Option<(Row, Compute)> {
    let is_chunks = |row: &&Row| {
        row.name == ALGORITHM
            && row.direction == "encrypt"
            && row.message_bytes == LAYOUT.chunk_bytes() as u64
            && row.bytes_per_s.is_some_and(is_cost)
    };
    let rows: Vec<&Row> = rows.iter().filter(is_chunks).collect();
    let rate = |row: &Row| row.bytes_per_s.unwrap_or(0.0);
    let order = |a: &&&Row, b: &&&Row| a.lanes.cmp(&b.lanes).then(rate(a).total_cmp(&rate(b)));
    let best = *rows.iter().filter(|row| row.threads == 1 && row.lanes > 1).max_by(order)?;
    let like: Vec<&Row> = rows.into_iter().filter(|row| row.backend == best.backend).collect();
    // The fastest of several rows with the same count.
    let rates = |count: fn(&Row) -> usize, is_in: &dyn Fn(&Row) -> bool| {
        let mut rates: Vec<Rate> = like
            .iter()
            .filter(|row| is_in(row))
            .map(|row| Rate { count: count(row), seconds_per_byte: rate(row).recip() })
            .collect();
        rates.sort_by(|a, b| a.count.cmp(&b.count).then(a.seconds_per_byte.total_cmp(&b.seconds_per_byte)));
        rates.dedup_by_key(|rate| rate.count);
        rates
    };
    let by_lanes = rates(|row| row.lanes, &|row| row.threads == 1 && row.lanes <= best.lanes);
    let by_cores = rates(|row| row.threads, &|row| row.lanes == best.lanes);
    let one = Rate { count: 1, seconds_per_byte: rate(best).recip() };
    let compute = match (by_lanes.first(), by_cores.len()) {
        // Without a measurement of several cores, each core counts as fast as one.
        (Some(Rate { count: 1, .. }), 1) if by_lanes.len() > 1 => {
            let all = Rate { count: MAX_CORES, seconds_per_byte: one.seconds_per_byte / MAX_CORES as f64 };
            Compute::Measured { by_lanes, by_cores: vec![one, all] }
        }
        (_, 1) => Compute::Given { r_comp: one.seconds_per_byte, strategy: Strategy::Chunks },
        (Some(Rate { count: 1, .. }), _) => Compute::Measured { by_lanes, by_cores },
        _ => Compute::Measured { by_lanes: vec![one], by_cores },
    };
    Some((best.clone(), compute))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (time, day) in [(0, "1970-01-01"), (951_782_400, "2000-02-29"), (u64::MAX, "9999-12-31")] {
            assert_eq!(date(time), day);
        }
    }

    fn row(backend: &str, threads: usize, lanes: usize, rate: f64) -> Row {
        Row {
            name: ALGORITHM.into(),
            direction: "encrypt".into(),
            backend: backend.into(),
            threads,
            lanes,
            message_bytes: 16_384,
            bytes_per_s: Some(rate),
        }
    }

    #[test]
    fn the_fastest_row_with_most_lanes_is_taken() {
        let rows = [row("aesni", 1, 32, 4e9), row("vaes512", 1, 32, 8e9), row("vaes512", 1, 8, 9e9)];
        let (taken, compute) = compute(&rows).expect("a row");
        assert_eq!((taken.backend.as_str(), taken.lanes), ("vaes512", 32));
        assert_eq!(compute, Compute::Given { r_comp: 0.125e-9, strategy: Strategy::Chunks });
    }

    #[test]
    fn measured_lanes_and_threads_are_used() {
        let rate = |count, seconds_per_byte| Rate { count, seconds_per_byte };
        let threads = [row("vaes512", 1, 32, 8e9), row("vaes512", 2, 32, 16e9)];
        let (_, found) = compute(&threads).expect("a row");
        let by_cores = vec![rate(1, 0.125e-9), rate(2, 0.0625e-9)];
        assert_eq!(found, Compute::Measured { by_lanes: vec![rate(1, 0.125e-9)], by_cores: by_cores.clone() });
        let (_, found) = compute(&[&threads[..], &[row("vaes512", 1, 1, 1e9)]].concat()).expect("a row");
        let by_lanes = vec![rate(1, 1e-9), rate(32, 0.125e-9)];
        assert_eq!(found, Compute::Measured { by_lanes: by_lanes.clone(), by_cores });
        // Without a row of several threads, n cores are n times as fast.
        let (_, found) = compute(&[row("vaes512", 1, 32, 8e9), row("vaes512", 1, 1, 1e9)]).expect("a row");
        let by_cores = vec![rate(1, 0.125e-9), rate(MAX_CORES, 0.125e-9 / MAX_CORES as f64)];
        assert_eq!(found, Compute::Measured { by_lanes, by_cores });
    }

    #[test]
    fn other_rows_are_ignored() {
        let other = |change: fn(&mut Row)| {
            let mut row = row("vaes512", 1, 32, 8e9);
            change(&mut row);
            assert_eq!(compute(&[row]).map(|(row, _)| row.name), None);
        };
        other(|row| row.name = "aes-256-ccm".into());
        other(|row| row.direction = "decrypt".into());
        other(|row| row.message_bytes = 1024);
        other(|row| row.bytes_per_s = None);
        other(|row| row.bytes_per_s = Some(0.0));
        other(|row| row.threads = 2);
        other(|row| row.lanes = 1);
    }
}
