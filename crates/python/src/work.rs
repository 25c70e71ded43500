//! Working without the interpreter's lock, and ending where Python's signals want it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use tress_container::ErrorKind;

use crate::errors;

/// What few bytes take is less than giving the lock away and taking it again.
pub(crate) const QUICK_BYTES: usize = 4096;

/// Until the first look at signals; what is short shows its progress too.
const FIRST_LOOK: Duration = Duration::from_millis(1);
/// Between two looks, at most; each is twice as late as the one before.
const LOOK: Duration = Duration::from_millis(50);

/// Does the work, without the lock if it is on more than a few bytes.
pub(crate) fn detached<T: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if bytes <= QUICK_BYTES { work() } else { py.detach(work) }
}

/// Does long work on another thread while this one looks at signals, and calls `look`, after 1 ms and then more and more rarely, every 50 ms at last. When a signal's handler or
/// `look` raises an exception, `cancel` is called, the end of the work is waited for, and the exception is the result. So it is
/// where the system refuses the thread.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    mut look: impl FnMut() -> PyResult<()>,
    cancel: impl Fn(),
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let is_done = AtomicBool::new(false);
    let waiting = thread::current();
    thread::scope(|scope| {
        let flag = &is_done;
        let worker = thread::Builder::new().spawn_scoped(scope, move || {
            // Also where the work panics.
            let _done = Done { flag, waiting };
            work()
        });
        // On this thread nothing could end it.
        let worker = worker.map_err(|_| errors::stream(py, ErrorKind::NoThread.into()))?;
        let mut raised = Ok(());
        let mut pause = FIRST_LOOK;
        while !is_done.load(Ordering::Acquire) {
            py.detach(|| thread::park_timeout(pause));
            pause = LOOK.min(2 * pause);
            if raised.is_ok() {
                raised = py.check_signals().and_then(|()| look());
                if raised.is_err() {
                    cancel();
                }
            }
        }
        let result = py.detach(|| worker.join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        raised.map(|()| result)
    })
}

/// Tells when it is dropped.
struct Done<'a> {
    flag: &'a AtomicBool,
    waiting: thread::Thread,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.flag.store(true, Ordering::Release);
        self.waiting.unpark();
    }
}
