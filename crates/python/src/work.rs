//! Runs work without the interpreter lock, and cancels it on Python signals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use tress_container::ErrorKind;

use crate::errors;

/// Work on at most this many bytes takes less time than releasing and reacquiring the lock.
pub(crate) const QUICK_BYTES: usize = 4096;

/// Time until the first check for signals. It is short, so that short work reports progress, too.
const FIRST_CHECK: Duration = Duration::from_millis(1);
/// Longest time between two checks. The time doubles after each check up to this limit.
const MAX_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Runs the work, without the lock if it processes more than [`QUICK_BYTES`].
pub(crate) fn run_detached<T: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if bytes <= QUICK_BYTES { work() } else { py.detach(work) }
}

/// Runs long work on another thread, while this thread checks for signals and calls `tick`: after 1 ms, then less and less often,
/// at last every 50 ms. If a signal handler or `tick` raises an exception, calls `cancel`, waits for the work to end, and returns the
/// exception. If the system refuses to start a thread, returns an exception without running the work.
pub(crate) fn run_watched<T: Send>(
    py: Python<'_>,
    mut tick: impl FnMut() -> PyResult<()>,
    cancel: impl Fn(),
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let is_done = AtomicBool::new(false);
    let waiting = thread::current();
    thread::scope(|scope| {
        let flag = &is_done;
        let worker = thread::Builder::new().spawn_scoped(scope, move || {
            // Signals the end also if the work panics.
            let _done = NotifyOnDrop { flag, waiting };
            work()
        });
        // Not run on this thread instead, where signals could not cancel it.
        let worker = worker.map_err(|_| errors::container(py, ErrorKind::NoThread.into()))?;
        let mut raised = Ok(());
        let mut pause = FIRST_CHECK;
        while !is_done.load(Ordering::Acquire) {
            py.detach(|| thread::park_timeout(pause));
            pause = MAX_CHECK_INTERVAL.min(2 * pause);
            if raised.is_ok() {
                raised = py.check_signals().and_then(|()| tick());
                if raised.is_err() {
                    cancel();
                }
            }
        }
        let result = py.detach(|| worker.join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        raised.map(|()| result)
    })
}

/// Signals the end of the work when it is dropped.
struct NotifyOnDrop<'a> {
    flag: &'a AtomicBool,
    waiting: thread::Thread,
}

impl Drop for NotifyOnDrop<'_> {
    fn drop(&mut self) {
        self.flag.store(true, Ordering::Release);
        self.waiting.unpark();
    }
}
