//! What a running verb shares with its caller: a flag that ends it, and counters for a progress bar.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// One run's flag and counters. A call is one or two atomic accesses, so signal handlers may use it.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    moved_bytes: AtomicU64,
    done_bytes: AtomicU64,
    total_bytes: AtomicU64,
}

impl Control {
    /// A control whose run is not cancelled.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            cancelled: AtomicBool::new(false),
            moved_bytes: AtomicU64::new(0),
            done_bytes: AtomicU64::new(0),
            total_bytes: AtomicU64::new(0),
        }
    }

    /// Asks the run to stop. It cleans up and returns [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    ///
    /// A thread that is blocked in opening a FIFO, or (outside Linux) in writing to a pipe that nobody reads, notices
    /// only when that call returns; neither holds anything that would be left behind, so a command may simply die.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`cancel`](Control::cancel) was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Input bytes done so far. A transfer includes what an earlier run moved; `receive` counts the files that are arriving,
    /// and drops each when it is complete.
    #[must_use]
    pub fn done_bytes(&self) -> u64 {
        self.done_bytes.load(Ordering::Relaxed)
    }

    /// Bytes that this run has moved itself, some perhaps twice. Never falls: for rates.
    #[must_use]
    pub fn moved_bytes(&self) -> u64 {
        self.moved_bytes.load(Ordering::Relaxed)
    }

    /// Input bytes in all; `None` while unknown, as for a pipe.
    #[must_use]
    pub fn total_bytes(&self) -> Option<u64> {
        match self.total_bytes.load(Ordering::Relaxed) {
            0 => None,
            total => Some(total),
        }
    }

    /// Counts input bytes as done; for whoever reads the input itself.
    pub fn add_done(&self, bytes: u64) {
        self.moved_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Sets the number of all input bytes.
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

    /// Counts input bytes as done that an earlier run moved.
    pub fn add_held(&self, bytes: u64) {
        self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Input bytes that were done are to be done again.
    pub fn take_back(&self, bytes: u64) {
        self.done_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Input bytes that will not be done after all.
    pub fn lower_total(&self, bytes: u64) {
        let less = |total: u64| Some(total.saturating_sub(bytes));
        let _ = self.total_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Sets both counts.
    pub fn set_done_of(&self, done_bytes: u64, total_bytes: u64) {
        self.done_bytes.store(done_bytes, Ordering::Relaxed);
        self.set_total(total_bytes);
    }
}
