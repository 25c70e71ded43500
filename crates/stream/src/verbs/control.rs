//! What a running verb shares with its caller: a flag that ends it, and counters for a progress bar.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// One run's flag and counters. Every call is a single atomic access, so signal handlers may use it.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    done_bytes: AtomicU64,
    total_bytes: AtomicU64,
}

impl Control {
    /// A control whose run is not cancelled.
    #[must_use]
    pub const fn new() -> Self {
        Self { cancelled: AtomicBool::new(false), done_bytes: AtomicU64::new(0), total_bytes: AtomicU64::new(0) }
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

    /// Input bytes done so far.
    #[must_use]
    pub fn done_bytes(&self) -> u64 {
        self.done_bytes.load(Ordering::Relaxed)
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
        self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Says how many input bytes there are in all.
    pub fn set_total(&self, bytes: u64) {
        self.total_bytes.store(bytes, Ordering::Relaxed);
    }
}
