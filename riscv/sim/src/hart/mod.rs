//! A hart: its state and the execution of instructions.

mod code;
pub(crate) mod crypto;
mod csr;
mod decode;
mod execute;
mod extensions;
mod float;
pub(crate) mod integer;
mod memory;
pub(crate) mod op;
mod trap;

pub(crate) use code::CodeCache;
pub(crate) use execute::CACHE_BLOCK_BYTES;

use crate::error::Place;
use crate::isa::Isa;
use crate::machine::Machine;
use crate::retired::Reg;
use csr::Csrs;

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An instruction was executed.
    Retired,
    /// An instruction was executed that marks a region of the program: `slti x0, x0, n`, which has no other effect.
    /// Region 0 is all code outside marked regions.
    Mark(u16),
    /// The hart entered the trap handler, by an instruction or an interrupt. No instruction was completed.
    Trapped,
    /// The hart waits for an interrupt (`wfi`). Nothing was executed.
    Waiting,
    /// An instruction was executed that ended the program.
    Exited,
    /// The hart stopped before an instruction, because a debugger asked for it. Nothing was executed.
    Stopped,
}

/// A hart (hardware thread): registers, control and status registers, program counter.
#[derive(Debug)]
pub struct Hart {
    /// x0 to x31, then f0 to f31. 32-bit values are sign-extended, and singles are NaN-boxed.
    x: [u64; 64],
    pc: u64,
    /// The current cycle, set by the timing model. Counters and timer read it.
    pub cycle: u64,
    completed: u64,
    csr: Csrs,
    id: usize,
    isa: Isa,
    address_mask: u64,
    /// Bits that must be zero in an instruction's address.
    align_mask: u64,
    misaligned: bool,
    /// Whether the CSR `time` exists.
    time: bool,
    waiting: bool,
    /// Whether a program has selected events to count.
    pub(crate) counts_events: bool,
    /// Whether the next step must check for interrupts.
    attention: bool,
    /// Whether a debugger watches memory.
    watches: bool,
    traps: trap::TrapHistory,
}

impl Hart {
    /// A hart after reset, about to execute the instruction at `entry`. Register a0 holds its number too, as boot
    /// loaders pass it.
    #[must_use]
    pub fn new(machine: &Machine, isa: Isa, id: usize, entry: u64) -> Hart {
        let mut x = [0; 64];
        x[10] = id as u64;
        Hart {
            x,
            pc: entry,
            cycle: 0,
            completed: 0,
            csr: Csrs::new(machine.event_counters as usize),
            id,
            isa,
            address_mask: isa.xlen.address_mask(),
            align_mask: if isa.c { 0 } else { 2 },
            misaligned: machine.misaligned,
            time: machine.time,
            waiting: false,
            counts_events: false,
            attention: false,
            watches: false,
            traps: trap::TrapHistory::default(),
        }
    }

    /// The hart's number, as in `mhartid`.
    #[must_use]
    pub fn id(&self) -> usize {
        self.id
    }

    /// The address of the next instruction.
    #[must_use]
    pub fn pc(&self) -> u64 {
        self.pc
    }

    /// Number of instructions completed.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Whether the hart waits for an interrupt.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// The value of a register. 32-bit integers are sign-extended, and singles have ones in the upper half.
    #[must_use]
    pub fn register(&self, register: Reg) -> u64 {
        self.x[register.index()]
    }

    /// Sets a register, as a debugger would.
    pub fn set_register(&mut self, register: Reg, value: u64) {
        if register.is_some() {
            self.x[register.index()] = value;
        }
    }

    /// Sets the address of the next instruction, as a debugger would. Elsewhere the hart no longer waits for an interrupt.
    pub(crate) fn set_pc(&mut self, pc: u64) {
        let pc = pc & self.address_mask & !(1 | self.align_mask);
        self.waiting &= pc == self.pc;
        self.pc = pc;
        self.update_attention();
    }

    /// Compares each access with the bus's watchpoints from now on, or no longer.
    pub(crate) fn watch(&mut self, watches: bool) {
        self.watches = watches;
        self.update_attention();
    }

    /// The instruction set.
    pub(crate) fn isa(&self) -> Isa {
        self.isa
    }

    /// `fflags` and `frm`.
    #[must_use]
    pub fn fcsr(&self) -> u8 {
        self.csr.frm << 5 | self.csr.fflags
    }

    /// Turns the floating-point unit on, which programs do in `mstatus`.
    pub fn enable_float(&mut self) {
        self.csr.float_on = self.isa.f;
    }

    /// The place for an error message: hart, address and instructions completed.
    #[must_use]
    pub fn place(&self) -> Place {
        Place { hart: self.id, pc: self.pc, function: None, source: None, instructions: self.completed }
    }

    /// Makes the next step check for interrupts, if any can occur.
    fn update_attention(&mut self) {
        self.attention = self.waiting || self.watches || self.takes_interrupts() && self.csr.mie != 0;
    }

    /// Whether interrupts are taken. In user mode they always are.
    fn takes_interrupts(&self) -> bool {
        self.csr.interrupts || self.csr.user
    }
}
