//! A record of `tress bench` as figures for a plan: R_comp of its rows, R_comm and T_syn of its roofs.

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};
use std::{fs, io};

use serde::Deserialize;
use tress_container::container::CHUNK_BYTES;

use crate::measure::{Machine, SyncKind};
use crate::{Compute, Rate, Strategy, SyncCost};

/// The version of records that is read.
const SCHEMA: u32 = 1;
/// What `tress encrypt` does to a chunk.
const NAME: &str = "aes-128-ccm";
/// How many threads the roofs of synchronising are for.
const SYNC_THREADS: [usize; 3] = [2, 4, 8];

/// Figures of a machine, as they were recorded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recorded {
    /// R_comp: chunks in lanes.
    pub compute: Compute,
    /// The row that says how fast all lanes of one core are.
    pub row: Row,
    /// R_comm of that machine with itself, seconds per byte; none where the record has no loopback.
    pub r_comm: Option<f64>,
    sync: Vec<(SyncKind, Vec<(usize, f64)>)>,
    /// Where it was recorded: the processor.
    pub model: String,
    /// Its cores.
    pub cores: usize,
    /// The day in UTC, such as `2026-11-21`.
    pub date: String,
    /// Whether that is this machine.
    pub is_here: bool,
}

/// A row of a record, as far as a plan needs it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Row {
    /// Such as `aes-128-ccm`.
    pub name: String,
    /// `encrypt` or `decrypt`.
    pub direction: String,
    /// What of the processor was used.
    pub backend: String,
    /// Threads.
    pub threads: usize,
    /// Messages that one call works on.
    pub lanes: usize,
    /// Bytes of a message.
    pub message_bytes: u64,
    /// The rate.
    pub bytes_per_s: Option<f64>,
}

/// Why a record is no use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// It cannot be read, or is no record.
    #[error("{}: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// It has another schema.
    #[error("{}: the record has schema {schema}, this version of tress reads {SCHEMA}", .path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        schema: u32,
    },
    /// A row or roof is not there, or no figure.
    #[error("{}: the record has no {what}", .path.display())]
    Lacks {
        /// The file.
        path: PathBuf,
        /// What.
        what: &'static str,
    },
}

#[derive(Deserialize)]
struct Version {
    schema: u32,
}

#[derive(Deserialize)]
struct Document {
    time: u64,
    machine: Recorder,
    rows: Vec<Row>,
    #[serde(default)]
    roofs: Option<Roofs>,
}

#[derive(Deserialize)]
struct Recorder {
    model: String,
    cores: usize,
}

#[derive(Deserialize)]
struct Roofs {
    roofs: Vec<Roof>,
}

#[derive(Deserialize)]
struct Roof {
    name: String,
    median_per_s: f64,
}

impl Recorded {
    /// The figures of the record at this path.
    ///
    /// # Errors
    /// `Unreadable` and `Schema`; `Lacks` where no row says how fast chunks in lanes are, or a figure is none.
    pub fn read(path: &Path) -> Result<Recorded, RecordError> {
        let document = document(path)?;
        let lacks = |what| RecordError::Lacks { path: path.to_path_buf(), what };
        let (row, compute) =
            compute(&document.rows).ok_or_else(|| lacks("row for aes-128-ccm with lanes and 16 KiB chunks"))?;
        let roofs = document.roofs.map_or(Vec::new(), |roofs| roofs.roofs);
        let roof = |name: &str| Some(roofs.iter().find(|roof| roof.name == name)?.median_per_s.recip());
        let r_comm = roof("loopback");
        let sync = SyncKind::ALL.map(|kind| {
            let costs = SYNC_THREADS.into_iter().filter_map(|count| Some((count, roof(&sync_name(kind, count))?)));
            (kind, costs.collect::<Vec<_>>())
        });
        let costs = sync.iter().flat_map(|(_, costs)| costs).map(|(_, seconds)| *seconds);
        if !costs.chain(r_comm).all(is_cost) {
            return Err(lacks("valid roof: each must be a number above zero"));
        }
        let here = Machine::this();
        let Recorder { model, cores } = document.machine;
        let is_here = (&here.model, here.cores) == (&model, cores);
        Ok(Recorded { compute, row, r_comm, sync: sync.into(), model, cores, date: date(document.time), is_here })
    }

    /// T_syn; none where the record has no such roofs.
    pub fn sync_cost(&self, kind: SyncKind) -> Option<SyncCost> {
        let (_, costs) = self.sync.iter().find(|(of, _)| *of == kind)?;
        (!costs.is_empty()).then(|| SyncCost::Measured(costs.clone()))
    }
}

fn document(path: &Path) -> Result<Document, RecordError> {
    let failed = |error: io::Error| RecordError::Unreadable { path: path.to_path_buf(), error };
    let text = fs::read(path).map_err(failed)?;
    let Version { schema } = serde_json::from_slice(&text).map_err(|error| failed(error.into()))?;
    if schema != SCHEMA {
        return Err(RecordError::Schema { path: path.to_path_buf(), schema });
    }
    serde_json::from_slice(&text).map_err(|error| failed(error.into()))
}

/// The name of a way to wait among the roofs of a record.
pub fn sync_name(kind: SyncKind, threads: usize) -> String {
    format!("{}-{threads}", kind.name().replace(' ', "-"))
}

/// The day of a time in seconds since 1970, in UTC.
pub fn date(time: u64) -> String {
    // The last second of the year 9999 is the last that the library writes.
    let time = UNIX_EPOCH + Duration::from_secs(time.min(253_402_300_799));
    let text = humantime::format_rfc3339_seconds(time).to_string();
    text.split('T').next().unwrap_or_default().into()
}

fn is_cost(seconds: f64) -> bool {
    seconds.is_finite() && seconds > 0.0
}

/// The row of one thread with the most lanes of chunks under one key, and what it and its like say about fewer lanes and more
/// threads. Where rows differ in nothing but the backend, the fastest is the one that `encrypt` would choose.
fn compute(rows: &[Row]) -> Option<(Row, Compute)> {
    let is_chunks = |row: &&Row| {
        row.name == NAME
            && row.direction == "encrypt"
            && row.message_bytes == CHUNK_BYTES as u64
            && row.bytes_per_s.is_some_and(is_cost)
    };
    let rows: Vec<&Row> = rows.iter().filter(is_chunks).collect();
    let rate = |row: &Row| row.bytes_per_s.unwrap_or(0.0);
    let order = |a: &&&Row, b: &&&Row| a.lanes.cmp(&b.lanes).then(rate(a).total_cmp(&rate(b)));
    let best = *rows.iter().filter(|row| row.threads == 1 && row.lanes > 1).max_by(order)?;
    let like: Vec<&Row> = rows.into_iter().filter(|row| row.backend == best.backend).collect();
    // Of several rows with the same count the fastest.
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
        // Cores that were not measured together are taken to be as fast as one each.
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
            name: NAME.into(),
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
    fn lanes_and_threads_are_taken_where_they_are() {
        let rate = |count, seconds_per_byte| Rate { count, seconds_per_byte };
        let threads = [row("vaes512", 1, 32, 8e9), row("vaes512", 2, 32, 16e9)];
        let (_, found) = compute(&threads).expect("a row");
        let by_cores = vec![rate(1, 0.125e-9), rate(2, 0.0625e-9)];
        assert_eq!(found, Compute::Measured { by_lanes: vec![rate(1, 0.125e-9)], by_cores: by_cores.clone() });
        let (_, found) = compute(&[&threads[..], &[row("vaes512", 1, 1, 1e9)]].concat()).expect("a row");
        assert_eq!(found, Compute::Measured { by_lanes: vec![rate(1, 1e-9), rate(32, 0.125e-9)], by_cores });
    }

    #[test]
    fn other_rows_are_none() {
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
