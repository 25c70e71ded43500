//! How workers and writers wait for each other.
//!
//! - `counter`: point to point. A worker waits only for a free buffer, a writer only for a sealed batch for its connection.
//! - `barrier`: the paper's stages. In a stage the workers seal batches while the writers write those of the stage before. The next
//!   stage begins when all of them are done.
//! - `sequential`: a file is sealed completely before any of it is written.

use std::time::Duration;

use crate::send::queue::{SealedBatch, SendBuffer};
use crossbeam_channel::{Receiver, Sender, unbounded};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StageMode {
    Counter,
    Barrier,
    Sequential,
}

/// The queues between workers and writers. The number of buffers bounds their length.
pub(crate) struct BufferQueues {
    mode: StageMode,
    pub(super) free: ThreadQueue<SendBuffer>,
    /// Sealed batches, one queue for each writer.
    pub(super) ready: Vec<ThreadQueue<SealedBatch>>,
    /// In barrier mode: from the workers to the thread that leads the stages. `Err` is a buffer that found no batch.
    pub(super) sealed: ThreadQueue<Result<SealedBatch, SendBuffer>>,
    pub(super) written: ThreadQueue<SendBuffer>,
}

/// A channel. `None` makes one receiving thread end.
pub(super) struct ThreadQueue<T> {
    sender: Sender<Option<T>>,
    pub(super) receiver: Receiver<Option<T>>,
}

impl<T> ThreadQueue<T> {
    fn new() -> Self {
        let (sender, receiver) = unbounded();
        Self { sender, receiver }
    }

    pub(super) fn put(&self, item: T) {
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
}
