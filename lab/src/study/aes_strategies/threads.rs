//! What the strategies need of threads: two barriers, what a thread was busy with, and how long.

use std::{
    hint, io,
    sync::{
        Barrier, OnceLock,
        atomic::{
            AtomicUsize,
            Ordering::{AcqRel, Acquire, Relaxed, Release},
        },
    },
    thread,
    time::{Duration, Instant},
};

use super::plain::Function;

/// Where threads wait for one another.
pub(super) trait Gate: Sync {
    fn new(threads: usize) -> Self;
    fn wait(&self);
}

/// The standard library's: who waits, sleeps.
pub(super) struct Sleeping(Barrier);

impl Gate for Sleeping {
    fn new(threads: usize) -> Sleeping {
        Sleeping(Barrier::new(threads))
    }

    fn wait(&self) {
        self.0.wait();
    }
}

/// Who waits, asks again and again; after a while, which only a busy machine makes so long, others may have the core.
pub(super) struct Spinning {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
}

/// Questions before a thread gives up its core.
const PATIENCE: u32 = 1 << 12;

impl Gate for Spinning {
    fn new(threads: usize) -> Spinning {
        Spinning { threads, arrived: AtomicUsize::new(0), round: AtomicUsize::new(0) }
    }

    #[inline]
    fn wait(&self) {
        let round = self.round.load(Acquire);
        if self.arrived.fetch_add(1, AcqRel) + 1 == self.threads {
            self.arrived.store(0, Relaxed);
            self.round.store(round.wrapping_add(1), Release);
            return;
        }
        let mut questions = 0;
        while self.round.load(Acquire) == round {
            questions += 1;
            if questions % PATIENCE == 0 { thread::yield_now() } else { hint::spin_loop() }
        }
    }
}

/// Says what a thread did since it was last asked; nothing, where nobody looks.
pub(super) trait Watch: Default + Send {
    /// The time since the last call went into a function.
    fn lap(&mut self, what: Part);
    /// It went into waiting.
    fn skip(&mut self);
    /// What it saw.
    fn laps(self) -> Laps;
}

/// What time goes into besides waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    One(Function),
    /// All four of a block, which are not told apart.
    Together,
}

/// Nobody looks.
#[derive(Default)]
pub(super) struct Unwatched;

impl Watch for Unwatched {
    #[inline(always)]
    fn lap(&mut self, _: Part) {}
    #[inline(always)]
    fn skip(&mut self) {}
    fn laps(self) -> Laps {
        Laps::default()
    }
}

/// Seconds by function, in the order of [`Function::ALL`], then together; and how often the clock was read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Laps {
    pub(super) seconds: [f64; 5],
    pub(super) counts: [u64; 5],
    pub(super) readings: u64,
}

impl Laps {
    pub(super) fn add(&mut self, other: &Laps) {
        for place in 0..5 {
            self.seconds[place] += other.seconds[place];
            self.counts[place] += other.counts[place];
        }
        self.readings += other.readings;
    }

    /// Without what reading the clock takes, which is in every lap once.
    pub(super) fn without(mut self, reading_s: f64) -> Laps {
        for (seconds, count) in self.seconds.iter_mut().zip(self.counts) {
            *seconds = (*seconds - count as f64 * reading_s).max(0.0);
        }
        self
    }

    pub(super) fn total(&self) -> f64 {
        self.seconds.iter().sum()
    }
}

/// Stamps.
pub(super) struct Stopwatch {
    last: Instant,
    times: [Duration; 5],
    laps: Laps,
}

impl Default for Stopwatch {
    fn default() -> Stopwatch {
        Stopwatch { last: Instant::now(), times: [Duration::ZERO; 5], laps: Laps::default() }
    }
}

impl Watch for Stopwatch {
    #[inline]
    fn lap(&mut self, what: Part) {
        let place = match what {
            Part::One(function) => function as usize,
            Part::Together => 4,
        };
        let now = Instant::now();
        self.times[place] += now - self.last;
        self.last = now;
        self.laps.counts[place] += 1;
        self.laps.readings += 1;
    }

    #[inline]
    fn skip(&mut self) {
        self.last = Instant::now();
        self.laps.readings += 1;
    }

    fn laps(mut self) -> Laps {
        self.laps.seconds = self.times.map(|time| time.as_secs_f64());
        self.laps
    }
}

/// What one reading of the clock takes: the least of many.
pub(super) fn reading_s() -> f64 {
    const READINGS: u32 = 1000;
    let one = || {
        let start = Instant::now();
        for _ in 0..READINGS {
            hint::black_box(Instant::now());
        }
        start.elapsed().as_secs_f64() / f64::from(READINGS)
    };
    (0..10).map(|_| one()).fold(f64::INFINITY, f64::min)
}

/// Seconds of a processor that this thread has had, where the system tells.
#[cfg(unix)]
pub(super) fn busy_s() -> Option<f64> {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(unix))]
pub(super) fn busy_s() -> Option<f64> {
    None
}

/// What a thread did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub(super) busy_s: Option<f64>,
    pub(super) laps: Laps,
}

/// Does `work` in this thread and says what that took.
pub(super) fn spend<W: Watch>(work: impl FnOnce(&mut W)) -> Spent {
    let before = busy_s();
    let mut watch = W::default();
    work(&mut watch);
    let laps = watch.laps();
    Spent { busy_s: busy_s().zip(before).map(|(after, before)| after - before), laps }
}

/// Work of a thread of its own.
pub(super) type Other<'env> = Box<dyn FnOnce() -> Spent + Send + 'env>;

/// Does `first` in this thread and `others` in threads of their own at the same time; what each spent, this one first.
///
/// # Errors
/// When the system has no more threads. No work has begun then: it may be such that waits for the other.
pub(super) fn beside<'env>(first: impl FnOnce() -> Spent, others: Vec<Other<'env>>) -> io::Result<Vec<Spent>> {
    let all_are_there = OnceLock::new();
    thread::scope(|scope| {
        let spawn = |other: Other<'env>| {
            let begin = &all_are_there;
            thread::Builder::new().spawn_scoped(scope, move || if *begin.wait() { other() } else { Spent::default() })
        };
        let handles: io::Result<Vec<_>> = others.into_iter().map(spawn).collect();
        let _ = all_are_there.set(handles.is_ok());
        let handles = handles?;
        let mut spent = vec![first()];
        for handle in handles {
            spent.push(handle.join().map_err(|_| io::Error::other("a thread panicked"))?);
        }
        Ok(spent)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    /// Nobody is in the next round before all have been in this one.
    fn keeps_together<G: Gate>() {
        const THREADS: usize = 3;
        let (gate, count) = (G::new(THREADS), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for round in 1..=200u32 {
                        count.fetch_add(1, Relaxed);
                        gate.wait();
                        assert_eq!(count.load(Relaxed), round * THREADS as u32);
                        gate.wait();
                    }
                });
            }
        });
    }

    #[test]
    fn barriers() {
        keeps_together::<Sleeping>();
        keeps_together::<Spinning>();
    }

    #[test]
    fn laps_add_up() {
        let mut watch = Stopwatch::default();
        watch.lap(Part::One(Function::ShiftRows));
        watch.skip();
        thread::sleep(Duration::from_millis(2));
        watch.lap(Part::Together);
        let laps = watch.laps();
        assert_eq!((laps.counts, laps.readings), ([0, 1, 0, 0, 1], 3));
        assert!(laps.seconds[4] >= 0.002 && laps.seconds[0] == 0.0);
        assert_eq!(laps.without(1.0).total(), 0.0);
    }
}
