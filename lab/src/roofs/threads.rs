//! The cost of synchronisation between threads, measured with the code of `tress plan`; the wake-up of a sleeping
//! thread; and the loopback.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use tress_container::Error;
use tress_container::threads::start;
use tress_plan::measure::{SyncKind, loopback_samples, sync_samples};
use tress_plan::sync_name as name;

use super::{RateSample, Roof, RoofEffort, roof};

/// Numbers of threads that synchronise.
pub(super) const THREADS: [usize; 3] = [2, 4, 8];
/// Number of roofs of this file.
pub(super) const STEPS: usize = SyncKind::ALL.len() * THREADS.len() + 2;
/// Wake-ups in a sample.
const WAKINGS: u64 = 200;

pub(super) fn measure(effort: RoofEffort, step: &mut dyn FnMut(&str), roofs: &mut Vec<Roof>) -> Result<(), Error> {
    let per_s = |seconds: Vec<f64>| -> Vec<RateSample> {
        seconds.into_iter().map(|seconds| (seconds.max(1e-15).recip(), None)).collect()
    };
    for kind in SyncKind::ALL {
        for threads in THREADS {
            let name = name(kind, threads);
            step(&name);
            roofs.push(roof(name, "empty stages", threads, &per_s(sync_samples(kind, threads)?)));
        }
    }
    step("wake-up");
    let seconds = (0..effort.few).map(|_| wake_up_seconds()).collect::<Result<_, _>>()?;
    roofs.push(roof("wake-up".into(), "wake-ups of a sleeping thread", 2, &per_s(seconds)));
    step("loopback");
    if let Ok(seconds) = loopback_samples()
        && !seconds.is_empty()
    {
        roofs.push(roof("loopback".into(), "bytes through TCP over loopback", 2, &per_s(seconds)));
    }
    Ok(())
}

/// Seconds until a sleeping thread runs: two threads wake each other alternately, and sleep in between.
fn wake_up_seconds() -> Result<f64, Error> {
    let turn = AtomicU64::new(0);
    let wait = |number| {
        while turn.load(Ordering::Acquire) != number {
            thread::park();
        }
    };
    let first = thread::current();
    thread::scope(|scope| {
        let other = start(scope, || {
            for wake_up_seconds in 0..WAKINGS {
                wait(2 * wake_up_seconds + 1);
                turn.store(2 * wake_up_seconds + 2, Ordering::Release);
                first.unpark();
            }
        })?;
        let begin = Instant::now();
        for wake_up_seconds in 0..WAKINGS {
            turn.store(2 * wake_up_seconds + 1, Ordering::Release);
            other.thread().unpark();
            wait(2 * wake_up_seconds + 2);
        }
        Ok(begin.elapsed().as_secs_f64() / (2 * WAKINGS) as f64)
    })
}

#[cfg(test)]
mod tests {
    use tress_container::ErrorKind;

    use super::*;

    #[test]
    fn names() {
        assert_eq!(name(SyncKind::SpinningBarrier, 4), "spinning-barrier-4");
        assert_eq!(name(SyncKind::Counter, 2), "counter-2");
    }

    #[test]
    fn a_thread_that_cannot_start_is_an_error() {
        tress_container::threads::LEFT.set(0);
        assert_eq!(wake_up_seconds().expect_err("no thread").kind, ErrorKind::NoThread);
        let mut roofs = Vec::new();
        let error = measure(RoofEffort::new(true), &mut |_| {}, &mut roofs).expect_err("no thread");
        assert_eq!((error.kind, roofs.len()), (ErrorKind::NoThread, 0));
        tress_container::threads::LEFT.set(usize::MAX);
    }

    #[test]
    fn a_wake_up_takes_time() {
        let seconds = wake_up_seconds().expect("a thread");
        assert!(seconds > 1e-8 && seconds < 1.0, "{seconds}");
    }
}
