//! What a run comes to. The keys that scripts rely on come first.

use std::collections::BTreeMap;

use serde::Serialize;

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The program's exit code.
    pub exit_code: u64,
    /// Instructions completed by all harts.
    pub instructions: u64,
    /// Cycles until the program ended.
    pub cycles: u64,
    /// Instructions per cycle, of all harts together.
    pub ipc: f64,
    /// Each hart.
    pub harts: Vec<HartReport>,
    /// Each region that the program has marked, in the order of their numbers.
    pub regions: Vec<RegionReport>,
}

/// A hart's part of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HartReport {
    /// Instructions completed.
    pub instructions: u64,
    /// Cycles until the program ended.
    pub cycles: u64,
    /// Instructions per cycle.
    pub ipc: f64,
}

/// What all harts did in a region.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegionReport {
    /// Its number, in words.
    pub name: String,
    /// Instructions completed in it.
    pub instructions: u64,
    /// Cycles in it, of all harts together.
    pub cycles: u64,
}

/// Instructions per cycle; 0 where there were no cycles.
#[must_use]
pub fn ipc(instructions: u64, cycles: u64) -> f64 {
    if cycles == 0 { 0.0 } else { instructions as f64 / cycles as f64 }
}

/// Counts what a hart does in which region.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    current: u16,
    /// Instructions and cycles when the current region began.
    since: (u64, u64),
    totals: BTreeMap<u16, (u64, u64)>,
}

impl Regions {
    /// Region `number` begins; `instructions` and `cycles` are the hart's so far. Region 0 is what has no mark.
    pub fn enter(&mut self, number: u16, instructions: u64, cycles: u64) {
        let (total_instructions, total_cycles) = self.totals.entry(self.current).or_default();
        *total_instructions += instructions - self.since.0;
        *total_cycles += cycles - self.since.1;
        (self.current, self.since) = (number, (instructions, cycles));
    }

    /// Instructions and cycles of each region, the current one up to now.
    #[must_use]
    pub fn totals(&self, instructions: u64, cycles: u64) -> BTreeMap<u16, (u64, u64)> {
        let mut all = self.clone();
        all.enter(self.current, instructions, cycles);
        all.totals
    }

    /// The marked regions of all harts.
    pub fn report(harts: impl Iterator<Item = BTreeMap<u16, (u64, u64)>>) -> Vec<RegionReport> {
        let mut sums: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
        for (number, (instructions, cycles)) in harts.flatten().filter(|(number, _)| *number != 0) {
            let sum = sums.entry(number).or_default();
            *sum = (sum.0 + instructions, sum.1 + cycles);
        }
        let report = |(number, (instructions, cycles)): (u16, _)| RegionReport {
            name: number.to_string(),
            instructions,
            cycles,
        };
        sums.into_iter().map(report).collect()
    }
}
