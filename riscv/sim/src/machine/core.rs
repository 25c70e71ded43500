//! Pipelines and branch prediction as a machine file describes them.

use super::{check_number, invalid_field};
use crate::error::Error;
use crate::retired::Class;
use serde::Deserialize;

/// A pipeline that executes in program order, at most one instruction a cycle. Times are in cycles. *Use* times count
/// from an instruction's execute stage to the earliest execute stage of an instruction that needs its result; 1 is the
/// next cycle.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InOrder {
    /// Aligned bytes fetched in a cycle: 2, 4, 8 or 16.
    pub fetch_bytes: u32,
    /// The most fetches that wait for decode, 1 to 64.
    pub fetch_queue: u32,
    /// Cycles from a fetch to decode, 1 to 20.
    pub fetch_stages: u32,
    /// Bubbles after a jump or taken branch that the front end finds without the target buffer, 0 to 20.
    pub redirect: u32,
    /// Bubbles after a misprediction, 0 to 100.
    pub mispredict: u32,
    /// Use time of a word loaded from level 1 or tightly coupled memory, 1 to 20.
    pub load_use: u32,
    /// Use time of a loaded byte or halfword, which must be shifted and extended, 1 to 20.
    pub narrow_load_use: u32,
    /// Use time of the return address that `jalr` writes, 1 to 20.
    pub link_use: u32,
    /// Use time of the value that a CSR instruction reads, 1 to 20.
    pub csr_use: u32,
    /// Bubbles while the pipeline refills, 0 to 100: after a write to a CSR (except `mscratch`, `mepc`, `mcause` and
    /// `mtval`), a trap, a return from one, or `fence.i`.
    pub flush: u32,
    /// Bubbles of a load that overlaps a store waiting to be written, 0 to 100. From the second cycle after its execute
    /// stage, a store waits for the first cycle in which no load executes.
    pub store_hazard: u32,
    /// Use time of a product, 1 to 200.
    pub multiply_use: u32,
    /// Whether multiplier and divider are one unit beside the pipeline that performs one operation at a time. It writes
    /// its result in a cycle in which no instruction of the pipeline writes one. If false, multiplications are
    /// pipelined.
    pub multiply_beside: bool,
    /// The divider.
    pub divide: Divider,
    /// Floating-point units, and the time of atomic operations. By default atomic operations take the time of loads.
    #[serde(default)]
    pub unit: Vec<Unit>,
}

/// A divider that computes the quotient a few bits at a time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Divider {
    /// Use time without the time for the quotient's bits, 1 to 200.
    pub base: u32,
    /// Bits of the quotient per cycle, 1 to 64.
    pub bits_per_cycle: u32,
    /// Whether leading bits of the quotient that must be zero are skipped.
    pub early_out: bool,
    /// Cycles to make negative operands positive, and again to negate the result, 0 to 10.
    pub sign: u32,
}

/// How branches are predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredictorKind {
    /// Never wrong.
    #[default]
    Perfect,
    /// Predicts backward branches as taken and forward branches as not taken. Jumps through registers are mispredicted,
    /// except returns that the return stack predicts.
    Static,
    /// Tables: branch target buffer, branch history table, return address stack.
    Tables,
}

/// Which entry of a table is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replace {
    /// The least recently used entry.
    #[default]
    Lru,
    /// Pseudo-LRU: a tree of bits leads to the entry, and each bit points away from the more recently used side.
    Plru,
}

/// Branch prediction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Predictor {
    /// The method of prediction.
    #[serde(default)]
    pub kind: PredictorKind,
    /// Entries of the branch target buffer, 0 to 65536.
    #[serde(default)]
    pub btb_entries: u32,
    /// Which entry of the target buffer is replaced.
    #[serde(default)]
    pub btb_replace: Replace,
    /// Ways of the target buffer. 0 means fully associative.
    #[serde(default)]
    pub btb_ways: u32,
    /// Counters of the branch history table, 0 or a power of two up to 2^20.
    #[serde(default)]
    pub bht_entries: u32,
    /// Bits of each counter, 1 to 4.
    #[serde(default = "two")]
    pub counter_bits: u32,
    /// Branches that the global history records, 0 to 24.
    #[serde(default)]
    pub history: u32,
    /// Bits to which the history is hashed before it selects a counter. 0 means the full history.
    #[serde(default)]
    pub history_bits: u32,
    /// Entries of the return address stack, 0 to 1024.
    #[serde(default)]
    pub ras_entries: u32,
}

fn two() -> u32 {
    2
}

/// When a load may pass older stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disambiguation {
    /// When older stores have executed, address and data.
    ProgramOrder,
    /// When the addresses of older stores are known.
    Addresses,
    /// As if all addresses were known from the beginning. A load waits only for a store to the bytes that it reads.
    Perfect,
}

/// A pipeline that executes out of order.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OutOfOrder {
    /// The most instructions that begin execution in a cycle, 1 to 64.
    pub issue: u32,
    /// Instructions fetched in a cycle. 0 means `issue`.
    #[serde(default)]
    pub fetch: u32,
    /// Instructions renamed and put into the reorder buffer in a cycle. 0 means `issue`.
    #[serde(default)]
    pub rename: u32,
    /// Instructions that leave the reorder buffer in a cycle. 0 means `issue`.
    #[serde(default)]
    pub commit: u32,
    /// Whether fetch continues after a taken branch in the same cycle.
    #[serde(default)]
    pub fetch_past_taken: bool,
    /// The most instructions that wait between fetch and rename, 1 to 1024.
    pub fetch_queue: u32,
    /// Cycles from fetch to rename, 1 to 50.
    pub front_end: u32,
    /// Cycles from the end of a mispredicted branch to the next fetch, 0 to 100. 0 means the same cycle.
    pub mispredict: u32,
    /// Bubbles in fetch after a predicted jump or taken branch that is not in the target buffer, 0 to 20.
    pub redirect: u32,
    /// Size of the reorder buffer in instructions, 1 to 4096.
    pub reorder_buffer: u32,
    /// The most instructions that wait for operands or units. 0 means all in the reorder buffer.
    #[serde(default)]
    pub issue_queue: u32,
    /// The most loads between rename and commit, 1 to 4096.
    pub load_queue: u32,
    /// The most stores between rename and the write into the cache, 1 to 4096.
    pub store_queue: u32,
    /// Physical integer registers beyond the 31 architectural ones. 0 means as many as the reorder buffer needs.
    #[serde(default)]
    pub integer_registers: u32,
    /// Physical floating-point registers beyond the 32 architectural ones. 0 means as many as the reorder buffer needs.
    #[serde(default)]
    pub float_registers: u32,
    /// When a load may pass older stores.
    pub disambiguation: Disambiguation,
    /// Cycles from a load's issue to data forwarded from a waiting store, 1 to 100.
    pub forward: u32,
    /// Execution units. Every class of instruction belongs to exactly one entry.
    pub unit: Vec<Unit>,
}

/// One or more identical execution units.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Unit {
    /// The classes of instructions that they execute.
    pub does: Vec<UnitClass>,
    /// Number of units, 1 to 64. 0 means as many as instructions can issue.
    #[serde(default)]
    pub count: u32,
    /// Numbers that replace `count` from some issue widths on, as pairs of issue width and number in ascending order.
    #[serde(default)]
    pub count_from_issue: Vec<[u32; 2]>,
    /// Cycles to the result, 1 to 1000. Loads add the cycles of the caches after the first (1 here and 1 in level 1 is
    /// 1 in all).
    #[serde(default = "one")]
    pub latency: u32,
    /// Latency for doubles, 64-bit products and 64-bit quotients. 0 means `latency`.
    #[serde(default)]
    pub double_latency: u32,
    /// Cycles until a unit can begin the next instruction. 1 means pipelined, and 0 means when it has finished.
    #[serde(default = "one")]
    pub interval: u32,
}

fn one() -> u32 {
    1
}

/// Classes of instructions, as in machine files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum UnitClass {
    /// Integer arithmetic, and also CSRs, fences and instructions without effect.
    Alu,
    Multiply,
    Divide,
    Load,
    Store,
    Atomic,
    /// Branches, jumps, calls, returns.
    Branch,
    FpAdd,
    FpMultiply,
    FpDivide,
    FpFused,
    FpSqrt,
    FpMove,
}

impl UnitClass {
    /// All classes.
    pub const ALL: [UnitClass; 13] = {
        use UnitClass::*;
        [Alu, Multiply, Divide, Load, Store, Atomic, Branch, FpAdd, FpMultiply, FpDivide, FpFused, FpSqrt, FpMove]
    };

    /// The class to which an instruction belongs.
    #[must_use]
    pub const fn of(class: Class) -> UnitClass {
        match class {
            Class::Multiply => UnitClass::Multiply,
            Class::Divide => UnitClass::Divide,
            Class::Load => UnitClass::Load,
            Class::Store => UnitClass::Store,
            Class::Atomic | Class::LoadReserved | Class::StoreConditional => UnitClass::Atomic,
            Class::Branch | Class::Jump | Class::Call | Class::Return | Class::IndirectJump => UnitClass::Branch,
            Class::FpAdd => UnitClass::FpAdd,
            Class::FpMultiply => UnitClass::FpMultiply,
            Class::FpDivide => UnitClass::FpDivide,
            Class::FpFused => UnitClass::FpFused,
            Class::FpSqrt => UnitClass::FpSqrt,
            Class::FpMove => UnitClass::FpMove,
            _ => UnitClass::Alu,
        }
    }
}

impl InOrder {
    pub(super) fn check(&self, field: &str) -> Result<(), Error> {
        let check_number =
            |name: &str, number: u32, low, high| check_number(&format!("{field}.{name}"), number.into(), low, high);
        check_number("fetch_bytes", self.fetch_bytes, 2, 16)?;
        if !self.fetch_bytes.is_power_of_two() {
            return Err(invalid_field(
                &format!("{field}.fetch_bytes"),
                format_args!("{} is not a power of two", self.fetch_bytes),
            ));
        }
        check_number("fetch_queue", self.fetch_queue, 1, 64)?;
        check_number("fetch_stages", self.fetch_stages, 1, 20)?;
        check_number("redirect", self.redirect, 0, 20)?;
        check_number("mispredict", self.mispredict, 0, 100)?;
        check_number("load_use", self.load_use, 1, 20)?;
        check_number("narrow_load_use", self.narrow_load_use, 1, 20)?;
        check_number("link_use", self.link_use, 1, 20)?;
        check_number("csr_use", self.csr_use, 1, 20)?;
        check_number("flush", self.flush, 0, 100)?;
        check_number("store_hazard", self.store_hazard, 0, 100)?;
        check_number("multiply_use", self.multiply_use, 1, 200)?;
        check_number("divide.base", self.divide.base, 1, 200)?;
        check_number("divide.bits_per_cycle", self.divide.bits_per_cycle, 1, 64)?;
        check_number("divide.sign", self.divide.sign, 0, 10)?;
        let mut timed = Vec::new();
        for (number, unit) in self.unit.iter().enumerate() {
            let field = format!("{field}.unit[{number}]");
            unit.check(&field)?;
            if unit.count > 1 || !unit.count_from_issue.is_empty() {
                return Err(invalid_field(&format!("{field}.count"), "an in-order pipeline has one unit of a kind"));
            }
            for does in &unit.does {
                let is_field = match does {
                    UnitClass::Load | UnitClass::Store | UnitClass::Branch => true,
                    UnitClass::Multiply | UnitClass::Divide => self.multiply_beside,
                    _ => false,
                };
                if is_field || timed.contains(does) {
                    return Err(invalid_field(
                        &format!("{field}.does"),
                        format_args!("the times of {does:?} are in another unit or in fields of in_order"),
                    ));
                }
                let unused = match does {
                    UnitClass::Multiply | UnitClass::Divide if unit.latency != 1 || unit.double_latency != 0 => {
                        Some(("latency", "is in fields of in_order"))
                    }
                    UnitClass::Alu if unit.interval != 1 => Some(("interval", "must be 1")),
                    _ => None,
                };
                if let Some((name, why)) = unused {
                    return Err(invalid_field(&format!("{field}.{name}"), format_args!("that of {does:?} {why}")));
                }
                timed.push(*does);
            }
        }
        Ok(())
    }
}

impl Predictor {
    pub(super) fn check(&self, field: &str) -> Result<(), Error> {
        let name = |name: &str| format!("{field}.{name}");
        if self.kind != PredictorKind::Tables {
            let sizes = [("btb_entries", self.btb_entries), ("bht_entries", self.bht_entries)];
            if let Some((size, _)) = sizes.iter().find(|(_, size)| *size != 0) {
                return Err(invalid_field(&name(size), "allowed only for a predictor of kind \"tables\""));
            }
        }
        check_number(&name("btb_entries"), self.btb_entries.into(), 0, 65_536)?;
        check_number(&name("ras_entries"), self.ras_entries.into(), 0, 1024)?;
        check_number(&name("bht_entries"), self.bht_entries.into(), 0, 1 << 20)?;
        if self.bht_entries != 0 && !self.bht_entries.is_power_of_two() {
            return Err(invalid_field(
                &name("bht_entries"),
                format_args!("{} is not a power of two", self.bht_entries),
            ));
        }
        if self.btb_entries != 0
            && self.btb_ways != 0
            && (!self.btb_entries.is_multiple_of(self.btb_ways)
                || !(self.btb_entries / self.btb_ways).is_power_of_two())
        {
            return Err(invalid_field(
                &name("btb_ways"),
                "the number of sets, btb_entries / btb_ways, must be a power of two",
            ));
        }
        if self.kind == PredictorKind::Tables {
            check_number(&name("counter_bits"), self.counter_bits.into(), 1, 4)?;
        }
        check_number(&name("history"), self.history.into(), 0, 24)?;
        check_number(&name("history_bits"), self.history_bits.into(), 0, self.history.into())?;
        let bits = if self.history_bits == 0 { self.history } else { self.history_bits };
        if self.bht_entries != 0 && bits > self.bht_entries.ilog2() {
            return Err(invalid_field(&name("history"), "has more bits than the index of a counter in bht_entries"));
        }
        Ok(())
    }
}

impl OutOfOrder {
    pub(super) fn check(&self, field: &str) -> Result<(), Error> {
        let check_number =
            |name: &str, number: u32, low, high| check_number(&format!("{field}.{name}"), number.into(), low, high);
        check_number("issue", self.issue, 1, 64)?;
        check_number("fetch", self.fetch, 0, 64)?;
        check_number("rename", self.rename, 0, 64)?;
        check_number("commit", self.commit, 0, 64)?;
        check_number("fetch_queue", self.fetch_queue, 1, 1024)?;
        check_number("front_end", self.front_end, 1, 50)?;
        check_number("mispredict", self.mispredict, 0, 100)?;
        check_number("redirect", self.redirect, 0, 20)?;
        check_number("reorder_buffer", self.reorder_buffer, 1, 4096)?;
        check_number("issue_queue", self.issue_queue, 0, 4096)?;
        check_number("load_queue", self.load_queue, 1, 4096)?;
        check_number("store_queue", self.store_queue, 1, 4096)?;
        check_number("integer_registers", self.integer_registers, 0, 4096)?;
        check_number("float_registers", self.float_registers, 0, 4096)?;
        check_number("forward", self.forward, 1, 100)?;
        for (number, unit) in self.unit.iter().enumerate() {
            unit.check(&format!("{field}.unit[{number}]"))?;
        }
        for class in UnitClass::ALL {
            let there = self.unit.iter().flat_map(|unit| &unit.does).filter(|does| **does == class).count();
            if there != 1 {
                return Err(invalid_field(
                    &format!("{field}.unit"),
                    format_args!("{class:?} is in {there} units, must be in exactly one"),
                ));
            }
        }
        Ok(())
    }
}

impl Unit {
    /// The number of units at this issue width.
    pub(crate) fn count_at(&self, issue: u32) -> u32 {
        let replaced = self.count_from_issue.iter().rev().find(|[from, _]| *from <= issue);
        match replaced.map_or(self.count, |[_, count]| *count) {
            0 => issue,
            count => count,
        }
    }

    fn check(&self, field: &str) -> Result<(), Error> {
        let check_number =
            |name: &str, number: u32, low, high| check_number(&format!("{field}.{name}"), number.into(), low, high);
        if self.does.is_empty() {
            return Err(invalid_field(&format!("{field}.does"), "is empty: name at least one class of instructions"));
        }
        check_number("count", self.count, 0, 64)?;
        for [from, count] in &self.count_from_issue {
            check_number("count_from_issue", *from, 1, 64)?;
            check_number("count_from_issue", *count, 0, 64)?;
        }
        if !self.count_from_issue.is_sorted_by(|a, b| a[0] < b[0]) {
            return Err(invalid_field(&format!("{field}.count_from_issue"), "the issue widths do not ascend"));
        }
        check_number("latency", self.latency, 1, 1000)?;
        check_number("double_latency", self.double_latency, 0, 1000)?;
        check_number("interval", self.interval, 0, 1000)
    }
}
