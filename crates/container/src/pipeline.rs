//! The pipeline: source, lanes on N workers, sink.
//!
//! Every worker has one buffer and repeats three steps: take a batch, seal or unseal it in place, write it. Files are read and
//! written at offsets, in any order. A stream is read by one worker at a time, and the workers write to it in the order of the
//! batches. So one worker computes while another reads and a third writes, without further threads or queues, and the only memory
//! is the workers' buffers. A stream receives every chunk before the first failure and none after.

pub mod batch;
mod batch_sink;
mod batch_source;
pub mod pipe;

use std::sync::atomic::{AtomicU64, Ordering};

pub use batch::Batch;
pub use batch_sink::{BatchSink, PlainWindow};
pub use batch_source::BatchSource;

use crate::control::Control;
use crate::format::Payload;
use crate::threads::Threads;
use crate::workers::{JobError, Jobs, RunState};
use crate::{Error, ErrorKind};

/// What the workers do with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Seal,
    Unseal,
}

/// Statistics of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub chunks: u64,
    /// Plaintext sealed or unsealed, in bytes.
    pub plain_bytes: u64,
    /// The sealed chunks with their tags, in bytes.
    pub sealed_bytes: u64,
}

/// One run.
pub struct Pipeline<'a, 'f, 'd> {
    payload: &'a Payload,
    direction: Direction,
    source: BatchSource<'f>,
    sink: BatchSink<'d>,
    control: &'a Control,
    threads: Threads,
    state: RunState,
    chunks: AtomicU64,
    plain_bytes: AtomicU64,
    sealed_bytes: AtomicU64,
}

impl<'a, 'f, 'd> Pipeline<'a, 'f, 'd> {
    /// Makes a run with this many workers.
    pub fn new(
        payload: &'a Payload,
        direction: Direction,
        source: BatchSource<'f>,
        sink: BatchSink<'d>,
        control: &'a Control,
        threads: Threads,
    ) -> Self {
        let [chunks, plain_bytes, sealed_bytes] = [const { AtomicU64::new(0) }; 3];
        let state = RunState::default();
        Self { payload, direction, source, sink, control, threads, state, chunks, plain_bytes, sealed_bytes }
    }

    /// Runs to the end, or to the first failure. The calling thread is one of the workers, and the only one if there is a single batch or
    /// the system refuses more threads.
    pub fn run(self) -> Result<Totals, Error> {
        let new_batch = || Batch::new(self.payload.layout(), self.source.most_chunks());
        let threads = || if self.source.is_nearly_done() { 1 } else { self.threads.count() };
        let result = self.state.run(&self, new_batch, threads);
        if self.control.is_cancelled() {
            return Err(Error::new(ErrorKind::Interrupted));
        }
        result?;
        self.sink.finish()?;
        Ok(Totals {
            chunks: self.chunks.load(Ordering::Relaxed),
            plain_bytes: self.plain_bytes.load(Ordering::Relaxed),
            sealed_bytes: self.sealed_bytes.load(Ordering::Relaxed),
        })
    }
}

impl Jobs for Pipeline<'_, '_, '_> {
    type Buffer = Batch;

    fn take(&self, batch: &mut Batch) -> Result<Option<u64>, JobError> {
        if self.control.is_cancelled() {
            return Err((0, Error::new(ErrorKind::Interrupted)));
        }
        self.source.take(self.direction, batch)
    }

    fn work(&self, number: u64, batch: &mut Batch) -> Result<(), Error> {
        let first_chunk = batch.first_chunk;
        let result = match self.direction {
            Direction::Seal => batch.seal(self.payload),
            Direction::Unseal => batch.unseal(self.payload),
        };
        let good_chunks = match &result {
            Ok(()) => batch.chunks(),
            Err(Error { kind: ErrorKind::ChunkDamaged { chunk }, .. }) => chunk - first_chunk,
            Err(_) => 0,
        };
        let turn = (number, &self.state);
        self.sink.put(self.direction, batch, good_chunks, result.is_ok(), self.control, turn)?;
        result?;
        self.chunks.fetch_add(batch.chunks(), Ordering::Relaxed);
        self.plain_bytes.fetch_add(batch.plain_bytes(), Ordering::Relaxed);
        self.sealed_bytes.fetch_add(batch.sealed_bytes() as u64, Ordering::Relaxed);
        self.control.add_done(match self.direction {
            Direction::Seal => batch.plain_bytes(),
            Direction::Unseal => batch.sealed_bytes() as u64,
        });
        Ok(())
    }

    fn wake(&self) {
        // All jobs before the one that failed are taken.
        if let Some(input) = self.source.awaited() {
            input.stop();
        }
        self.sink.wake();
    }
}
