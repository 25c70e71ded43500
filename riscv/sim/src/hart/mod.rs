//! A hart: its state, and one instruction after the other.

mod code;
mod csr;
mod decode;
mod execute;
mod float;
pub(crate) mod integer;
mod memory;
pub(crate) mod op;
mod trap;

pub(crate) use code::CodeCache;

use crate::{error::Place, isa::Isa, machine::Machine, retired::Reg};
use csr::Csrs;

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An instruction was executed.
    Retired,
    /// An instruction was executed that marks a region of the program: `slti x0, x0, n`, which does nothing else. Region
    /// 0 is whatever has no mark.
    Mark(u16),
    /// An instruction or an interrupt went to the trap handler; no instruction was completed.
    Trapped,
    /// The hart waits for an interrupt (`wfi`); nothing happened.
    Waiting,
    /// An instruction was executed, and it ended the program.
    Exited,
}

/// A hart.
#[derive(Debug)]
pub struct Hart {
    /// x0 to x31, then f0 to f31. Those of 32 bits are sign-extended, singles are boxed.
    x: [u64; 64],
    pc: u64,
    /// The cycle that its model is at: what its counters show and its timer goes by.
    pub cycle: u64,
    completed: u64,
    csr: Csrs,
    id: usize,
    isa: Isa,
    address_mask: u64,
    /// Bits that an instruction's address must not have.
    align_mask: u64,
    misaligned: bool,
    waiting: bool,
    /// Whether a step has to look for interrupts first.
    attention: bool,
    traps: trap::History,
}

impl Hart {
    /// A hart of a machine after reset, about to execute the instruction at `entry`. Its number is in a0 too, as boot
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
            csr: Csrs::default(),
            id,
            isa,
            address_mask: isa.xlen.address_mask(),
            align_mask: if isa.c { 0 } else { 2 },
            misaligned: machine.misaligned,
            waiting: false,
            attention: false,
            traps: trap::History::default(),
        }
    }

    /// Its number, as `mhartid` has it.
    #[must_use]
    pub fn id(&self) -> usize {
        self.id
    }

    /// The address of the next instruction.
    #[must_use]
    pub fn pc(&self) -> u64 {
        self.pc
    }

    /// Instructions that it has completed.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Whether it waits for an interrupt.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// The value of a register. Those of RV32 are sign-extended, floats of 32 bits have ones above them.
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

    /// `fflags` and `frm`.
    #[must_use]
    pub fn fcsr(&self) -> u8 {
        self.csr.frm << 5 | self.csr.fflags
    }

    /// Switches the floating-point unit on, which programs do in `mstatus`.
    pub fn enable_float(&mut self) {
        self.csr.float_on = self.isa.f;
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self) -> Place {
        Place { hart: self.id, pc: self.pc, function: None, instructions: self.completed }
    }

    /// Has the next step look for interrupts where there can be any.
    fn update_attention(&mut self) {
        self.attention = self.waiting || self.csr.interrupts && self.csr.mie != 0;
    }
}
