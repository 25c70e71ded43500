//! Control and status registers of machine mode: the RISC-V Instruction Set Manual, volume II, chapter "Machine-Level ISA",
//! and the counters and floating-point registers of volume I.
//!
//! There are machine mode and user mode. The registers for memory protection exist and read as zero. Those for
//! performance events count what SiFive's E31 Core Complex Manual, table "mhpmevent Register Description", lists.

use super::Hart;
use crate::bus::Bus;
use crate::isa::Xlen;
use crate::retired::{Class, Retired};

/// Bits of `mstatus`.
const MIE: u64 = 1 << 3;
const MPIE: u64 = 1 << 7;
const MPP: u64 = 3 << 11;
const MPP_LOW: u64 = 1 << 11;
const FS_SHIFT: u32 = 13;
const MPRV: u64 = 1 << 17;
const TW: u64 = 1 << 21;
/// Value of `mstatus.FS` while the unit is on. The simulator does not track whether a program has changed
/// floating-point state, and the specification allows it to report dirty state always.
const DIRTY: u64 = 3;

/// Interrupts that can be enabled: software, timer, external.
const INTERRUPTS: u64 = 1 << 3 | 1 << 7 | 1 << 11;

/// Bits of an event counter.
const EVENT_BITS: u64 = (1 << 40) - 1;
/// The events of each class that are counted, as bits of `mhpmevent`, whose lower 8 bits are the class: instructions,
/// pipeline (mispredicted branches and targets), memory (misses of the instruction cache, accesses outside the core).
const EVENTS: [u64; 3] = [0x7_ff00, 3 << 13, 3 << 8];

/// The registers that are stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Csrs {
    pub(super) interrupts: bool,
    pub(super) previous_interrupts: bool,
    /// Whether the hart is in user mode, and whether `mret` leads there.
    pub(super) user: bool,
    pub(super) previous_user: bool,
    /// `mstatus.MPRV`: loads and stores have the rights of the mode to which `mret` leads.
    pub(super) uses_previous: bool,
    /// `mstatus.TW`: `wfi` is illegal in user mode.
    pub(super) traps_wait: bool,
    /// Whether a program has set up protected memory.
    pub(super) protects: bool,
    /// Whether `mstatus.FS` is not off.
    pub(super) float_on: bool,
    pub(super) mie: u64,
    /// `None` until the program sets it.
    pub(super) mtvec: Option<u64>,
    /// The counters that user mode can read: all after reset, for programs that never write it.
    pub(super) mcounteren: u32,
    pub(super) mscratch: u64,
    pub(super) mepc: u64,
    pub(super) mcause: u64,
    pub(super) mtval: u64,
    /// Differences between the counters and their readings, set when a program writes them.
    pub(super) cycle_offset: u64,
    pub(super) instret_offset: u64,
    pub(super) fflags: u8,
    pub(super) frm: u8,
    /// `mhpmevent` and `mhpmcounter` of each event counter.
    pub(super) events: Vec<(u64, u64)>,
    /// What they have seen: mispredicted branches, mispredicted targets and misses of the instruction cache since the
    /// start. `None` if a program has just selected events.
    pub(super) seen: Option<[u64; 3]>,
}

impl Csrs {
    /// The registers after reset, with this number of event counters.
    pub(super) fn new(event_counters: usize) -> Csrs {
        Csrs { events: vec![(0, 0); event_counters], mcounteren: u32::MAX, ..Csrs::default() }
    }
}

impl Hart {
    /// Counts the events of a step. `now` is what `seen` will be.
    pub(crate) fn count_events(&mut self, trapped: bool, retired: &Retired, now: [u64; 3], is_outside: bool) {
        let Some(before) = self.csr.seen.replace(now) else { return };
        let [wrong_branches, wrong_targets, misses] = [0, 1, 2].map(|index| now[index] - before[index]);
        let indirect = retired.sources[0].is_some();
        // The bit of the instruction in class 0.
        let instruction = match retired.class {
            _ if trapped => 8,
            Class::Load => 9,
            Class::Store => 10,
            Class::Atomic | Class::LoadReserved | Class::StoreConditional => 11,
            Class::System | Class::Csr => 12,
            Class::Alu | Class::Nop => 13,
            Class::Branch => 14,
            Class::Jump | Class::Call if !indirect => 15,
            Class::Call | Class::IndirectJump | Class::Return => 16,
            Class::Multiply => 17,
            Class::Divide => 18,
            _ => 63,
        };
        for (selector, count) in &mut self.csr.events {
            let selects = |bit: u32| *selector >> bit & 1;
            let events = match *selector & 0xff {
                0 => selects(instruction),
                1 => selects(13) * wrong_branches + selects(14) * wrong_targets,
                _ => selects(8) * misses + selects(9) * u64::from(is_outside),
            };
            *count = count.wrapping_add(events) & EVENT_BITS;
        }
    }

    /// The event counter of a register, whose number counts from that of the first.
    fn event(&self, number: u32) -> (u64, u64) {
        self.csr.events.get(number as usize).copied().unwrap_or_default()
    }

    /// Whether the hart's mode may use a register.
    pub(super) fn may_use(&self, number: u32) -> bool {
        let is_counter = matches!(number, 0xc00..=0xc1f | 0xc80..=0xc9f);
        !self.csr.user || number >> 8 & 3 == 0 && (!is_counter || self.csr.mcounteren >> (number & 31) & 1 != 0)
    }

    /// The value of a register, as a debugger sees it: that of the floating-point unit even while it is off.
    pub(crate) fn csr(&self, bus: &Bus, number: u32) -> Option<u64> {
        match number {
            1..=3 if self.isa.f => Some([self.fcsr() & 31, self.csr.frm, self.fcsr()][number as usize - 1].into()),
            _ => self.read_csr(bus, number),
        }
    }

    /// Reads a register, or returns `None` if it does not exist.
    pub(super) fn read_csr(&self, bus: &Bus, number: u32) -> Option<u64> {
        let narrow = self.isa.xlen == Xlen::Rv32;
        let cycle = self.cycle.wrapping_add(self.csr.cycle_offset);
        let instret = self.completed.wrapping_add(self.csr.instret_offset);
        let value = match number {
            0x001 if self.has_float() => self.csr.fflags.into(),
            0x002 if self.has_float() => self.csr.frm.into(),
            0x003 if self.has_float() => u64::from(self.csr.frm) << 5 | u64::from(self.csr.fflags),
            0x300 => self.mstatus(),
            0x301 => self.isa.misa(),
            0x304 => self.csr.mie,
            0x305 => self.csr.mtvec.unwrap_or(0),
            0x306 => self.csr.mcounteren.into(),
            // `menvcfg`: no extension that it switches on is there.
            0x30a => 0,
            0x310 | 0x31a if narrow => 0,
            0x320 => 0,
            0x323..=0x33f => self.event(number - 0x323).0,
            0x340 => self.csr.mscratch,
            0x341 => self.csr.mepc,
            0x342 => self.csr.mcause,
            0x343 => self.csr.mtval,
            0x344 => bus.pending(self.id, self.cycle),
            0x3a0..=0x3af if !narrow && number & 1 != 0 => return None,
            0x3a0..=0x3ef => 0,
            0xb00 | 0xc00 => cycle,
            0xb02 | 0xc02 => instret,
            0xc01 if self.time => bus.time(self.cycle),
            0xb80 | 0xc80 if narrow => cycle >> 32,
            0xb82 | 0xc82 if narrow => instret >> 32,
            0xc81 if narrow && self.time => bus.time(self.cycle) >> 32,
            0xb03..=0xb1f | 0xc03..=0xc1f => self.event((number & 31) - 3).1,
            0xb83..=0xb9f | 0xc83..=0xc9f if narrow => self.event((number & 31) - 3).1 >> 32,
            0xf11..=0xf13 | 0xf15 => 0,
            0xf14 => self.id as u64,
            _ => return None,
        };
        Some(if narrow { value as i32 as u64 } else { value })
    }

    /// Writes a register as a debugger does: one of the floating-point unit even while it is off, and a counter has the
    /// value now, not when the next instruction reads it.
    pub(crate) fn set_csr(&mut self, bus: &Bus, number: u32, value: u64) -> Option<()> {
        if self.isa.f && matches!(number, 1..=3) {
            self.write_float_csr(number, value);
            return Some(());
        }
        self.write_csr(bus, number, value)?;
        match number {
            0xb00 | 0xb80 => self.csr.cycle_offset = self.csr.cycle_offset.wrapping_add(1),
            0xb02 | 0xb82 => self.csr.instret_offset = self.csr.instret_offset.wrapping_add(1),
            _ => {}
        }
        Some(())
    }

    /// Writes a register, or returns `None` if it does not exist or is read-only.
    pub(crate) fn write_csr(&mut self, bus: &Bus, number: u32, value: u64) -> Option<()> {
        if number >> 10 == 3 {
            return None;
        }
        // Fails if the register does not exist.
        self.read_csr(bus, number)?;
        let mask = self.isa.xlen.address_mask();
        let half = |old: u64, high: bool| match (self.isa.xlen, high) {
            (Xlen::Rv64, _) => value,
            (Xlen::Rv32, false) => old & !mask | value & mask,
            (Xlen::Rv32, true) => old & mask | value << 32,
        };
        let cycle = self.cycle.wrapping_add(self.csr.cycle_offset);
        let instret = self.completed.wrapping_add(self.csr.instret_offset);
        match number {
            0x001..=0x003 => self.write_float_csr(number, value),
            0x300 => {
                self.csr.interrupts = value & MIE != 0;
                self.csr.previous_interrupts = value & MPIE != 0;
                // As Rocket reads the two modes that do not exist.
                self.csr.previous_user = value & MPP_LOW == 0;
                self.csr.float_on = self.isa.f && value >> FS_SHIFT & 3 != 0;
                self.csr.uses_previous = value & MPRV != 0;
                self.csr.traps_wait = value & TW != 0;
            }
            0x304 => self.csr.mie = value & INTERRUPTS,
            0x306 => self.csr.mcounteren = value as u32,
            0x323..=0x33f => {
                if let Some((selector, _)) = self.csr.events.get_mut(number as usize - 0x323) {
                    let counted = EVENTS.get(value as usize & 0xff).map_or(0, |events| value & events);
                    *selector = if counted == 0 { 0 } else { counted | value & 0xff };
                    self.csr.seen = None;
                    self.counts_events = self.csr.events.iter().any(|(selector, _)| *selector != 0);
                }
            }
            // An entry that is on and forbids something.
            0x3a0..=0x3af => {
                let forbids = |entry: u8| entry & 0x18 != 0 && entry & 7 != 7;
                self.csr.protects |= (value & mask).to_le_bytes().into_iter().any(forbids);
            }
            // Direct or vectored mode. The higher modes are reserved.
            0x305 => self.csr.mtvec = Some(value & mask & !2),
            0x340 => self.csr.mscratch = value,
            0x341 => self.csr.mepc = value & mask & !if self.isa.c { 1 } else { 3 },
            0x342 => self.csr.mcause = value,
            0x343 => self.csr.mtval = value,
            // The written value is seen by the next instruction first.
            0xb00 => self.csr.cycle_offset = half(cycle, false).wrapping_sub(self.cycle + 1),
            0xb80 => self.csr.cycle_offset = half(cycle, true).wrapping_sub(self.cycle + 1),
            0xb02 => self.csr.instret_offset = half(instret, false).wrapping_sub(self.completed + 1),
            0xb82 => self.csr.instret_offset = half(instret, true).wrapping_sub(self.completed + 1),
            0xb03..=0xb1f | 0xb83..=0xb9f => {
                if let Some((_, count)) = self.csr.events.get_mut((number as usize & 31) - 3) {
                    *count = half(*count, number >= 0xb80) & EVENT_BITS;
                }
            }
            _ => {}
        }
        self.update_attention();
        Some(())
    }

    /// Writes `fflags`, `frm` or `fcsr`.
    fn write_float_csr(&mut self, number: u32, value: u64) {
        match number {
            1 => self.csr.fflags = value as u8 & 31,
            2 => self.csr.frm = value as u8 & 7,
            _ => (self.csr.frm, self.csr.fflags) = (value as u8 >> 5, value as u8 & 31),
        }
    }

    fn mstatus(&self) -> u64 {
        let bit = |set: bool, bit: u64| if set { bit } else { 0 };
        // UXL of RV64 says that user mode has 64 bits, too.
        let (dirty, width) = match self.isa.xlen {
            Xlen::Rv32 => (1 << 31, 0),
            Xlen::Rv64 => (1 << 63, 2 << 32),
        };
        width
            | bit(self.csr.interrupts, MIE)
            | bit(self.csr.previous_interrupts, MPIE)
            | if self.csr.previous_user { 0 } else { MPP }
            | bit(self.csr.uses_previous, MPRV)
            | bit(self.csr.traps_wait, TW)
            | bit(self.csr.float_on, DIRTY << FS_SHIFT | dirty)
    }

    /// Whether the hart has a floating-point unit that is on.
    pub(super) fn has_float(&self) -> bool {
        self.csr.float_on
    }
}
