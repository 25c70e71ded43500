//! A trace of a run in Chrome's format (`chrome://tracing`, Perfetto). It has a row for each worker and each connection, and
//! a slice for each batch that is read, sealed or written, and for each wait.

use std::io::IoSlice;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::send::steering::{AdaptivePlanner, Costs};
use tress_container::commands::Sink;
use tress_container::sink::{CheckedSink, NewFile};
use tress_container::sys::System;
use tress_container::{Error, ErrorKind};
use tress_plan::Plan;

/// Most bytes held in memory before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

pub(crate) struct ChromeTrace {
    begin: Instant,
    /// `None` when nothing is traced.
    file: Option<Mutex<TraceFile>>,
}

struct TraceFile {
    file: NewFile<'static>,
    buffer: String,
    written_bytes: u64,
    failure: Option<Error>,
}

/// A row of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceRow {
    Session,
    Worker(usize),
    Link(usize),
}

impl TraceRow {
    fn number(self) -> usize {
        match self {
            TraceRow::Session => 1,
            TraceRow::Worker(index) => 1000 + index,
            TraceRow::Link(index) => 2000 + index,
        }
    }

    fn name(self) -> String {
        match self {
            TraceRow::Session => "session".into(),
            TraceRow::Worker(index) => format!("worker {index}"),
            TraceRow::Link(index) => format!("link {index}"),
        }
    }
}

impl ChromeTrace {
    pub(crate) fn none() -> Self {
        Self { begin: Instant::now(), file: None }
    }

    /// Creates a trace file. An existing file is replaced only with `force`.
    pub(crate) fn create(system: &'static dyn System, path: &Path, force: bool) -> Result<Self, Error> {
        let sink = Sink::Path { path: path.to_path_buf(), force };
        let file = match CheckedSink::check(system, &sink, None)? {
            CheckedSink::Name(name) => name.create()?,
            CheckedSink::Stream(_) => {
                return Err(Error::new(ErrorKind::Usage).with_detail("the trace must be a regular file").at(path));
            }
        };
        let file = TraceFile { file, buffer: "[\n".into(), written_bytes: 0, failure: None };
        Ok(Self { begin: Instant::now(), file: Some(Mutex::new(file)) })
    }

    /// Writes the names of the rows.
    pub(crate) fn rows(&self, rows: impl IntoIterator<Item = TraceRow>) {
        for row in rows {
            self.put(|| {
                let (number, name) = (row.number(), row.name());
                format!(r#"{{"name":"thread_name","ph":"M","pid":1,"tid":{number},"args":{{"name":"{name}"}}}}"#)
            });
        }
    }

    /// Adds a slice from `start` until now, for the batch that begins with `first_chunk`.
    pub(crate) fn slice(&self, row: TraceRow, name: &'static str, start: Instant, first_chunk: Option<u64>) {
        self.put(|| {
            let (begin_us, us) =
                ((start - self.begin).as_nanos() as f64 / 1e3, start.elapsed().as_nanos() as f64 / 1e3);
            let args = first_chunk.map_or(String::new(), |chunk| format!(r#","args":{{"first_chunk":{chunk}}}"#));
            let row = row.number();
            format!(r#"{{"name":"{name}","ph":"X","pid":1,"tid":{row},"ts":{begin_us:.3},"dur":{us:.3}{args}}}"#)
        });
    }

    /// Adds a plan that applies from now on to the remaining bytes. Costs are written in nanoseconds per byte.
    pub(crate) fn plan(&self, bytes_left: u64, costs: &Costs, plan: &Plan, planner: &AdaptivePlanner) {
        self.put(|| {
            let us = self.begin.elapsed().as_nanos() as f64 / 1e3;
            let row = TraceRow::Session.number();
            let (compute, link) = (costs.compute * 1e9, costs.link * 1e9);
            let (stages, stage_bytes, time_s, limit) = (plan.stages, plan.stage_bytes, plan.time_s, plan.limit.name());
            let (workers, chunks) = (planner.workers(), planner.batch_chunks());
            format!(
                concat!(
                    r#"{{"name":"plan","ph":"i","s":"p","pid":1,"tid":{},"ts":{:.3},"args":{{"bytes_left":{},"#,
                    r#""compute_ns_per_byte":{:.4},"link_ns_per_byte":{:.4},"stages":{},"stage_bytes":{},"#,
                    r#""time_s":{:.4},"limit":"{}","workers":{},"batch_chunks":{}}}}}"#
                ),
                row, us, bytes_left, compute, link, stages, stage_bytes, time_s, limit, workers, chunks
            )
        });
    }

    fn put(&self, event: impl FnOnce() -> String) {
        let Some(file) = &self.file else { return };
        let event = event();
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.buffer.len() > 2 || file.written_bytes > 0 {
            file.buffer.push_str(",\n");
        }
        file.buffer.push_str(&event);
        if file.buffer.len() >= BUFFER_BYTES {
            file.flush();
        }
    }

    /// Ends the trace and gives the file its final name.
    pub(crate) fn finish(self) -> Result<(), Error> {
        let Some(file) = self.file else { return Ok(()) };
        let mut file = file.into_inner().unwrap_or_else(PoisonError::into_inner);
        file.buffer.push_str("\n]\n");
        file.flush();
        match file.failure {
            Some(error) => Err(error),
            None => file.file.commit(),
        }
    }
}

impl TraceFile {
    fn flush(&mut self) {
        let bytes = std::mem::take(&mut self.buffer);
        if self.failure.is_none()
            && let Err(error) = self.file.write_all_at(&mut [IoSlice::new(bytes.as_bytes())], self.written_bytes)
        {
            self.failure = Some(error);
        }
        self.written_bytes += bytes.len() as u64;
    }
}
