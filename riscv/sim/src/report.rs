//! What a run comes to. The keys that scripts rely on come first; what only a timing model knows is left out without one.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    Image,
    retired::Class,
    taint::SecretsReport,
    timing::{Account, CacheFigures, PredictFigures, SharedFigures},
};

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The program's exit code. None while it has not ended.
    pub exit_code: Option<u64>,
    /// Instructions completed by all harts.
    pub instructions: u64,
    /// Cycles until the program ended or, on a machine without a pipeline (`timing` is `None`), a count of instructions, which says
    /// nothing about time.
    pub cycles: u64,
    /// Instructions per cycle, of all harts together; likewise.
    pub ipc: f64,
    /// Each hart.
    pub harts: Vec<HartReport>,
    /// Each region that the program has marked, in the order of their numbers.
    pub regions: Vec<RegionReport>,
    /// Where secrets showed, if they were followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secrets: Option<SecretsReport>,
    /// What the model knows besides.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub timing: Option<TimingReport>,
}

/// A hart's part of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HartReport {
    /// Instructions completed.
    pub instructions: u64,
    /// Cycles until the program ended.
    pub cycles: u64,
    /// Instructions per cycle.
    pub ipc: f64,
    /// What the model knows besides.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub timing: Option<HartTiming>,
}

/// What all harts did in a region.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RegionReport {
    /// The program's name for it, or its number in words.
    pub name: String,
    /// Its number.
    pub number: u16,
    /// Instructions completed in it.
    pub instructions: u64,
    /// Cycles in it, of the hart that spent most. What runs once finds caches and tables of prediction empty.
    pub cycles: u64,
    /// Instructions and cycles of each hart.
    pub harts: Vec<Spent>,
}

/// What was spent somewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// Instructions completed.
    pub instructions: u64,
    /// Cycles.
    pub cycles: u64,
    /// Where the slots went; nothing without a timing model.
    pub slots: Account,
}

/// What a timing model knows of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TimingReport {
    /// The machine's name.
    pub machine: String,
    /// `in-order`, `out-of-order` or `limit`.
    pub model: &'static str,
    /// Instructions that a hart can begin in a cycle; 0 for no limit.
    pub issue: u32,
    /// Where the slots of all harts went.
    pub slots: Account,
    /// Instructions of each class that occurred.
    pub mix: BTreeMap<&'static str, u64>,
    /// What all harts share.
    #[serde(flatten)]
    pub shared: SharedFigures,
    /// Each function that the program has a name for, the longest first.
    pub functions: Vec<FunctionReport>,
}

/// What a timing model knows of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HartTiming {
    /// Where its slots went.
    pub slots: Account,
    /// How predictions went.
    pub prediction: PredictFigures,
    /// Its level 1 cache for instructions.
    pub l1i: CacheFigures,
    /// Its level 1 cache for data.
    pub l1d: CacheFigures,
}

/// What was spent in a function itself, not in what it calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FunctionReport {
    /// Its name.
    pub name: String,
    /// Instructions.
    pub instructions: u64,
    /// Cycles, of all harts together: from the retirement of the instruction before to that of its own.
    pub cycles: u64,
}

/// Instructions per cycle; 0 where there were no cycles.
#[must_use]
pub fn ipc(instructions: u64, cycles: u64) -> f64 {
    if cycles == 0 { 0.0 } else { instructions as f64 / cycles as f64 }
}

/// Counts what a hart does in which region.
#[derive(Clone, Debug, Default)]
pub(crate) struct Regions {
    current: u16,
    /// What the hart had spent when the current region began.
    since: Spent,
    totals: BTreeMap<u16, Spent>,
}

impl Spent {
    fn since(&self, before: &Spent) -> Spent {
        Spent {
            instructions: self.instructions - before.instructions,
            cycles: self.cycles - before.cycles,
            slots: self.slots.since(&before.slots),
        }
    }

    fn add(&mut self, other: &Spent) {
        self.instructions += other.instructions;
        self.cycles += other.cycles;
        self.slots.add(&other.slots);
    }
}

impl Regions {
    /// Region `number` begins; `now` is what the hart has spent so far. Region 0 is what has no mark.
    pub(crate) fn enter(&mut self, number: u16, now: Spent) {
        self.totals.entry(self.current).or_default().add(&now.since(&self.since));
        (self.current, self.since) = (number, now);
    }

    /// What was spent in each region, in the current one up to now.
    #[must_use]
    pub(crate) fn totals(&self, now: Spent) -> BTreeMap<u16, Spent> {
        let mut all = self.clone();
        all.enter(self.current, now);
        all.totals
    }

    /// The marked regions of all harts.
    #[must_use]
    pub(crate) fn report(harts: &[BTreeMap<u16, Spent>], image: &Image) -> Vec<RegionReport> {
        let mut numbers: Vec<u16> =
            harts.iter().flat_map(BTreeMap::keys).copied().filter(|number| *number != 0).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let report = |number: u16| {
            let harts: Vec<Spent> = harts.iter().map(|hart| hart.get(&number).copied().unwrap_or_default()).collect();
            RegionReport {
                name: image.region_name(number),
                number,
                instructions: harts.iter().map(|hart| hart.instructions).sum(),
                cycles: harts.iter().map(|hart| hart.cycles).max().unwrap_or(0),
                harts,
            }
        };
        numbers.into_iter().map(report).collect()
    }
}

/// Names of the classes, as reports have them.
pub(crate) const CLASSES: [(Class, &str); Class::COUNT] = [
    (Class::Alu, "alu"),
    (Class::Multiply, "multiply"),
    (Class::Divide, "divide"),
    (Class::Load, "load"),
    (Class::Store, "store"),
    (Class::Atomic, "atomic"),
    (Class::LoadReserved, "load_reserved"),
    (Class::StoreConditional, "store_conditional"),
    (Class::Branch, "branch"),
    (Class::Jump, "jump"),
    (Class::Call, "call"),
    (Class::Return, "return"),
    (Class::IndirectJump, "indirect_jump"),
    (Class::Csr, "csr"),
    (Class::Fence, "fence"),
    (Class::System, "system"),
    (Class::FpAdd, "fp_add"),
    (Class::FpMultiply, "fp_multiply"),
    (Class::FpDivide, "fp_divide"),
    (Class::FpFused, "fp_fused"),
    (Class::FpSqrt, "fp_sqrt"),
    (Class::FpMove, "fp_move"),
    (Class::Nop, "nop"),
];
