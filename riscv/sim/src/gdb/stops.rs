//! Where a debugger wants the harts to stop.

use gdbstub::target::ext::breakpoints::WatchKind;

use crate::retired::Class;

/// Breakpoints and watchpoints.
#[derive(Debug, Default)]
pub(crate) struct Stops {
    pub(crate) breakpoints: Vec<u64>,
    pub(crate) watches: Vec<Watch>,
    /// The last stop, until the session takes it.
    pub(super) last: Option<Stop>,
    /// Hart, address and completed instructions at the last stop. The hart does not stop there again before it has
    /// executed something.
    passed: Option<(usize, u64, u64)>,
}

/// A range of memory to watch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Watch {
    pub(super) start: u64,
    pub(super) bytes: u64,
    pub(super) kind: WatchKind,
}

/// A stop of a hart, by a breakpoint or before an access to a watched address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    pub(super) hart: usize,
    pub(super) watch: Option<(WatchKind, u64)>,
}

impl Stops {
    /// Notes that a hart stops at a place, and returns whether it has to.
    pub(crate) fn stop(&mut self, place: (usize, u64, u64), watch: Option<(WatchKind, u64)>) -> bool {
        if self.passed == Some(place) {
            return false;
        }
        self.passed = Some(place);
        self.last = Some(Stop { hart: place.0, watch });
        true
    }

    /// Whether a hart has to stop before an access.
    pub(crate) fn watch(&mut self, place: (usize, u64, u64), class: Class, address: u64, bytes: u64) -> bool {
        if self.breakpoints.contains(&place.1) {
            return self.stop(place, None);
        }
        let hit = self.watches.iter().find(|watch| {
            let accesses = match watch.kind {
                WatchKind::Read => class.is_load(),
                WatchKind::Write => class.is_store(),
                WatchKind::ReadWrite => class.is_load() || class.is_store(),
            };
            // One of the two ranges begins in the other.
            let (ahead, behind) = (watch.start.wrapping_sub(address), address.wrapping_sub(watch.start));
            accesses && (ahead < bytes || behind < watch.bytes)
        });
        match hit.map(|watch| (watch.kind, address.max(watch.start))) {
            Some(hit) => self.stop(place, Some(hit)),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breakpoint_comes_before_the_access_of_its_instruction() {
        let watches = vec![Watch { start: 16, bytes: 4, kind: WatchKind::Write }];
        let mut stops = Stops { breakpoints: vec![8], watches, ..Stops::default() };
        for (place, stop) in [((0, 8, 3), Some(false)), ((0, 8, 3), None), ((0, 12, 4), Some(true))] {
            let has_stopped = stops.watch(place, Class::Store, 18, 1);
            let last = stops.last.take().map(|stop| stop.watch.is_some());
            assert_eq!((has_stopped, last), (stop.is_some(), stop), "{place:?}");
        }
    }
}
