//! Sets of chunk numbers as disjoint ranges: the chunks that a receiver has, and those that are still to be sent.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of numbers, stored as ranges that neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges {
    /// The end of each range, by its start.
    ranges: BTreeMap<u64, u64>,
    count: u64,
}

impl Ranges {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Number of elements.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The ranges, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ranges.iter().map(|(&start, &end)| start..end)
    }

    /// Whether all of these numbers are in the set.
    pub(crate) fn covers(&self, range: &Range<u64>) -> bool {
        range.is_empty() || self.ranges.range(..=range.start).next_back().is_some_and(|(_, &end)| range.end <= end)
    }

    /// Number of ranges.
    pub(crate) fn pieces(&self) -> usize {
        self.ranges.len()
    }

    /// Whether this range overlaps or touches a range of the set, so that inserting it adds no range.
    pub(crate) fn meets(&self, range: &Range<u64>) -> bool {
        self.ranges.range(..=range.end).next_back().is_some_and(|(_, &end)| range.start <= end)
    }

    /// Removes and returns the start of the lowest range, at most `most` numbers.
    pub(crate) fn take_first(&mut self, most: u64) -> Option<Range<u64>> {
        let (&start, &end) = self.ranges.first_key_value()?;
        let taken = start..end.min(start.saturating_add(most.max(1)));
        self.ranges.remove(&start);
        if taken.end < end {
            self.ranges.insert(taken.end, end);
        }
        self.count -= taken.end - taken.start;
        Some(taken)
    }

    /// One more than the largest number; 0 for an empty set.
    pub(crate) fn end(&self) -> u64 {
        self.ranges.last_key_value().map_or(0, |(_, &end)| end)
    }

    /// Adds a range. Some of its numbers may already be in the set.
    pub(crate) fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let (mut start, mut end) = (range.start, range.end);
        // Merge every range that overlaps or touches this one.
        while let Some((&other_start, &other_end)) = self.ranges.range(..=end).next_back() {
            if other_end < start {
                break;
            }
            self.ranges.remove(&other_start);
            self.count -= other_end - other_start;
            start = start.min(other_start);
            end = end.max(other_end);
        }
        self.ranges.insert(start, end);
        self.count += end - start;
    }

    /// The numbers below `end` that are not in the set.
    pub(crate) fn gaps(&self, end: u64) -> Self {
        let mut gaps = Self::new();
        let mut from = 0;
        for range in self.iter() {
            if range.start >= end {
                break;
            }
            if from < range.start {
                gaps.insert(from..range.start);
            }
            from = range.end;
        }
        if from < end {
            gaps.insert(from..end);
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares with a plain set of numbers.
        #[test]
        fn like_a_set_of_numbers(inserts in prop::collection::vec((0_u64..60, 0_u64..12), 0..30)) {
            let mut ranges = Ranges::new();
            let mut numbers = BTreeSet::new();
            for (start, length) in inserts {
                ranges.insert(start..start + length);
                numbers.extend(start..start + length);
            }
            prop_assert_eq!(ranges.iter().flatten().collect::<Vec<_>>(), numbers.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(ranges.count(), numbers.len() as u64);
            prop_assert_eq!(ranges.end(), numbers.last().map_or(0, |last| last + 1));
            let missing: Vec<u64> = (0..80).filter(|number| !numbers.contains(number)).collect();
            prop_assert_eq!(ranges.gaps(80).iter().flatten().collect::<Vec<_>>(), missing);
            for number in 0..80 {
                prop_assert_eq!(ranges.covers(&(number..number + 1)), numbers.contains(&number));
            }
            for (start, end) in [(0, 5), (3, 4), (10, 30), (20, 20), (58, 72)] {
                let mut grown = ranges.clone();
                grown.insert(start..end);
                prop_assert!(start == end || ranges.meets(&(start..end)) == (grown.pieces() <= ranges.pieces()));
                prop_assert_eq!(ranges.covers(&(start..end)), (start..end).all(|number| numbers.contains(&number)));
            }
            let list: Vec<_> = ranges.iter().collect();
            prop_assert!(list.windows(2).all(|pair| pair[0].end < pair[1].start));
            // All numbers can be taken, in order, in runs of at most five.
            let mut taken = Vec::new();
            while let Some(run) = ranges.take_first(5) {
                prop_assert!(!run.is_empty() && run.end - run.start <= 5);
                taken.extend(run);
            }
            prop_assert_eq!(taken, numbers.into_iter().collect::<Vec<_>>());
            prop_assert_eq!((ranges.count(), ranges.end()), (0, 0));
        }
    }
}
