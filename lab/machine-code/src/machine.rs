//! An interpreter of x86-64 that tracks for every byte whether it is secret, and stops where a secret influences
//! control flow, an address, or the time of an instruction.
//!
//! It computes public values and never looks at secret ones, so it needs no model of most vector instructions. The
//! result of an instruction without a model is secret if an input is secret; otherwise it is unknown, and an unknown
//! value must not decide where the program continues. The crate iced-x86 knows the instructions, their operands, and
//! their implicit reads and writes.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register, RflagsBits, UsedMemory,
};

use crate::dead_branches::DeadBranches;
use crate::image::Image;
use crate::memory::{HEAP_START, Level, Memory, STACK_END};
use crate::properties::{has_variable_time, is_constant};

/// The way in which a secret becomes observable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leak {
    /// The secret decides a conditional branch.
    Branch,
    /// The secret is in the target of a jump, call or return.
    Target,
    /// The secret is in the address of an access, or in the length of a copy.
    Address,
    /// The secret is in the addresses of a gather or scatter.
    Gather,
    /// The secret is in a mask register.
    Mask,
    /// The secret is an operand of an instruction whose time depends on its operands: division, floating point.
    Time,
    /// The secret is in a comparison of bytes by the C library.
    Compare,
}

/// Why the interpreter stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A secret is observable.
    Leak(Leak),
    /// The interpreter does not know how to continue.
    Undecided(String),
}

/// The place where the interpreter stopped, and the reason.
#[derive(Debug)]
pub struct Stop {
    /// The reason.
    pub reason: Reason,
    /// The function, and the instruction's offset.
    pub location: String,
}

impl From<Leak> for Reason {
    fn from(leak: Leak) -> Reason {
        Reason::Leak(leak)
    }
}

impl From<String> for Reason {
    fn from(what: String) -> Reason {
        Reason::Undecided(what)
    }
}

pub(crate) type StepResult<T = ()> = Result<T, Reason>;

#[derive(Clone, Copy, Default)]
pub(crate) struct Scalar {
    pub(super) value: u64,
    pub(super) levels: [Level; 8],
}

impl Scalar {
    pub(super) fn new(value: u64, level: Level) -> Scalar {
        Scalar { value, levels: [level; 8] }
    }

    /// The highest level of its bytes.
    pub(super) fn level(&self) -> Level {
        self.levels.into_iter().max().unwrap_or_default()
    }
}

/// A vector register, or the vector in an operand.
#[derive(Clone, Copy)]
pub(crate) struct Vector {
    pub(crate) bytes: [u8; 64],
    pub(crate) levels: [Level; 64],
}

impl Vector {
    pub(super) const ZERO: Vector = Vector { bytes: [0; 64], levels: [Level::Public; 64] };

    /// The highest level of the first bytes.
    pub(crate) fn level(&self, bytes: usize) -> Level {
        self.level_of(0, bytes)
    }

    /// An element as a number.
    pub(super) fn number(&self, index: usize, unit: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes[..unit].copy_from_slice(&self.bytes[unit * index..unit * (index + 1)]);
        u64::from_le_bytes(bytes)
    }

    /// The highest level of the bytes of an element.
    pub(super) fn level_of(&self, index: usize, unit: usize) -> Level {
        self.levels[unit * index..unit * (index + 1)].iter().copied().max().unwrap_or_default()
    }

    /// A byte and its level. Bytes after the vector are zero.
    pub(super) fn byte(&self, at: usize) -> (u8, Level) {
        if at < 64 { (self.bytes[at], self.levels[at]) } else { (0, Level::Public) }
    }
}

/// An instruction with its reads and writes.
pub(super) struct Decoded {
    pub(super) instruction: Instruction,
    reads: Vec<Register>,
    /// Written registers, and whether the instruction always writes them.
    writes: Vec<(Register, bool)>,
    memory: Vec<UsedMemory>,
    has_variable_time: bool,
    /// Whether the instruction was reached, as opposed to only examined on an untaken side of a branch.
    is_reached: Cell<bool>,
}

/// Return address of the outermost function.
const END: u64 = 0x0eed_0000;

/// The interpreter.
pub struct Interpreter<'i> {
    pub(super) image: &'i Image,
    /// The memory in which the code runs.
    pub memory: Memory,
    /// Start of the segment FS: where the thread-local storage of a thread of this process ends.
    pub(super) thread_pointer: u64,
    pub(super) scalars: [Scalar; 16],
    pub(super) vectors: [Vector; 32],
    pub(super) masks: [Scalar; 8],
    /// The value of the flags register.
    pub(super) flags: u32,
    pub(super) flag_levels: [Level; 32],
    pub(super) next: u64,
    /// Decoded instructions, by offset from the start of the code.
    pub(super) decoded: Vec<Option<Rc<Decoded>>>,
    info: InstructionInfoFactory,
    /// Sides of branches to examine; `None` in a normal run.
    pub(super) dead_branches: Option<DeadBranches<'i>>,
    /// Number of untaken sides that are being examined, one inside the other.
    pub(super) dead_depth: u32,
    /// Number of sides of branches that were examined.
    pub(super) explored: u64,
    /// Number of revealed bits.
    pub(super) revealed: u32,
    /// Number of instructions that were run.
    pub(super) steps: u64,
    /// End of the allocated heap, and the size of each allocation by address.
    pub(super) heap: (u64, HashMap<u64, u64>),
    /// Instructions without a model that made public values unknown, with their numbers.
    pub unknown: HashMap<Mnemonic, u64>,
}

impl<'i> Interpreter<'i> {
    /// An interpreter of this executable's code.
    pub fn new(image: &'i Image) -> Self {
        Interpreter {
            image,
            memory: Memory::new(),
            thread_pointer: 0,
            scalars: [Scalar::default(); 16],
            vectors: [Vector::ZERO; 32],
            masks: [Scalar::default(); 8],
            flags: 0,
            flag_levels: [Level::Public; 32],
            next: 0,
            decoded: vec![None; (image.text.end - image.text.start) as usize],
            info: InstructionInfoFactory::new(),
            dead_branches: None,
            dead_depth: 0,
            explored: 0,
            revealed: 0,
            steps: 0,
            heap: (HEAP_START, HashMap::new()),
            unknown: HashMap::new(),
        }
    }

    /// Calls a function of the executable with up to six public arguments, by the System V ABI.
    pub fn call(&mut self, function: u64, arguments: &[u64]) -> Result<(), Box<Stop>> {
        self.scalars = [Scalar::default(); 16];
        let order = [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];
        for (register, value) in order.into_iter().zip(arguments) {
            self.set(register, *value, Level::Public);
        }
        self.set(Register::RSP, STACK_END - 4096 - 8, Level::Public);
        self.next = function;
        self.memory.write_number(STACK_END - 4096 - 8, 8, END, Level::Public).expect("the stack");
        while self.next != END
            && self.dead_branches.as_ref().is_none_or(|dead_branches| !dead_branches.untaken.is_empty())
        {
            let address = self.next;
            if let Err(reason) = self.step() {
                let text = self.image.decode(address).map(|instruction| instruction.to_string()).unwrap_or_default();
                let location = format!("{}: {text}", self.image.location(address));
                return Err(Box::new(Stop { reason, location }));
            }
        }
        Ok(())
    }

    /// The addresses of all instructions that were examined, and whether each was reached.
    pub(super) fn examined(&self) -> impl Iterator<Item = (u64, bool)> + '_ {
        let all = self.decoded.iter().zip(self.image.text.start..);
        all.filter_map(|(decoded, address)| Some((address, decoded.as_ref()?.is_reached.get())))
    }

    fn decode(&mut self, address: u64) -> StepResult<Rc<Decoded>> {
        let at = address.wrapping_sub(self.image.text.start) as usize;
        if let Some(Some(decoded)) = self.decoded.get(at) {
            return Ok(decoded.clone());
        }
        let instruction = self.image.decode(address).ok_or_else(|| format!("no code at {address:#x}"))?;
        let info = self.info.info(&instruction);
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for used in info.used_registers() {
            let register = used.register();
            if register.is_mm() || register.is_st() || register.is_tmm() {
                return Err("registers that have no model".to_owned().into());
            }
            let (read, write) = access(used.access());
            if read {
                reads.push(register);
            }
            if let Some(always) = write {
                writes.push((register, always));
            }
        }
        let (memory, has_variable_time) = (info.used_memory().to_vec(), has_variable_time(&instruction));
        let is_reached = Cell::new(false);
        let decoded = Rc::new(Decoded { instruction, reads, writes, memory, has_variable_time, is_reached });
        self.decoded[at] = Some(decoded.clone());
        Ok(decoded)
    }

    pub(super) fn step(&mut self) -> StepResult {
        let decoded = self.decode(self.next)?;
        let instruction = &decoded.instruction;
        if instruction.is_invalid() {
            return Err("no instruction".to_owned().into());
        }
        self.steps += 1;
        if self.dead_depth == 0 {
            decoded.is_reached.set(true);
        }
        self.next = instruction.next_ip();
        if self.system(instruction)? {
            return Ok(());
        }

        // The result is as secret as the most secret input.
        let mut level = Level::Public;
        for register in &decoded.reads {
            level = level.max(self.level(*register));
        }
        level = level.max(self.flags_level(instruction.rflags_read()));
        for memory in &decoded.memory {
            let (read, write) = access(memory.access());
            if !read && write.is_none() {
                continue;
            }
            for register in [memory.base(), memory.index()] {
                match self.level(register) {
                    Level::Public => {}
                    Level::Unknown => return Err(self.undecided(register)),
                    Level::Secret if register.is_vector_register() => return Err(Leak::Gather.into()),
                    Level::Secret => return Err(Leak::Address.into()),
                }
            }
            if memory.index().is_vector_register() {
                return self.elements(instruction);
            }
            if read {
                let address = self.used_address(memory)?;
                level = level.max(self.memory.level(address, memory.memory_size().size())?);
            }
        }
        if is_constant(instruction) {
            level = Level::Public;
        }
        if level == Level::Secret && decoded.has_variable_time {
            return Err(Leak::Time.into());
        }
        if level == Level::Secret && decoded.writes.iter().any(|(register, _)| register.is_k()) {
            return Err(Leak::Mask.into());
        }

        if instruction.flow_control() != FlowControl::Next {
            return self.flow(instruction, level);
        }
        if self.scalar(instruction, level)? || self.vector(instruction, level)? {
            return Ok(());
        }

        // Without a model, only the level of the result is known.
        if level == Level::Public {
            *self.unknown.entry(instruction.mnemonic()).or_default() += 1;
        }
        let level = level.max(Level::Unknown);
        for (register, always) in &decoded.writes {
            let level = if *always { level } else { level.max(self.level(*register)) };
            self.set_level(*register, level);
        }
        use Mnemonic::{Vmaskmovpd, Vmaskmovps, Vpmaskmovd, Vpmaskmovq};
        let is_masked_store = matches!(instruction.mnemonic(), Vmaskmovpd | Vmaskmovps | Vpmaskmovd | Vpmaskmovq);
        for memory in &decoded.memory {
            if let (_, Some(always)) = access(memory.access()) {
                let (address, size) = (self.used_address(memory)?, memory.memory_size().size());
                if size == 0 {
                    return Err("an access of unknown size".to_owned().into());
                }
                if always && !is_masked_store {
                    self.memory.set_level(address, size, level)?;
                } else {
                    self.memory.raise_level(address, size, level)?;
                }
            }
        }
        self.set_flags(instruction, 0, level);
        Ok(())
    }

    /// Runs branches, calls and returns.
    fn flow(&mut self, instruction: &Instruction, level: Level) -> StepResult {
        let taken = match instruction.flow_control() {
            FlowControl::ConditionalBranch => {
                match level {
                    Level::Public => {}
                    Level::Unknown => return Err(self.undecided(Register::None)),
                    Level::Secret => return Err(Leak::Branch.into()),
                }
                let is_loop = matches!(instruction.mnemonic(), Mnemonic::Loop | Mnemonic::Loope | Mnemonic::Loopne);
                if is_loop || instruction.mnemonic() == Mnemonic::Jecxz {
                    return Err("a branch on a counter".to_owned().into());
                }
                let holds = match instruction.mnemonic() {
                    Mnemonic::Jrcxz => self.get(Register::RCX) == 0,
                    _ => self.condition(instruction.condition_code()),
                };
                let mut other = instruction.near_branch_target();
                if holds {
                    std::mem::swap(&mut self.next, &mut other);
                }
                return self.explore(other);
            }
            FlowControl::UnconditionalBranch | FlowControl::Call => instruction.near_branch_target(),
            FlowControl::IndirectBranch | FlowControl::IndirectCall => {
                let level = match instruction.op0_kind() {
                    OpKind::Register => self.level(instruction.op0_register()),
                    _ => self.memory.level(self.address(instruction, 0)?, 8)?,
                };
                match level {
                    Level::Public => self.number(instruction, 0)?,
                    Level::Unknown => return Err(self.undecided(Register::None)),
                    Level::Secret => return Err(Leak::Target.into()),
                }
            }
            FlowControl::Return => {
                let top = self.scalars[4].value;
                let (target, level) = self.memory.read_number(top, 8)?;
                if level != Level::Public {
                    return Err(Leak::Target.into());
                }
                self.scalars[4].value = top + 8;
                self.next = target;
                return Ok(());
            }
            _ => return Err("an exception".to_owned().into()),
        };
        if matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall) {
            let back = self.next;
            self.push(Scalar::new(back, Level::Public))?;
        }
        self.next = taken;
        if !self.image.text.contains(&taken) {
            return self.external(taken);
        }
        if let Some(function) = self.image.function(taken)
            && function.code.start == taken
            && function.name.starts_with("core::panicking")
        {
            return Err(format!("{} is reached", function.name).into());
        }
        Ok(())
    }

    pub(super) fn undecided(&self, register: Register) -> Reason {
        Reason::Undecided(format!("{register:?} is not known; without a model: {:?}", self.unknown))
    }

    /// The value of a register, in the register's size.
    pub(super) fn get(&self, register: Register) -> u64 {
        if register.is_k() {
            return self.masks[register.number()].value;
        }
        let value = match register.full_register() {
            Register::RIP | Register::EIP => self.next,
            full if full.is_gpr() => self.scalars[full.number()].value,
            _ => 0,
        };
        match register {
            _ if is_high(register) => value >> 8 & 0xff,
            _ => value & mask(register.size()),
        }
    }

    pub(super) fn set(&mut self, register: Register, value: u64, level: Level) {
        let full = &mut self.scalars[register.full_register().number()];
        let (size, shift) = match (register, register.size()) {
            // A write of 32 bits clears the upper half.
            (_, 4) => (8, 0),
            _ if is_high(register) => (1, 8),
            (_, size) => (size, 0),
        };
        let value = value & mask(register.size());
        full.value = full.value & !(mask(size) << shift) | value << shift;
        full.levels[shift / 8..shift / 8 + size].fill(level);
    }

    pub(super) fn level(&self, register: Register) -> Level {
        if register.is_vector_register() {
            self.vectors[register.number()].level(register.size())
        } else if register.is_k() {
            self.masks[register.number()].level()
        } else if register.is_gpr() {
            let levels = self.scalars[register.full_register().number()].levels;
            match register {
                _ if is_high(register) => levels[1],
                _ => levels[..register.size()].iter().copied().max().unwrap_or_default(),
            }
        } else {
            Level::Public
        }
    }

    pub(super) fn set_level(&mut self, register: Register, level: Level) {
        if register.is_vector_register() {
            self.vectors[register.number()].levels[..register.size()].fill(level);
        } else if register.is_k() {
            self.masks[register.number()].levels = [level; 8];
        } else if register.is_gpr() {
            self.set(register, 0, level);
        }
    }

    pub(super) fn flags_level(&self, bits: u32) -> Level {
        set_bits(bits).map(|bit| self.flag_levels[bit]).max().unwrap_or_default()
    }

    /// Writes the flags that the instruction changes.
    pub(super) fn set_flags(&mut self, instruction: &Instruction, values: u32, level: Level) {
        let (written, undefined) = (instruction.rflags_modified(), instruction.rflags_undefined());
        self.flags = self.flags & !written | values & written;
        for bit in set_bits(written) {
            self.flag_levels[bit] = level;
        }
        for bit in set_bits(undefined) {
            self.flag_levels[bit] = level.max(Level::Unknown);
        }
        let (set, cleared) = (instruction.rflags_set(), instruction.rflags_cleared());
        self.flags = (self.flags | set) & !cleared;
    }

    pub(super) fn flag(&self, bit: u32) -> bool {
        self.flags & bit != 0
    }

    pub(super) fn push(&mut self, value: Scalar) -> StepResult {
        self.scalars[4].value -= 8;
        Ok(self.memory.write(self.scalars[4].value, &value.value.to_le_bytes(), &value.levels)?)
    }

    pub(super) fn pop(&mut self) -> StepResult<Scalar> {
        let (mut bytes, mut levels) = ([0; 8], [Level::Public; 8]);
        self.memory.read(self.scalars[4].value, &mut bytes, &mut levels)?;
        self.scalars[4].value += 8;
        Ok(Scalar { value: u64::from_le_bytes(bytes), levels })
    }

    /// The address of a memory operand.
    pub(super) fn address(&self, instruction: &Instruction, operand: u32) -> StepResult<u64> {
        instruction
            .virtual_address(operand, 0, |register, _, _| self.address_part(register))
            .ok_or_else(|| "an address of an unknown kind".to_owned().into())
    }

    fn used_address(&self, memory: &UsedMemory) -> StepResult<u64> {
        memory
            .virtual_address(0, |register, _, _| self.address_part(register))
            .ok_or_else(|| "an address of an unknown kind".to_owned().into())
    }

    /// The part of an address that comes from a register.
    fn address_part(&self, register: Register) -> Option<u64> {
        match register {
            Register::DS | Register::ES | Register::SS | Register::CS => Some(0),
            Register::FS => Some(self.thread_pointer),
            Register::GS => None,
            _ => Some(self.get(register)),
        }
    }
}

/// Whether an access reads, and whether it writes (`Some(true)`: always).
fn access(access: OpAccess) -> (bool, Option<bool>) {
    match access {
        OpAccess::Read | OpAccess::CondRead => (true, None),
        OpAccess::Write => (false, Some(true)),
        OpAccess::CondWrite => (false, Some(false)),
        OpAccess::ReadWrite => (true, Some(true)),
        OpAccess::ReadCondWrite => (true, Some(false)),
        OpAccess::None | OpAccess::NoMemAccess => (false, None),
    }
}

/// The indexes of the bits that are set.
fn set_bits(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (bit < 32).then_some(bit)
    })
}

/// Whether a register is the second byte of another.
pub(super) fn is_high(register: Register) -> bool {
    matches!(register, Register::AH | Register::BH | Register::CH | Register::DH)
}

/// A mask of the lowest bytes.
pub(super) fn mask(bytes: usize) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

/// The flags that depend only on a result, with carry and overflow as given.
pub(super) fn flags_of(result: u64, bytes: usize, carry: bool, overflow: bool) -> u32 {
    let sign = result >> (8 * bytes - 1) & 1 == 1;
    let mut flags = 0;
    for (bit, is_set) in [
        (RflagsBits::CF, carry),
        (RflagsBits::OF, overflow),
        (RflagsBits::ZF, result & mask(bytes) == 0),
        (RflagsBits::SF, sign),
        (RflagsBits::PF, (result as u8).count_ones().is_multiple_of(2)),
    ] {
        if is_set {
            flags |= bit;
        }
    }
    flags
}
