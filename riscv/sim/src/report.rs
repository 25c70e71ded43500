//! The result of a run. The JSON keys that scripts rely on come first. Keys that need a timing model are left out
//! without one.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::Image;
use crate::lines::SourceLine;
use crate::retired::Class;
use crate::taint::SecretsReport;
use crate::timing::{Account, CacheFigures, PredictFigures, SharedFigures};

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The program's exit code, or `None` if it has not ended.
    pub exit_code: Option<u64>,
    /// Instructions completed by all harts.
    pub instructions: u64,
    /// Cycles until the program ended. On a machine without a pipeline (`timing` is `None`) it counts instructions, traps
    /// and sleep, and is no measure of time.
    pub cycles: u64,
    /// Instructions per cycle, of all harts together. No measure of time on a machine without a pipeline either.
    pub ipc: f64,
    /// The results of each hart.
    pub harts: Vec<HartReport>,
    /// The regions that the program marks, by number.
    pub regions: Vec<RegionReport>,
    /// The findings about secrets, if secrets were followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secrets: Option<SecretsReport>,
    /// The results that need a timing model.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub timing: Option<TimingReport>,
}

/// The results of one hart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HartReport {
    /// Instructions completed.
    pub instructions: u64,
    /// Cycles until the program ended.
    pub cycles: u64,
    /// Instructions per cycle.
    pub ipc: f64,
    /// The results that need a timing model.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub timing: Option<HartTiming>,
}

/// The results of all harts in one region.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RegionReport {
    /// The name that the program gives it, or `region N`.
    pub name: String,
    /// The region's number.
    pub number: u16,
    /// Instructions completed in it.
    pub instructions: u64,
    /// Cycles in it, of the hart that spent most. A region that runs once starts with cold caches and predictors.
    pub cycles: u64,
    /// Instructions and cycles in it, by hart.
    pub harts: Vec<Spent>,
}

/// Instructions, cycles and slots spent in a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// Instructions completed.
    pub instructions: u64,
    /// Cycles.
    pub cycles: u64,
    /// How the slots were used. Zero without a timing model.
    pub slots: Account,
}

/// The results that only a timing model gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TimingReport {
    /// The machine's name.
    pub machine: String,
    /// `in-order`, `out-of-order` or `limit`.
    pub model: &'static str,
    /// The most instructions that a hart can begin in a cycle. 0 means no limit.
    pub issue: u32,
    /// How the slots of all harts were used.
    pub slots: Account,
    /// Number of instructions, by class. Classes that did not occur are left out.
    pub mix: BTreeMap<&'static str, u64>,
    /// Statistics of the level 2 cache and the bus.
    #[serde(flatten)]
    pub shared: SharedFigures,
    /// The functions that ran, sorted by cycles in descending order.
    pub functions: Vec<FunctionReport>,
    /// The same with their calls and slots, if a profile was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Vec<ProfiledFunction>>,
    /// The lines of the source that ran, sorted by cycles in descending order, if a profile was requested and the program has
    /// debug information.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<ProfiledLine>,
}

/// A function in a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProfiledFunction {
    /// The function's name.
    pub name: String,
    /// Where it begins in the source, if the program has debug information.
    #[serde(flatten)]
    pub source: Option<SourceLine>,
    /// Number of calls, not counting jumps to it.
    pub calls: u64,
    /// Cycles of all harts in it and in what it calls.
    pub cycles_with_callees: u64,
    /// Instructions, cycles and slots of the function itself.
    #[serde(flatten)]
    pub spent: Spent,
}

/// A line of the source in a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProfiledLine {
    /// The line.
    #[serde(flatten)]
    pub source: SourceLine,
    /// Instructions completed in it.
    pub instructions: u64,
    /// Cycles of all harts. Each instruction counts from the retirement of the one before it to its own, and sleep for its
    /// `wfi`.
    pub cycles: u64,
}

/// The results of one hart that only a timing model gives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HartTiming {
    /// How its slots were used.
    pub slots: Account,
    /// Statistics of branch prediction.
    pub prediction: PredictFigures,
    /// Statistics of its level 1 instruction cache.
    pub l1i: CacheFigures,
    /// Statistics of its level 1 data cache.
    pub l1d: CacheFigures,
}

/// Instructions and cycles of one function, without the functions that it calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FunctionReport {
    /// The function's name.
    pub name: String,
    /// Instructions completed in it.
    pub instructions: u64,
    /// Cycles of all harts. Each instruction counts from the retirement of the one before it to its own, and sleep for its
    /// `wfi`.
    pub cycles: u64,
}

/// Instructions per cycle, or 0 if there were no cycles.
#[must_use]
pub fn ipc(instructions: u64, cycles: u64) -> f64 {
    if cycles == 0 { 0.0 } else { instructions as f64 / cycles as f64 }
}

/// Counts what a hart spends in each region.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegionCounter {
    current: u16,
    /// What the hart had spent when the current region began.
    since: Spent,
    totals: BTreeMap<u16, Spent>,
}

impl Spent {
    pub(crate) fn since(&self, before: &Spent) -> Spent {
        Spent {
            instructions: self.instructions - before.instructions,
            cycles: self.cycles - before.cycles,
            slots: self.slots.since(&before.slots),
        }
    }

    pub(crate) fn add(&mut self, other: &Spent) {
        self.instructions += other.instructions;
        self.cycles += other.cycles;
        self.slots.add(&other.slots);
    }
}

impl RegionCounter {
    /// Begins region `number`. `now` is what the hart has spent so far. Region 0 is all code outside marked regions.
    pub(crate) fn enter(&mut self, number: u16, now: Spent) {
        self.totals.entry(self.current).or_default().add(&now.since(&self.since));
        (self.current, self.since) = (number, now);
    }

    /// The cycles and instructions of each region. The current region counts up to `now`.
    #[must_use]
    pub(crate) fn totals(&self, now: Spent) -> BTreeMap<u16, Spent> {
        let mut all = self.clone();
        all.enter(self.current, now);
        all.totals
    }

    /// The results of all marked regions.
    #[must_use]
    pub(crate) fn report(harts: &[BTreeMap<u16, Spent>], image: &Image) -> Vec<RegionReport> {
        let numbers: BTreeSet<u16> =
            harts.iter().flat_map(BTreeMap::keys).copied().filter(|number| *number != 0).collect();
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

/// Names of the classes in reports.
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
