//! A window of cycles in Chrome's trace event format (JSON), for chrome://tracing, Perfetto and Speedscope. A process
//! is a hart, a thread is a row of instructions that do not overlap, and a microsecond is a cycle.

use super::Times;
use crate::retired::Retired;
use serde::Serialize;
use std::ops::Range;

/// The most events in a trace. More would be about a gigabyte of JSON.
const MAX_EVENTS: usize = 1 << 20;

/// The instructions of a window of cycles.
#[derive(Clone, Debug)]
pub struct Trace {
    window: Range<u64>,
    events: Vec<TraceEvent>,
    /// For each hart and row, the cycle until which it is occupied.
    rows: Vec<Vec<u64>>,
    left_out: u64,
}

#[derive(Clone, Debug, Serialize)]
struct TraceEvent {
    name: String,
    ph: &'static str,
    pid: usize,
    tid: usize,
    ts: u64,
    dur: u64,
    args: EventArgs,
}

#[derive(Clone, Debug, Serialize)]
struct EventArgs {
    pc: String,
    #[serde(flatten)]
    times: Times,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TraceFile<'a> {
    display_time_unit: &'static str,
    other_data: TraceMetadata,
    trace_events: &'a [TraceEvent],
}

#[derive(Serialize)]
struct TraceMetadata {
    clock: &'static str,
    instructions_left_out: u64,
}

/// The first cycle behind an instruction. In order, its result may be ready after it has left the pipeline.
fn end(times: &Times) -> u64 {
    times.retire.max(times.complete) + 1
}

impl Trace {
    /// An empty trace of the instructions that are in the pipeline in the cycles `window`.
    #[must_use]
    pub(crate) fn new(window: Range<u64>, harts: usize) -> Trace {
        Trace { window, events: Vec::new(), rows: vec![Vec::new(); harts], left_out: 0 }
    }

    /// Whether an instruction with these times overlaps the window.
    #[must_use]
    pub(crate) fn wants(&self, times: &Times) -> bool {
        times.fetch < self.window.end && end(times) > self.window.start
    }

    /// Whether the trace has no instructions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Number of instructions left out, because the trace was full.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Adds an instruction with a name for the picture.
    pub(crate) fn add(&mut self, hart: usize, retired: &Retired, times: &Times, name: &str) {
        if self.events.len() + 4 > MAX_EVENTS {
            self.left_out += 1;
            return;
        }
        let rows = &mut self.rows[hart];
        let row = rows.iter().position(|until| *until <= times.fetch).unwrap_or_else(|| {
            rows.push(0);
            rows.len() - 1
        });
        rows[row] = end(times);
        let args = EventArgs { pc: format!("{:#x}", retired.pc), times: *times };
        let mut event = |name: &str, from: u64, until: u64| {
            let (name, ts, dur) = (name.to_owned(), from, until.saturating_sub(from));
            self.events.push(TraceEvent { name, ph: "X", pid: hart, tid: row, ts, dur, args: args.clone() });
        };
        event(name, times.fetch, end(times));
        event("front end", times.fetch, times.decode);
        event("wait", times.decode, times.issue);
        event("execute", times.issue, times.complete.max(times.issue + 1));
    }

    /// Writes the trace as JSON.
    ///
    /// # Errors
    ///
    /// Errors of the writer.
    pub fn write(&self, mut out: impl std::io::Write) -> std::io::Result<()> {
        let file = TraceFile {
            display_time_unit: "ms",
            other_data: TraceMetadata { clock: "one microsecond is one cycle", instructions_left_out: self.left_out },
            trace_events: &self.events,
        };
        serde_json::to_writer(&mut out, &file).map_err(std::io::Error::from)?;
        out.flush()
    }
}
