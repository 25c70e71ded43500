//! Checks whether this machine had other work while a part was measured.
//!
//! A check computes on all cores for a moment. On an idle machine each thread has a core all of that time; where
//! processor time is missing, other programs had the core. Figures of threads that wait for each other need this
//! check: on a busy machine they wait for a core instead.

use std::time::{Duration, Instant};
use std::{hint, thread};

use super::{Measured, StudyRow};
use crate::timing::thread_time;

/// Length of a check: longer than a thread may run before the system gives its core to another one.
const CHECK_TIME: Duration = Duration::from_millis(20);
/// Least time between two checks.
const PAUSE: Duration = Duration::from_millis(200);
/// A check that gets a smaller share of the cores has seen other work.
const ALONE: f64 = 0.9;

pub(super) const HAD_CORES: &str = "share of the cores that this program had";

/// The shares of the cores that checks found.
#[derive(Clone, Debug, Default)]
pub(super) struct BusyMonitor {
    shares: Vec<f64>,
    last: Option<Instant>,
}

impl BusyMonitor {
    /// Results of other checks.
    #[cfg(test)]
    pub(super) fn of(shares: &[f64]) -> BusyMonitor {
        BusyMonitor { shares: shares.into(), last: None }
    }

    /// Checks, unless it has just done so. To be called between samples, never during one.
    pub(super) fn check(&mut self) {
        if self.last.is_none_or(|last| last.elapsed() >= PAUSE) {
            self.shares.push(share(super::cores()));
            self.last = Some(Instant::now());
        }
    }

    /// The reason why measurements of this time do not refute a claim: more than a quarter of the checks saw other
    /// work. Fewer do not move a median by much. `None` on an idle machine, and where the system does not report the
    /// processor time of a thread.
    pub(super) fn busy(&self) -> Option<String> {
        let seen = self.shares.iter().filter(|share| **share < ALONE).count();
        let is_busy = 4 * seen > self.shares.len();
        is_busy.then(|| {
            let mean = self.shares.iter().sum::<f64>() / self.shares.len() as f64;
            format!("This machine was busy: this program had {:.0} % of the cores", 100.0 * mean)
        })
    }

    /// The result as a row of the section.
    pub(super) fn row(&self) -> Option<StudyRow> {
        (!self.shares.is_empty()).then(|| StudyRow::measured(HAD_CORES, "", Measured::of(&self.shares)))
    }
}

/// The share of the elapsed time in which threads on all cores had one. It is 1 on a system without a clock for that.
fn share(cores: usize) -> f64 {
    let compute = || {
        let (start, had) = (Instant::now(), thread_time());
        while start.elapsed() < CHECK_TIME {
            hint::spin_loop();
        }
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
            assert_eq!(BusyMonitor::of(shares).busy().is_some(), is_busy, "{shares:?}");
        }
        assert!(BusyMonitor::of(&[0.25, 0.75]).busy().is_some_and(|why| why.contains("50 %")));
        assert!(BusyMonitor::default().row().is_none());
    }

    /// More threads than cores cannot each have a core.
    #[cfg(unix)]
    #[test]
    fn a_check_sees_other_work() {
        let found = share(4 * super::super::cores());
        assert!((0.0..0.6).contains(&found), "{found}");
    }

    #[test]
    fn there_is_a_pause_between_checks() {
        let mut monitor = BusyMonitor::default();
        (0..3).for_each(|_| monitor.check());
        assert_eq!(monitor.shares.len(), 1);
    }
}
