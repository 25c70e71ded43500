//! The tags of one cache: which lines it holds, in which state, and when a line on its way arrives. Set-associative, the
//! line used longest ago is replaced.

use crate::machine;
use serde::Serialize;

/// What a cache may do with a line that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It can be read.
    Shared,
    /// Nobody else has it, and it has been written: what is below is out of date.
    Modified,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    /// Address over the bytes of a line, plus 1; 0: nothing.
    tag: u64,
    used: u64,
    ready: u64,
    state: State,
}

const NOTHING: Line = Line { tag: 0, used: 0, ready: 0, state: State::Shared };

/// What a cache did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CacheFigures {
    /// Accesses; of instruction caches, fetches of another line than the one before.
    pub accesses: u64,
    /// Accesses that found no line, or one that was still on its way.
    pub misses: u64,
    /// Changed lines written to what is below.
    pub written_back: u64,
    /// Lines taken away because another hart wrote to them.
    pub invalidated: u64,
}

/// A cache.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    lines: Box<[Line]>,
    ways: usize,
    set_mask: u64,
    shift: u32,
    clock: u64,
    /// When the lines that are on their way arrive, as a ring of the last so many misses.
    arrivals: Box<[u64]>,
    next_arrival: usize,
    pub(super) figures: CacheFigures,
}

/// A place in a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(usize);

/// What had to leave a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Victim {
    pub(super) address: u64,
    pub(super) modified: bool,
}

impl Cache {
    pub(super) fn new(description: &machine::Cache) -> Cache {
        let ways = description.ways as usize;
        let sets = description.sets();
        Cache {
            lines: vec![NOTHING; sets as usize * ways].into_boxed_slice(),
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

    /// Where the line of `address` is, if it is here. Does not count as a use.
    #[inline]
    pub(super) fn find(&self, address: u64) -> Option<Place> {
        let (tag, first) = ((address >> self.shift) + 1, self.set(address));
        self.lines[first..first + self.ways].iter().position(|line| line.tag == tag).map(|way| Place(first + way))
    }

    /// Uses a line: the cycle in which it arrived or will, and its state.
    #[inline]
    pub(super) fn touch(&mut self, place: Place) -> (u64, State) {
        self.clock += 1;
        let line = &mut self.lines[place.0];
        line.used = self.clock;
        (line.ready, line.state)
    }

    /// Changes a line's state.
    pub(super) fn set_state(&mut self, place: Place, state: State) {
        self.lines[place.0].state = state;
    }

    /// Whether a line has been written.
    pub(super) fn is_modified(&self, place: Place) -> bool {
        self.lines[place.0].state == State::Modified
    }

    /// Puts a line in, which arrives in the cycle `ready`, and says what had to leave.
    pub(super) fn insert(&mut self, address: u64, ready: u64, state: State) -> Option<Victim> {
        self.clock += 1;
        let (tag, first) = ((address >> self.shift) + 1, self.set(address));
        let set = &mut self.lines[first..first + self.ways];
        // An empty way has never been used, so it goes first.
        let line = set.iter_mut().min_by_key(|line| line.used).expect("a set has a way");
        let old = std::mem::replace(line, Line { tag, used: self.clock, ready, state });
        (old.tag != 0).then(|| Victim { address: (old.tag - 1) << self.shift, modified: old.state == State::Modified })
    }

    /// Takes the line of `address` away, and says whether it was here and had been written.
    pub(super) fn invalidate(&mut self, address: u64) -> Option<bool> {
        let place = self.find(address)?;
        self.figures.invalidated += 1;
        let old = std::mem::replace(&mut self.lines[place.0], NOTHING);
        Some(old.state == State::Modified)
    }

    /// Takes all lines away.
    pub(super) fn clear(&mut self) {
        self.lines.fill(NOTHING);
    }

    /// The first cycle from `cycle` on in which another miss can begin.
    pub(super) fn miss_from(&self, cycle: u64) -> u64 {
        cycle.max(self.arrivals[self.next_arrival])
    }

    /// Notes when the line of a miss arrives.
    pub(super) fn miss_until(&mut self, cycle: u64) {
        self.arrivals[self.next_arrival] = cycle;
        self.next_arrival = (self.next_arrival + 1) % self.arrivals.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(size: u64, ways: u32, line: u32) -> Cache {
        let write = machine::Write::Back;
        Cache::new(&machine::Cache { size, ways, line, latency: 1, write, misses: 2 })
    }

    #[test]
    fn the_line_used_longest_ago_leaves() {
        // Two sets of two ways of 16 bytes: 0x00, 0x20, 0x40 share a set.
        let mut cache = cache(64, 2, 16);
        assert_eq!(cache.insert(0x00, 0, State::Shared), None);
        assert_eq!(cache.insert(0x20, 0, State::Modified), None);
        assert_eq!(cache.insert(0x10, 0, State::Shared), None);
        let place = cache.find(0x0f).expect("byte 15 of the first line");
        cache.touch(place);
        assert_eq!(cache.insert(0x40, 0, State::Shared), Some(Victim { address: 0x20, modified: true }));
        assert_eq!(cache.insert(0x60, 0, State::Shared), Some(Victim { address: 0x00, modified: false }));
        assert!(cache.find(0x10).is_some() && cache.find(0x20).is_none() && cache.find(0x00).is_none());
    }

    #[test]
    fn a_line_that_was_taken_away_is_gone() {
        let mut cache = cache(64, 2, 16);
        cache.insert(0x30, 0, State::Modified);
        assert_eq!(cache.invalidate(0x38), Some(true));
        assert_eq!(cache.invalidate(0x38), None);
        assert_eq!(cache.figures.invalidated, 1);
    }

    #[test]
    fn misses_wait_for_the_oldest_when_all_are_out() {
        let mut cache = cache(64, 2, 16);
        assert_eq!(cache.miss_from(5), 5);
        cache.miss_until(20);
        assert_eq!(cache.miss_from(6), 6);
        cache.miss_until(30);
        assert_eq!(cache.miss_from(7), 20);
    }
}
