//! How workers and writers wait for each other.
//!
//! - `counter`: point to point. A worker waits only for a free buffer, a writer only for a sealed batch for its connection.
//! - `barrier`: the paper's stages. In a stage the workers seal batches while the writers write those of the stage before. The next
//!   stage begins when all of them are done.
//! - `sequential`: a file is sealed completely before any of it is written.

use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, select, unbounded};

use crate::send::outgoing::{SealedBatch, SendBuffer};
use crate::send::sender::SendSession;
use crate::send::throttle::Throttle;
use crate::send::trace::TraceRow;
use crate::wire::link::TICK;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StageMode {
    Counter,
    Barrier,
    Sequential,
}

/// The queues between workers and writers. The number of buffers bounds their length.
pub(crate) struct BufferQueues {
    mode: StageMode,
    free: ThreadQueue<SendBuffer>,
    /// Sealed batches, one queue for each writer.
    ready: Vec<ThreadQueue<SealedBatch>>,
    /// In barrier mode: from the workers to the thread that leads the stages. `Err` is a buffer that found no batch.
    sealed: ThreadQueue<Result<SealedBatch, SendBuffer>>,
    written: ThreadQueue<SendBuffer>,
}

/// A channel. `None` makes one receiving thread end.
struct ThreadQueue<T> {
    sender: Sender<Option<T>>,
    receiver: Receiver<Option<T>>,
}

impl<T> ThreadQueue<T> {
    fn new() -> Self {
        let (sender, receiver) = unbounded();
        Self { sender, receiver }
    }

    fn put(&self, item: T) {
        // Cannot fail: this struct holds both ends.
        let _ = self.sender.send(Some(item));
    }

    fn end(&self) {
        let _ = self.sender.send(None);
    }
}

impl BufferQueues {
    pub(crate) fn new(mode: StageMode, writers: usize, buffers: usize) -> Self {
        let queues = Self {
            mode,
            free: ThreadQueue::new(),
            ready: (0..writers).map(|_| ThreadQueue::new()).collect(),
            sealed: ThreadQueue::new(),
            written: ThreadQueue::new(),
        };
        for _ in 0..buffers {
            for writer in 0..writers {
                queues.give_back(SendBuffer { writer, batch: None });
            }
        }
        queues
    }

    pub(crate) fn mode(&self) -> StageMode {
        self.mode
    }

    /// The next batch for a writer: `None` if none arrives within `time`, `Some(None)` at the end.
    pub(crate) fn ready(&self, writer: usize, time: Duration) -> Option<Option<SealedBatch>> {
        self.ready[writer].receiver.recv_timeout(time).ok()
    }

    /// Returns a buffer whose batch was written.
    pub(crate) fn give_back(&self, buffer: SendBuffer) {
        match self.mode {
            StageMode::Barrier => self.written.put(buffer),
            StageMode::Counter | StageMode::Sequential => self.free.put(buffer),
        }
    }

    /// Makes every thread end.
    pub(crate) fn end(&self, workers: usize) {
        (0..workers).for_each(|_| self.free.end());
        self.ready.iter().for_each(ThreadQueue::end);
        self.sealed.end();
        self.written.end();
    }

    /// Runs a worker until the session ends.
    pub(crate) fn run_worker(&self, session: &SendSession<'_>, index: usize) {
        let row = TraceRow::Worker(index);
        let mut throttle = session.options.compute_bytes_per_s.map(Throttle::new);
        loop {
            let since = std::time::Instant::now();
            while index >= session.planner.workers() {
                if session.stopped().is_some() {
                    return;
                }
                session.queue.pause(TICK);
            }
            let Ok(Some(buffer)) = self.free.receiver.recv() else { return };
            if session.queue.is_dead(buffer.writer) {
                continue;
            }
            session.trace.slice(row, "wait for a buffer", since, None);
            match session.queue.seal_next(session, buffer, self.mode != StageMode::Barrier, row, &mut throttle) {
                Ok(ready) if self.mode == StageMode::Barrier => self.sealed.put(Ok(ready)),
                Ok(ready) => self.ready[ready.writer].put(ready),
                Err(Some(buffer)) => self.sealed.put(Err(buffer)),
                Err(None) => return,
            }
        }
    }

    /// Leads the stages of barrier mode until the session ends.
    pub(crate) fn run_leader(&self, session: &SendSession<'_>) {
        let mut idle: Vec<SendBuffer> = Vec::new();
        let mut next: Vec<SealedBatch> = Vec::new();
        while session.stopped().is_none() {
            while let Ok(Some(buffer)) = self.written.receiver.try_recv() {
                idle.push(buffer);
            }
            idle.retain(|buffer| !session.queue.is_dead(buffer.writer));
            let mut to_write = next.len();
            next.drain(..).for_each(|ready| self.ready[ready.writer].put(ready));
            let mut to_seal = session.planner.stage_batches().min(idle.len());
            idle.drain(..to_seal).for_each(|buffer| self.free.put(buffer));
            let is_empty_stage = to_write == 0;
            while to_seal + to_write > 0 {
                select! {
                    recv(self.sealed.receiver) -> sealed => {
                        match sealed {
                            Ok(Some(Ok(ready))) => next.push(ready),
                            Ok(Some(Err(buffer))) => idle.push(buffer),
                            _ => return,
                        }
                        to_seal -= 1;
                    }
                    recv(self.written.receiver) -> buffer => {
                        let Ok(Some(buffer)) = buffer else { return };
                        idle.push(buffer);
                        to_write = to_write.saturating_sub(1);
                    }
                    default(TICK) => if session.stopped().is_some() { return },
                }
            }
            if is_empty_stage && next.is_empty() {
                session.queue.pause(Duration::from_millis(2));
            }
        }
    }
}
