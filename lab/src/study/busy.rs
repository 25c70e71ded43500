//! Checks whether this machine had other work while a part was measured. Figures of threads that wait for each other
//! need this check: on a busy machine they wait for a core instead.

use std::time::Instant;

use super::{Measured, StudyRow};
use crate::timing::busy;

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
        if self.last.is_none_or(|last| last.elapsed() >= busy::PAUSE) {
            self.shares.push(busy::share(super::cores()));
            self.last = Some(Instant::now());
        }
    }

    /// The reason why measurements of this time do not refute a claim. `None` on an idle machine, and where the system
    /// does not report the processor time of a thread.
    pub(super) fn busy(&self) -> Option<String> {
        let share = 100.0 * busy::busy(&self.shares)?;
        Some(format!("This machine was busy: this program had {share:.0} % of the cores"))
    }

    /// The result as a row of the section.
    pub(super) fn row(&self) -> Option<StudyRow> {
        (!self.shares.is_empty()).then(|| StudyRow::measured(HAD_CORES, "", Measured::of(&self.shares)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_the_share() {
        assert!(BusyMonitor::of(&[0.25, 0.75]).busy().is_some_and(|why| why.contains("50 %")));
        assert!(BusyMonitor::default().row().is_none());
    }

    #[test]
    fn there_is_a_pause_between_checks() {
        let mut monitor = BusyMonitor::default();
        monitor.check();
        monitor.last = Some(Instant::now() + std::time::Duration::from_secs(3600));
        monitor.check();
        assert_eq!(monitor.shares.len(), 1);
    }
}
