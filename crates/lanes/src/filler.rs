//! Collects messages that arrive one at a time, for a bounded time, and runs them in lanes together.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::hash::BuildHasherDefault;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tress_cipher::lanes::ccm::{Open, Seal, open, seal};
use tress_cipher::{Aad, CcmCipher, Error};

use crate::fork::PerProcess;
use crate::groups::GROUP_ITEMS;
use crate::nonces::NonceHasher;
use crate::{NonceOfKey, wipe_stack};

/// The limits of a [`Filler`]. The defaults are a wait of 50 µs, batches of 32 jobs (as many as the widest backend has lanes; most have 4
/// to 16), and a capacity of 1024 jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FillerOptions {
    /// The longest time that a job waits for others. `Duration::MAX`: until the batch is full or flushed.
    pub max_wait: Duration,
    /// Number of jobs in a full batch, which runs immediately. 0 counts as 1.
    pub max_batch: usize,
    /// Largest number of jobs in the filler: waiting, running or not yet taken. At least `max_batch`; smaller values are raised to it.
    pub capacity: usize,
}

impl Default for FillerOptions {
    fn default() -> Self {
        Self { max_wait: Duration::from_micros(50), max_batch: GROUP_ITEMS, capacity: 1024 }
    }
}

/// A job that a [`Filler`] collects.
pub trait FillerJob: Send + Sized {
    /// The key and the nonce if the job encrypts, otherwise `None`.
    fn nonce(&self) -> Option<NonceOfKey>;

    /// Runs all jobs, and stores the result of each in the job.
    fn run(batch: &mut [Self]);
}

/// A job that the filler did not accept.
pub enum Refused<J> {
    /// The filler is at its capacity. [`Filler::take`] makes room.
    Full(J),
    /// A waiting job encrypts under the same key and nonce.
    NonceRepeated(J),
}

impl<J> fmt::Debug for Refused<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Refused::Full(_)) { "Full" } else { "NonceRepeated" })
    }
}

impl<J> fmt::Display for Refused<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::Full(_) => "the filler is full",
            Refused::NonceRepeated(_) => "a waiting job has the same key and nonce",
        })
    }
}

impl<J> std::error::Error for Refused<J> {}

/// Collects jobs from any thread into batches, and returns them in the order in which they were submitted.
///
/// A filler has no thread and no clock. A batch runs on the thread whose [`submit`](Self::submit) fills it, or whose
/// [`poll`](Self::poll) or [`flush`](Self::flush) finds it waiting; batches of several threads run in parallel. `now` is the time since
/// a moment that the caller chooses, the same for all calls. Dropping a filler drops the waiting jobs without running them. In a forked
/// process a filler is empty: the jobs inside belong to the parent, which would otherwise not be alone in running them.
pub struct Filler<J> {
    options: FillerOptions,
    state: PerProcess<Mutex<FillerState<J>>>,
}

struct FillerState<J> {
    waiting: Vec<J>,
    /// The keys and nonces of `waiting`.
    nonces: HashSet<NonceOfKey, BuildHasherDefault<NonceHasher>>,
    deadline: Option<Duration>,
    /// The batches that have started, in that order. `None` is a batch that is running.
    batches: VecDeque<Option<VecDeque<J>>>,
    /// Number of the first batch in `batches`.
    first: usize,
    job_count: usize,
}

impl<J: FillerJob> Filler<J> {
    /// Creates an empty filler.
    pub fn new(mut options: FillerOptions) -> Self {
        options.max_batch = options.max_batch.max(1);
        options.capacity = options.capacity.max(options.max_batch);
        Self { options, state: PerProcess::new() }
    }

    /// Adds a job. If that fills the batch, or if the batch is due, the batch runs before this returns.
    ///
    /// # Errors
    /// `Refused` with the job. A repeated nonce is found only among waiting jobs.
    pub fn submit(&self, now: Duration, job: J) -> Result<(), Refused<J>> {
        let mut state = self.lock();
        if state.job_count >= self.options.capacity {
            return Err(Refused::Full(job));
        }
        if job.nonce().is_some_and(|nonce| !state.nonces.insert(nonce)) {
            return Err(Refused::NonceRepeated(job));
        }
        state.job_count += 1;
        state.waiting.push(job);
        // Threads may call this in another order than they read the clock.
        let due = now.checked_add(self.options.max_wait).filter(|due| *due < Duration::MAX);
        state.deadline = state.deadline.into_iter().chain(due).min();
        let is_full = state.waiting.len() >= self.options.max_batch;
        self.run_if(state, |deadline| is_full || deadline.is_some_and(|deadline| deadline <= now));
        Ok(())
    }

    /// The time at which to call [`poll`](Self::poll): `None` if no job waits, or if jobs wait without a deadline (`max_wait` is
    /// `Duration::MAX`). A job that is submitted later changes it only if no job waits.
    pub fn deadline(&self) -> Option<Duration> {
        self.lock().deadline
    }

    /// Runs the waiting jobs if their deadline has passed.
    pub fn poll(&self, now: Duration) {
        self.run_if(self.lock(), |deadline| deadline.is_some_and(|deadline| deadline <= now));
    }

    /// Runs the waiting jobs.
    pub fn flush(&self) {
        self.run_if(self.lock(), |_| true);
    }

    /// Removes and returns the next job that has run, in the order of submission.
    pub fn take(&self) -> Option<J> {
        let mut state = self.lock();
        let done = state.batches.front_mut()?.as_mut()?;
        let job = done.pop_front();
        if done.is_empty() {
            state.batches.pop_front();
            state.first += 1;
        }
        state.job_count -= 1;
        job
    }

    fn lock(&self) -> MutexGuard<'_, FillerState<J>> {
        let empty = || {
            let (waiting, nonces, batches) = (Vec::new(), HashSet::default(), VecDeque::new());
            Mutex::new(FillerState { waiting, nonces, deadline: None, batches, first: 0, job_count: 0 })
        };
        self.state.get_or(empty).lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the waiting jobs, outside the lock. A batch that panics is returned too: later ones would wait for it.
    fn run_if(&self, mut state: MutexGuard<'_, FillerState<J>>, condition: impl FnOnce(Option<Duration>) -> bool) {
        if state.waiting.is_empty() || !condition(state.deadline) {
            return;
        }
        let (number, mut jobs) = (state.first + state.batches.len(), take(&mut state.waiting));
        state.nonces.clear();
        state.deadline = None;
        state.batches.push_back(None);
        drop(state);
        let outcome = catch_unwind(AssertUnwindSafe(|| J::run(&mut jobs)));
        wipe_stack();
        let mut state = self.lock();
        let place = number - state.first;
        state.batches[place] = Some(jobs.into());
        drop(state);
        outcome.unwrap_or_else(|panic| resume_unwind(panic));
    }
}

/// A CCM message that owns its data. The data is not wiped on drop. `NONCE` and `TAG` are lengths in bytes; other lengths than those
/// of CCM do not compile:
///
/// ```compile_fail,E0080
/// tress_lanes::CcmMessage::<_, 6>::seal(0, std::sync::Arc::new(()), [0; 6], vec![], vec![]);
/// ```
pub struct CcmMessage<C, const NONCE: usize = 12, const TAG: usize = 16> {
    /// A number with which the caller identifies the message.
    pub id: u64,
    key: Arc<C>,
    nonce: [u8; NONCE],
    aad: Vec<u8>,
    data: Vec<u8>,
    tag: [u8; TAG],
    encrypts: bool,
    result: Result<(), Error>,
}

impl<C, const NONCE: usize, const TAG: usize> CcmMessage<C, NONCE, TAG> {
    /// Creates a message to encrypt. The check for repeated nonces compares the addresses of keys: clones of one `Arc` are one key.
    pub fn seal(id: u64, key: Arc<C>, nonce: [u8; NONCE], aad: Vec<u8>, data: Vec<u8>) -> Self {
        Self { encrypts: true, ..Self::open(id, key, nonce, aad, data, [0; TAG]) }
    }

    /// Creates a message to decrypt.
    pub fn open(id: u64, key: Arc<C>, nonce: [u8; NONCE], aad: Vec<u8>, data: Vec<u8>, tag: [u8; TAG]) -> Self {
        const { assert!(matches!(NONCE, 7..=13) && matches!(TAG, 4 | 6 | 8 | 10 | 12 | 14 | 16), "no length of CCM") };
        Self { id, key, nonce, aad, data, tag, encrypts: false, result: Err(Error::Authentication) }
    }

    /// Returns the data and the tag of a message that has run.
    ///
    /// # Errors
    /// `MessageTooLong` if the data is too long for the nonce; `Authentication` if the message is forged or has not run.
    pub fn finish(self) -> Result<(Vec<u8>, [u8; TAG]), Error> {
        self.result.map(|()| (self.data, self.tag))
    }
}

impl<C: CcmCipher + Send + Sync, const NONCE: usize, const TAG: usize> FillerJob for CcmMessage<C, NONCE, TAG> {
    fn nonce(&self) -> Option<NonceOfKey> {
        self.encrypts.then(|| NonceOfKey::new(Arc::as_ptr(&self.key), &self.nonce))
    }

    fn run(batch: &mut [Self]) {
        let (mut seals, mut sealed, mut opens, mut opened) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for Self { key, nonce, aad, data, tag, encrypts, result, .. } in batch {
            *result = match *encrypts {
                true => Seal::new(&**key, &*nonce, Aad(aad), data, tag).map(|job| seals.push(job)),
                false => Open::new(&**key, &*nonce, Aad(aad), data, &*tag).map(|job| opens.push(job)),
            };
            if result.is_ok() {
                (if *encrypts { &mut sealed } else { &mut opened }).push(result);
            }
        }
        // Each job has its own result.
        let _ = (seal(&mut seals), open(&mut opens));
        let results = seals.iter().map(Seal::result).chain(opens.iter().map(Open::result));
        sealed.into_iter().chain(opened).zip(results).for_each(|(result, ran)| *result = ran);
    }
}
