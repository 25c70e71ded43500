//! The one way to process numbered jobs on several threads.
//!
//! A failure at job `n` stops all jobs after `n` and lets the jobs before it finish. So the reported error is the first in the order
//! of the data.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use tress_lanes::wipe_stack;

use crate::threads::start;
use crate::{Error, ErrorKind};

/// Ignores poisoning: the thread that joins reports the panic, and no data behind these locks is left half-changed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A job's number, and the error in place of the job or its result.
pub(crate) type JobError = (u64, Error);

/// What one run does. Every worker has one buffer of type `Buffer`, and repeats two steps: take a job, do it.
pub(crate) trait Jobs: Sync {
    type Buffer;

    /// Takes the next job into `buffer`. Returns its number, or `None` at the end.
    fn take(&self, buffer: &mut Self::Buffer) -> Result<Option<u64>, JobError>;
    fn work(&self, number: u64, buffer: &mut Self::Buffer) -> Result<(), Error>;
    /// Wakes the workers that wait after a failure: for others, or for an input.
    fn wake(&self) {}
}

/// State that the workers of a run share.
#[derive(Default)]
pub(crate) struct RunState {
    /// Number of the first job that failed, plus one; 0 if none has.
    failed: AtomicU64,
    failure: Mutex<Option<JobError>>,
}

impl RunState {
    /// Whether the run no longer needs job `number`, because that job or one before it failed.
    pub(crate) fn is_void(&self, number: u64) -> bool {
        match self.failed.load(Ordering::Acquire) {
            0 => false,
            failed => number >= failed - 1,
        }
    }

    /// Runs to the end, or to the first failure. The calling thread is one of the workers, and the only one if the system refuses
    /// more. `threads` is asked for their number when the first job was taken.
    pub(crate) fn run<J: Jobs>(
        &self,
        jobs: &J,
        new_buffer: impl Fn() -> J::Buffer + Sync,
        threads: impl FnOnce() -> usize,
    ) -> Result<(), Error> {
        let worker = |started: &mut dyn FnMut()| {
            // If a worker panics, the others do not wait for its turn forever.
            let alarm = OnDrop(|| self.fail(jobs, (0, Error::new(ErrorKind::Interrupted))));
            let mut buffer = new_buffer();
            while let Some(number) = self.take(jobs, &mut buffer) {
                started();
                if let Err(error) = jobs.work(number, &mut buffer) {
                    self.fail(jobs, (number, error));
                }
            }
            std::mem::forget(alarm);
        };
        thread::scope(|scope| {
            let mut threads = Some(threads);
            worker(&mut || {
                let others = threads.take().map_or(0, |threads| threads() - 1);
                let _ = (0..others).try_for_each(|_| start(scope, || worker(&mut || {})).map(drop));
            });
        });
        wipe_stack();
        lock(&self.failure).take().map_or(Ok(()), |(_, error)| Err(error))
    }

    fn take<J: Jobs>(&self, jobs: &J, buffer: &mut J::Buffer) -> Option<u64> {
        if self.failed.load(Ordering::Acquire) != 0 {
            return None;
        }
        jobs.take(buffer).unwrap_or_else(|failure| {
            self.fail(jobs, failure);
            None
        })
    }

    /// Keeps the error of the job with the lowest number.
    fn fail(&self, jobs: &impl Jobs, (number, error): JobError) {
        let mut failure = lock(&self.failure);
        if failure.as_ref().is_none_or(|(first, _)| number < *first) {
            *failure = Some((number, error));
            self.failed.store(number + 1, Ordering::Release);
        }
        drop(failure);
        jobs.wake();
    }
}

/// Calls a function when it is dropped, even in a panic. Forget it to call the function in a panic only.
pub struct OnDrop<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Waiting places of a [`Turn`]. More workers share places, which costs wakeups only.
const PLACES: usize = 64;

/// Something that the workers use in the order of their jobs. The one whose turn it is wakes alone: if all woke for each job, many
/// threads on few cores would do little else.
pub struct Turn<T> {
    state: Mutex<(u64, T)>,
    places: Box<[Condvar; PLACES]>,
}

impl<T> Turn<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { state: Mutex::new((0, value)), places: Box::new([const { Condvar::new() }; PLACES]) }
    }

    /// Waits for the turn of job `number`, and calls `work`. The next job has its turn if `is_complete`. Does nothing once the run
    /// does not need the job.
    pub(crate) fn take(
        &self,
        number: u64,
        run: &RunState,
        is_complete: bool,
        work: impl FnOnce(&mut T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut state = lock(&self.state);
        while state.0 != number {
            if run.is_void(number) {
                return Ok(());
            }
            state = self.place(number).wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        work(&mut state.1)?;
        if is_complete {
            state.0 += 1;
            drop(state);
            self.place(number + 1).notify_all();
        }
        Ok(())
    }

    fn place(&self, number: u64) -> &Condvar {
        &self.places[(number % PLACES as u64) as usize]
    }

    /// Wakes everyone who waits.
    pub(crate) fn wake(&self) {
        // The lock ensures that no worker is between its check and its wait.
        let _state = lock(&self.state);
        self.places.iter().for_each(Condvar::notify_all);
    }

    /// Uses the value without a turn.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut lock(&self.state).1)
    }
}
