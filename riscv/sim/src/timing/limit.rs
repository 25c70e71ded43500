//! The limit of a program's parallelism: infinitely many units, infinite width, every branch predicted, every access a
//! hit. Only data flow counts, through registers and, byte by byte, through memory. An instruction begins when the last
//! of its operands is ready, and takes the latency of its unit. A program's cycles are the length of its critical path;
//! no machine with these latencies needs fewer. (D. W. Wall, "Limits of Instruction-Level Parallelism", 1991: the
//! oracle model.)
//!
//! CSRs, fences and traps do not order other instructions here. A load takes the latency of its unit (a level 1 hit).
//! If an earlier store wrote its bytes, the load has them at the earliest the machine's `forward` cycles after the
//! store's data. A store's data may be ready later than its address.

use super::inorder::divide_use;
use super::{Account, Times};
use crate::machine::{Divider, Machine, UnitClass};
use crate::retired::{Class, Retired};
use std::collections::HashMap;

/// Bytes per page of store times.
const PAGE: u64 = 4096;
/// The most pages that are kept. When more are needed, all are dropped, which can only make the limit more optimistic.
const PAGES: usize = 4096;

/// The data flow of all harts.
#[derive(Clone, Debug)]
pub(crate) struct LimitModel {
    latency: [(u64, u64); UnitClass::ALL.len()],
    /// The divider of an in-order pipeline, whose time depends on the operands.
    divider: Option<Divider>,
    forward: u64,
    harts: Vec<[u64; 64]>,
    cycles: Vec<u64>,
    instructions: Vec<u64>,
    /// For each byte, the cycle in which the data of its last store are ready.
    stored: HashMap<u64, Box<[u64; PAGE as usize]>>,
}

impl LimitModel {
    /// The limit for a machine's latencies.
    #[must_use]
    pub(crate) fn new(machine: &Machine) -> LimitModel {
        let harts = machine.harts;
        LimitModel {
            latency: latencies(machine),
            divider: machine.in_order.as_ref().map(|core| core.divide.clone()),
            forward: machine.out_of_order.as_ref().map_or(1, |core| core.forward.into()),
            harts: vec![[0; 64]; harts],
            cycles: vec![0; harts],
            instructions: vec![0; harts],
            stored: HashMap::new(),
        }
    }

    /// Length of a hart's critical path up to now.
    #[must_use]
    pub(crate) fn cycles(&self, hart: usize) -> u64 {
        self.cycles[hart]
    }

    /// The slots of a machine of infinite width: those that retired an instruction.
    #[must_use]
    pub(crate) fn account(&self, hart: usize) -> Account {
        Account { retired: self.instructions[hart], ..Account::default() }
    }

    /// Corrects the number of instructions after a step that was a trap.
    pub(crate) fn trapped(&mut self, hart: usize) {
        self.instructions[hart] -= 1;
    }

    /// Times the next instruction of a hart.
    pub(crate) fn step(&mut self, hart: usize, retired: &Retired) -> Times {
        let class = UnitClass::of(retired.class);
        let (single, double) = self.latency[class as usize];
        let latency = match &self.divider {
            Some(divider) if class == UnitClass::Divide => divide_use(divider, retired),
            _ if retired.detail & Retired::WIDE != 0 => double,
            _ => single,
        };
        let ready = &self.harts[hart];
        let mut issue = retired.sources.iter().map(|source| ready[source.index()]).max().unwrap_or(0);
        let mut complete = issue + latency;
        if retired.class == Class::Store {
            let [address, data, _] = retired.sources.map(|source| ready[source.index()]);
            issue = address;
            complete = data.max(address + latency);
        } else if retired.bytes != 0 && retired.class.is_load() {
            // The address comes from a register, the data from the last store to these bytes.
            let stored = self.last_store(retired.address, retired.bytes);
            complete = complete.max(if stored == 0 { 0 } else { stored + self.forward });
        }
        if retired.bytes != 0 && retired.class.is_store() {
            self.store(retired.address, retired.bytes, complete);
        }
        if retired.destination.is_some() {
            self.harts[hart][retired.destination.index()] = complete;
        }
        self.cycles[hart] = self.cycles[hart].max(complete);
        self.instructions[hart] += 1;
        Times { fetch: issue, decode: issue, issue, complete, retire: complete }
    }

    fn last_store(&self, address: u64, bytes: u8) -> u64 {
        (0..u64::from(bytes))
            .map(|offset| address.wrapping_add(offset))
            .map(|byte| self.stored.get(&(byte / PAGE)).map_or(0, |page| page[(byte % PAGE) as usize]))
            .max()
            .unwrap_or(0)
    }

    fn store(&mut self, address: u64, bytes: u8, complete: u64) {
        for offset in 0..u64::from(bytes) {
            let byte = address.wrapping_add(offset);
            if self.stored.len() >= PAGES && !self.stored.contains_key(&(byte / PAGE)) {
                self.stored.clear();
            }
            let page = self.stored.entry(byte / PAGE).or_insert_with(|| Box::new([0; PAGE as usize]));
            page[(byte % PAGE) as usize] = complete;
        }
    }
}

/// Latency of each class, for words and for doubles.
fn latencies(machine: &Machine) -> [(u64, u64); UnitClass::ALL.len()] {
    let mut latency = [(1, 1); UnitClass::ALL.len()];
    let mut units = Vec::new();
    if let Some(core) = &machine.in_order {
        for class in [UnitClass::Load, UnitClass::Atomic] {
            latency[class as usize] = (core.load_use.into(), core.load_use.into());
        }
        latency[UnitClass::Multiply as usize] = (core.multiply_use.into(), core.multiply_use.into());
        units = core.unit.clone();
    } else if let Some(core) = &machine.out_of_order {
        units = core.unit.clone();
    }
    for unit in &units {
        let single = u64::from(unit.latency);
        let double = if unit.double_latency == 0 { single } else { unit.double_latency.into() };
        for does in &unit.does {
            // The first cycle of the unit is also the first cycle of level 1.
            let level1 = match (does, &machine.l1d) {
                (UnitClass::Load | UnitClass::Atomic, Some(l1d)) => u64::from(l1d.latency) - 1,
                _ => 0,
            };
            latency[*does as usize] = (single + level1, double + level1);
        }
    }
    latency
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retired::Reg;

    fn limit() -> LimitModel {
        LimitModel::new(&Machine::preset("raptor").expect("a preset"))
    }

    fn op(class: Class, destination: u8, sources: [u8; 2]) -> Retired {
        let sources = [Reg(sources[0]), Reg(sources[1]), Reg::NONE];
        Retired { class, destination: Reg(destination), sources, size: 4, ..Retired::default() }
    }

    #[test]
    fn a_chain_takes_its_latencies_and_independent_instructions_take_nothing() {
        let mut limit = limit();
        // x1 = ...; x2 = x1 * x1; x3 = x2 + x1: 1 + 4 + 1 cycles.
        limit.step(0, &op(Class::Alu, 1, [0, 0]));
        limit.step(0, &op(Class::Multiply, 2, [1, 1]));
        limit.step(0, &op(Class::Alu, 3, [2, 1]));
        for _ in 0..100 {
            limit.step(0, &op(Class::Alu, 4, [0, 0]));
        }
        assert_eq!(limit.cycles(0), 6);
    }

    #[test]
    fn memory_passes_times_on_byte_by_byte() {
        let mut limit = limit();
        limit.step(0, &op(Class::Multiply, 1, [0, 0]));
        let store = Retired { address: 0x1003, bytes: 1, ..op(Class::Store, 0, [2, 1]) };
        limit.step(0, &store);
        // The address was ready long before.
        assert_eq!(limit.cycles(0), 4);
        let other = Retired { address: 0x1000, bytes: 2, ..op(Class::Load, 5, [2, 0]) };
        assert_eq!(limit.step(0, &other).complete, 1);
        let same = Retired { address: 0x1000, bytes: 4, ..op(Class::Load, 5, [2, 0]) };
        assert_eq!(limit.step(0, &same).complete, 5);
    }

    #[test]
    fn divisions_and_atomic_operations_take_the_times_of_the_pipeline() {
        let mut limit = LimitModel::new(&Machine::preset("e31").expect("a preset"));
        let divide = Retired { dividend_bits: 3, divisor_bits: 3, ..op(Class::Divide, 1, [0, 0]) };
        assert_eq!(limit.step(0, &divide).complete, 5);
        assert_eq!(limit.step(0, &op(Class::Atomic, 2, [0, 0])).complete, 2);
    }

    #[test]
    fn a_register_that_is_written_again_is_another_one() {
        let mut limit = limit();
        limit.step(0, &op(Class::Divide, 1, [0, 0]));
        limit.step(0, &op(Class::Alu, 1, [0, 0]));
        assert_eq!(limit.step(0, &op(Class::Alu, 2, [1, 0])).complete, 2);
        assert_eq!(limit.cycles(0), 36);
    }
}
