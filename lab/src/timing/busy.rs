//! Whether other programs use this machine.
//!
//! A check computes on all cores for a moment. On an idle machine each thread has a core all of that time, once the
//! system has given it one; where processor time is missing, other programs had the core.

use std::time::{Duration, Instant};
use std::{hint, thread};

use super::thread_time;

/// Length of a check: longer than a thread may run before the system gives its core to another one.
const CHECK_TIME: Duration = Duration::from_millis(20);
/// Least time between two checks.
pub(crate) const PAUSE: Duration = Duration::from_millis(200);
/// A check that gets a smaller share of the cores has seen other work.
const ALONE: f64 = 0.9;

/// The mean of these shares if more than a quarter of them saw other work. Fewer do not move a median by much.
pub(crate) fn busy(shares: &[f64]) -> Option<f64> {
    let seen = shares.iter().filter(|share| **share < ALONE).count();
    (4 * seen > shares.len()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
}

/// Looks at the machine for a second: the share of the cores that this program had if the machine is busy. The load
/// average would still count a build that has just ended.
pub(crate) fn look() -> Option<f64> {
    let check = || {
        thread::sleep(PAUSE);
        share(thread::available_parallelism().map_or(1, |cores| cores.get()))
    };
    busy(&[check(), check(), check(), check(), check()])
}

/// The share of the elapsed time in which threads on all cores had one. It is 1 on a system without a clock for that.
pub(crate) fn share(cores: usize) -> f64 {
    let spin = || {
        let start = Instant::now();
        while start.elapsed() < CHECK_TIME {
            hint::spin_loop();
        }
    };
    let compute = || {
        // New threads may begin on one core, although another is idle, until the system moves them.
        spin();
        let (start, had) = (Instant::now(), thread_time());
        spin();
        (thread_time() - had).as_secs_f64() / start.elapsed().as_secs_f64()
    };
    thread::scope(|scope| {
        // If the system cannot start a thread, the others continue.
        let others: Vec<_> =
            (1..cores).map_while(|_| thread::Builder::new().spawn_scoped(scope, compute).ok()).collect();
        let mut shares = vec![compute()];
        shares.extend(others.into_iter().filter_map(|other| other.join().ok()));
        shares.iter().sum::<f64>() / shares.len() as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_is_more_than_a_quarter_of_the_checks() {
        for (shares, is_busy) in [
            (&[][..], false),
            (&[0.99, 1.0, 0.97, 0.95], false),
            // One moment of other work.
            (&[0.99, 0.5, 0.98, 0.99], false),
            (&[0.99, 0.5, 0.6, 0.99], true),
            (&[0.5], true),
            (&[0.89, 0.88, 0.87], true),
        ] {
            assert_eq!(busy(shares).is_some(), is_busy, "{shares:?}");
        }
        assert_eq!(busy(&[0.25, 0.75]), Some(0.5));
    }

    /// More threads than cores cannot each have a core. New threads stay on this thread's only one: a limit of processor
    /// time would not make them take turns.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_check_sees_other_work() {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let pinned = || {
            let all = sched_getaffinity(None).unwrap();
            let mut one = CpuSet::new();
            one.set((0..CpuSet::MAX_CPU).find(|cpu| all.is_set(*cpu)).unwrap());
            sched_setaffinity(None, &one).unwrap();
            share(8)
        };
        let found = thread::spawn(pinned).join().unwrap();
        assert!((0.0..0.6).contains(&found), "{found}");
    }
}
