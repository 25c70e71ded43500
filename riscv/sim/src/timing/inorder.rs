//! A pipeline that executes in program order: fetch, decode, execute, memory, write-back, one instruction a cycle. It
//! models Rocket, of which SiFive's E31 is made. The files `RocketCore.scala`, `Frontend.scala`, `DCache.scala` and
//! `Multiplier.scala` of Rocket Chip define what waits for what; the numbers come from the machine file.
//!
//! An instruction waits in decode until its operands will be ready when it executes, and no older write to its
//! destination register is pending. It executes in the next cycle. So the execute cycles of instructions determine all
//! timing: each is the latest cycle that fetch, operands, units and memory require.
//!
//! Approximations: prediction tables learn immediately, wrong paths fetch nothing, and except for multiplier and
//! divider, the units in the machine file's `unit` list share no resources.

use super::predict::{BranchPredictor, Guess};
use super::{Account, Cause, MemoryModel, Times};
use crate::machine::{self, Machine, UnitClass};
use crate::retired::{Class, Reg, Retired};
use std::collections::VecDeque;

/// One hart's pipeline.
#[derive(Clone, Debug)]
pub(crate) struct InOrderModel {
    spec: machine::InOrder,
    hart: usize,
    predictor: BranchPredictor,
    /// The cycle in which the newest instruction executes.
    execute: u64,
    /// For each register, the first cycle in which an instruction that needs it can execute, and why not earlier.
    ready: [u64; 64],
    reason: [Cause; 64],
    front: FetchState,
    pending: Option<PendingResult>,
    stores: VecDeque<WaitingStore>,
    store_cycle: u64,
    units: [UnitTime; UnitClass::ALL.len()],
    /// How the cycles were used.
    pub account: Account,
}

/// Fetch: the last aligned piece of code, and when the next can be fetched.
#[derive(Clone, Debug)]
struct FetchState {
    piece: u64,
    /// The address at which the last piece was entered. After a jump into its middle, it is higher than the piece's
    /// address.
    entered: u64,
    fetched: u64,
    decoded: u64,
    next: u64,
    line: u64,
    line_ready: u64,
    /// Ring of the cycles in which entries of the fetch queue become free, and the index of the next one.
    free: Box<[u64]>,
    place: usize,
    /// Number of pieces fetched since the last instruction was decoded.
    new: usize,
    /// Until this cycle, the lack of an instruction is due to the last refill.
    refill: u64,
    refill_cause: Cause,
}

/// A product or quotient that the unit beside the pipeline computes.
#[derive(Clone, Copy, Debug)]
struct PendingResult {
    /// The first cycle in which it can be written, as far as is known.
    write: u64,
    register: Reg,
}

/// A store that waits to be written.
#[derive(Clone, Copy, Debug)]
struct WaitingStore {
    address: u64,
    bytes: u8,
    /// The first cycle in which it can be written.
    from: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct UnitTime {
    latency: u64,
    double_latency: u64,
    interval: u64,
    free: u64,
}

/// Number of cycles from execute to write-back.
const WRITE_BACK: u64 = 2;

impl InOrderModel {
    /// The pipeline of hart number `hart` of `machine`.
    ///
    /// # Panics
    ///
    /// If the machine has no in-order pipeline.
    #[must_use]
    pub(crate) fn new(machine: &Machine, hart: usize) -> InOrderModel {
        let spec = machine.in_order.clone().expect("a machine with an in-order pipeline");
        let mut units = [UnitTime { latency: 1, double_latency: 1, interval: 1, free: 0 }; UnitClass::ALL.len()];
        units[UnitClass::Atomic as usize].latency = spec.load_use.into();
        for unit in &spec.unit {
            let latency = u64::from(unit.latency);
            let double_latency = if unit.double_latency == 0 { latency } else { unit.double_latency.into() };
            for does in &unit.does {
                units[*does as usize] = UnitTime { latency, double_latency, interval: unit.interval.into(), free: 0 };
            }
        }
        InOrderModel {
            predictor: BranchPredictor::new(&machine.predictor, spec.fetch_bytes),
            hart,
            execute: 0,
            ready: [0; 64],
            reason: [Cause::Dependence; 64],
            front: FetchState {
                piece: u64::MAX,
                entered: u64::MAX,
                fetched: 0,
                decoded: 0,
                next: 0,
                line: u64::MAX,
                line_ready: 0,
                free: vec![0; (spec.fetch_queue + spec.fetch_stages - 1) as usize].into_boxed_slice(),
                place: 0,
                new: 0,
                refill: 0,
                refill_cause: Cause::FrontEnd,
            },
            pending: None,
            stores: VecDeque::new(),
            store_cycle: 0,
            units,
            account: Account::default(),
            spec,
        }
    }

    /// The branch predictor.
    #[must_use]
    pub(crate) fn predictor(&self) -> &BranchPredictor {
        &self.predictor
    }

    /// The cycle that the hart has reached.
    #[must_use]
    pub(crate) fn cycle(&self) -> u64 {
        self.execute
    }

    /// The earliest cycle for which the pipeline can still access memory.
    #[must_use]
    pub(crate) fn earliest(&self) -> u64 {
        self.front.fetched
    }

    /// Total cycles, until the newest instruction is written back. Completes the account.
    pub(crate) fn finish(&mut self) -> u64 {
        let cycles = self.cycles();
        self.account.lose(cycles.saturating_sub(self.account.total()), Cause::FrontEnd);
        cycles
    }

    /// Cycles up to the write-back of the newest instruction.
    #[must_use]
    pub(crate) fn cycles(&self) -> u64 {
        if self.account.retired == 0 { 0 } else { self.execute + WRITE_BACK + 1 }
    }

    /// Puts the hart to sleep until `cycle`.
    pub(crate) fn sleep_until(&mut self, cycle: u64) {
        if cycle > self.execute {
            self.account.lose(cycle - self.execute, Cause::Idle);
            self.execute = cycle;
            self.refill(cycle, 0, Cause::Idle);
        }
    }

    /// Times the next instruction.
    pub(crate) fn step(&mut self, retired: &Retired, memory: &mut MemoryModel) -> Times {
        let first = if self.account.retired == 0 { 0 } else { self.execute + 1 };
        let split = self.is_split_target(retired);
        let (fetch, decoded) = self.fetch(retired, memory);
        let mut at = first;
        if decoded + 1 > at {
            let refilled = self.front.refill.clamp(at, decoded + 1);
            self.account.lose(refilled - at, self.front.refill_cause);
            self.account.lose(decoded + 1 - refilled, Cause::FrontEnd);
            at = decoded + 1;
        }
        if split && at == self.execute + 1 {
            self.account.lose(1, Cause::FrontEnd);
            at += 1;
        }
        // Operands, and the destination register.
        at = self.operands(retired, at);
        let waiting = at;
        let class = UnitClass::of(retired.class);
        at = self.unit(retired, class, at);
        if at > waiting {
            self.account.lose(at - waiting, Cause::Unit);
        }
        if retired.class.is_load() {
            let hazard = self.load_hazard(retired, at);
            if hazard > at {
                self.account.lose(hazard - at, Cause::Memory);
                at = hazard;
            }
        } else {
            self.drain(at + 1);
        }
        self.account.retired += 1;
        self.execute = at;
        self.front.executed_in(at);
        let complete = self.execute_one(retired, class, at, memory);
        self.control(retired, at);
        Times { fetch, decode: at.saturating_sub(1), issue: at, complete, retire: at + WRITE_BACK }
    }

    /// The cycle in which the operands are ready, for an instruction that could execute at `at`.
    #[inline]
    fn operands(&mut self, retired: &Retired, mut at: u64) -> u64 {
        let [first, second, third] = retired.sources.map(|register| self.ready[register.index()]);
        let latest = first.max(second).max(third).max(self.ready[retired.destination.index()]);
        if latest <= at && self.pending.is_none() {
            return at;
        }
        for register in retired.sources.into_iter().chain([retired.destination]) {
            let ready = self.ready[register.index()];
            if ready > at {
                self.account.lose(ready - at, self.reason[register.index()]);
                at = ready;
            }
            if let Some(pending) = self.pending
                && register.is_some()
                && pending.register == register
            {
                // No later write-back delays it, so it is written immediately. Decode sees it in that cycle.
                let ready = pending.write + 1;
                if ready > at {
                    self.account.lose(ready - at, Cause::Dependence);
                    at = ready;
                }
                self.pending = None;
            }
        }
        at
    }

    /// The cycle in which the unit is free, for an instruction that could execute at `at`.
    #[inline]
    fn unit(&mut self, retired: &Retired, class: UnitClass, at: u64) -> u64 {
        match class {
            UnitClass::Multiply | UnitClass::Divide if self.spec.multiply_beside => match self.pending.take() {
                Some(pending) => at.max(pending.write + 1),
                None => at,
            },
            UnitClass::Load | UnitClass::Store | UnitClass::Alu | UnitClass::Branch => at,
            _ => {
                let latency = self.latency(retired, class);
                let unit = &mut self.units[class as usize];
                let at = at.max(unit.free);
                unit.free = at + if unit.interval == 0 { latency } else { unit.interval };
                at
            }
        }
    }

    /// Executes an instruction at `at`, and returns the cycle in which its result is ready.
    #[inline]
    fn execute_one(&mut self, retired: &Retired, class: UnitClass, at: u64, memory: &mut MemoryModel) -> u64 {
        // Write-back is two cycles later. Every instruction that writes a register takes the port, x0 included.
        let writes = !matches!(retired.class, Class::Store | Class::Branch | Class::Fence | Class::System);
        if let Some(pending) = &mut self.pending
            && writes
            && pending.write == at + WRITE_BACK
        {
            pending.write += 1;
        }
        if retired.detail & Retired::CODE != 0 {
            memory.forget_code(self.hart);
        }
        let spec = &self.spec;
        let (usable, reason) = match class {
            UnitClass::Load => {
                let use_time = if retired.bytes < 4 { spec.narrow_load_use } else { spec.load_use };
                // The use times include a level 1 hit.
                let late = memory.load(self.hart, retired.address, retired.bytes, at).saturating_sub(at + 1);
                (at + u64::from(use_time) + late, if late > 0 { Cause::Memory } else { Cause::Dependence })
            }
            UnitClass::Store => {
                memory.store(self.hart, retired.address, retired.bytes, at + WRITE_BACK);
                (at + 1, Cause::Dependence)
            }
            UnitClass::Atomic => {
                let late = memory.atomic(self.hart, retired.address, retired.bytes, at).saturating_sub(at + 1);
                let use_time = self.units[class as usize].latency;
                (at + use_time + late, if late > 0 { Cause::Memory } else { Cause::Dependence })
            }
            UnitClass::Branch => {
                let indirect = retired.sources[0].is_some();
                (at + if indirect { u64::from(spec.link_use) } else { 1 }, Cause::Dependence)
            }
            UnitClass::Alu if retired.class == Class::Csr => (at + u64::from(spec.csr_use), Cause::Dependence),
            _ => (at + self.latency(retired, class), Cause::Dependence),
        };
        if retired.class.is_store() && self.spec.store_hazard != 0 {
            self.stores.push_back(WaitingStore {
                address: retired.address,
                bytes: retired.bytes,
                from: at + WRITE_BACK,
            });
        }
        let pending = matches!(class, UnitClass::Multiply | UnitClass::Divide) && self.spec.multiply_beside;
        if pending {
            self.pending =
                Some(PendingResult { write: (usable - 1).max(at + WRITE_BACK), register: retired.destination });
        } else if retired.destination.is_some() {
            self.ready[retired.destination.index()] = usable;
            self.reason[retired.destination.index()] = reason;
        }
        usable - 1
    }

    /// Cycles of an instruction that accesses no memory, from its execution to its result.
    #[inline]
    fn latency(&self, retired: &Retired, class: UnitClass) -> u64 {
        let unit = &self.units[class as usize];
        match class {
            UnitClass::Multiply => self.spec.multiply_use.into(),
            UnitClass::Divide => divide_use(&self.spec.divide, retired),
            _ if retired.detail & Retired::WIDE != 0 => unit.double_latency,
            _ => unit.latency,
        }
    }

    /// The cycle in which a load that could execute at `at` executes without overlapping a waiting store.
    fn load_hazard(&mut self, retired: &Retired, at: u64) -> u64 {
        self.drain(at);
        if self.stores.is_empty() {
            self.store_cycle = at + 1;
            return at;
        }
        let end = retired.address.wrapping_add(retired.bytes.into());
        let meets = |store: &WaitingStore| {
            store.address < end && retired.address < store.address.wrapping_add(store.bytes.into())
        };
        if !self.stores.iter().any(meets) {
            self.store_cycle = at + 1;
            return at;
        }
        // The load is fetched again. Until then nothing reads memory, so all stores are written.
        self.stores.clear();
        let again = at + u64::from(self.spec.store_hazard);
        self.store_cycle = again + 1;
        again
    }

    /// Writes waiting stores in the cycles before `until`, in which no load executes.
    #[inline]
    fn drain(&mut self, until: u64) {
        while let Some(store) = self.stores.front() {
            let cycle = self.store_cycle.max(store.from);
            if cycle >= until {
                break;
            }
            self.stores.pop_front();
            self.store_cycle = cycle + 1;
        }
        self.store_cycle = self.store_cycle.max(until);
    }

    /// Whether fetch restarts at an instruction that spans two fetches. The buffer between fetch and decode accepts
    /// half an instruction only in a cycle in which decode receives nothing (Rocket Chip, `IBuf.scala`), however far
    /// fetch is ahead.
    fn is_split_target(&self, retired: &Retired) -> bool {
        let inside = retired.pc & (u64::from(self.spec.fetch_bytes) - 1);
        self.front.piece == u64::MAX && inside + u64::from(retired.size) > self.spec.fetch_bytes.into()
    }

    /// Fetches an instruction. Returns when its first byte is fetched, and when it can be decoded.
    #[inline]
    fn fetch(&mut self, retired: &Retired, memory: &mut MemoryModel) -> (u64, u64) {
        let mask = !(u64::from(self.spec.fetch_bytes) - 1);
        let last = retired.pc.wrapping_add(u64::from(retired.size.max(2)) - 1) & mask;
        let mut piece = retired.pc & mask;
        if piece == last && piece == self.front.piece {
            return (self.front.fetched, self.front.decoded);
        }
        let mut begin = None;
        loop {
            if self.front.piece != piece {
                self.fetch_piece(piece, retired.pc.max(piece), memory);
            }
            begin.get_or_insert(self.front.fetched);
            if piece == last {
                return (begin.unwrap_or_default(), self.front.decoded);
            }
            piece = piece.wrapping_add(u64::from(self.spec.fetch_bytes));
        }
    }

    fn fetch_piece(&mut self, piece: u64, entered: u64, memory: &mut MemoryModel) {
        let front = &mut self.front;
        // When a piece is decoded, its entry can be used for a fetch in the next cycle.
        let mut at = front.next.max(front.free[front.place]);
        let line = piece & !(memory.fetch_line() - 1);
        if line != front.line {
            front.line = line;
            front.line_ready = memory.fetch(self.hart, piece, at);
        }
        at = at.max(front.line_ready);
        front.piece = piece;
        front.entered = entered;
        front.fetched = at;
        front.decoded = at + u64::from(self.spec.fetch_stages);
        front.next = at + 1;
        front.place = if front.place + 1 == front.free.len() { 0 } else { front.place + 1 };
        front.new += 1;
    }

    /// Redirects fetch after an instruction that executed at `at`.
    fn control(&mut self, retired: &Retired, at: u64) {
        match retired.class {
            class if class.is_control() => match self.predictor.predict(retired, self.front.entered) {
                Guess::Wrong => self.refill(at, self.spec.mispredict.into(), Cause::Prediction),
                guess => {
                    if retired.is_taken() {
                        self.front.piece = u64::MAX;
                        if guess == Guess::Late {
                            self.front.next += u64::from(self.spec.redirect);
                        }
                    }
                }
            },
            Class::System => self.refill(at, self.spec.flush.into(), Cause::Serial),
            Class::Csr if retired.detail & Retired::FLUSHES != 0 => {
                self.refill(at, self.spec.flush.into(), Cause::Serial);
            }
            Class::Fence if retired.detail & Retired::CODE != 0 => {
                self.front.line = u64::MAX;
                self.refill(at, self.spec.flush.into(), Cause::Serial);
            }
            _ if retired.is_taken() => self.refill(at, self.spec.flush.into(), Cause::Serial),
            _ => {}
        }
    }

    /// Restarts fetch, so that the next instruction executes `bubbles` cycles later than it would have.
    fn refill(&mut self, at: u64, bubbles: u64, cause: Cause) {
        let front = &mut self.front;
        front.piece = u64::MAX;
        front.free.fill(0);
        front.refill = at + 1 + bubbles;
        front.refill_cause = cause;
        front.next = (at + bubbles).saturating_sub(u64::from(self.spec.fetch_stages)).max(front.fetched + 1);
    }
}

impl FetchState {
    /// Frees the entries of the new pieces in `cycle`, in which their first instruction executes.
    #[inline]
    fn executed_in(&mut self, cycle: u64) {
        let mut place = self.place;
        while self.new > 0 {
            place = if place == 0 { self.free.len() - 1 } else { place - 1 };
            self.free[place] = cycle;
            self.new -= 1;
        }
    }
}

/// Use time of a quotient.
pub(super) fn divide_use(divider: &machine::Divider, retired: &Retired) -> u64 {
    let width = if retired.detail & Retired::WIDE != 0 { 64 } else { 32 };
    let signs = u32::from(retired.detail & Retired::NEGATIVE != 0) + u32::from(retired.detail & Retired::NEGATED != 0);
    let steps = divider_steps(width, retired.dividend_bits, retired.divisor_bits, divider);
    u64::from(divider.base + signs * divider.sign + steps)
}

/// Steps of a restoring divider that first shifts the dividend until its highest bit meets the divisor's: one step to
/// shift, one for each bit of the quotient, and one to detect the end. If the dividend is shorter than the divisor, the
/// distance of the highest bits wraps around, so the division takes long. A division by zero shifts nothing and takes
/// long too.
fn divider_steps(width: u32, dividend_bits: u8, divisor_bits: u8, divider: &machine::Divider) -> u32 {
    let all = width.div_ceil(divider.bits_per_cycle) + 1;
    if !divider.early_out || divisor_bits == 0 {
        return all;
    }
    let (dividend, divisor) = (u32::from(dividend_bits.max(1)) - 1, u32::from(divisor_bits) - 1);
    let skipped = (width - 1).wrapping_sub(dividend.wrapping_sub(divisor)) & (width - 1);
    match skipped / divider.bits_per_cycle {
        0 => all,
        skipped => 1 + all - skipped,
    }
}

#[cfg(test)]
#[path = "inorder_tests.rs"]
mod tests;
