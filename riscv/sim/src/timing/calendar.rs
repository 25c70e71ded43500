//! Counts how many entries of a resource are taken in each cycle.

/// Number of cycles that are tracked. Later cycles count as free.
const CYCLES: usize = 1 << 13;

/// Entries taken in each cycle, from a first cycle that only moves forward.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    taken: Box<[u8]>,
    first: u64,
    entries: u8,
}

impl Calendar {
    /// A calendar with `entries` entries per cycle.
    pub(super) fn new(entries: u32) -> Calendar {
        Calendar { taken: vec![0; CYCLES].into_boxed_slice(), first: 0, entries: entries.min(255) as u8 }
    }

    /// Drops the cycles before `cycle`. They will not be asked for again.
    #[inline]
    pub(super) fn forget_before(&mut self, cycle: u64) {
        if cycle <= self.first {
            return;
        }
        if cycle - self.first >= CYCLES as u64 {
            self.taken.fill(0);
        } else {
            for gone in self.first..cycle {
                self.taken[gone as usize % CYCLES] = 0;
            }
        }
        self.first = cycle;
    }

    /// Whether `cycle` has a free entry.
    #[inline]
    pub(super) fn is_free(&self, cycle: u64) -> bool {
        cycle - self.first >= CYCLES as u64 || self.taken[cycle as usize % CYCLES] < self.entries
    }

    /// The first cycle with a free entry, from `cycle` on.
    #[inline]
    pub(super) fn first_free(&self, cycle: u64) -> u64 {
        let mut cycle = cycle.max(self.first);
        while !self.is_free(cycle) {
            cycle += 1;
        }
        cycle
    }

    /// Takes an entry in a cycle that [`first_free`](Calendar::first_free) returned.
    #[inline]
    pub(super) fn take(&mut self, cycle: u64) {
        if cycle - self.first < CYCLES as u64 {
            self.taken[cycle as usize % CYCLES] += 1;
        }
    }

    /// Takes an entry in each of `length` consecutive cycles, as early as possible from `cycle` on. Returns the first
    /// of them.
    #[inline]
    pub(super) fn take_run(&mut self, cycle: u64, length: u32) -> u64 {
        let mut begin = self.first_free(cycle);
        let mut end = begin + 1;
        while end < begin + u64::from(length) {
            if self.is_free(end) {
                end += 1;
            } else {
                begin = self.first_free(end);
                end = begin + 1;
            }
        }
        for cycle in begin..begin + u64::from(length) {
            self.take(cycle);
        }
        begin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_from_the_first_free_cycle_on() {
        let mut calendar = Calendar::new(2);
        let mut given = Vec::new();
        for _ in 0..5 {
            let cycle = calendar.first_free(3);
            calendar.take(cycle);
            given.push(cycle);
        }
        assert_eq!(given, [3, 3, 4, 4, 5]);
        // An instruction that is ready earlier still finds the cycles before.
        assert_eq!(calendar.first_free(0), 0);
    }

    #[test]
    fn runs_fit_into_gaps_that_are_long_enough() {
        let mut calendar = Calendar::new(1);
        assert_eq!(calendar.take_run(2, 1), 2);
        assert_eq!(calendar.take_run(5, 2), 5);
        assert_eq!(calendar.take_run(0, 2), 0);
        assert_eq!(calendar.take_run(0, 3), 7, "3 and 4 are free, but they are only two");
        assert_eq!(calendar.take_run(0, 2), 3);
    }

    #[test]
    fn forgotten_cycles_are_free_for_later_ones() {
        let mut calendar = Calendar::new(1);
        for cycle in 0..CYCLES as u64 {
            calendar.take(cycle);
        }
        assert_eq!(calendar.first_free(0), CYCLES as u64);
        calendar.forget_before(10);
        assert_eq!(calendar.first_free(0), CYCLES as u64, "the cells of cycles 0 to 9 hold those after the last");
        calendar.forget_before(5 * CYCLES as u64);
        assert_eq!(calendar.first_free(0), 5 * CYCLES as u64);
    }
}
