//! What every measurement of the lab stands on: clocks, [`statistics`] and bars of progress.

mod progress;
pub mod statistics;

use std::time::{Duration, Instant};

use tress_peers::clock;

pub(crate) use progress::{progress, time_left};

/// Rounds of the calibrating chain: 64,000 cycles, some 20 µs, long against the clock's reading and short enough for
/// the core to keep the frequency that the sample left it at.
const CHAIN_ROUNDS: u64 = 1000;

/// Processor time of this thread: on an idle machine the time that passes, and on a busy one without the time that other
/// programs had the core.
#[cfg(unix)]
pub(crate) fn thread_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The time that passes, where the system has no other clock.
#[cfg(not(unix))]
pub(crate) fn thread_time() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// The core's frequency now, where there is a chain to count with.
pub(crate) fn cycles_per_s() -> Option<f64> {
    if !clock::AVAILABLE {
        return None;
    }
    // By the wall clock, whose reading is short against the chain; the fastest was not interrupted.
    let fastest = (0..3)
        .map(|_| {
            let start = Instant::now();
            clock::dependent_adds(CHAIN_ROUNDS);
            start.elapsed()
        })
        .min()?;
    Some((CHAIN_ROUNDS * clock::ROUND) as f64 / fastest.as_secs_f64())
}
