//! Limits the rate of a worker, so that a fast machine can be measured as a slower one.
//!
//! A wait that ends late shortens the next one. Time without work is not saved up.

use std::time::{Duration, Instant};

/// The most by which a late wait shortens the next one: about as long as a wait overshoots.
const SLACK: Duration = Duration::from_millis(2);

pub(crate) struct Throttle {
    bytes_per_s: u64,
    free_at: Instant,
}

impl Throttle {
    pub(crate) fn new(bytes_per_s: u64) -> Self {
        Self { bytes_per_s: bytes_per_s.max(1), free_at: Instant::now() }
    }

    /// When a core of this rate, which started these bytes at `since`, would be done with them.
    pub(crate) fn done_at(&mut self, since: Instant, bytes: u64) -> Instant {
        let earliest = since.checked_sub(SLACK).unwrap_or(since);
        self.free_at = self.free_at.max(earliest) + Duration::from_secs_f64(bytes as f64 / self.bytes_per_s as f64);
        self.free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_waits_shorten_the_next_and_idle_time_is_lost() {
        let mut throttle = Throttle::new(1_000_000);
        let begin = Instant::now();
        throttle.free_at = begin;
        let mut now = begin;
        // Every wait ends a millisecond late. Ten batches still take ten times as long as one.
        for batch in 1..=10 {
            let until = throttle.done_at(now, 10_000);
            assert_eq!(until, begin + Duration::from_millis(10 * batch));
            now = until + Duration::from_millis(1);
        }
        let later = now + Duration::from_secs(5);
        assert_eq!(throttle.done_at(later, 10_000), later - SLACK + Duration::from_millis(10));
    }
}
