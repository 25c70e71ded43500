//! Collects messages that arrive one at a time, for a bounded time, and runs them in lanes together.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::hash::BuildHasherDefault;
use std::mem::{forget, replace, take};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tress_cipher::lanes::{Aead, AeadJob};
use tress_cipher::{Aad, Error};

use crate::fork::{PerProcess, generation};
use crate::groups::GROUP_ITEMS;
use crate::nonces::NonceHasher;
use crate::{NonceOfKey, wipe_stack};

/// The limits of a filler. The defaults are a wait of 50 µs, batches of 32 jobs (as many as the widest backend has lanes; most have 4
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

/// A job that a filler collects.
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

/// Collects jobs of one thread into batches, and returns them in the order in which they were submitted. [`Filler`] is for several threads.
///
/// A filler has no thread and no clock. A batch runs in the [`submit`](Self::submit) that fills it, or in the [`poll`](Self::poll) or
/// [`flush`](Self::flush) that finds it waiting. `now` is the time since a moment that the caller chooses, the same for all calls. The
/// filler itself takes no allocation for a job: the memory of a batch whose jobs were taken is used again. Dropping a filler drops the
/// waiting jobs without running them. In a forked process a filler is empty: the jobs inside belong to the parent, which would otherwise
/// not be alone in running them.
pub struct LocalFiller<J> {
    options: FillerOptions,
    process: usize,
    waiting: Vec<J>,
    /// The keys and nonces of `waiting`.
    nonces: HashSet<NonceOfKey, BuildHasherDefault<NonceHasher>>,
    deadline: Option<Duration>,
    /// The batches that have started, in that order. `None` is a batch that is running.
    batches: VecDeque<Option<VecDeque<J>>>,
    /// Number of the first batch in `batches`.
    first: usize,
    job_count: usize,
    /// The memory of a batch whose jobs were taken.
    spare: Vec<J>,
}

impl<J: FillerJob> LocalFiller<J> {
    /// Creates an empty filler.
    pub fn new(mut options: FillerOptions) -> Self {
        options.max_batch = options.max_batch.max(1);
        options.capacity = options.capacity.max(options.max_batch);
        let (waiting, spare, nonces, batches) = (Vec::new(), Vec::new(), HashSet::default(), VecDeque::new());
        let (process, deadline, first, job_count) = (generation(), None, 0, 0);
        Self { options, process, waiting, nonces, deadline, batches, first, job_count, spare }
    }

    /// Adds a job. If that fills the batch, or if the batch is due, the batch runs before this returns.
    ///
    /// # Errors
    /// `Refused` with the job. A repeated nonce is found only among waiting jobs.
    #[inline]
    pub fn submit(&mut self, now: Duration, job: J) -> Result<(), Refused<J>> {
        self.renew_after_fork();
        if let Some(refused) = self.refusal(&job) {
            return Err(refused(job));
        }
        self.waiting.push(job);
        if self.must_run(now) {
            self.run();
        }
        Ok(())
    }

    /// The time at which to call [`poll`](Self::poll): `None` if no job waits, or if jobs wait without a deadline (`max_wait` is
    /// `Duration::MAX`). A job that is submitted later changes it only if no job waits.
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline.filter(|_| self.process == generation())
    }

    /// Runs the waiting jobs if their deadline has passed.
    pub fn poll(&mut self, now: Duration) {
        self.renew_after_fork();
        if self.is_due(now) {
            self.run();
        }
    }

    /// Runs the waiting jobs.
    pub fn flush(&mut self) {
        self.renew_after_fork();
        if !self.waiting.is_empty() {
            self.run();
        }
    }

    /// Removes and returns the next job that has run, in the order of submission.
    #[inline]
    pub fn take(&mut self) -> Option<J> {
        self.renew_after_fork();
        self.take_next()
    }

    /// The jobs of the parent are not dropped: a drop might wait for a thread that does not exist.
    #[inline]
    fn renew_after_fork(&mut self) {
        if self.process != generation() {
            forget(replace(self, Self::new(self.options)));
        }
    }

    /// The reason not to take a job. Otherwise counts it, and the caller adds it to `waiting`.
    #[inline]
    fn refusal(&mut self, job: &J) -> Option<fn(J) -> Refused<J>> {
        if self.job_count >= self.options.capacity {
            return Some(Refused::Full);
        }
        if job.nonce().is_some_and(|nonce| !self.nonces.insert(nonce)) {
            return Some(Refused::NonceRepeated);
        }
        self.job_count += 1;
        None
    }

    /// Whether the batch is full or due, once a job was added.
    #[inline]
    fn must_run(&mut self, now: Duration) -> bool {
        // Threads may call this in another order than they read the clock.
        let due = now.checked_add(self.options.max_wait).filter(|due| *due < Duration::MAX);
        self.deadline = self.deadline.into_iter().chain(due).min();
        self.waiting.len() >= self.options.max_batch || self.is_due(now)
    }

    fn is_due(&self, now: Duration) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    fn run(&mut self) {
        let (number, mut jobs) = self.start();
        // A batch that panics is kept too: later ones would wait for it.
        let outcome = catch_unwind(AssertUnwindSafe(|| J::run(&mut jobs)));
        self.end(number, jobs);
        outcome.unwrap_or_else(|panic| resume_unwind(panic));
    }

    /// Removes the waiting jobs as a batch that starts, and returns its number.
    fn start(&mut self) -> (usize, Vec<J>) {
        self.nonces.clear();
        self.deadline = None;
        self.batches.push_back(None);
        (self.first + self.batches.len() - 1, replace(&mut self.waiting, take(&mut self.spare)))
    }

    /// Keeps the jobs of a batch until they are taken.
    fn end(&mut self, number: usize, jobs: Vec<J>) {
        let place = number - self.first;
        self.batches[place] = Some(jobs.into());
    }

    #[inline(always)]
    fn take_next(&mut self) -> Option<J> {
        let done = self.batches.front_mut()?.as_mut()?;
        let job = done.pop_front();
        if done.is_empty() {
            self.spare = self.batches.pop_front().flatten().map_or(Vec::new(), Vec::from);
            self.first += 1;
        }
        self.job_count -= 1;
        job
    }
}

/// A [`LocalFiller`] for jobs of any thread. Batches run outside its lock: those of several threads run in parallel.
pub struct Filler<J> {
    options: FillerOptions,
    state: PerProcess<Mutex<LocalFiller<J>>>,
}

impl<J: FillerJob> Filler<J> {
    /// Creates an empty filler.
    pub fn new(options: FillerOptions) -> Self {
        Self { options, state: PerProcess::new() }
    }

    /// As [`LocalFiller::submit`].
    ///
    /// # Errors
    /// As [`LocalFiller::submit`].
    pub fn submit(&self, now: Duration, job: J) -> Result<(), Refused<J>> {
        let mut state = self.lock();
        if let Some(refused) = state.refusal(&job) {
            return Err(refused(job));
        }
        state.waiting.push(job);
        if state.must_run(now) {
            self.run(state);
        }
        Ok(())
    }

    /// As [`LocalFiller::deadline`].
    pub fn deadline(&self) -> Option<Duration> {
        self.lock().deadline
    }

    /// As [`LocalFiller::poll`].
    pub fn poll(&self, now: Duration) {
        let state = self.lock();
        if state.is_due(now) {
            self.run(state);
        }
    }

    /// As [`LocalFiller::flush`].
    pub fn flush(&self) {
        let state = self.lock();
        if !state.waiting.is_empty() {
            self.run(state);
        }
    }

    /// As [`LocalFiller::take`].
    pub fn take(&self) -> Option<J> {
        self.lock().take_next()
    }

    fn lock(&self) -> MutexGuard<'_, LocalFiller<J>> {
        let new = || Mutex::new(LocalFiller::new(self.options));
        self.state.get_or(new).lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, mut state: MutexGuard<'_, LocalFiller<J>>) {
        let (number, mut jobs) = state.start();
        drop(state);
        let outcome = catch_unwind(AssertUnwindSafe(|| J::run(&mut jobs)));
        // The keys may be those of other threads.
        wipe_stack();
        self.lock().end(number, jobs);
        outcome.unwrap_or_else(|panic| resume_unwind(panic));
    }
}

/// A packet in one buffer: associated data, then data, then a tag of `TAG` bytes. It runs in place, and the caller gets the buffer
/// back. `B` is the buffer, such as `Vec<u8>` or `&mut [u8]`, and `K` the key of an [`Aead`], such as `&ChaCha20Poly1305`, or `Arc<Aes>`
/// for CCM. The buffer is not wiped on drop. The filler compares nonces, [`FillerJob::run`] alone does not. Lengths that no AEAD has do not
/// compile:
///
/// ```compile_fail,E0080
/// tress_lanes::AeadPacket::<_, _, 6>::seal(0, &(), [0; 6], 0, vec![0; 8]);
/// ```
pub struct AeadPacket<K, B, const NONCE: usize = 12, const TAG: usize = 16> {
    /// A number with which the caller identifies the packet.
    pub id: u64,
    key: K,
    nonce: [u8; NONCE],
    encrypts: bool,
    aad_bytes: usize,
    buffer: B,
    result: Result<(), Error>,
}

/// A packet with the lengths that CCM usually has.
pub type CcmPacket<K, B, const NONCE: usize = 13, const TAG: usize = 8> = AeadPacket<K, B, NONCE, TAG>;

impl<K, B, const NONCE: usize, const TAG: usize> AeadPacket<K, B, NONCE, TAG> {
    /// Creates a packet to encrypt, whose first `aad_bytes` bytes are associated data. The last `TAG` bytes are overwritten. The check for
    /// repeated nonces compares the addresses of the ciphers.
    pub fn seal(id: u64, key: K, nonce: [u8; NONCE], aad_bytes: usize, buffer: B) -> Self {
        Self { encrypts: true, ..Self::open(id, key, nonce, aad_bytes, buffer) }
    }

    /// Creates a packet to decrypt, whose first `aad_bytes` bytes are associated data.
    pub fn open(id: u64, key: K, nonce: [u8; NONCE], aad_bytes: usize, buffer: B) -> Self {
        const { assert!(matches!(NONCE, 7..=13) && matches!(TAG, 4 | 6 | 8 | 10 | 12 | 14 | 16), "no length of an AEAD") };
        Self { id, key, nonce, encrypts: false, aad_bytes, buffer, result: Err(Error::Authentication) }
    }

    /// Returns the buffer of a packet that has run.
    ///
    /// # Errors
    /// With the buffer: `MessageTooLong` if the data is too long for the nonce; `NonceLength` and `TagLength` if the key's AEAD has other
    /// lengths; `Authentication` if the packet is forged, is shorter than its associated data and tag, or has not run.
    pub fn finish(self) -> Result<B, (Error, B)> {
        match self.result {
            Ok(()) => Ok(self.buffer),
            Err(error) => Err((error, self.buffer)),
        }
    }
}

impl<K, B, const NONCE: usize, const TAG: usize> FillerJob for AeadPacket<K, B, NONCE, TAG>
where
    K: Deref<Target: Aead> + Send,
    B: AsMut<[u8]> + Send,
{
    fn nonce(&self) -> Option<NonceOfKey> {
        self.encrypts.then(|| NonceOfKey::new(&raw const *self.key, &self.nonce))
    }

    fn run(batch: &mut [Self]) {
        let (mut seals, mut sealed, mut opens, mut opened) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let count = batch.len();
        for Self { key, nonce, aad_bytes, buffer, encrypts, result, .. } in batch {
            let Some((aad, rest)) = buffer.as_mut().split_at_mut_checked(*aad_bytes) else { continue };
            let Some((data, tag)) = rest.split_last_chunk_mut::<TAG>() else { continue };
            let results = if *encrypts { &mut sealed } else { &mut opened };
            if results.capacity() == 0 {
                results.reserve(count);
                if *encrypts { seals.reserve(count) } else { opens.reserve(count) }
            }
            *result = match *encrypts {
                true => key.to_seal(nonce[..].into(), Aad(aad), data, tag.into()).map(|job| seals.push(job)),
                false => key.to_open(nonce[..].into(), Aad(aad), data, tag.into()).map(|job| opens.push(job)),
            };
            if result.is_ok() {
                results.push(result);
            }
        }
        // The filler has compared the nonces.
        K::Target::seal_without_nonce_check(&mut seals);
        // Each job has its own result.
        let _ = K::Target::open(&mut opens);
        let ran = seals.iter().map(AeadJob::result).chain(opens.iter().map(AeadJob::result));
        sealed.into_iter().chain(opened).zip(ran).for_each(|(result, ran)| *result = ran);
    }
}
