//! The pipeline: source, lanes on N workers, sink.
//!
//! Every worker has one buffer and repeats three steps: take a batch, seal or unseal it in place, write it. Files are read and written at
//! offsets, in any order. A stream is read by one worker at a time, and the workers write to it in the order of the batches. So one worker
//! computes while another reads and a third writes, without further threads or queues, and the only memory is the workers' buffers.
//!
//! A failure at batch `n` stops all batches after `n` and lets the batches before it finish. So the reported error is the first in the
//! order of the data, and a stream receives every chunk before it and none after.

pub mod batch;
pub mod pipe;
mod sink;
mod source;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use batch::Batch;
pub use sink::{BatchSink, PlainWindow};
pub use source::BatchSource;

use crate::container::Payload;
use crate::control::Control;
use crate::threads::{Threads, start};
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
    progress: RunState,
}

/// State that the workers of a run share.
#[derive(Default)]
pub struct RunState {
    /// Number of the first batch that failed, plus one; 0 if none has.
    failed: AtomicU64,
    failure: Mutex<Option<(u64, Error)>>,
    chunks: AtomicU64,
    plain_bytes: AtomicU64,
    sealed_bytes: AtomicU64,
}

impl RunState {
    /// Whether the run no longer needs batch `number`, because that batch or one before it failed.
    pub fn is_void(&self, number: u64) -> bool {
        match self.failed.load(Ordering::Acquire) {
            0 => false,
            failed => number >= failed - 1,
        }
    }

    /// Keeps the error of the batch with the lowest number.
    fn fail(&self, number: u64, error: Error) {
        let mut failure = lock(&self.failure);
        if failure.as_ref().is_none_or(|(first, _)| number < *first) {
            *failure = Some((number, error));
            self.failed.store(number + 1, Ordering::Release);
        }
    }
}

/// Ignores poisoning: the thread that joins reports the panic, and no data behind these locks is left half-changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
        Self { payload, direction, source, sink, control, threads, progress: RunState::default() }
    }

    /// Runs to the end, or to the first failure. The calling thread is one of the workers, and the only one if there is a single batch or
    /// the system refuses more threads.
    pub fn run(self) -> Result<Totals, Error> {
        let mut batch = Batch::new(self.source.most_chunks());
        if self.take(&mut batch) {
            let threads = if self.source.is_nearly_done() { 1 } else { self.threads.count() };
            if threads == 1 {
                self.work(batch);
            } else {
                std::thread::scope(|scope| {
                    for _ in 1..threads {
                        let helper = start(scope, || {
                            let mut batch = Batch::new(self.source.most_chunks());
                            if self.take(&mut batch) {
                                self.work(batch);
                            }
                        });
                        if helper.is_err() {
                            break;
                        }
                    }
                    self.work(batch);
                });
            }
        }
        if self.control.is_cancelled() {
            return Err(Error::new(ErrorKind::Interrupted));
        }
        match lock(&self.progress.failure).take() {
            Some((_, error)) => Err(error),
            None => {
                self.sink.finish()?;
                Ok(Totals {
                    chunks: self.progress.chunks.load(Ordering::Relaxed),
                    plain_bytes: self.progress.plain_bytes.load(Ordering::Relaxed),
                    sealed_bytes: self.progress.sealed_bytes.load(Ordering::Relaxed),
                })
            }
        }
    }

    /// Processes a batch that was taken already, then takes further batches.
    fn work(&self, mut batch: Batch) {
        let alarm = PanicGuard(self);
        loop {
            if let Err(error) = self.process(&mut batch) {
                self.fail(batch.number, error);
            }
            if !self.take(&mut batch) {
                break;
            }
        }
        std::mem::forget(alarm);
    }

    /// Takes the next batch. Returns false at the end, or if the run has failed.
    fn take(&self, batch: &mut Batch) -> bool {
        if self.control.is_cancelled() {
            self.fail(0, Error::new(ErrorKind::Interrupted));
        }
        if self.progress.failed.load(Ordering::Acquire) != 0 {
            return false;
        }
        match self.source.take(self.direction, batch) {
            Ok(taken) => taken,
            Err(missing) => {
                self.fail(missing.number, missing.error);
                false
            }
        }
    }

    fn process(&self, batch: &mut Batch) -> Result<(), Error> {
        let first_chunk = batch.first_chunk;
        let result = match self.direction {
            Direction::Seal => self.payload.seal(first_chunk, batch.sealed_mut()),
            Direction::Unseal => self.payload.unseal(first_chunk, batch.sealed_mut()),
        };
        let good_chunks = match &result {
            Ok(()) => batch.chunks(),
            Err(Error { kind: ErrorKind::ChunkDamaged { chunk }, .. }) => chunk - first_chunk,
            Err(_) => 0,
        };
        self.sink.put(self.direction, batch, good_chunks, result.is_ok(), self.control, &self.progress)?;
        result?;
        self.progress.chunks.fetch_add(batch.chunks(), Ordering::Relaxed);
        self.progress.plain_bytes.fetch_add(batch.plain_bytes(), Ordering::Relaxed);
        self.progress.sealed_bytes.fetch_add(batch.sealed_bytes as u64, Ordering::Relaxed);
        self.control.add_done(match self.direction {
            Direction::Seal => batch.plain_bytes(),
            Direction::Unseal => batch.sealed_bytes as u64,
        });
        Ok(())
    }

    fn fail(&self, number: u64, error: Error) {
        self.progress.fail(number, error);
        self.sink.wake();
    }
}

/// Ends the run when a worker panics, so that the others do not wait for its turn forever.
struct PanicGuard<'p, 'a, 'f, 'd>(&'p Pipeline<'a, 'f, 'd>);

impl Drop for PanicGuard<'_, '_, '_, '_> {
    fn drop(&mut self) {
        self.0.fail(0, Error::new(ErrorKind::Interrupted));
    }
}
