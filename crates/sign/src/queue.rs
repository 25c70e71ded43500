//! A queue that combines single requests from many threads into batches: the first request waits for others, for a bounded time, and all
//! requests that have arrived are signed in lanes together.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tress_lanes::fork::{OfProcess, PerProcess};
use tress_lanes::wipe_stack;

use crate::batch::{self, SignJob};
use crate::{Error, Signature, SigningKey};

/// Options of a [`Queue`]. The defaults are a wait of 500 µs, batches of 16 and a capacity of 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueOptions {
    /// Longest time that a request waits for others before it is signed. With `Duration::MAX` it waits until the batch is full or the queue
    /// is dropped.
    pub max_wait: Duration,
    /// Number of requests in a full batch. The worker signs a full batch without waiting longer. 0 counts as 1.
    pub max_batch: usize,
    /// Number of requests that may wait besides those of the batch, from 1 to 65,536; a value outside counts as the nearest. If the queue
    /// is full, [`Queue::submit`] waits and [`Queue::try_submit`] fails.
    pub capacity: usize,
}

impl Default for QueueOptions {
    /// A wait of half a millisecond, about the time of one RSA-2048 signature, and batches of 16, two for each lane.
    fn default() -> Self {
        Self { max_wait: Duration::from_micros(500), max_batch: 16, capacity: 1024 }
    }
}

/// The channel allocates memory for all of them when it is made.
const MAX_CAPACITY: usize = 1 << 16;

struct SignRequest {
    key: SigningKey,
    digest: Vec<u8>,
    answer: Sender<Result<Signature, Error>>,
}

/// A queue with one worker thread; to use more cores, make more queues. Dropping it signs the pending requests, and ends the worker. In a
/// forked process the queue starts another worker, and requests of the parent end with `QueueClosed`.
///
/// ```no_run
/// use tress_sign::{Error, Hash, KeyFile, Queue, QueueOptions, Scheme, SigningKey};
///
/// let key = KeyFile::read(&std::fs::read("key.pem")?)?.into_private(None)?;
/// let scheme = Scheme::of(&key.public_key());
/// let key = SigningKey::new(key, scheme)?;
/// let queue = Queue::start(QueueOptions::default())?;
/// match queue.try_submit(&key, &Hash::Sha256.digest(b"message")) {
///     Ok(pending) => println!("{} bytes", pending.wait()?.as_bytes().len()),
///     Err(Error::QueueFull) => println!("busy: try again later, or wait for room with submit()"),
///     Err(error) => return Err(error.into()),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Queue {
    options: QueueOptions,
    /// `None` if the system refused a thread in a forked process.
    worker: PerProcess<Option<Worker>>,
}

#[derive(Debug)]
struct Worker {
    requests: Option<SyncSender<SignRequest>>,
    thread: Option<JoinHandle<()>>,
}

impl Queue {
    /// Starts the worker.
    ///
    /// # Errors
    /// `NoThread` when the system refuses a thread.
    pub fn start(options: QueueOptions) -> Result<Queue, Error> {
        let worker = PerProcess::new();
        worker.get_or(|| Worker::start(options)).as_ref().ok_or(Error::NoThread)?;
        Ok(Queue { options, worker })
    }

    fn requests(&self) -> Result<&SyncSender<SignRequest>, Error> {
        let worker = self.worker.get_or(|| Worker::start(self.options)).as_ref();
        worker.and_then(|worker| worker.requests.as_ref()).ok_or(Error::QueueClosed)
    }

    /// Signs one digest, and returns when that is done. Any number of threads may call it.
    ///
    /// # Errors
    /// `DigestLength`, `Fault`, `Random`; `QueueClosed` when the worker has ended.
    pub fn sign(&self, key: &SigningKey, digest: &[u8]) -> Result<Signature, Error> {
        self.submit(key, digest)?.wait()
    }

    /// Requests a signature. Returns immediately, unless the queue is full.
    ///
    /// # Errors
    /// `QueueClosed` when the worker has ended.
    pub fn submit(&self, key: &SigningKey, digest: &[u8]) -> Result<Pending, Error> {
        let (request, pending) = request(key, digest);
        self.requests()?.send(request).map_err(|_| Error::QueueClosed)?;
        Ok(pending)
    }

    /// Requests a signature. Always returns immediately.
    ///
    /// # Errors
    /// `QueueFull` when the queue is full; `QueueClosed` when the worker has ended.
    pub fn try_submit(&self, key: &SigningKey, digest: &[u8]) -> Result<Pending, Error> {
        let (request, pending) = request(key, digest);
        self.requests()?.try_send(request).map_err(|error| match error {
            TrySendError::Full(_) => Error::QueueFull,
            TrySendError::Disconnected(_) => Error::QueueClosed,
        })?;
        Ok(pending)
    }
}

impl Worker {
    fn start(options: QueueOptions) -> Option<Worker> {
        let (requests, receiver) = mpsc::sync_channel(options.capacity.clamp(1, MAX_CAPACITY));
        let thread = thread::Builder::new().name("tress-sign".into()).spawn(move || work(&receiver, options)).ok()?;
        Some(Worker { requests: Some(requests), thread: Some(thread) })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A requested signature.
#[derive(Debug)]
pub struct Pending(Option<OfProcess<Receiver<Result<Signature, Error>>>>);

impl Pending {
    /// Waits for the signature.
    ///
    /// # Errors
    /// The errors of [`Queue::sign`].
    pub fn wait(mut self) -> Result<Signature, Error> {
        self.wait_timeout(Duration::MAX).unwrap_or(Err(Error::QueueClosed))
    }

    /// Returns the signature, or `None` if it is not ready. Once it was returned, further calls return `QueueClosed`.
    ///
    /// # Errors
    /// The errors of [`Queue::sign`].
    pub fn try_wait(&mut self) -> Option<Result<Signature, Error>> {
        self.wait_timeout(Duration::ZERO)
    }

    /// Like [`try_wait`](Self::try_wait), but waits up to `timeout`. `Duration::MAX` waits without limit.
    ///
    /// # Errors
    /// The errors of [`Queue::sign`].
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Result<Signature, Error>> {
        // Nobody answers in a forked process.
        let answers = self.0.as_ref().and_then(OfProcess::get);
        let answer = match answers.map(|answers| answers.recv_timeout(timeout)) {
            Some(Ok(answer)) => answer,
            Some(Err(RecvTimeoutError::Timeout)) => return None,
            Some(Err(RecvTimeoutError::Disconnected)) | None => Err(Error::QueueClosed),
        };
        self.0 = None;
        Some(answer)
    }
}

fn request(key: &SigningKey, digest: &[u8]) -> (SignRequest, Pending) {
    let (answer, pending) = mpsc::channel();
    (SignRequest { key: key.clone(), digest: digest.to_vec(), answer }, Pending(Some(OfProcess::new(pending))))
}

/// Signs batches until every sender is dropped.
fn work(requests: &Receiver<SignRequest>, options: QueueOptions) {
    while let Ok(first) = requests.recv() {
        // `None` if the time is out of the clock's range; then only a full batch, or the end of the queue, ends the wait.
        let deadline = Instant::now().checked_add(options.max_wait);
        let mut batch = vec![first];
        while batch.len() < options.max_batch {
            let next = match deadline {
                Some(deadline) => requests.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok(),
                None => requests.recv().ok(),
            };
            let Some(request) = next else { break };
            batch.push(request);
        }
        let jobs: Vec<SignJob<'_>> =
            batch.iter().map(|request| SignJob { key: &request.key, digest: &request.digest }).collect();
        let signatures = batch::sign_share(&jobs);
        wipe_stack();
        for (request, signature) in batch.iter().zip(signatures) {
            // The caller may have dropped its end.
            let _ = request.answer.send(signature);
        }
    }
}
