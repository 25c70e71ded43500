//! Two ways for the threads of a pipeline to wait for each other, to measure their cost: a barrier that spins (std's sleeps), and
//! point-to-point counters.

use std::hint;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// Number of checks before sleeping or yielding: a few microseconds, about as long as waking a sleeping thread takes.
pub(crate) const MAX_SPINS: u32 = 100;

/// All threads wait for all threads, spinning.
pub struct SpinningBarrier {
    threads: usize,
    spins: u32,
    arrived: AtomicUsize,
    generation: AtomicUsize,
}

impl SpinningBarrier {
    /// A barrier for this many threads, each of which yields its core after `spins` checks.
    pub fn new(threads: usize, spins: u32) -> Self {
        Self { threads, spins, arrived: AtomicUsize::new(0), generation: AtomicUsize::new(0) }
    }

    /// Returns when all threads have called this.
    pub fn wait(&self) {
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            // No thread arrives again before the generation changes.
            self.arrived.store(0, Ordering::Relaxed);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.generation.load(Ordering::Acquire) == generation {
            spins += 1;
            // With more threads than cores, the awaited thread may need this core.
            if spins < self.spins { hint::spin_loop() } else { thread::yield_now() }
        }
    }
}

/// Progress of one thread. Other threads wait for it, first spinning, then sleeping.
#[derive(Default)]
pub(crate) struct Counter {
    value: AtomicU64,
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    bell: Condvar,
}

impl Counter {
    /// Advances by one step.
    pub(crate) fn advance(&self) {
        // Both sides are sequentially consistent: either this sees the sleeper, or the sleeper sees the new value.
        self.value.fetch_add(1, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            // A thread that has checked the value but does not sleep yet holds the lock.
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.bell.notify_all();
        }
    }

    /// Returns when the counter is at least `value`.
    pub(crate) fn wait_for(&self, value: u64) {
        for _ in 0..MAX_SPINS {
            if self.value.load(Ordering::Acquire) >= value {
                return;
            }
            hint::spin_loop();
        }
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        while self.value.load(Ordering::SeqCst) < value {
            lock = self.bell.wait(lock).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::*;

    /// No thread leaves round n before all have entered it.
    #[test]
    fn a_barrier_holds_everybody() {
        const THREADS: usize = 5;
        const ROUNDS: usize = 200;
        let (barrier, entered) = (SpinningBarrier::new(THREADS, MAX_SPINS), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for round in 0..ROUNDS {
                        entered.fetch_add(1, Ordering::SeqCst);
                        barrier.wait();
                        assert!(entered.load(Ordering::SeqCst) >= (round + 1) * THREADS);
                        barrier.wait();
                    }
                });
            }
        });
    }

    #[test]
    fn a_counter_wakes_sleeping_threads_at_its_value() {
        let (counter, late) = (Counter::default(), AtomicBool::new(false));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    counter.wait_for(2);
                    assert!(late.load(Ordering::SeqCst));
                });
            }
            // Long enough for all threads to fall asleep.
            thread::sleep(Duration::from_millis(50));
            counter.advance();
            thread::sleep(Duration::from_millis(20));
            late.store(true, Ordering::SeqCst);
            counter.advance();
        });
        counter.wait_for(0);
    }

    /// Two threads wait for each other a hundred thousand times.
    #[test]
    fn counters_lose_no_step() {
        let (here, there) = (Counter::default(), Counter::default());
        thread::scope(|scope| {
            scope.spawn(|| {
                for step in 0..100_000 {
                    here.wait_for(step + 1);
                    there.advance();
                }
            });
            for step in 0..100_000 {
                here.advance();
                there.wait_for(step + 1);
            }
        });
    }
}
