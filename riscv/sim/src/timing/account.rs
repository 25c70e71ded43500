//! Where the slots went: a machine that can retire so many instructions a cycle has so many slots a cycle, and each one
//! either retires an instruction or is lost for a reason. (A. Yasin, "A Top-Down Method for Performance Analysis and
//! Counters Architecture", 2014, sorts slots in the same way; here they are counted at retirement: a slot is lost to
//! what the oldest instruction that has not retired was waiting for in that cycle.)

use serde::Serialize;

/// Why a slot retired nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The instruction was not there: cache misses of fetch, bubbles behind taken jumps, the filling of the pipeline.
    #[default]
    FrontEnd,
    /// A branch before it had been predicted wrong.
    Prediction,
    /// It waited for a result, or was at work on one that takes more than a cycle.
    Dependence,
    /// It had its operands but no unit, port or issue slot, or there was no room for it in a queue.
    Unit,
    /// Data were on their way from beyond level 1, or from a store that was in the way.
    Memory,
    /// The pipeline was empty on purpose: CSR writes, fences, atomic operations, traps.
    Serial,
    /// The hart was asleep.
    Idle,
}

/// Slots, sorted.
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
    /// Counts slots that retired nothing.
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

    /// All slots.
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

    /// What came since an earlier state of the same account.
    #[must_use]
    pub fn since(&self, before: &Account) -> Account {
        Account {
            retired: self.retired - before.retired,
            front_end: self.front_end - before.front_end,
            prediction: self.prediction - before.prediction,
            dependence: self.dependence - before.dependence,
            unit: self.unit - before.unit,
            memory: self.memory - before.memory,
            serial: self.serial - before.serial,
            idle: self.idle - before.idle,
        }
    }

    /// Adds another account.
    pub fn add(&mut self, other: &Account) {
        self.retired += other.retired;
        self.front_end += other.front_end;
        self.prediction += other.prediction;
        self.dependence += other.dependence;
        self.unit += other.unit;
        self.memory += other.memory;
        self.serial += other.serial;
        self.idle += other.idle;
    }
}
