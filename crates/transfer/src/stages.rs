//! How workers and writers wait for each other.
//!
//! - `counter`: point to point. A worker waits only for a free slot, a writer only for a sealed batch for its connection.
//! - `barrier`: the paper's stages. In a stage the workers seal batches while the writers write those of the stage before. The next
//!   stage begins when all of them are done.
//! - `sequential`: a file is sealed completely before any of it is written.

use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, select, unbounded};

use super::link::TICK;
use super::outgoing::{Ready, Slot};
use super::sender::Session;
use super::throttle::Throttle;
use super::trace::Row;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Counter,
    Barrier,
    Sequential,
}

/// The queues between workers and writers. The number of slots bounds their length.
pub(crate) struct Lanes {
    mode: Mode,
    free: Queue<Slot>,
    /// Sealed batches, one queue for each writer.
    ready: Vec<Queue<Ready>>,
    /// In barrier mode: from the workers to the thread that leads the stages. `Err` is a slot that found no batch.
    sealed: Queue<Result<Ready, Slot>>,
    written: Queue<Slot>,
}

/// A channel. `None` makes one receiving thread end.
struct Queue<T> {
    sender: Sender<Option<T>>,
    receiver: Receiver<Option<T>>,
}

impl<T> Queue<T> {
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

impl Lanes {
    pub(crate) fn new(mode: Mode, writers: usize, slots: usize) -> Self {
        let lanes = Self {
            mode,
            free: Queue::new(),
            ready: (0..writers).map(|_| Queue::new()).collect(),
            sealed: Queue::new(),
            written: Queue::new(),
        };
        for _ in 0..slots {
            for writer in 0..writers {
                lanes.give_back(Slot { writer, batch: None });
            }
        }
        lanes
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// The next batch for a writer: `None` if none arrives within `time`, `Some(None)` at the end.
    pub(crate) fn ready(&self, writer: usize, time: Duration) -> Option<Option<Ready>> {
        self.ready[writer].receiver.recv_timeout(time).ok()
    }

    /// Returns a slot whose batch was written.
    pub(crate) fn give_back(&self, slot: Slot) {
        match self.mode {
            Mode::Barrier => self.written.put(slot),
            Mode::Counter | Mode::Sequential => self.free.put(slot),
        }
    }

    /// Makes every thread end.
    pub(crate) fn end(&self, workers: usize) {
        (0..workers).for_each(|_| self.free.end());
        self.ready.iter().for_each(Queue::end);
        self.sealed.end();
        self.written.end();
    }

    /// Runs a worker until the session ends.
    pub(crate) fn work(&self, session: &Session<'_>, index: usize) {
        let row = Row::Worker(index);
        let mut throttle = session.options.compute_bytes_per_s.map(Throttle::new);
        loop {
            let since = std::time::Instant::now();
            while index >= session.steering.workers() {
                if session.stopped().is_some() {
                    return;
                }
                session.work.pause(TICK);
            }
            let Ok(Some(slot)) = self.free.receiver.recv() else { return };
            if session.work.is_dead(slot.writer) {
                continue;
            }
            session.trace.slice(row, "wait for a buffer", since, None);
            match session.work.next(session, slot, self.mode != Mode::Barrier, row, &mut throttle) {
                Ok(ready) if self.mode == Mode::Barrier => self.sealed.put(Ok(ready)),
                Ok(ready) => self.ready[ready.writer].put(ready),
                Err(Some(slot)) => self.sealed.put(Err(slot)),
                Err(None) => return,
            }
        }
    }

    /// Leads the stages of barrier mode until the session ends.
    pub(crate) fn lead(&self, session: &Session<'_>) {
        let mut idle: Vec<Slot> = Vec::new();
        let mut next: Vec<Ready> = Vec::new();
        while session.stopped().is_none() {
            while let Ok(Some(slot)) = self.written.receiver.try_recv() {
                idle.push(slot);
            }
            idle.retain(|slot| !session.work.is_dead(slot.writer));
            let mut to_write = next.len();
            next.drain(..).for_each(|ready| self.ready[ready.writer].put(ready));
            let mut to_seal = session.steering.stage_batches().min(idle.len());
            idle.drain(..to_seal).for_each(|slot| self.free.put(slot));
            let is_empty_stage = to_write == 0;
            while to_seal + to_write > 0 {
                select! {
                    recv(self.sealed.receiver) -> sealed => {
                        match sealed {
                            Ok(Some(Ok(ready))) => next.push(ready),
                            Ok(Some(Err(slot))) => idle.push(slot),
                            _ => return,
                        }
                        to_seal -= 1;
                    }
                    recv(self.written.receiver) -> slot => {
                        let Ok(Some(slot)) = slot else { return };
                        idle.push(slot);
                        to_write = to_write.saturating_sub(1);
                    }
                    default(TICK) => if session.stopped().is_some() { return },
                }
            }
            if is_empty_stage && next.is_empty() {
                session.work.pause(Duration::from_millis(2));
            }
        }
    }
}
