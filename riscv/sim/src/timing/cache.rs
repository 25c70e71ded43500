//! The tags of one cache: which lines it holds, their states, and when outstanding lines arrive. It is set-associative
//! with LRU replacement.

use crate::machine;
use serde::Serialize;

/// The coherence state of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineState {
    /// Other caches may hold it too, and it is unchanged.
    Shared,
    /// No other cache holds it, and it is changed: the next level is out of date.
    Modified,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    /// Line address plus 1. 0 means empty.
    tag: u64,
    used: u64,
    ready: u64,
    state: LineState,
}

const EMPTY_LINE: Line = Line { tag: 0, used: 0, ready: 0, state: LineState::Shared };

/// Statistics of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CacheFigures {
    /// Accesses. For instruction caches, fetches from a different line than the one before.
    pub accesses: u64,
    /// Accesses to a missing line, and loads of one that was still on its way.
    pub misses: u64,
    /// Changed lines written to the next level.
    pub written_back: u64,
    /// Lines invalidated because another hart wrote to them.
    pub invalidated: u64,
}

/// The tags and statistics of a cache.
#[derive(Clone, Debug)]
pub(super) struct CacheTags {
    lines: Box<[Line]>,
    ways: usize,
    set_mask: u64,
    shift: u32,
    clock: u64,
    /// Ring of the cycles in which the lines of the latest misses arrive, one entry for each miss that can be
    /// outstanding.
    arrivals: Box<[u64]>,
    next_arrival: usize,
    pub(super) figures: CacheFigures,
}

/// Index of a line in a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineIndex(usize);

/// A line that was evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Victim {
    pub(super) address: u64,
    pub(super) modified: bool,
}

impl CacheTags {
    pub(super) fn new(description: &machine::Cache) -> CacheTags {
        let ways = description.ways as usize;
        let sets = description.sets();
        CacheTags {
            lines: vec![EMPTY_LINE; sets as usize * ways].into_boxed_slice(),
            ways,
            set_mask: sets - 1,
            shift: description.line.ilog2(),
            clock: 0,
            arrivals: vec![0; description.misses as usize].into_boxed_slice(),
            next_arrival: 0,
            figures: CacheFigures::default(),
        }
    }

    fn set(&self, address: u64) -> usize {
        ((address >> self.shift) & self.set_mask) as usize * self.ways
    }

    /// Finds the line of `address`. Does not count as a use.
    #[inline]
    pub(super) fn find(&self, address: u64) -> Option<LineIndex> {
        let (tag, first) = ((address >> self.shift) + 1, self.set(address));
        self.lines[first..first + self.ways].iter().position(|line| line.tag == tag).map(|way| LineIndex(first + way))
    }

    /// Uses a line. Returns the cycle in which it arrives, and its state.
    #[inline]
    pub(super) fn touch(&mut self, index: LineIndex) -> (u64, LineState) {
        self.clock += 1;
        let line = &mut self.lines[index.0];
        line.used = self.clock;
        (line.ready, line.state)
    }

    pub(super) fn set_state(&mut self, index: LineIndex, state: LineState) {
        self.lines[index.0].state = state;
    }

    /// Whether a line has been changed.
    pub(super) fn is_modified(&self, index: LineIndex) -> bool {
        self.lines[index.0].state == LineState::Modified
    }

    /// Inserts a line that arrives in cycle `ready`, and returns the evicted line.
    pub(super) fn insert(&mut self, address: u64, ready: u64, state: LineState) -> Option<Victim> {
        self.clock += 1;
        let (tag, first) = ((address >> self.shift) + 1, self.set(address));
        let set = &mut self.lines[first..first + self.ways];
        // An empty way has never been used, so it is chosen first.
        let line = set.iter_mut().min_by_key(|line| line.used).expect("a set has a way");
        let old = std::mem::replace(line, Line { tag, used: self.clock, ready, state });
        (old.tag != 0)
            .then(|| Victim { address: (old.tag - 1) << self.shift, modified: old.state == LineState::Modified })
    }

    /// Invalidates the line of `address`. Returns whether it was changed, or `None` if it was not in the cache.
    pub(super) fn invalidate(&mut self, address: u64) -> Option<bool> {
        let index = self.find(address)?;
        self.figures.invalidated += 1;
        let old = std::mem::replace(&mut self.lines[index.0], EMPTY_LINE);
        Some(old.state == LineState::Modified)
    }

    /// Invalidates all lines.
    pub(super) fn clear(&mut self) {
        self.lines.fill(EMPTY_LINE);
    }

    /// The first cycle from `cycle` on in which another miss can begin.
    pub(super) fn next_miss_cycle(&self, cycle: u64) -> u64 {
        cycle.max(self.arrivals[self.next_arrival])
    }

    /// Records when the line of a miss arrives.
    pub(super) fn record_miss(&mut self, cycle: u64) {
        self.arrivals[self.next_arrival] = cycle;
        self.next_arrival = (self.next_arrival + 1) % self.arrivals.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(size: u64, ways: u32, line: u32) -> CacheTags {
        let write = machine::Write::Back;
        CacheTags::new(&machine::Cache { size, ways, line, latency: 1, write, misses: 2 })
    }

    #[test]
    fn the_line_used_longest_ago_leaves() {
        // Two sets of two ways of 16 bytes: 0x00, 0x20, 0x40 share a set.
        let mut cache = cache(64, 2, 16);
        assert_eq!(cache.insert(0x00, 0, LineState::Shared), None);
        assert_eq!(cache.insert(0x20, 0, LineState::Modified), None);
        assert_eq!(cache.insert(0x10, 0, LineState::Shared), None);
        let index = cache.find(0x0f).expect("byte 15 of the first line");
        cache.touch(index);
        assert_eq!(cache.insert(0x40, 0, LineState::Shared), Some(Victim { address: 0x20, modified: true }));
        assert_eq!(cache.insert(0x60, 0, LineState::Shared), Some(Victim { address: 0x00, modified: false }));
        assert!(cache.find(0x10).is_some() && cache.find(0x20).is_none() && cache.find(0x00).is_none());
    }

    #[test]
    fn a_line_that_was_taken_away_is_gone() {
        let mut cache = cache(64, 2, 16);
        cache.insert(0x30, 0, LineState::Modified);
        assert_eq!(cache.invalidate(0x38), Some(true));
        assert_eq!(cache.invalidate(0x38), None);
        assert_eq!(cache.figures.invalidated, 1);
    }

    #[test]
    fn misses_wait_for_the_oldest_when_all_are_out() {
        let mut cache = cache(64, 2, 16);
        assert_eq!(cache.next_miss_cycle(5), 5);
        cache.record_miss(20);
        assert_eq!(cache.next_miss_cycle(6), 6);
        cache.record_miss(30);
        assert_eq!(cache.next_miss_cycle(7), 20);
    }
}
