//! A limit on the bytes sent per second, shared by all connections of a session.
//!
//! A token bucket in its virtual-time form: `next` is when the next byte may be sent. A link that was idle may catch up by
//! the depth of the bucket and no more, so the limit holds over every span that is much longer than the depth.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Depth of the bucket, as the time that its bytes take at the limit.
const DEPTH: Duration = Duration::from_millis(10);
/// Smallest and largest piece that is reserved and written in one call, in bytes.
const PIECE_BYTES: std::ops::RangeInclusive<u64> = 1024..=65536;

pub(crate) struct RateLimit {
    bytes_per_s: u64,
    next: Mutex<Instant>,
}

impl RateLimit {
    pub(crate) fn new(bytes_per_s: u64) -> Self {
        Self { bytes_per_s: bytes_per_s.max(1), next: Mutex::new(Instant::now()) }
    }

    /// Bytes to write in one call: as many as the limit allows in about five milliseconds, and at most in a second.
    pub(crate) fn piece_bytes(&self) -> usize {
        (self.bytes_per_s / 200).clamp(*PIECE_BYTES.start(), *PIECE_BYTES.end()).min(self.bytes_per_s) as usize
    }

    /// Reserves the time that these bytes take, and returns how long to wait before they may be sent.
    pub(crate) fn reserve(&self, bytes: usize, now: Instant) -> Duration {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let earliest = now.checked_sub(DEPTH).unwrap_or(now);
        let start = (*next).max(earliest);
        *next = start + Duration::from_secs_f64(bytes as f64 / self.bytes_per_s as f64);
        start.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three seconds of simulated time, with three connections that are always ready.
    #[test]
    fn the_rate_holds() {
        for bytes_per_s in [10_000_u64, 1_250_000, 125_000_000, 2_000_000_000] {
            let rate = RateLimit::new(bytes_per_s);
            let begin = Instant::now();
            let mut clock = [begin; 3];
            let mut sent = 0_u64;
            loop {
                let link = (0..3).min_by_key(|&link| clock[link]).unwrap();
                clock[link] += rate.reserve(rate.piece_bytes(), clock[link]);
                if clock[link] - begin > Duration::from_secs(3) {
                    break;
                }
                sent += rate.piece_bytes() as u64;
            }
            let ratio = sent as f64 / (3.0 * bytes_per_s as f64);
            assert!((0.95..1.05).contains(&ratio), "{bytes_per_s}: {ratio}");
        }
    }

    #[test]
    fn idle_time_is_not_saved_up() {
        let rate = RateLimit::new(1000);
        assert_eq!(rate.piece_bytes(), 1000);
        let begin = Instant::now();
        let later = begin + Duration::from_secs(60);
        assert_eq!(rate.reserve(1000, later), Duration::ZERO);
        let wait = rate.reserve(1000, later);
        assert!(wait >= Duration::from_millis(980), "{wait:?}");
    }
}
