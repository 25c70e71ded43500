//! Writers: each writes sealed batches to one connection, and connects again when it is lost.

use std::io::IoSlice;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use crate::send::buffers::{BufferQueues, StageMode};
use crate::send::queue::{SealedBatch, SendBuffer};
use crate::send::session::SendSession;
use crate::send::trace::TraceRow;
use crate::wire::epoch::Epoch;
use crate::wire::link::{TICK, Timeouts, write_all};
use crate::wire::message::{MAX_STREAM_NUMBERS, Request};
use crate::wire::noise::Outgoing;
use tress_container::{Error, ErrorKind};

/// Pauses between attempts to reconnect.
const RETRY_PAUSES: [Duration; 4] =
    [Duration::from_millis(50), Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(3)];

/// CPU time of this thread; zero if the platform does not report it.
fn thread_time() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
    #[cfg(not(unix))]
    Duration::ZERO
}

/// An open data connection.
struct OpenConnection {
    out: Outgoing,
    number: u16,
    /// An epoch with a lower number was made before this connection: its batches are sealed again.
    first_epoch: Option<u64>,
    /// The epoch whose key the receiver has.
    epoch: Option<u64>,
}

/// The thread that writes to one connection.
pub(crate) struct Writer<'a> {
    pub(crate) session: &'a SendSession<'a>,
    pub(crate) queues: &'a BufferQueues,
    pub(crate) index: usize,
    pub(crate) numbers: &'a AtomicU16,
}

impl Writer<'_> {
    pub(crate) fn run(&self) {
        let Self { session, queues, index, .. } = *self;
        let row = TraceRow::Link(index);
        let mut connection = self.connect(0);
        loop {
            let since = Instant::now();
            let ready = match queues.ready(index, TICK) {
                Some(Some(ready)) => ready,
                // The session ends.
                Some(None) => return,
                None if session.stopped().is_some() => return,
                None => {
                    if connection.as_ref().is_some_and(|open| session.ledger.is_drained(open.number)) {
                        connection = self.reconnect(connection);
                    }
                    continue;
                }
            };
            session.trace.slice(row, "wait for a batch", since, None);
            if queues.mode() == StageMode::Sequential {
                while !session.queue.is_all_sealed() && session.stopped().is_none() {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            let first_chunk = ready.batch.first_chunk;
            let (file, chunks) = (ready.file, first_chunk..first_chunk + ready.batch.chunks());
            let usable = connection.as_ref().is_some_and(|open| {
                open.first_epoch.is_none_or(|first| ready.epoch.number >= first)
                    && !session.ledger.is_drained(open.number)
            });
            // Count it before the ledger records it: from then on `send_again` may return it at any moment.
            if !session.queue.count_written(file, ready.batch.plain_bytes()) {
                queues.give_back(SendBuffer { writer: index, batch: Some(ready.batch) });
                continue;
            }
            session.control.add_done(ready.batch.plain_bytes());
            let is_recorded = usable
                && connection.as_ref().is_some_and(|open| session.ledger.send(open.number, file, chunks.clone()));
            if !is_recorded {
                match session.queue.send_again([(file, chunks)]) {
                    Ok(bytes) => session.control.take_back(bytes),
                    Err(error) => {
                        session.fail(error);
                        return;
                    }
                }
            }
            let outcome = match &mut connection {
                Some(open) if is_recorded => self.write(open, &ready, row),
                Some(open) if session.ledger.is_drained(open.number) => Err(Error::new(ErrorKind::Disconnected)),
                _ => Ok(()),
            };
            queues.give_back(SendBuffer { writer: index, batch: Some(ready.batch) });
            if let Err(error) = outcome {
                if session.stopped().is_some() {
                    return;
                }
                session.record_loss(error);
                connection = self.reconnect(connection);
            }
        }
    }

    /// Writes a batch, preceded by its key if the receiver does not have it.
    fn write(&self, open: &mut OpenConnection, ready: &SealedBatch, row: TraceRow) -> Result<(), Error> {
        let session = self.session;
        let stop = || session.stopped();
        let timeouts = Timeouts::idle(session.stall_time, &stop);
        let mut head = Vec::new();
        if open.epoch != Some(ready.epoch.number) {
            head.extend_from_slice(open.out.seal(&ready.epoch.message.encode())?);
            open.epoch = Some(ready.epoch.number);
        }
        let sealed = ready.batch.sealed();
        let header = Request::Batch {
            file: ready.file,
            first_chunk: ready.batch.first_chunk,
            sealed_bytes: sealed.len() as u32,
        };
        head.extend_from_slice(open.out.seal(&header.encode())?);
        let link = open.out.link();
        let (since, on_core) = (Instant::now(), thread_time());
        match &session.rate {
            None => write_all(&**link, &mut [IoSlice::new(&head), IoSlice::new(sealed)], &timeouts)?,
            Some(rate) => {
                let pieces = sealed.chunks(rate.piece_bytes());
                for piece in std::iter::once(&head[..]).chain(pieces) {
                    session.pause_until(Instant::now() + rate.reserve(piece.len(), Instant::now()));
                    write_all(&**link, &mut [IoSlice::new(piece)], &timeouts)?;
                    // A batch may take minutes at this rate, in which the receiver has nothing to report.
                    session.ledger.has_moved();
                }
            }
        }
        session.planner.count_written(
            ready.batch.plain_bytes(),
            since.elapsed(),
            thread_time().saturating_sub(on_core),
        );
        session.trace.slice(row, "write", since, Some(ready.batch.first_chunk));
        Ok(())
    }

    /// Opens the connection. `failures` is the number of earlier failures.
    fn connect(&self, mut failures: usize) -> Option<OpenConnection> {
        let session = self.session;
        loop {
            if session.stopped().is_some() {
                return None;
            }
            let number = self.numbers.fetch_add(1, Ordering::Relaxed);
            if number < MAX_STREAM_NUMBERS {
                match session.join(number) {
                    Ok(out) => return Some(OpenConnection { out, number, first_epoch: None, epoch: None }),
                    Err(error) => session.record_loss(error),
                }
            }
            let pause = RETRY_PAUSES.get(failures).filter(|_| number < MAX_STREAM_NUMBERS);
            let Some(&pause) = pause else {
                if !session.queue.mark_dead(self.index) {
                    session.fail_by_loss();
                }
                return None;
            };
            failures += 1;
            session.pause_until(Instant::now() + pause);
        }
    }

    /// Asks how many batches of a lost connection arrived, and opens a new one.
    fn reconnect(&self, lost: Option<OpenConnection>) -> Option<OpenConnection> {
        let session = self.session;
        let lost = lost?;
        lost.out.link().close();
        // Before the key is dropped: a worker may make the next one at any moment.
        let first_epoch = Some(Epoch::next_number());
        session.queue.drop_key(self.index);
        if !session.ledger.is_drained(lost.number) {
            session.request(&Request::Lost { stream: lost.number });
        }
        // Without the short pauses if no batch was reported as verified.
        let failures = usize::from(session.ledger.verified(lost.number) == 0) * (RETRY_PAUSES.len() - 1);
        self.connect(failures).map(|open| OpenConnection { first_epoch, ..open })
    }
}
