//! An out-of-order pipeline: fetch with prediction, rename, reorder buffer, units, load and store queues, commit.
//!
//! The modelled machine fetches `fetch` instructions in a cycle, in order, up to a taken branch. After `front_end`
//! cycles they are renamed and enter the reorder buffer, if it and the queues that they need have free entries. From
//! the next cycle on, an instruction begins in the first cycle in which its operands are ready and a unit and an issue
//! slot are free; the oldest ready instruction goes first. It leaves the reorder buffer in order, at the earliest in
//! the cycle in which its result is ready. An entry that becomes free in a cycle can be taken in the next one.
//!
//! - Units that are not pipelined are assigned to instructions in program order.
//! - A load looks for its bytes in older stores that are not written yet. The youngest overlapping store forwards them
//!   if it has all of them; otherwise the load waits until that store is written.
//! - A store computes its address when the base is ready. It is complete when its data are ready too, and it is written
//!   after it has left the reorder buffer, one store after another.
//! - A CSR access or trap waits until it is the oldest instruction, and nothing behind it is renamed until it is done.
//!   Atomic operations and fences wait until all older stores are written, and younger loads wait for them.

use super::calendar::Calendar;
use super::predict::{BranchPredictor, Guess};
use super::{Account, Cause, MemoryModel, Times};
use crate::machine::{self, Disambiguation, Machine, UnitClass};
use crate::retired::{Class, Retired};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Ring of the cycles in which entries become free. It has one element for each entry.
#[derive(Clone, Debug)]
struct Ring {
    cycles: Box<[u64]>,
    next: usize,
}

impl Ring {
    fn new(places: u32) -> Ring {
        Ring { cycles: vec![0; places.max(1) as usize].into_boxed_slice(), next: 0 }
    }

    /// The cycle in which the oldest taken entry becomes free.
    #[inline]
    fn free(&self) -> u64 {
        self.cycles[self.next]
    }

    /// Takes that entry until `cycle`.
    #[inline]
    fn take_until(&mut self, cycle: u64) {
        self.cycles[self.next] = cycle;
        self.next += 1;
        if self.next == self.cycles.len() {
            self.next = 0;
        }
    }
}

/// A stage that passes up to `width` instructions a cycle, in order.
#[derive(Clone, Copy, Debug)]
struct Stage {
    cycle: u64,
    taken: u32,
    width: u32,
}

impl Stage {
    fn new(width: u32) -> Stage {
        Stage { cycle: 0, taken: 0, width }
    }

    /// Passes the next instruction in `cycle` or later, and returns the cycle.
    #[inline]
    fn pass(&mut self, cycle: u64) -> u64 {
        if cycle > self.cycle {
            (self.cycle, self.taken) = (cycle, 0);
        } else if self.taken == self.width {
            (self.cycle, self.taken) = (self.cycle + 1, 0);
        }
        self.taken += 1;
        self.cycle
    }
}

/// Units of one kind.
#[derive(Clone, Debug)]
struct UnitGroup {
    latency: u64,
    double_latency: u64,
    /// For pipelined units: entries in each cycle. `None` if there are as many units as issue slots.
    pipelines: Option<Calendar>,
    /// For other units: the cycles that an instruction takes one (0 means its latency), and when each becomes free.
    interval: u32,
    free: Box<[u64]>,
}

/// A store that may not be written yet.
#[derive(Clone, Copy, Debug, Default)]
struct QueuedStore {
    address: u64,
    end: u64,
    data: u64,
    written: u64,
}

/// One hart's pipeline.
#[derive(Clone, Debug)]
pub(crate) struct OutOfOrderModel {
    hart: usize,
    predictor: BranchPredictor,
    front_end: u64,
    mispredict: u64,
    redirect: u64,
    past_taken: bool,
    forward: u64,
    /// Cycles of a level 1 hit after the first.
    level1: u64,
    disambiguation: Disambiguation,
    fetch: Stage,
    rename: Stage,
    commit: Stage,
    fetch_from: u64,
    line: u64,
    refill: u64,
    refill_cause: Cause,
    fetch_queue: Ring,
    reorder_buffer: Ring,
    loads: Ring,
    stores_free: Ring,
    integer_registers: Ring,
    float_registers: Ring,
    issue_queue: Option<(usize, BinaryHeap<Reverse<u64>>)>,
    ready: [u64; 64],
    /// Later instructions begin after this cycle at the earliest.
    begins_after: u64,
    issue: Calendar,
    units: Vec<UnitGroup>,
    unit_of: [usize; UnitClass::ALL.len()],
    /// The latest stores, one for each entry of the queue. `store_next` is the oldest.
    stores: Box<[QueuedStore]>,
    store_next: usize,
    /// Number of the latest stores that touch each group of addresses. It is a filter for loads.
    store_groups: Box<[u16; GROUPS]>,
    /// The cycles in which all stores up to now have an address, have executed, and are written.
    addresses_known: u64,
    stores_executed: u64,
    stores_written: u64,
    /// The cycle in which loads and atomic operations are done, and the first in which younger loads may begin.
    memory_done: u64,
    memory_from: u64,
    rename_from: u64,
    /// How the slots were used.
    pub account: Account,
}

const GROUPS: usize = 256;

/// The groups of the first and the last byte of an access.
fn groups(address: u64, end: u64) -> (usize, usize) {
    ((address >> 3) as usize % GROUPS, ((end - 1) >> 3) as usize % GROUPS)
}

impl OutOfOrderModel {
    /// The pipeline of hart number `hart` of `machine`.
    ///
    /// # Panics
    ///
    /// If the machine has no out-of-order pipeline.
    #[must_use]
    pub(crate) fn new(machine: &Machine, hart: usize) -> OutOfOrderModel {
        let spec = machine.out_of_order.as_ref().expect("a machine with an out-of-order pipeline");
        let width = |width: u32| if width == 0 { spec.issue } else { width };
        let all = |registers: u32| if registers == 0 { spec.reorder_buffer } else { registers };
        let mut unit_of = [0; UnitClass::ALL.len()];
        for (number, unit) in spec.unit.iter().enumerate() {
            for does in &unit.does {
                unit_of[*does as usize] = number;
            }
        }
        let level1 = machine.l1d.as_ref().map_or(0, |l1d| u64::from(l1d.latency) - 1);
        OutOfOrderModel {
            hart,
            predictor: BranchPredictor::new(&machine.predictor, 2),
            front_end: spec.front_end.into(),
            mispredict: spec.mispredict.into(),
            redirect: spec.redirect.into(),
            past_taken: spec.fetch_past_taken,
            forward: spec.forward.into(),
            level1,
            disambiguation: spec.disambiguation,
            fetch: Stage::new(width(spec.fetch)),
            rename: Stage::new(width(spec.rename)),
            commit: Stage::new(width(spec.commit)),
            fetch_from: 0,
            line: u64::MAX,
            refill: u64::from(spec.front_end) + 2,
            refill_cause: Cause::FrontEnd,
            fetch_queue: Ring::new(spec.fetch_queue),
            reorder_buffer: Ring::new(spec.reorder_buffer),
            loads: Ring::new(spec.load_queue),
            stores_free: Ring::new(spec.store_queue),
            integer_registers: Ring::new(all(spec.integer_registers)),
            float_registers: Ring::new(all(spec.float_registers)),
            issue_queue: (spec.issue_queue != 0).then(|| (spec.issue_queue as usize, BinaryHeap::new())),
            ready: [0; 64],
            begins_after: 0,
            issue: Calendar::new(spec.issue),
            units: spec.unit.iter().map(|unit| UnitGroup::new(unit, spec.issue)).collect(),
            unit_of,
            stores: vec![QueuedStore::default(); spec.store_queue as usize].into_boxed_slice(),
            store_next: 0,
            store_groups: Box::new([0; GROUPS]),
            addresses_known: 0,
            stores_executed: 0,
            stores_written: 0,
            memory_done: 0,
            memory_from: 0,
            rename_from: 0,
            account: Account::default(),
        }
    }

    /// The branch predictor.
    #[must_use]
    pub(crate) fn predictor(&self) -> &BranchPredictor {
        &self.predictor
    }

    /// The cycle in which the newest instruction left the reorder buffer.
    #[must_use]
    pub(crate) fn cycle(&self) -> u64 {
        self.commit.cycle
    }

    /// The earliest cycle for which the pipeline can still access memory.
    #[must_use]
    pub(crate) fn earliest(&self) -> u64 {
        self.fetch.cycle
    }

    /// Total cycles, until the newest instruction has left the reorder buffer.
    #[must_use]
    pub(crate) fn cycles(&self) -> u64 {
        if self.account.retired == 0 { 0 } else { self.commit.cycle + 1 }
    }

    /// Completes the account and returns the total cycles.
    pub(crate) fn finish(&mut self) -> u64 {
        let slots = self.cycles() * u64::from(self.commit.width);
        self.account.lose(slots.saturating_sub(self.account.total()), Cause::FrontEnd);
        self.cycles()
    }

    /// Puts the hart to sleep until `cycle`.
    pub(crate) fn sleep_until(&mut self, cycle: u64) {
        if cycle > self.commit.cycle {
            self.lose_until(&mut { self.commit.cycle }, cycle, Cause::Idle);
            (self.commit.cycle, self.commit.taken) = (cycle, 0);
            self.refetch(cycle, Cause::Idle);
        }
    }

    /// Times the next instruction.
    pub(crate) fn step(&mut self, retired: &Retired, memory: &mut MemoryModel) -> Times {
        let class = UnitClass::of(retired.class);
        let fetch = self.fetch_one(retired, memory);
        let arrived = fetch + self.front_end;
        let (decode, decode_cause) = self.rename_one(retired, class, arrived);
        let operands = self.operands(retired, class, decode);
        let (issue, complete, own) = self.execute(retired, class, operands, memory);
        let before = self.commit;
        let retire = self.commit.pass(complete);
        if retire > before.cycle || self.account.retired == 0 {
            // Assigns the slots since the last commit to what kept this instruction, now the oldest, from retiring in
            // each cycle. An instruction that arrives, is renamed, has its operands or begins in a cycle can retire 2,
            // 2, 1 and 1 cycles later.
            let mut cycle = before.cycle;
            self.lose_from(&before, &mut cycle, self.refill.min(retire), self.refill_cause);
            self.lose_from(&before, &mut cycle, (arrived + 2).min(retire), Cause::FrontEnd);
            self.lose_from(&before, &mut cycle, (decode + 2).min(retire), decode_cause);
            self.lose_from(&before, &mut cycle, (operands + 1).min(retire), Cause::Dependence);
            self.lose_from(&before, &mut cycle, (issue + 1).min(retire), Cause::Unit);
            self.lose_from(&before, &mut cycle, own.min(retire), Cause::Dependence);
            let slow = if class == UnitClass::Load { Cause::Memory } else { Cause::Dependence };
            let slow = if class == UnitClass::Atomic || retired.class == Class::Csr { Cause::Serial } else { slow };
            self.lose_from(&before, &mut cycle, complete.min(retire), slow);
            self.lose_from(&before, &mut cycle, retire, Cause::Unit);
        }
        self.account.retired += 1;
        self.leave(retired, class, issue, complete, retire, memory);
        if retired.detail & Retired::CODE != 0 {
            memory.forget_code(self.hart);
        }
        self.control(retired, fetch, complete, retire);
        Times { fetch, decode, issue, complete, retire }
    }

    /// The cycle in which an instruction is fetched.
    #[inline]
    fn fetch_one(&mut self, retired: &Retired, memory: &mut MemoryModel) -> u64 {
        // The instruction needs an entry of the queue when it has passed the front end.
        let room = (self.fetch_queue.free() + 1).saturating_sub(self.front_end);
        let mut from = self.fetch_from.max(if self.fetch_queue.free() == 0 { 0 } else { room });
        let mask = !(memory.fetch_line() - 1);
        let last = retired.pc.wrapping_add(u64::from(retired.size.max(2)) - 1) & mask;
        let first = retired.pc & mask;
        if self.line != first || self.line != last {
            let stage = &self.fetch;
            let at = from.max(if stage.taken == stage.width { stage.cycle + 1 } else { stage.cycle });
            if self.line != first {
                from = memory.fetch(self.hart, first, at);
            }
            if last != first {
                from = from.max(memory.fetch(self.hart, last, at));
            }
            self.line = last;
        }
        self.fetch.pass(from)
    }

    /// The cycle in which an instruction that arrives at `arrived` is renamed, and why not earlier.
    #[inline]
    fn rename_one(&mut self, retired: &Retired, class: UnitClass, arrived: u64) -> (u64, Cause) {
        let free = |ring: &Ring| if ring.free() == 0 { 0 } else { ring.free() + 1 };
        let mut room = free(&self.reorder_buffer);
        if matches!(class, UnitClass::Load | UnitClass::Atomic) {
            room = room.max(free(&self.loads));
        }
        if matches!(class, UnitClass::Store | UnitClass::Atomic) {
            room = room.max(free(&self.stores_free));
        }
        if retired.destination.is_float() {
            room = room.max(free(&self.float_registers));
        } else if retired.destination.is_some() {
            room = room.max(free(&self.integer_registers));
        }
        if let Some((places, queue)) = &mut self.issue_queue
            && queue.len() == *places
            && let Some(Reverse(issued)) = queue.pop()
        {
            room = room.max(issued + 1);
        }
        let from = arrived.max(room).max(self.rename_from);
        let decode = self.rename.pass(from);
        self.fetch_queue.take_until(decode);
        let cause = if self.rename_from > arrived.max(room) { Cause::Serial } else { Cause::Unit };
        if decode != self.begins_after {
            self.begins_after = decode;
            self.issue.forget_before(decode);
            for pipelines in self.units.iter_mut().filter_map(|units| units.pipelines.as_mut()) {
                pipelines.forget_before(decode);
            }
        }
        (decode, cause)
    }

    /// The first cycle in which an instruction that was renamed at `decode` could begin, if a unit were free.
    #[inline]
    fn operands(&self, retired: &Retired, class: UnitClass, decode: u64) -> u64 {
        let ready = |number: usize| self.ready[retired.sources[number].index()];
        let mut from = (decode + 1).max(ready(0));
        if class != UnitClass::Store {
            from = from.max(ready(1)).max(ready(2));
        }
        match retired.class {
            Class::Load => {
                from = from.max(self.memory_from);
                match self.disambiguation {
                    Disambiguation::ProgramOrder => from.max(self.stores_executed),
                    Disambiguation::Addresses => from.max(self.addresses_known),
                    Disambiguation::Perfect => from,
                }
            }
            Class::Atomic | Class::LoadReserved | Class::StoreConditional => {
                from.max(self.commit.cycle + 1).max(self.stores_written).max(self.memory_from)
            }
            Class::Fence => from.max(self.memory_done).max(self.stores_written),
            Class::Csr | Class::System => from.max(self.commit.cycle + 1),
            _ => from,
        }
    }

    /// When an instruction whose operands are ready at `from` begins and ends, and when it would end if memory accesses
    /// hit level 1.
    #[inline]
    fn execute(&mut self, retired: &Retired, class: UnitClass, from: u64, memory: &mut MemoryModel) -> (u64, u64, u64) {
        let units = &mut self.units[self.unit_of[class as usize]];
        let wide = retired.detail & Retired::WIDE != 0;
        let latency = if wide { units.double_latency } else { units.latency };
        let issue = units.begin(from, latency, &mut self.issue);
        if let Some((_, queue)) = &mut self.issue_queue {
            queue.push(Reverse(issue));
        }
        let complete = match retired.class {
            Class::Load => self.load(retired, issue, latency - 1, memory),
            Class::LoadReserved => memory.load(self.hart, retired.address, retired.bytes, issue + latency - 1),
            Class::Atomic | Class::StoreConditional if retired.bytes != 0 => {
                memory.atomic(self.hart, retired.address, retired.bytes, issue + latency - 1)
            }
            Class::Store => (issue + latency).max(self.ready[retired.sources[1].index()]),
            _ => issue + latency,
        };
        let own = if class == UnitClass::Store { complete } else { issue + latency + self.level1 };
        (issue, complete, own)
    }

    /// The cycle in which a load that begins at `issue` has its data.
    #[inline]
    fn load(&mut self, retired: &Retired, issue: u64, address_cycles: u64, memory: &mut MemoryModel) -> u64 {
        let (address, end) = (retired.address, retired.address.wrapping_add(retired.bytes.max(1).into()));
        let at = issue + address_cycles;
        let (first, last) = groups(address, end);
        if self.store_groups[first] != 0 || self.store_groups[last] != 0 {
            let (older, newer) = self.stores.split_at(self.store_next);
            let youngest_first = older.iter().rev().chain(newer.iter().rev());
            for store in youngest_first {
                if store.address < end && address < store.end && store.written > at {
                    if store.address <= address && end <= store.end {
                        return at.max(store.data) + self.forward;
                    }
                    return memory.load(self.hart, address, retired.bytes, store.written);
                }
            }
        }
        memory.load(self.hart, address, retired.bytes, at)
    }

    /// Records when an instruction's entries become free and its result is ready.
    #[inline]
    fn leave(
        &mut self,
        retired: &Retired,
        class: UnitClass,
        issue: u64,
        complete: u64,
        retire: u64,
        memory: &mut MemoryModel,
    ) {
        self.reorder_buffer.take_until(retire);
        if retired.destination.is_some() {
            self.ready[retired.destination.index()] = complete;
            let registers = match retired.destination.is_float() {
                true => &mut self.float_registers,
                false => &mut self.integer_registers,
            };
            registers.take_until(retire);
        }
        match class {
            UnitClass::Load => {
                self.loads.take_until(retire);
                self.memory_done = self.memory_done.max(complete);
            }
            UnitClass::Store => {
                self.addresses_known = self.addresses_known.max(issue + 1);
                self.stores_executed = self.stores_executed.max(complete);
                let begin = (retire + 1).max(self.stores_written);
                self.stores_written = memory.store(self.hart, retired.address, retired.bytes, begin);
                self.stores_free.take_until(self.stores_written);
                self.remember_store(retired, complete);
            }
            UnitClass::Atomic => {
                self.loads.take_until(retire);
                self.stores_free.take_until(retire);
                (self.memory_from, self.memory_done) = (complete, complete);
                self.stores_written = self.stores_written.max(complete);
            }
            _ => {}
        }
        match retired.class {
            Class::Fence => self.memory_from = self.memory_from.max(complete),
            Class::Csr => self.rename_from = complete,
            _ => {}
        }
    }

    fn remember_store(&mut self, retired: &Retired, data: u64) {
        let end = retired.address.wrapping_add(retired.bytes.max(1).into());
        let new = QueuedStore { address: retired.address, end, data, written: self.stores_written };
        let old = std::mem::replace(&mut self.stores[self.store_next], new);
        self.store_next = (self.store_next + 1) % self.stores.len();
        if old.end != 0 {
            let (first, last) = groups(old.address, old.end);
            self.store_groups[first] -= 1;
            self.store_groups[last] -= 1;
        }
        let (first, last) = groups(new.address, new.end);
        self.store_groups[first] += 1;
        self.store_groups[last] += 1;
    }

    /// Redirects fetch after an instruction.
    #[inline]
    fn control(&mut self, retired: &Retired, fetch: u64, complete: u64, retire: u64) {
        if retired.class.is_control() {
            match self.predictor.predict(retired, retired.pc.wrapping_add(u64::from(retired.size.max(2)) - 2)) {
                Guess::Wrong => self.refetch(complete + self.mispredict, Cause::Prediction),
                guess if retired.is_taken() => {
                    if guess == Guess::Late {
                        self.fetch_from = fetch + 1 + self.redirect;
                    } else if !self.past_taken {
                        self.fetch_from = fetch + 1;
                    }
                    self.line = u64::MAX;
                }
                _ => {}
            }
        } else if retired.is_taken() || retired.class == Class::System || retired.detail & Retired::CODE != 0 {
            self.refetch(retire + 1 + self.mispredict, Cause::Serial);
        }
    }

    /// Restarts fetch in `cycle`.
    fn refetch(&mut self, cycle: u64, cause: Cause) {
        self.fetch_from = cycle;
        self.line = u64::MAX;
        // Nothing can retire until an instruction has been renamed, has begun and has completed.
        self.refill = cycle + self.front_end + 2;
        self.refill_cause = cause;
    }

    /// Counts the slots from `cycle` up to `until` as lost. Those of the first cycle may have been used in part.
    #[inline]
    fn lose_from(&mut self, before: &Stage, cycle: &mut u64, until: u64, cause: Cause) {
        if until <= *cycle {
            return;
        }
        let used = if *cycle == before.cycle { before.taken } else { 0 };
        self.account.lose((until - *cycle) * u64::from(before.width) - u64::from(used), cause);
        *cycle = until;
    }

    fn lose_until(&mut self, cycle: &mut u64, until: u64, cause: Cause) {
        let before = self.commit;
        self.lose_from(&before, cycle, until, cause);
    }
}

impl UnitGroup {
    fn new(unit: &machine::Unit, issue: u32) -> UnitGroup {
        let count = unit.count_at(issue);
        let latency = u64::from(unit.latency);
        let is_pipeline = unit.interval == 1;
        UnitGroup {
            latency,
            double_latency: if unit.double_latency == 0 { latency } else { unit.double_latency.into() },
            pipelines: (is_pipeline && count < issue).then(|| Calendar::new(count)),
            interval: unit.interval,
            free: vec![0; if is_pipeline { 0 } else { count as usize }].into_boxed_slice(),
        }
    }

    /// Takes a unit and an issue slot, both free in the same cycle, from `from` on.
    #[inline]
    fn begin(&mut self, from: u64, latency: u64, slots: &mut Calendar) -> u64 {
        let mut cycle = from;
        if let Some(pipelines) = &mut self.pipelines {
            loop {
                cycle = pipelines.first_free(cycle);
                let slot = slots.first_free(cycle);
                if slot == cycle {
                    break;
                }
                cycle = slot;
            }
            pipelines.take(cycle);
        } else if let Some(free) = self.free.iter_mut().min() {
            cycle = slots.first_free(cycle.max(*free));
            *free = cycle + if self.interval == 0 { latency } else { self.interval.into() };
        } else {
            cycle = slots.first_free(cycle);
        }
        slots.take(cycle);
        cycle
    }
}

#[cfg(test)]
#[path = "outoforder_tests.rs"]
mod tests;
