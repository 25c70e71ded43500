//! The basis of all measurements of the lab: clocks, [`statistics`] and progress bars.

pub(crate) mod busy;
mod progress;
pub mod statistics;

use std::time::{Duration, Instant};

use tress_peers::clock;

pub(crate) use progress::{progress, time_left};

/// Rounds of the calibrating chain: 64,000 cycles, some 20 µs. That is long compared with reading the clock, and short
/// enough that the core keeps the frequency of the sample.
const CHAIN_ROUNDS: u64 = 1000;

/// Processor time of this thread. On an idle machine it equals the elapsed time; on a busy machine it excludes the
/// time that other programs had the core.
#[cfg(unix)]
pub(crate) fn thread_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The elapsed time, because this system has no other clock.
#[cfg(not(unix))]
pub(crate) fn thread_time() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// The current frequency of the core, where it can be measured.
pub(crate) fn cycles_per_s() -> Option<f64> {
    if !clock::AVAILABLE {
        return None;
    }
    // By the wall clock, whose reading is short compared with the chain. The fastest of three was not interrupted.
    let fastest = (0..3)
        .map(|_| {
            let start = Instant::now();
            clock::dependent_adds(CHAIN_ROUNDS);
            start.elapsed()
        })
        .min()?;
    Some((CHAIN_ROUNDS * clock::ROUND) as f64 / fastest.as_secs_f64())
}
