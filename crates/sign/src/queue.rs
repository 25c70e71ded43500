//! A queue that turns single requests of many threads into batches: the first request waits for others, for a bounded time,
//! and all that came are signed in lanes together.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::batch::{self, SignJob};
use crate::{Error, Signature, SigningKey};

/// How long and for how many to wait. The defaults are 500 µs, a batch of 16 and a capacity of 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueOptions {
    /// The longest that a request waits for others before it is signed. Up to `Duration::MAX`, which is until the batch is
    /// full or the queue is dropped.
    pub max_wait: Duration,
    /// The number of requests that make a batch full. The worker signs a full batch without waiting longer. 0 counts as 1.
    pub max_batch: usize,
    /// The number of requests that may wait besides those of the batch, from 1 to 65,536; a value outside counts as the nearest. When the
    /// queue is full, [`Queue::submit`] waits and [`Queue::try_submit`] fails.
    pub capacity: usize,
}

impl Default for QueueOptions {
    /// Half a millisecond, which is about what one RSA-2048 signature takes alone; batches of 16, two for each lane.
    fn default() -> Self {
        Self { max_wait: Duration::from_micros(500), max_batch: 16, capacity: 1024 }
    }
}

/// The channel takes memory for all of them at once.
const MAX_CAPACITY: usize = 1 << 16;

struct Request {
    key: SigningKey,
    digest: Vec<u8>,
    answer: Sender<Result<Signature, Error>>,
}

/// A queue with one worker thread; more cores take more queues. Dropping it signs what was asked for, and ends the worker.
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
    requests: Option<SyncSender<Request>>,
    worker: Option<JoinHandle<()>>,
}

impl Queue {
    /// Starts the worker.
    ///
    /// # Errors
    /// `NoThread` when the system gives no thread.
    pub fn start(options: QueueOptions) -> Result<Queue, Error> {
        let (requests, receiver) = mpsc::sync_channel(options.capacity.clamp(1, MAX_CAPACITY));
        let worker = thread::Builder::new()
            .name("tress-sign".into())
            .spawn(move || work(&receiver, options))
            .map_err(|_| Error::NoThread)?;
        Ok(Queue { requests: Some(requests), worker: Some(worker) })
    }

    /// Signs one digest, and returns when that is done. Any number of threads may call it.
    ///
    /// # Errors
    /// `DigestLength`, `Fault`, `Random`; `QueueClosed` when the worker is gone.
    pub fn sign(&self, key: &SigningKey, digest: &[u8]) -> Result<Signature, Error> {
        self.submit(key, digest)?.wait()
    }

    /// Asks for a signature, and returns at once unless the queue is full.
    ///
    /// # Errors
    /// `QueueClosed` when the worker is gone.
    pub fn submit(&self, key: &SigningKey, digest: &[u8]) -> Result<Pending, Error> {
        let (request, pending) = request(key, digest);
        self.requests.as_ref().ok_or(Error::QueueClosed)?.send(request).map_err(|_| Error::QueueClosed)?;
        Ok(pending)
    }

    /// Asks for a signature, and always returns at once.
    ///
    /// # Errors
    /// `QueueFull` when the queue is full; `QueueClosed` when the worker is gone.
    pub fn try_submit(&self, key: &SigningKey, digest: &[u8]) -> Result<Pending, Error> {
        let (request, pending) = request(key, digest);
        self.requests.as_ref().ok_or(Error::QueueClosed)?.try_send(request).map_err(|error| match error {
            TrySendError::Full(_) => Error::QueueFull,
            TrySendError::Disconnected(_) => Error::QueueClosed,
        })?;
        Ok(pending)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}

/// A signature that was asked for.
#[derive(Debug)]
pub struct Pending(Option<Receiver<Result<Signature, Error>>>);

impl Pending {
    /// Waits for it.
    ///
    /// # Errors
    /// Those of [`Queue::sign`].
    pub fn wait(mut self) -> Result<Signature, Error> {
        self.wait_timeout(Duration::MAX).unwrap_or(Err(Error::QueueClosed))
    }

    /// The signature if it is there, and `None` if it is not there yet. It is given once: later calls return `QueueClosed`.
    ///
    /// # Errors
    /// Those of [`Queue::sign`].
    pub fn try_wait(&mut self) -> Option<Result<Signature, Error>> {
        self.wait_timeout(Duration::ZERO)
    }

    /// The same, after waiting up to `timeout` for it. `Duration::MAX` waits without limit.
    ///
    /// # Errors
    /// Those of [`Queue::sign`].
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Result<Signature, Error>> {
        let answer = match self.0.as_ref().map(|answers| answers.recv_timeout(timeout)) {
            Some(Ok(answer)) => answer,
            Some(Err(RecvTimeoutError::Timeout)) => return None,
            Some(Err(RecvTimeoutError::Disconnected)) | None => Err(Error::QueueClosed),
        };
        self.0 = None;
        Some(answer)
    }
}

fn request(key: &SigningKey, digest: &[u8]) -> (Request, Pending) {
    let (answer, pending) = mpsc::channel();
    (Request { key: key.clone(), digest: digest.to_vec(), answer }, Pending(Some(pending)))
}

/// Until every sender is gone.
fn work(requests: &Receiver<Request>, options: QueueOptions) {
    while let Ok(first) = requests.recv() {
        // Nothing where the clock cannot say it: then only a full batch, or the end of the queue, ends the wait.
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
        for (request, signature) in batch.iter().zip(signatures) {
            // Who asked may be gone.
            let _ = request.answer.send(signature);
        }
    }
}
