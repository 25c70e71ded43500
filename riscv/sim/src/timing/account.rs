//! Accounts for retirement slots. A machine that can retire n instructions in a cycle has n slots per cycle. Each slot
//! retires an instruction or is lost for a reason. A. Yasin, "A Top-Down Method for Performance Analysis and Counters
//! Architecture", 2014, uses the same categories. Here slots are counted at retirement: a slot is lost to what the
//! oldest instruction in the pipeline was waiting for in that cycle.

use serde::Serialize;

/// Why a slot retired no instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The instruction was not fetched yet: instruction cache misses, bubbles after taken jumps, filling of the
    /// pipeline.
    #[default]
    FrontEnd,
    /// A branch before the instruction was mispredicted.
    Prediction,
    /// The instruction waited for an operand, or its own execution took more than one cycle.
    Dependence,
    /// The instruction had its operands, but no unit, port, issue slot or queue entry was free.
    Unit,
    /// The instruction waited for data from beyond level 1, or for a store to the same bytes.
    Memory,
    /// The pipeline was drained: CSR writes, fences, atomic operations, traps.
    Serial,
    /// The hart was asleep.
    Idle,
}

/// Number of slots, by use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Slots that retired an instruction.
    pub retired: u64,
    /// See [`Cause::FrontEnd`].
    pub front_end: u64,
    /// See [`Cause::Prediction`].
    pub prediction: u64,
    /// See [`Cause::Dependence`].
    pub dependence: u64,
    /// See [`Cause::Unit`].
    pub unit: u64,
    /// See [`Cause::Memory`].
    pub memory: u64,
    /// See [`Cause::Serial`].
    pub serial: u64,
    /// See [`Cause::Idle`].
    pub idle: u64,
}

impl Account {
    /// Counts slots that retired no instruction.
    #[inline]
    pub fn lose(&mut self, slots: u64, cause: Cause) {
        let field = match cause {
            Cause::FrontEnd => &mut self.front_end,
            Cause::Prediction => &mut self.prediction,
            Cause::Dependence => &mut self.dependence,
            Cause::Unit => &mut self.unit,
            Cause::Memory => &mut self.memory,
            Cause::Serial => &mut self.serial,
            Cause::Idle => &mut self.idle,
        };
        *field += slots;
    }

    /// Number of all slots.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.retired
            + self.front_end
            + self.prediction
            + self.dependence
            + self.unit
            + self.memory
            + self.serial
            + self.idle
    }

    /// The difference to an earlier state of the same account.
    #[must_use]
    pub fn since(&self, before: &Account) -> Account {
        self.combined(before, |now, before| now - before)
    }

    /// Adds the slots of another account.
    pub fn add(&mut self, other: &Account) {
        *self = self.combined(other, |slots, other| slots + other);
    }

    /// Combines the slots of two accounts, use by use.
    #[must_use]
    pub fn combined(&self, other: &Account, of: impl Fn(u64, u64) -> u64) -> Account {
        Account {
            retired: of(self.retired, other.retired),
            front_end: of(self.front_end, other.front_end),
            prediction: of(self.prediction, other.prediction),
            dependence: of(self.dependence, other.dependence),
            unit: of(self.unit, other.unit),
            memory: of(self.memory, other.memory),
            serial: of(self.serial, other.serial),
            idle: of(self.idle, other.idle),
        }
    }
}
