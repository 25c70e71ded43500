//! Workers and writers of a sender: they seal batches, and write them to the connections.
//!
//! Each buffer belongs to one connection. A worker takes a free buffer, reads and seals the next batch of the current file in it,
//! and passes it to the connection's writer. The writer writes the batch and frees the buffer. So any number of
//! workers serve any number of connections, a fast connection gets more batches than a slow one, and the buffers bound the memory.
//! `steering.rs` decides how many workers take buffers, and how many chunks a batch has.

use crate::wire::batch::plain_bytes;
use std::io::IoSlice;
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::send::sender::SendSession;
use crate::send::source::FileSource;
use crate::send::stages::{BufferQueues, StageMode};
use crate::send::throttle::Throttle;
use crate::send::trace::TraceRow;
use crate::wire::epoch::Epoch;
use crate::wire::link::{TICK, Timeouts, write_all};
use crate::wire::message::{MAX_STREAM_NUMBERS, Request};
use crate::wire::noise::Outgoing;
use crate::wire::ranges::Ranges;
use tress_container::format::LAYOUT;
use tress_container::pipeline::Batch;
use tress_container::pipeline::batch::BATCH_CHUNKS;
use tress_container::workers::lock;
use tress_container::{Error, ErrorKind};

/// Pauses between attempts to reconnect.
const RETRY_PAUSES: [Duration; 4] =
    [Duration::from_millis(50), Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(3)];

/// A buffer of one connection, allocated at its first use.
pub(crate) struct SendBuffer {
    pub(crate) writer: usize,
    pub(crate) batch: Option<Batch>,
}

/// A sealed batch for a writer.
pub(crate) struct SealedBatch {
    pub(crate) writer: usize,
    file: u32,
    epoch: Arc<Epoch>,
    batch: Batch,
}

/// The file that is being sent.
struct OutgoingFile {
    file: u32,
    source: Arc<FileSource>,
}

/// The chunks of a batch that a worker has taken, and the key for them.
struct TakenBatch {
    current: Arc<OutgoingFile>,
    epoch: Arc<Epoch>,
    chunks: Range<u64>,
    since: Instant,
}

/// The batches of the current file that are still to be sent.
#[derive(Default)]
pub(crate) struct SendQueue {
    state: Mutex<State>,
    changed: Condvar,
    /// Held while a stream is read.
    reading: Mutex<()>,
}

#[derive(Default)]
struct State {
    current: Option<Arc<OutgoingFile>>,
    /// Chunks that no worker has taken yet.
    todo: Ranges,
    /// Chunks that were lost with a connection and have to be sent again.
    again: Ranges,
    /// Batches of the current file that a worker has taken.
    taken: u64,
    /// Of these, batches that are sealed.
    sealed: u64,
    /// Of these, batches that were passed to a connection.
    written: u64,
    /// Plaintext bytes of written batches that were not lost.
    written_bytes: u64,
    /// Why the file cannot be read any further.
    failure: Option<Error>,
    /// For a stream: plaintext bytes read so far.
    stream_bytes: u64,
    /// For a stream: whether its end was read.
    has_ended: bool,
    /// The current key of each connection.
    epochs: Vec<Option<Arc<Epoch>>>,
    dead: Vec<bool>,
}

impl State {
    fn is_current(&self, file: u32) -> bool {
        self.current.as_ref().is_some_and(|current| current.file == file)
    }

    fn is_all_taken(&self) -> bool {
        let is_stream = self.current.as_ref().is_some_and(|current| current.source.size_bytes().is_none());
        self.todo.count() == 0 && self.again.count() == 0 && (!is_stream || self.has_ended)
    }

    /// Returns a key of this connection that has sealed none of these chunks.
    fn epoch(&mut self, writer: usize, file: u32, chunks: &Range<u64>) -> Result<Arc<Epoch>, Error> {
        if let Some(epoch) = &self.epochs[writer]
            && epoch.file == file
            && epoch.claim(chunks)
        {
            return Ok(epoch.clone());
        }
        let epoch = Arc::new(Epoch::new(file)?);
        epoch.claim(chunks);
        self.epochs[writer] = Some(epoch.clone());
        Ok(epoch)
    }
}

impl SendQueue {
    pub(crate) fn new(writers: usize) -> Self {
        let state = State { epochs: vec![None; writers], dead: vec![false; writers], ..State::default() };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    /// Starts a file. `todo` is empty for a stream.
    pub(crate) fn begin(&self, file: u32, source: Arc<FileSource>, todo: Ranges) {
        let mut state = lock(&self.state);
        let (epochs, dead) = (std::mem::take(&mut state.epochs), std::mem::take(&mut state.dead));
        let current = Some(Arc::new(OutgoingFile { file, source }));
        *state = State { current, todo, epochs, dead, ..State::default() };
        self.changed.notify_all();
    }

    /// Ends the current file, which the receiver has confirmed or will discard. Sealed batches that were not written are dropped.
    /// Returns the number of plaintext bytes that were written.
    pub(crate) fn end(&self) -> u64 {
        let mut state = lock(&self.state);
        let (epochs, dead) = (std::mem::take(&mut state.epochs), std::mem::take(&mut state.dead));
        let written_bytes = state.written_bytes;
        *state = State { epochs, dead, ..State::default() };
        self.changed.notify_all();
        written_bytes
    }

    /// Waits up to `time`. Returns the size of the file if all of it is written, and an error if it cannot be read.
    pub(crate) fn wait_written(&self, time: Duration) -> Result<Option<u64>, Error> {
        let mut state = lock(&self.state);
        let is_written =
            |state: &State| state.failure.is_some() || state.is_all_taken() && state.written == state.taken;
        if !is_written(&state) {
            state = self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0;
        }
        if let Some(error) = state.failure.take() {
            return Err(error);
        }
        let size_bytes =
            state.current.as_ref().and_then(|current| current.source.size_bytes()).unwrap_or(state.stream_bytes);
        Ok(is_written(&state).then_some(size_bytes))
    }

    /// Records that this file cannot be read: no further batch of it is taken.
    fn fail(&self, current: &OutgoingFile, error: Error) {
        let mut state = lock(&self.state);
        if state.is_current(current.file) {
            state.failure.get_or_insert(error);
            state.todo = Ranges::default();
            state.again = Ranges::default();
            state.has_ended = true;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Plaintext bytes of the file that no worker has taken yet; `None` for a stream, and between files.
    pub(crate) fn bytes_left(&self) -> Option<u64> {
        let state = lock(&self.state);
        state.current.as_ref()?.source.size_bytes()?;
        Some(LAYOUT.plain_offset(state.todo.count() + state.again.count()))
    }

    /// Whether all batches of the file are sealed.
    fn is_all_sealed(&self) -> bool {
        let state = lock(&self.state);
        state.is_all_taken() && state.sealed == state.taken
    }

    /// Queues batches that were lost with their connection. Returns their plaintext bytes. An error for a stream, which cannot be
    /// read again.
    pub(crate) fn send_again(&self, batches: impl IntoIterator<Item = (u32, Range<u64>)>) -> Result<u64, Error> {
        let mut state = lock(&self.state);
        let mut lost_bytes = 0;
        let Some(current) = state.current.clone() else { return Ok(lost_bytes) };
        for (file, chunks) in batches {
            if file != current.file {
                continue;
            }
            let Some(size_bytes) = current.source.size_bytes() else {
                return Err(Error::new(ErrorKind::Disconnected).with_detail("standard input cannot be sent again"));
            };
            lost_bytes += plain_bytes(size_bytes, chunks.end) - plain_bytes(size_bytes, chunks.start);
            if state.failure.is_none() {
                state.again.insert(chunks);
            }
            state.taken -= 1;
            state.sealed -= 1;
            state.written -= 1;
        }
        state.written_bytes = state.written_bytes.saturating_sub(lost_bytes);
        self.changed.notify_all();
        Ok(lost_bytes)
    }

    /// Drops the key of a connection that is made again.
    fn drop_key(&self, writer: usize) {
        lock(&self.state).epochs[writer] = None;
    }

    /// Records that the connection cannot be made again. Returns whether others are left.
    pub(crate) fn mark_dead(&self, writer: usize) -> bool {
        let mut state = lock(&self.state);
        state.dead[writer] = true;
        state.dead.iter().any(|dead| !dead)
    }

    pub(crate) fn is_dead(&self, writer: usize) -> bool {
        lock(&self.state).dead[writer]
    }

    pub(crate) fn wake(&self) {
        self.changed.notify_all();
    }

    /// Waits up to `time` for a change.
    pub(crate) fn pause(&self, time: Duration) {
        let state = lock(&self.state);
        drop(self.changed.wait_timeout(state, time));
    }

    /// Takes, reads and seals the next batch. Without `waits`, returns `Err` with the buffer if there is no batch now. Returns
    /// `Err(None)` when the session ends.
    pub(crate) fn seal_next(
        &self,
        session: &SendSession<'_>,
        buffer: SendBuffer,
        waits: bool,
        row: TraceRow,
        throttle: &mut Option<Throttle>,
    ) -> Result<SealedBatch, Option<SendBuffer>> {
        let SendBuffer { writer, batch } = buffer;
        let mut batch = batch.unwrap_or_else(|| Batch::new(LAYOUT, BATCH_CHUNKS));
        loop {
            if session.stopped().is_some() {
                return Err(None);
            }
            let taken = match self.take(session, writer, &mut batch) {
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
                    self.fail(&current, error);
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
                let mut state = lock(&self.state);
                if state.is_current(current.file) {
                    state.sealed += 1;
                }
                drop(state);
                return Ok(SealedBatch { writer, file: current.file, epoch, batch });
            }
            if !waits {
                return Err(Some(SendBuffer { writer, batch: Some(batch) }));
            }
            self.pause(TICK);
        }
    }

    /// Takes the next batch to be sealed. For a file it only takes the chunks; for a stream it also reads them.
    fn take(&self, session: &SendSession<'_>, writer: usize, batch: &mut Batch) -> Result<Option<TakenBatch>, Error> {
        let mut state = lock(&self.state);
        let Some(current) = state.current.clone() else { return Ok(None) };
        let since = Instant::now();
        if current.source.size_bytes().is_some() {
            let most = session.planner.batch_chunks();
            let Some(chunks) = state.again.take_first(most).or_else(|| state.todo.take_first(most)) else {
                return Ok(None);
            };
            state.taken += 1;
            let epoch = state.epoch(writer, current.file, &chunks)?;
            return Ok(Some(TakenBatch { current, epoch, chunks, since }));
        }
        drop(state);
        // One worker reads at a time, and takes its chunks before the next one reads.
        let reading = lock(&self.reading);
        let is_over =
            |state: &State| state.has_ended || state.current.as_ref().is_none_or(|now| now.file != current.file);
        if is_over(&lock(&self.state)) {
            return Ok(None);
        }
        match current.source.read_next(batch) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => {
                self.fail(&current, error);
                return Ok(None);
            }
        }
        let mut state = lock(&self.state);
        if is_over(&state) {
            return Ok(None);
        }
        state.taken += 1;
        state.stream_bytes += batch.plain_bytes();
        state.has_ended = batch.ends();
        let chunks = batch.first_chunk..batch.first_chunk + batch.chunks();
        let epoch = state.epoch(writer, current.file, &chunks)?;
        drop(reading);
        Ok(Some(TakenBatch { current, epoch, chunks, since }))
    }

    /// Counts a batch that is about to be written. `false` if its file has ended and the batch is not needed.
    fn count_written(&self, file: u32, plain_bytes: u64) -> bool {
        let mut state = lock(&self.state);
        if !state.is_current(file) {
            return false;
        }
        state.written += 1;
        state.written_bytes += plain_bytes;
        if state.is_all_taken() && state.written == state.taken {
            self.changed.notify_all();
        }
        true
    }
}

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
    /// Epochs with a lower number belong to an earlier connection.
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
                    session.queue.pause(Duration::from_millis(1));
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
        session.queue.drop_key(self.index);
        if !session.ledger.is_drained(lost.number) {
            session.request(&Request::Lost { stream: lost.number });
        }
        // A connection on which no batch was verified counts as a failure.
        let failures = usize::from(session.ledger.verified(lost.number) == 0) * (RETRY_PAUSES.len() - 1);
        let first_epoch = Some(Epoch::next_number());
        self.connect(failures).map(|open| OpenConnection { first_epoch, ..open })
    }
}
