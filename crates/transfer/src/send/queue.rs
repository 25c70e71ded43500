//! The batches of the packs and the file that are being sent: which are to be sealed, and which were written.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::send::source::FileSource;
use crate::wire::batch::plain_bytes;
use crate::wire::epoch::Epoch;
use crate::wire::ranges::Ranges;
use tress_container::format::LAYOUT;
use tress_container::pipeline::Batch;
use tress_container::workers::lock;
use tress_container::{Error, ErrorKind};

/// A buffer of one connection, allocated at its first use.
pub(crate) struct SendBuffer {
    pub(crate) writer: usize,
    pub(crate) batch: Option<Batch>,
}

/// A sealed batch for a writer.
pub(crate) struct SealedBatch {
    pub(crate) writer: usize,
    pub(crate) file: u32,
    pub(crate) epoch: Arc<Epoch>,
    pub(crate) batch: Batch,
}

/// A file or pack that is being sent.
pub(crate) struct OutgoingFile {
    pub(crate) file: u32,
    pub(crate) source: Arc<FileSource>,
}

/// The chunks of a batch that a worker has taken, and the key for them.
pub(crate) struct TakenBatch {
    pub(crate) current: Arc<OutgoingFile>,
    pub(crate) epoch: Arc<Epoch>,
    pub(crate) chunks: Range<u64>,
    pub(crate) since: Instant,
}

/// How long a worker without work sleeps if nobody wakes it.
const IDLE: Duration = Duration::from_secs(1);

/// The batches of packs and of one file that are still to be sent.
#[derive(Default)]
pub(crate) struct SendQueue {
    state: Mutex<State>,
    /// Wakes workers: there is a batch to seal, or the session ends.
    offered: Condvar,
    /// Wakes workers that the plan did not need.
    planned: Condvar,
    /// Wakes the thread that waits for the end of the file.
    written: Condvar,
    /// Held while a stream is read.
    reading: Mutex<()>,
}

#[derive(Default)]
struct State {
    /// The packs and the file that are being sent, the oldest first.
    files: Vec<QueuedFile>,
    /// The current key of each connection.
    epochs: Vec<Option<Arc<Epoch>>>,
    dead: Vec<bool>,
}

/// A file or pack that is being sent.
struct QueuedFile {
    current: Arc<OutgoingFile>,
    /// Chunks that no worker has taken yet.
    todo: Ranges,
    /// Chunks that were lost with a connection and have to be sent again.
    again: Ranges,
    /// Batches that a worker has taken.
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
}

impl QueuedFile {
    fn is_all_taken(&self) -> bool {
        let is_stream = self.current.source.size_bytes().is_none();
        self.todo.count() == 0 && self.again.count() == 0 && (!is_stream || self.has_ended)
    }

    fn is_all_written(&self) -> bool {
        self.is_all_taken() && self.written == self.taken
    }
}

impl State {
    fn file(&mut self, file: u32) -> Option<&mut QueuedFile> {
        self.files.iter_mut().find(|queued| queued.current.file == file)
    }

    fn is_all_taken(&self) -> bool {
        self.files.iter().all(QueuedFile::is_all_taken)
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

    /// Starts a file or pack. `todo` is empty for a stream.
    pub(crate) fn begin(&self, file: u32, source: Arc<FileSource>, todo: Ranges) {
        let current = Arc::new(OutgoingFile { file, source });
        lock(&self.state).files.push(QueuedFile {
            current,
            todo,
            again: Ranges::default(),
            taken: 0,
            sealed: 0,
            written: 0,
            written_bytes: 0,
            failure: None,
            stream_bytes: 0,
            has_ended: false,
        });
        self.offered.notify_one();
    }

    /// Ends a file or pack, which the receiver has confirmed or will discard. Sealed batches that were not written are dropped.
    /// Returns the number of plaintext bytes that were written.
    pub(crate) fn end(&self, file: u32) -> u64 {
        let mut state = lock(&self.state);
        let ended = state.files.extract_if(.., |queued| queued.current.file == file);
        ended.map(|queued| queued.written_bytes).sum()
    }

    /// Waits up to `time`. Returns the size of the file if all of it is written, and an error if it cannot be read.
    pub(crate) fn wait_written(&self, file: u32, time: Duration) -> Result<Option<u64>, Error> {
        let is_ready = |state: &mut State| {
            state.file(file).is_none_or(|queued| queued.failure.is_some() || queued.is_all_written())
        };
        let mut state = lock(&self.state);
        if !is_ready(&mut state) {
            state = self.written.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0;
        }
        let Some(queued) = state.file(file) else { return Ok(None) };
        if let Some(error) = queued.failure.take() {
            return Err(error);
        }
        let size_bytes = queued.current.source.size_bytes().unwrap_or(queued.stream_bytes);
        Ok(queued.is_all_written().then_some(size_bytes))
    }

    /// Records that this file cannot be read: no further batch of it is taken.
    pub(crate) fn fail(&self, current: &OutgoingFile, error: Error) {
        if let Some(queued) = lock(&self.state).file(current.file) {
            queued.failure.get_or_insert(error);
            (queued.todo, queued.again) = (Ranges::default(), Ranges::default());
            queued.has_ended = true;
        }
        self.written.notify_all();
    }

    /// Plaintext bytes that no worker has taken yet; `None` for a stream, and between files.
    pub(crate) fn bytes_left(&self) -> Option<u64> {
        let state = lock(&self.state);
        let left = |queued: &QueuedFile| {
            queued.current.source.size_bytes()?;
            Some(LAYOUT.plain_offset(queued.todo.count() + queued.again.count()))
        };
        state.files.iter().map(left).sum::<Option<u64>>().filter(|_| !state.files.is_empty())
    }

    /// Whether all batches are sealed, or a connection is lost: without its buffers there may be too few for all.
    pub(crate) fn is_all_sealed(&self) -> bool {
        let state = lock(&self.state);
        state.dead.contains(&true)
            || state.is_all_taken() && state.files.iter().all(|queued| queued.sealed == queued.taken)
    }

    /// Queues batches that were lost with their connection. Returns their plaintext bytes. An error for a stream, which cannot be
    /// read again.
    pub(crate) fn send_again(&self, batches: impl IntoIterator<Item = (u32, Range<u64>)>) -> Result<u64, Error> {
        let mut state = lock(&self.state);
        let mut lost_bytes = 0;
        for (file, chunks) in batches {
            let Some(queued) = state.file(file) else { continue };
            let Some(size_bytes) = queued.current.source.size_bytes() else {
                return Err(Error::new(ErrorKind::Disconnected).with_detail("standard input cannot be sent again"));
            };
            let bytes = plain_bytes(size_bytes, chunks.end) - plain_bytes(size_bytes, chunks.start);
            lost_bytes += bytes;
            if queued.failure.is_none() {
                queued.again.insert(chunks);
            }
            queued.taken -= 1;
            queued.sealed -= 1;
            queued.written -= 1;
            queued.written_bytes = queued.written_bytes.saturating_sub(bytes);
        }
        drop(state);
        self.offered.notify_one();
        Ok(lost_bytes)
    }

    /// Drops the key of a connection that is made again.
    pub(crate) fn drop_key(&self, writer: usize) {
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

    /// Wakes everyone who waits, so that they see that the session ends.
    pub(crate) fn wake(&self) {
        // Nobody is between a check and a wait.
        let _state = lock(&self.state);
        [&self.offered, &self.planned, &self.written].into_iter().for_each(Condvar::notify_all);
    }

    /// Wakes the workers that the plan did not need: it may need them now.
    pub(crate) fn plan_changed(&self) {
        let _state = lock(&self.state);
        self.planned.notify_all();
    }

    /// Waits until there may be a batch to seal, or the session ends.
    pub(crate) fn await_batch(&self, is_over: impl Fn() -> bool) {
        let is_idle = |state: &mut State| !is_over() && state.is_all_taken();
        drop(self.offered.wait_timeout_while(lock(&self.state), IDLE, is_idle));
    }

    /// Waits until the plan needs this worker, or the session ends.
    pub(crate) fn await_plan(&self, is_over: impl Fn() -> bool, is_needed: impl Fn() -> bool) {
        drop(self.planned.wait_timeout_while(lock(&self.state), IDLE, |_| !is_over() && !is_needed()));
    }

    /// Takes the next batch to be sealed, of at most `most` chunks. For a file it only takes the chunks; for a stream it also reads them.
    pub(crate) fn take(&self, most: u64, writer: usize, batch: &mut Batch) -> Result<Option<TakenBatch>, Error> {
        let mut state = lock(&self.state);
        let since = Instant::now();
        let Some(queued) = state.files.iter_mut().find(|queued| !queued.is_all_taken()) else { return Ok(None) };
        let current = queued.current.clone();
        if let Some(chunks) = queued.again.take_first(most).or_else(|| queued.todo.take_first(most)) {
            let epoch = self.count_taken(&mut state, writer, current.file, &chunks)?;
            return Ok(Some(TakenBatch { current, epoch, chunks, since }));
        }
        drop(state);
        // One worker reads at a time, and takes its chunks before the next one reads.
        let reading = lock(&self.reading);
        let is_over = |state: &mut State| state.file(current.file).is_none_or(|queued| queued.has_ended);
        if is_over(&mut lock(&self.state)) {
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
        if let Some(queued) = state.file(current.file).filter(|queued| !queued.has_ended) {
            queued.stream_bytes += batch.plain_bytes();
            queued.has_ended = batch.ends();
        } else {
            return Ok(None);
        }
        let chunks = batch.first_chunk..batch.first_chunk + batch.chunks();
        let epoch = self.count_taken(&mut state, writer, current.file, &chunks)?;
        drop(reading);
        Ok(Some(TakenBatch { current, epoch, chunks, since }))
    }

    /// Counts a batch that a worker takes, and returns a key for it. Wakes one more worker if there is more: each wakes the next.
    fn count_taken(
        &self,
        state: &mut State,
        writer: usize,
        file: u32,
        chunks: &Range<u64>,
    ) -> Result<Arc<Epoch>, Error> {
        if let Some(queued) = state.file(file) {
            queued.taken += 1;
        }
        if !state.is_all_taken() {
            self.offered.notify_one();
        }
        state.epoch(writer, file, chunks)
    }

    /// Why the file cannot be read any further, once.
    pub(crate) fn take_failure(&self, file: u32) -> Option<Error> {
        lock(&self.state).file(file)?.failure.take()
    }

    /// Counts a batch that was sealed.
    pub(crate) fn count_sealed(&self, file: u32) {
        if let Some(queued) = lock(&self.state).file(file) {
            queued.sealed += 1;
        }
    }

    /// Counts a batch that is about to be written. `false` if its file has ended and the batch is not needed.
    pub(crate) fn count_written(&self, file: u32, plain_bytes: u64) -> bool {
        let mut state = lock(&self.state);
        let Some(queued) = state.file(file) else { return false };
        queued.written += 1;
        queued.written_bytes += plain_bytes;
        if queued.is_all_written() {
            self.written.notify_all();
        }
        true
    }
}
