//! Branch prediction: target buffer, history table, return address stack. Tables learn when a branch is predicted, not
//! some cycles later when it is resolved. Fetch stalls on a misprediction, so the difference only matters if one branch
//! is fetched twice within the pipeline's length. The structure is that of Rocket Chip's `BTB.scala`: a global history
//! whose newest outcome is its highest bit, hashed by a multiplication into the upper bits of the index. With two-bit
//! counters and a history as long as its hash it is S. McFarling's gshare (1993).

use crate::machine::{self, PredictorKind, Replace};
use crate::retired::{Class, Retired};
use serde::Serialize;

/// The outcome of predicting a control transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guess {
    /// Fetch continues at the right address without a bubble.
    Right,
    /// Fetch continues at the right address after the instruction is decoded, because it was not in the target buffer.
    Late,
    /// Fetch continues at a wrong address.
    Wrong,
}

/// Statistics of branch prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PredictFigures {
    /// Branches, jumps, calls and returns.
    pub transfers: u64,
    /// Conditional branches among them.
    pub branches: u64,
    /// Mispredicted conditional branches.
    pub wrong_branches: u64,
    /// Other mispredicted transfers.
    pub wrong_targets: u64,
}

#[derive(Clone, Copy, Debug)]
struct TargetEntry {
    /// Address of the branch, or of the fetch that contains it, plus 1. 0 means empty.
    key: u64,
    target: u64,
    used: u64,
}

/// Pseudo-LRU over any number of ways. The tree spans the next power of two, and the bit of a node points to the side
/// with the entry to replace. If that side has no ways, the entry is on the other side. There are as many bits as ways:
/// with 28 ways the last two pairs have no bit, and their second ways are never replaced (Rocket Chip, `PseudoLRU`).
#[derive(Clone, Debug)]
struct PlruTree {
    ways: usize,
    /// Node 1 is the root. The children of node n are 2n and 2n + 1.
    right: Box<[bool]>,
}

impl PlruTree {
    fn new(ways: usize) -> PlruTree {
        PlruTree { ways, right: vec![false; ways.next_power_of_two()].into() }
    }

    fn touch(&mut self, way: usize) {
        let mut node = 1;
        for level in (0..self.right.len().ilog2()).rev() {
            let right = way >> level & 1;
            self.right[node] = right == 0 && node < self.ways;
            node = 2 * node + right;
        }
    }

    fn victim(&self) -> usize {
        let mut node = 1;
        let mut way = 0;
        for level in (0..self.right.len().ilog2()).rev() {
            let right = usize::from(way + (1 << level) < self.ways && self.right[node]);
            way += right << level;
            node = 2 * node + right;
        }
        way
    }
}

/// The branch predictor of one hart.
#[derive(Clone, Debug)]
pub(crate) struct BranchPredictor {
    kind: PredictorKind,
    targets: Box<[TargetEntry]>,
    ways: usize,
    set_mask: u64,
    clock: u64,
    /// The replacement tree of each set. `None` means LRU replacement.
    trees: Option<Box<[PlruTree]>>,
    counters: Box<[u8]>,
    counter_high: u8,
    history: u64,
    history_length: u32,
    history_bits: u32,
    index_shift: u32,
    stack: Box<[u64]>,
    stack_top: usize,
    stack_held: usize,
    /// Statistics.
    pub figures: PredictFigures,
}

impl BranchPredictor {
    /// An empty predictor. Branches are identified by the aligned `fetch_bytes` that contain their last byte.
    #[must_use]
    pub(crate) fn new(description: &machine::Predictor, fetch_bytes: u32) -> BranchPredictor {
        let entries = description.btb_entries as usize;
        let ways = if description.btb_ways == 0 { entries.max(1) } else { description.btb_ways as usize };
        let bits = description.counter_bits.clamp(1, 4);
        let half = 1_u8 << (bits - 1);
        let history_bits = if description.history_bits == 0 { description.history } else { description.history_bits };
        BranchPredictor {
            kind: description.kind,
            targets: vec![TargetEntry { key: 0, target: 0, used: 0 }; entries].into_boxed_slice(),
            ways,
            set_mask: (entries / ways).max(1) as u64 - 1,
            clock: 0,
            trees: (description.btb_replace == Replace::Plru).then(|| vec![PlruTree::new(ways); entries / ways].into()),
            // Counters begin as weakly not taken.
            counters: vec![half - 1; description.bht_entries as usize].into_boxed_slice(),
            counter_high: 2 * half - 1,
            history: 0,
            history_length: description.history,
            history_bits,
            index_shift: fetch_bytes.max(2).ilog2(),
            stack: vec![0; description.ras_entries as usize].into_boxed_slice(),
            stack_top: 0,
            stack_held: 0,
            figures: PredictFigures::default(),
        }
    }

    /// Predicts a control transfer and learns its outcome. `fetched` is the address of the fetch that contained its
    /// last byte.
    #[inline(never)]
    pub(crate) fn predict(&mut self, retired: &Retired, fetched: u64) -> Guess {
        self.figures.transfers += 1;
        self.figures.branches += u64::from(retired.class == Class::Branch);
        let guess = match self.kind {
            PredictorKind::Perfect => Guess::Right,
            PredictorKind::Static => self.guess_static(retired),
            PredictorKind::Tables => self.guess_tables(retired, fetched),
        };
        if guess == Guess::Wrong {
            match retired.class {
                Class::Branch => self.figures.wrong_branches += 1,
                _ => self.figures.wrong_targets += 1,
            }
        }
        guess
    }

    fn guess_static(&mut self, retired: &Retired) -> Guess {
        let late = |right| if right { Guess::Late } else { Guess::Wrong };
        match retired.class {
            Class::Branch => {
                let taken = retired.is_taken();
                let backward = retired.address < retired.pc;
                match taken == backward {
                    true if taken => Guess::Late,
                    true => Guess::Right,
                    false => Guess::Wrong,
                }
            }
            Class::Return => late(self.pop() == Some(retired.next_pc)),
            Class::Call => {
                self.push(retired.pc.wrapping_add(retired.size.into()));
                late(!retired.sources[0].is_some())
            }
            Class::Jump => Guess::Late,
            _ => Guess::Wrong,
        }
    }

    fn guess_tables(&mut self, retired: &Retired, fetched: u64) -> Guess {
        let last = retired.pc.wrapping_add(u64::from(retired.size.max(2)) - 2);
        let key = last >> self.index_shift << self.index_shift;
        let place = if fetched == key { self.find(key) } else { None };
        let known = place.map(|place| self.targets[place].target);
        let next = retired.next_pc;
        let known_right = known == Some(next);
        let taken = retired.is_taken();
        let predicted = retired.class != Class::Branch || self.guess_direction(key, known.is_some(), taken);
        // Rocket's tree only records uses of entries that are predicted taken.
        if let Some(place) = place
            && (predicted || self.trees.is_none())
        {
            self.touch(place);
        }
        // A direct target can be decoded from the instruction.
        let late_or_right = if known_right { Guess::Right } else { Guess::Late };
        let guess = match retired.class {
            Class::Branch if predicted != taken => Guess::Wrong,
            Class::Branch if !taken => return Guess::Right,
            Class::Branch => late_or_right,
            Class::Jump => late_or_right,
            Class::Call => {
                self.push(retired.pc.wrapping_add(retired.size.into()));
                let indirect = retired.sources[0].is_some();
                if indirect && !known_right { Guess::Wrong } else { late_or_right }
            }
            Class::Return => match self.pop() {
                Some(address) if address == next => {
                    if known.is_some() {
                        Guess::Right
                    } else {
                        Guess::Late
                    }
                }
                Some(_) => Guess::Wrong,
                None if known_right => Guess::Right,
                None => Guess::Wrong,
            },
            _ => {
                if known_right {
                    Guess::Right
                } else {
                    Guess::Wrong
                }
            }
        };
        // Taken transfers are added. An entry that was predicted taken and is not taken stays.
        if !known_right && (retired.class != Class::Branch || taken) {
            self.remember(key, next);
        }
        guess
    }

    /// Predicts the direction of a branch and learns it.
    fn guess_direction(&mut self, key: u64, known: bool, taken: bool) -> bool {
        if self.counters.is_empty() {
            return known;
        }
        let entries = self.counters.len() as u64;
        let high = key >> self.index_shift;
        let address = (high & (entries - 1)) ^ ((high >> entries.ilog2()) & 3);
        let index = (address ^ (self.hashed_history() << (entries.ilog2() - self.history_bits))) & (entries - 1);
        let counter = &mut self.counters[index as usize];
        let predicted = *counter > self.counter_high / 2;
        *counter = if taken { (*counter + 1).min(self.counter_high) } else { counter.saturating_sub(1) };
        if self.history_length != 0 {
            self.history = self.history >> 1 | u64::from(taken) << (self.history_length - 1);
        }
        predicted
    }

    fn hashed_history(&self) -> u64 {
        if self.history_bits == self.history_length {
            return self.history;
        }
        // Fibonacci hashing, with the square root of 3/4 in place of the golden ratio.
        let factor = (3_f64.sqrt() / 2.0 * f64::from(1_u32 << self.history_length)) as u64;
        ((factor * self.history) & ((1 << self.history_length) - 1)) >> (self.history_length - self.history_bits)
    }

    fn set(&self, key: u64) -> usize {
        ((key >> self.index_shift) & self.set_mask) as usize * self.ways
    }

    fn find(&self, key: u64) -> Option<usize> {
        if self.targets.is_empty() {
            return None;
        }
        let first = self.set(key);
        (first..first + self.ways).find(|place| self.targets[*place].key == key + 1)
    }

    /// Records a use of an entry.
    fn touch(&mut self, place: usize) {
        self.clock += 1;
        self.targets[place].used = self.clock;
        if let Some(trees) = &mut self.trees {
            trees[place / self.ways].touch(place % self.ways);
        }
    }

    fn remember(&mut self, key: u64, target: u64) {
        if self.targets.is_empty() {
            return;
        }
        let place = self.find(key).unwrap_or_else(|| {
            let first = self.set(key);
            match &self.trees {
                Some(trees) => first + trees[first / self.ways].victim(),
                None => (first..first + self.ways).min_by_key(|place| self.targets[*place].used).unwrap_or(first),
            }
        });
        self.targets[place] = TargetEntry { key: key + 1, target, used: 0 };
        self.touch(place);
    }

    fn push(&mut self, address: u64) {
        if self.stack.is_empty() {
            return;
        }
        self.stack_top = (self.stack_top + 1) % self.stack.len();
        self.stack[self.stack_top] = address;
        self.stack_held = (self.stack_held + 1).min(self.stack.len());
    }

    fn pop(&mut self) -> Option<u64> {
        if self.stack_held == 0 {
            return None;
        }
        let address = self.stack[self.stack_top];
        self.stack_top = (self.stack_top + self.stack.len() - 1) % self.stack.len();
        self.stack_held -= 1;
        Some(address)
    }
}

#[cfg(test)]
#[path = "predict_tests.rs"]
mod tests;
