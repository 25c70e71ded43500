//! What a running call shares with its caller: a flag that cancels it, and counters for a progress bar.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

type Report = dyn Fn(u64, Option<u64>) + Send + Sync;

/// The cancel flag and progress counters of one run. Make a new one for each run, because the counters are not reset. Reading and
/// cancelling take one or two atomic accesses, so signal handlers may do both.
#[derive(Default)]
pub struct Control {
    report: Option<Box<Report>>,
    is_reporting: AtomicBool,
    cancelled: AtomicBool,
    moved_bytes: AtomicU64,
    done_bytes: AtomicU64,
    total_bytes: AtomicU64,
    done_files: AtomicU64,
    total_files: AtomicU64,
}

impl Control {
    /// A control whose run is not cancelled.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            report: None,
            is_reporting: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
            moved_bytes: AtomicU64::new(0),
            done_bytes: AtomicU64::new(0),
            total_bytes: AtomicU64::new(0),
            done_files: AtomicU64::new(0),
            total_files: AtomicU64::new(0),
        }
    }

    /// Calls `report` with [`done_bytes`](Control::done_bytes) and [`total_bytes`](Control::total_bytes) during the run, at most every
    /// 512 KiB, and after the last byte. The run's threads call it, one at a time and with no lock held. A thread that finishes work during
    /// a call does not wait: one more call reports that work. A panic in `report` ends the run with that panic.
    #[must_use]
    pub fn on_progress(mut self, report: impl Fn(u64, Option<u64>) + Send + Sync + 'static) -> Self {
        self.report = Some(Box::new(report));
        self
    }

    /// Asks the run to stop. The run cleans up and returns [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    ///
    /// A thread that is blocked in opening a FIFO for writing (outside Linux also for reading), in deriving a key from a passphrase or in
    /// waiting for a plugin notices only when that call returns. None of these holds anything that needs cleaning up, so a command may
    /// simply exit.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`cancel`](Control::cancel) was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Input bytes done so far. A transfer includes the bytes that an earlier run moved. `receive` counts the files that are arriving, and
    /// subtracts each file when it is complete.
    #[must_use]
    pub fn done_bytes(&self) -> u64 {
        self.done_bytes.load(Ordering::Relaxed)
    }

    /// Bytes that this run has moved itself, including repetitions. Never decreases, so that callers can compute rates.
    #[must_use]
    pub fn moved_bytes(&self) -> u64 {
        self.moved_bytes.load(Ordering::Relaxed)
    }

    /// Input bytes in total, never 0; `None` while unknown, as for a pipe.
    #[must_use]
    pub fn total_bytes(&self) -> Option<u64> {
        match self.total_bytes.load(Ordering::SeqCst) {
            0 => None,
            total => Some(total),
        }
    }

    /// Files done so far and files in total, for `send` of more than one file; `None` for other runs.
    #[must_use]
    pub fn files(&self) -> Option<(u64, u64)> {
        let total = self.total_files.load(Ordering::Relaxed);
        (total > 1).then(|| (self.done_files.load(Ordering::Relaxed), total))
    }

    /// Counts input bytes as done, for callers that read the input themselves.
    pub fn add_done(&self, bytes: u64) {
        self.moved_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.add_held(bytes);
    }

    /// Sets the total number of input bytes.
    pub fn set_total(&self, bytes: u64) {
        self.total_bytes.store(bytes, Ordering::Relaxed);
    }
}

#[doc(hidden)]
impl Control {
    /// Counts bytes as moved, not as done.
    pub fn add_moved(&self, bytes: u64) {
        self.moved_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts input bytes as done that an earlier run has moved.
    pub fn add_held(&self, bytes: u64) {
        self.done_bytes.fetch_add(bytes, Ordering::SeqCst);
        self.report();
    }

    /// Sets the total number of files.
    pub fn set_total_files(&self, files: u64) {
        self.total_files.store(files, Ordering::Relaxed);
    }

    /// Counts a file as done.
    pub fn add_file(&self) {
        self.done_files.fetch_add(1, Ordering::Relaxed);
    }

    /// Subtracts input bytes that have to be done again.
    pub fn take_back(&self, bytes: u64) {
        self.done_bytes.fetch_sub(bytes, Ordering::SeqCst);
        self.report();
    }

    /// Subtracts input bytes that will not be done from the total.
    pub fn lower_total(&self, bytes: u64) {
        let less = |total: u64| Some(total.saturating_sub(bytes));
        let _ = self.total_bytes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
        self.report();
    }

    /// Sets both counters; a total of 0 means unknown.
    pub fn set_done_of(&self, done_bytes: u64, total_bytes: u64) {
        self.set_total(total_bytes);
        self.done_bytes.store(done_bytes, Ordering::SeqCst);
        self.report();
    }
}

impl Control {
    /// Reports the counters. If another thread is in `report`, that thread reports again when its call returns. If its call panics, no
    /// further report is made.
    fn report(&self) {
        let Some(report) = &self.report else { return };
        let counts = || (self.done_bytes.load(Ordering::SeqCst), self.total_bytes());
        while !self.is_reporting.swap(true, Ordering::SeqCst) {
            let (done_bytes, total_bytes) = counts();
            report(done_bytes, total_bytes);
            self.is_reporting.store(false, Ordering::SeqCst);
            if counts() == (done_bytes, total_bytes) {
                break;
            }
        }
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("is_cancelled", &self.is_cancelled())
            .field("done_bytes", &self.done_bytes())
            .field("total_bytes", &self.total_bytes())
            .finish_non_exhaustive()
    }
}
