//! How long a comparison may take: with `--quick` its part of what is left of a minute, otherwise a few seconds.

use std::time::{Duration, Instant};

/// The measuring of a quick run. Preparing work, such as making keys, and the end take the rest of the minute.
const QUICK: Duration = Duration::from_secs(48);
/// The most for a comparison of a quick run.
const QUICK_COMPARISON: Duration = Duration::from_secs(1);
/// The time for a comparison of any other run.
const COMPARISON: Duration = Duration::from_secs(4);

/// The time that is left, and for what.
pub(crate) struct Budget {
    ends: Option<Instant>,
    left: usize,
}

impl Budget {
    /// For so many comparisons; a row without a peer is one, too.
    pub(crate) fn new(quick: bool, comparisons: usize) -> Budget {
        Budget { ends: quick.then(|| Instant::now() + QUICK), left: comparisons }
    }

    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// The time for each of the next ones. What earlier ones took too long is divided among all that come.
    pub(crate) fn comparison(&mut self, comparisons: usize) -> Duration {
        let left = self.left.max(1);
        self.left = self.left.saturating_sub(comparisons);
        match self.ends {
            None => COMPARISON,
            Some(ends) => share(ends.saturating_duration_since(Instant::now()), left),
        }
    }
}

fn share(time: Duration, left: usize) -> Duration {
    (time / u32::try_from(left).unwrap_or(u32::MAX)).min(QUICK_COMPARISON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_divided_among_what_is_left() {
        assert_eq!(share(Duration::from_secs(48), 120), Duration::from_millis(400));
        assert_eq!(share(Duration::from_secs(48), 3), QUICK_COMPARISON);
        assert_eq!(share(Duration::ZERO, 3), Duration::ZERO);
    }

    #[test]
    fn a_budget_is_used_up() {
        let mut budget = Budget::new(true, 100);
        // 48 s for 100 of them, a little of which has passed.
        let first = budget.comparison(60);
        assert!(first <= Duration::from_millis(480) && first > Duration::from_millis(400), "{first:?}");
        assert_eq!(budget.left(), 40);
        assert_eq!(budget.comparison(60), QUICK_COMPARISON);
        assert_eq!((budget.left(), budget.comparison(1)), (0, QUICK_COMPARISON));
        assert_eq!(Budget::new(false, 1000).comparison(4), COMPARISON);
    }
}
