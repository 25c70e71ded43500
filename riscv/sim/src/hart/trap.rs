//! Traps and interrupts.

use super::op::Opcode;
use super::{Event, Hart, extensions};
use crate::bus::Bus;
use crate::error::{Error, ErrorKind, Reason, Trap, cause};
use crate::retired::{Class, Retired};

/// If the same trap occurs this often without a return from the handler, the handler is taken to be stuck.
const MAX_REPEATS: u32 = 1000;
const SP: usize = 2;

/// The last trap, to detect a handler that never gets past it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TrapHistory {
    last: (u64, u64, u64),
    repeats: u32,
    /// Instructions completed when the last trap was taken.
    completed: u64,
}

impl Hart {
    /// Raises a trap for the instruction at pc.
    #[cold]
    #[inline(never)]
    pub(super) fn raise(
        &mut self,
        bus: &Bus,
        retired: &mut Retired,
        cause: u64,
        value: u64,
    ) -> Result<Event, Box<Error>> {
        let trap = || Trap { cause, value, lost_stack: self.lost_stack(bus), reason: self.reason(bus, cause, value) };
        if self.csr.mtvec.is_none() {
            return Err(self.error(ErrorKind::Unhandled(trap())));
        }
        let this = (cause, self.pc, value);
        let history = &self.traps;
        let repeats = if history.last == this { history.repeats + 1 } else { 0 };
        // A handler whose first instruction traps never makes progress.
        let stuck = repeats > 0 && history.completed == self.completed;
        if stuck || repeats == MAX_REPEATS {
            return Err(self.error(ErrorKind::TrapLoop(trap())));
        }
        self.traps = TrapHistory { last: this, repeats, completed: self.completed };
        self.enter(retired, cause, value);
        Ok(Event::Trapped)
    }

    /// Checks for interrupts and watchpoints. Returns the event if one occurs instead of an instruction.
    #[cold]
    #[inline(never)]
    pub(super) fn attend(&mut self, bus: &mut Bus, retired: &mut Retired) -> Result<Option<Event>, Box<Error>> {
        bus.advance(self.cycle);
        let pending = bus.pending(self.id, self.cycle) & self.csr.mie;
        if pending == 0 && self.waiting {
            return Ok(Some(Event::Waiting));
        }
        if self.waiting {
            self.waiting = false;
            self.update_attention();
        }
        if pending == 0 || !self.takes_interrupts() {
            return Ok((self.watches && self.stops_at_access(bus)).then_some(Event::Stopped));
        }
        // External, software, timer: the priority order of the privileged specification.
        let number = [11, 3, 7].into_iter().find(|bit| pending >> bit & 1 != 0).unwrap_or(7);
        let cause = 1 << (self.isa.xlen.bits() - 1) | number;
        if self.csr.mtvec.is_none() {
            let trap = Trap { cause, value: 0, lost_stack: None, reason: None };
            return Err(self.error(ErrorKind::Unhandled(trap)));
        }
        self.enter(retired, cause, 0);
        Ok(Some(Event::Trapped))
    }

    /// The cause of the last trap.
    pub(crate) fn trap_cause(&self) -> u64 {
        self.csr.mcause
    }

    /// Why the instruction at pc raises a trap, where cause and value do not say so.
    fn reason(&self, bus: &Bus, cause: u64, value: u64) -> Option<Reason> {
        let op = self.current(bus);
        let number = op.immediate as u32 & 0xfff;
        match (cause, op.code) {
            (cause::ILLEGAL_INSTRUCTION, Opcode::Mret | Opcode::Wfi | Opcode::CboClean | Opcode::CboZero) => {
                Some(Reason::UserMode)
            }
            (cause::ILLEGAL_INSTRUCTION, _) if op.class == Class::Csr && !self.may_use(number) => {
                Some(Reason::UserMode)
            }
            (cause::ILLEGAL_INSTRUCTION, Opcode::Illegal) => {
                extensions::of(value as u32, &self.isa).map(Reason::Extension)
            }
            (cause::ILLEGAL_INSTRUCTION, _) if op.class == Class::Csr => Some(match self.read_csr(bus, number) {
                Some(_) => Reason::ReadOnly(number),
                None => Reason::NoRegister(number),
            }),
            (cause::ILLEGAL_INSTRUCTION, _) if !self.has_float() => Some(Reason::FloatOff),
            (cause::LOAD_ACCESS, Opcode::Lrw | Opcode::Lrd) | (cause::STORE_ACCESS, Opcode::Scw | Opcode::Scd) => {
                bus.is_there(value).then_some(Reason::NoReservation)
            }
            _ => None,
        }
    }

    fn enter(&mut self, retired: &mut Retired, cause: u64, value: u64) {
        let pc = self.pc;
        let is_interrupt = cause >> (self.isa.xlen.bits() - 1) & 1 != 0;
        self.csr.mepc = pc;
        self.csr.mcause = cause;
        self.csr.mtval = value;
        self.csr.previous_interrupts = self.csr.interrupts;
        self.csr.interrupts = false;
        self.csr.previous_user = self.csr.user;
        self.csr.user = false;
        let vector = self.csr.mtvec.unwrap_or(0);
        let offset = if vector & 1 != 0 && is_interrupt { 4 * (cause & 0xff) } else { 0 };
        self.pc = (vector & !3).wrapping_add(offset) & self.address_mask;
        self.update_attention();
        *retired = Retired { pc, next_pc: self.pc, size: 4, class: Class::System, ..Retired::default() };
    }

    /// Returns from a trap (`mret`) and gives the address to continue at.
    pub(super) fn leave_trap(&mut self, bus: &mut Bus) -> u64 {
        self.csr.interrupts = self.csr.previous_interrupts;
        self.csr.previous_interrupts = true;
        self.csr.user = self.csr.previous_user;
        self.csr.previous_user = true;
        self.csr.uses_previous &= !self.csr.user;
        self.check_protection(bus);
        self.traps = TrapHistory::default();
        self.update_attention();
        self.csr.mepc
    }

    /// Ends the run if loads and stores have the rights of user mode and the program has protected memory.
    pub(super) fn check_protection(&self, bus: &mut Bus) {
        let as_user = self.csr.user || self.csr.uses_previous && self.csr.previous_user;
        if as_user && self.csr.protects {
            bus.host.fail(ErrorKind::Protection);
        }
    }

    /// Executes `wfi`.
    pub(super) fn wait(&mut self) {
        self.waiting = true;
        self.update_attention();
    }

    /// The cycle at which the timer or a device may wake the hart, or `None` if only another hart can.
    pub(crate) fn wakes_at(&self, bus: &Bus) -> Option<u64> {
        let pending = bus.pending(self.id, self.cycle) & self.csr.mie != 0;
        if pending {
            return Some(self.cycle);
        }
        bus.due(self.id, self.csr.mie, self.cycle)
    }

    /// An error at the hart's current place.
    pub(super) fn error(&self, kind: ErrorKind) -> Box<Error> {
        Box::new(Error::new(kind).at(self.place()))
    }

    /// The stack pointer, if it points outside memory (overflow, or never set).
    fn lost_stack(&self, bus: &Bus) -> Option<u64> {
        let sp = self.x[SP] & self.address_mask;
        // An empty stack may begin just above the end of memory.
        let there = bus.memory.is_writable(sp) || bus.memory.is_writable(sp.wrapping_sub(1));
        (!there).then_some(sp)
    }
}
