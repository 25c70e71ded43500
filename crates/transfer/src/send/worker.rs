//! Workers: they take buffers, and seal batches in them for the writers.
//!
//! Each buffer belongs to one connection. A worker takes a free buffer, reads and seals the next batch of the current file in it,
//! and passes it to the connection's writer. The writer writes the batch and frees the buffer. So any number of
//! workers serve any number of connections, a fast connection gets more batches than a slow one, and the buffers bound the memory.
//! `steering.rs` decides how many workers take buffers, and how many chunks a batch has.

use std::time::{Duration, Instant};

use crossbeam_channel::select;

use crate::send::buffers::{BufferQueues, StageMode};
use crate::send::queue::{SealedBatch, SendBuffer, TakenBatch};
use crate::send::session::SendSession;
use crate::send::throttle::Throttle;
use crate::send::trace::TraceRow;
use crate::wire::link::TICK;
use tress_container::format::LAYOUT;
use tress_container::pipeline::Batch;
use tress_container::pipeline::batch::BATCH_CHUNKS;

/// Runs a worker until the session ends.
pub(crate) fn run(queues: &BufferQueues, session: &SendSession<'_>, index: usize) {
    let row = TraceRow::Worker(index);
    let mut throttle = session.options.compute_bytes_per_s.map(Throttle::new);
    loop {
        let since = std::time::Instant::now();
        while index >= session.planner.workers() {
            if session.stopped().is_some() {
                return;
            }
            session.queue.await_plan(|| session.stopped().is_some(), || index < session.planner.workers());
        }
        let Ok(Some(buffer)) = queues.free.receiver.recv() else { return };
        if session.queue.is_dead(buffer.writer) {
            if queues.mode() == StageMode::Barrier {
                // The thread that leads the stages waits for every buffer.
                queues.sealed.put(Err(buffer));
            }
            continue;
        }
        session.trace.slice(row, "wait for a buffer", since, None);
        match seal_next(session, buffer, queues.mode() != StageMode::Barrier, row, &mut throttle) {
            Ok(ready) if queues.mode() == StageMode::Barrier => queues.sealed.put(Ok(ready)),
            Ok(ready) => queues.ready[ready.writer].put(ready),
            Err(Some(buffer)) => queues.sealed.put(Err(buffer)),
            Err(None) => return,
        }
    }
}

/// Takes, reads and seals the next batch. Without `waits`, returns `Err` with the buffer if there is no batch now. Returns
/// `Err(None)` when the session ends.
fn seal_next(
    session: &SendSession<'_>,
    buffer: SendBuffer,
    waits: bool,
    row: TraceRow,
    throttle: &mut Option<Throttle>,
) -> Result<SealedBatch, Option<SendBuffer>> {
    let queue = &session.queue;
    let SendBuffer { writer, batch } = buffer;
    let mut batch = batch.unwrap_or_else(|| Batch::new(LAYOUT, BATCH_CHUNKS));
    loop {
        if session.stopped().is_some() {
            return Err(None);
        }
        let taken = match queue.take(session.planner.batch_chunks(), writer, &mut batch) {
            Ok(taken) => taken,
            Err(error) => {
                session.fail(error);
                return Err(None);
            }
        };
        if let Some(TakenBatch { current, epoch, chunks, since }) = taken {
            let read = match current.source.size_bytes() {
                Some(_) => current.source.read(&chunks, &mut batch),
                None => Ok(()),
            };
            if let Err(error) = read {
                queue.fail(&current, error);
                continue;
            }
            let sealed = || {
                session.trace.slice(row, "read", since, Some(chunks.start));
                let sealing = Instant::now();
                batch.seal(&epoch.payload)?;
                session.trace.slice(row, "seal", sealing, Some(chunks.start));
                // Do not count the time that a stream was waited for.
                let since = if current.source.size_bytes().is_some() { since } else { sealing };
                if let Some(throttle) = throttle {
                    let throttled = Instant::now();
                    session.pause_until(throttle.done_at(since, batch.plain_bytes()));
                    session.trace.slice(row, "held to the rate", throttled, Some(chunks.start));
                }
                session.planner.count_sealed(batch.plain_bytes(), since.elapsed());
                Ok(())
            };
            if let Err(error) = { sealed }() {
                session.fail(error);
                return Err(None);
            }
            queue.count_sealed(current.file);
            return Ok(SealedBatch { writer, file: current.file, epoch, batch });
        }
        if !waits {
            return Err(Some(SendBuffer { writer, batch: Some(batch) }));
        }
        queue.await_batch(|| session.stopped().is_some());
    }
}

/// Leads the stages of barrier mode until the session ends.
pub(crate) fn lead(queues: &BufferQueues, session: &SendSession<'_>) {
    let mut idle: Vec<SendBuffer> = Vec::new();
    let mut next: Vec<SealedBatch> = Vec::new();
    while session.stopped().is_none() {
        while let Ok(Some(buffer)) = queues.written.receiver.try_recv() {
            idle.push(buffer);
        }
        idle.retain(|buffer| !session.queue.is_dead(buffer.writer));
        let mut to_write = next.len();
        next.drain(..).for_each(|ready| queues.ready[ready.writer].put(ready));
        let mut to_seal = session.planner.stage_batches().min(idle.len());
        idle.drain(..to_seal).for_each(|buffer| queues.free.put(buffer));
        let is_empty_stage = to_write == 0;
        while to_seal + to_write > 0 {
            select! {
                recv(queues.sealed.receiver) -> sealed => {
                    match sealed {
                        Ok(Some(Ok(ready))) => next.push(ready),
                        Ok(Some(Err(buffer))) => idle.push(buffer),
                        _ => return,
                    }
                    to_seal -= 1;
                }
                recv(queues.written.receiver) -> buffer => {
                    let Ok(Some(buffer)) = buffer else { return };
                    idle.push(buffer);
                    to_write = to_write.saturating_sub(1);
                }
                default(TICK) => if session.stopped().is_some() { return },
            }
        }
        if is_empty_stage && next.is_empty() {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
