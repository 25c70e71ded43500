//! Tracks bytes that are marked as secret through registers and memory. An instruction whose time, addresses or path
//! depend on them is reported once for each kind of leak.
//!
//! Each bit of a register or of memory has a flag that says whether it depends on secrets; registers and bytes have
//! labels that say on which ones. `rules` computes the flags of results. The rules are those of Valgrind's Memcheck for
//! undefined bits (N. Nethercote, J. Seward, "Using Valgrind to detect undefined value errors with bit-precision",
//! 2005): a bit is public only if it is the same for all values of the secrets. After a branch on a secret, only the
//! side that was taken is followed.
//!
//! A program can mark memory by two hints, which the ISA reserves for custom use: `slt x0, ADDRESS, BYTES` declares
//! these bytes secret, and `sltu x0, ADDRESS, BYTES` declares them public.
//!
//! ```text
//! rules      flags of results from flags of operands         shadow   flags of memory
//! secret     names and labels of secrets                     findings where secrets leaked
//! ```

mod findings;
mod rules;
mod secret;
mod shadow;

pub use findings::{Finding, Leak, SecretReport, SecretsReport};
pub use secret::{Secret, SecretName};

use crate::bus::Bus;
use crate::device::linux;
use crate::elf::Image;
use crate::error::cause::{INSTRUCTION_MISALIGNED, LOAD_ACCESS, LOAD_MISALIGNED, STORE_ACCESS, STORE_MISALIGNED};
use crate::error::{Error, ErrorKind, Place};
use crate::hart::op::{Amo, Op, Opcode};
use crate::hart::{CACHE_BLOCK_BYTES, Event, Hart};
use crate::retired::{Class, Reg, Retired};
use findings::Findings;
use rules::{Operands, equality_is_public, order_is_public};
use secret::Labels;
use shadow::Shadow;

/// The CSR in which trap handlers save a register, and the one that has the address of an access that trapped.
const MSCRATCH: u32 = 0x340;
const MTVAL: u32 = 0x343;
const A0: usize = 10;
const A1: usize = 11;
const A7: usize = 17;

/// Which instructions take a time that depends on their operands. Division and floating point always do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// Multiplication, as on multipliers that end early for small numbers.
    pub multiply: bool,
    /// Shifts and rotations by a register, as on cores without a barrel shifter.
    pub shift: bool,
}

/// The bits that depend on secrets, and the labels of these secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taint {
    bits: u64,
    labels: u16,
}

impl Taint {
    const PUBLIC: Taint = Taint { bits: 0, labels: 0 };

    /// A taint of these bits. Without bits it has no labels.
    fn new(bits: u64, labels: u16) -> Taint {
        Taint { bits, labels: if bits == 0 { 0 } else { labels } }
    }

    fn is_secret(self) -> bool {
        self.bits != 0
    }
}

/// The registers of a hart: values before the current instruction, and taints.
#[derive(Debug)]
struct RegisterTaints {
    values: [u64; 64],
    taints: [Taint; 64],
    scratch: Taint,
    trap_value: Taint,
}

impl RegisterTaints {
    fn operands(&self, op: &Op) -> Operands {
        let (rs1, rs2) = (usize::from(op.rs1 & 63), usize::from(op.rs2 & 63));
        Operands {
            a: self.values[rs1],
            b: self.values[rs2],
            immediate: i64::from(op.immediate) as u64,
            ta: self.taints[rs1].bits,
            tb: self.taints[rs2].bits,
            same: op.rs1 == op.rs2,
        }
    }

    /// What decides a branch.
    fn branch(&self, op: &Op) -> Taint {
        let operands = self.operands(op);
        let is_public = match op.code {
            Opcode::Beq | Opcode::Bne => equality_is_public(&operands),
            Opcode::Blt | Opcode::Bge => order_is_public(&operands, true),
            _ => order_is_public(&operands, false),
        };
        let labels = [op.rs1, op.rs2].map(|register| self.taints[usize::from(register & 63)].labels);
        Taint::new(if is_public { 0 } else { u64::MAX }, labels[0] | labels[1])
    }
}

/// Follows secrets through a run.
#[derive(Debug)]
pub(crate) struct Tracker {
    variable: Variable,
    labels: Labels,
    memory: Shadow,
    harts: Vec<RegisterTaints>,
    /// Address of the last instruction that made a request to the host.
    request_pc: u64,
    findings: Findings,
}

impl Tracker {
    pub(crate) fn new(harts: usize, variable: Variable) -> Tracker {
        let registers = || RegisterTaints {
            values: [0; 64],
            taints: [Taint::PUBLIC; 64],
            scratch: Taint::PUBLIC,
            trap_value: Taint::PUBLIC,
        };
        Tracker {
            variable,
            labels: Labels::default(),
            memory: Shadow::default(),
            harts: (0..harts).map(|_| registers()).collect(),
            request_pc: 0,
            findings: Findings::default(),
        }
    }

    /// Marks bytes as secret, together with all values written there, until the program declares them public.
    pub(crate) fn keep(&mut self, secret: &Secret, bus: &Bus) -> Result<(), ErrorKind> {
        check_range(bus, secret.start, secret.bytes)?;
        let label = self.labels.keep(secret)?;
        self.memory.mark(secret.start, secret.bytes, label)
    }

    /// Begins or continues a run. The registers may have been changed since the last one.
    pub(crate) fn begin(&mut self, harts: &[Hart]) {
        for (registers, hart) in self.harts.iter_mut().zip(harts) {
            for (number, value) in registers.values.iter_mut().enumerate() {
                *value = hart.register(Reg(number as u8));
            }
        }
    }

    pub(crate) fn secret_bits(&self, hart: usize, register: Reg) -> u64 {
        self.harts[hart].taints[register.index()].bits
    }

    pub(crate) fn report(&self, image: &Image) -> SecretsReport {
        SecretsReport {
            marked: self.labels.report(),
            findings: self.findings.report(image, &self.labels),
            left_out: self.findings.left_out(),
        }
    }

    /// Updates the taints after a step.
    pub(crate) fn follow_event(
        &mut self,
        event: Event,
        hart: &Hart,
        bus: &mut Bus,
        image: &Image,
        retired: &Retired,
    ) -> Result<(), Box<Error>> {
        match event {
            Event::Trapped => {
                self.trapped(hart, bus, retired);
                return Ok(());
            }
            Event::Waiting | Event::Stopped => return Ok(()),
            _ => {}
        }
        self.follow(hart, bus, image, retired).map_err(|kind| {
            let place = hart.place();
            let instructions = place.instructions.saturating_sub(1);
            Box::new(Error::new(kind).at(Place { pc: retired.pc, instructions, ..place }))
        })?;
        self.follow_host(hart, bus);
        Ok(())
    }

    /// Reports secrets in memory that the host has read.
    pub(crate) fn follow_host(&mut self, hart: &Hart, bus: &mut Bus) {
        let Some(host_reads) = &mut bus.host.host_reads else { return };
        let labels = host_reads.drain(..).fold(0, |all, (start, bytes)| all | self.memory.labels(start, bytes));
        if labels != 0 {
            self.labels.count(labels);
            self.findings.add(self.request_pc, Leak::Output, labels, hart);
        }
    }

    /// Updates the taints after a trap. An access or a jump that trapped has shown its address, which `mtval` has; a branch
    /// has shown that it is taken.
    fn trapped(&mut self, hart: &Hart, bus: &Bus, retired: &Retired) {
        let registers = &mut self.harts[hart.id()];
        registers.trap_value = Taint::PUBLIC;
        let Some(op) = bus.code.executed(retired.pc) else { return };
        let base = registers.taints[usize::from(op.rs1 & 63)];
        // The carries of the offset reach any bit.
        let address = Taint { bits: if base.is_secret() { u64::MAX } else { 0 }, ..base };
        let (leak, shown) = match hart.trap_cause() {
            LOAD_MISALIGNED | LOAD_ACCESS | STORE_MISALIGNED | STORE_ACCESS => (Leak::Address, address),
            INSTRUCTION_MISALIGNED if op.code == Opcode::Jalr => (Leak::Jump, address),
            INSTRUCTION_MISALIGNED if op.class == Class::Branch => (Leak::Branch, registers.branch(&op)),
            _ => return,
        };
        if leak != Leak::Branch {
            registers.trap_value = shown;
        }
        if shown.is_secret() {
            self.findings.add_at(retired.pc, leak, shown.labels, hart.id(), hart.completed());
        }
    }

    /// Updates the taints after an instruction.
    fn follow(&mut self, hart: &Hart, bus: &Bus, image: &Image, retired: &Retired) -> Result<(), ErrorKind> {
        // `fence.i` does not affect taints.
        let Some(op) = bus.code.executed(retired.pc) else { return Ok(()) };
        let registers = &self.harts[hart.id()];
        let operands = registers.operands(&op);
        let (first, second) = (registers.taints[usize::from(op.rs1 & 63)], registers.taints[usize::from(op.rs2 & 63)]);
        let third = registers.taints[usize::from(op.rs3 & 63)];
        let labels = first.labels | second.labels;
        let mut report_leak = |leak, taint: Taint| {
            if taint.is_secret() {
                self.findings.add(retired.pc, leak, taint.labels, hart);
            }
        };
        let result = match op.class {
            Class::Load | Class::LoadReserved | Class::Store | Class::StoreConditional | Class::Atomic => {
                report_leak(Leak::Address, first);
                self.access(&op, retired, bus, first, second, hart)?
            }
            Class::Branch => {
                report_leak(Leak::Branch, registers.branch(&op));
                Taint::PUBLIC
            }
            Class::Jump | Class::Call | Class::Return | Class::IndirectJump => {
                if op.code == Opcode::Jalr {
                    report_leak(Leak::Jump, first);
                }
                Taint::PUBLIC
            }
            Class::Csr => self.csr(&op, retired, first, hart),
            Class::System => {
                // Calls of the host get their result in a0.
                let registers = &mut self.harts[hart.id()];
                let read = match op.code {
                    Opcode::Ebreak => &[A0, A1],
                    Opcode::Ecall => linux::registers(registers.values[A7]),
                    _ => &[][..],
                };
                for register in read {
                    let taint = registers.taints[*register];
                    if taint.is_secret() {
                        self.findings.add(retired.pc, Leak::Output, taint.labels, hart);
                    }
                }
                if !read.is_empty() {
                    self.request_pc = retired.pc;
                    registers.values[A0] = hart.register(Reg(A0 as u8));
                    registers.taints[A0] = Taint::PUBLIC;
                }
                Taint::PUBLIC
            }
            Class::Fence => {
                if matches!(op.code, Opcode::CboClean | Opcode::CboZero) {
                    report_leak(Leak::Address, first);
                }
                if op.code == Opcode::CboZero {
                    let start = operands.a & image.xlen.address_mask() & !(CACHE_BLOCK_BYTES - 1);
                    // Where the zeros are depends on the address.
                    let bits = if first.is_secret() { u64::MAX } else { 0 };
                    for at in (start..start + CACHE_BLOCK_BYTES).step_by(8) {
                        self.memory.write(at, 8, Taint::new(bits, first.labels))?;
                    }
                    let mark = |start, bytes, label| self.memory.mark(start, bytes, label);
                    self.labels.kept(start, CACHE_BLOCK_BYTES, mark)?;
                }
                Taint::PUBLIC
            }
            Class::FpAdd | Class::FpMultiply | Class::FpDivide | Class::FpFused | Class::FpSqrt | Class::FpMove => {
                let bits = first.bits | second.bits | third.bits;
                let all = Taint::new(if bits == 0 { 0 } else { u64::MAX }, labels | third.labels);
                if op.class != Class::FpMove {
                    report_leak(Leak::Float, all);
                }
                all
            }
            Class::Alu | Class::Multiply | Class::Divide | Class::Nop => {
                match op.class {
                    Class::Divide => report_leak(Leak::Division, Taint { bits: first.bits | second.bits, labels }),
                    Class::Multiply if self.variable.multiply => {
                        report_leak(Leak::Multiplication, Taint { bits: first.bits | second.bits, labels });
                    }
                    _ if self.variable.shift && op.code.shifts_by_register() => {
                        let of_words = [Opcode::Sllw, Opcode::Srlw, Opcode::Sraw, Opcode::Rolw, Opcode::Rorw];
                        let amount = if of_words.contains(&op.code) { 31 } else { 63 };
                        report_leak(Leak::Shift, Taint::new(second.bits & amount, second.labels));
                    }
                    _ => {}
                }
                if op.rd == 0 && matches!(op.code, Opcode::Slt | Opcode::Sltu) && op.rs1 != 0 && op.rs2 != 0 {
                    self.mark(&op, &operands, bus, image, retired)?;
                }
                Taint::new(rules::result(&op, &operands), labels)
            }
        };
        let registers = &mut self.harts[hart.id()];
        let destination = usize::from(op.rd & 63);
        if destination != 0 {
            registers.values[destination] = hart.register(Reg(op.rd));
            registers.taints[destination] = result;
        }
        Ok(())
    }

    /// Follows a load, store or atomic operation. `first` is the taint of the address, `stored` that of the stored
    /// data.
    fn access(
        &mut self,
        op: &Op,
        retired: &Retired,
        bus: &Bus,
        first: Taint,
        stored: Taint,
        hart: &Hart,
    ) -> Result<Taint, ErrorKind> {
        let (address, bytes) = (retired.address, u64::from(retired.bytes));
        // Data at an address that depends on a secret depends on it too.
        let chosen = |taint: Taint| match first.is_secret() {
            true => Taint { bits: u64::MAX, labels: taint.labels | first.labels },
            false => taint,
        };
        let mut loaded = Taint::PUBLIC;
        if op.class.is_load() {
            loaded = self.memory.read(address, bytes);
            self.labels.count(loaded.labels);
            loaded = chosen(Taint { bits: rules::widened(op.code, loaded.bits), ..loaded });
        }
        if op.class.is_store() && bytes > 0 {
            let written = match (op.class, op.amo) {
                (Class::Atomic, Amo::Swap) | (Class::Store | Class::StoreConditional, _) => stored,
                _ if loaded.is_secret() || stored.is_secret() => {
                    Taint { bits: u64::MAX, labels: loaded.labels | stored.labels }
                }
                _ => Taint::PUBLIC,
            };
            let written = chosen(written);
            let is_request = bus.is_host_request(address, bytes);
            if is_request {
                self.request_pc = retired.pc;
            }
            if is_request && written.is_secret() {
                self.findings.add(retired.pc, Leak::Output, written.labels, hart);
            }
            if bus.memory.is_writable(address) {
                self.memory.write(address, bytes, written)?;
                self.labels.kept(address, bytes, |start, bytes, label| self.memory.mark(start, bytes, label))?;
            } else if written.is_secret() {
                self.findings.add(retired.pc, Leak::Output, written.labels, hart);
            }
        }
        Ok(loaded)
    }

    /// Follows a CSR access. All CSRs but `mscratch` and `mtval` are public, and a write of a secret to them is a leak.
    fn csr(&mut self, op: &Op, retired: &Retired, written: Taint, hart: &Hart) -> Taint {
        let written = match op.code {
            Opcode::Csrrw | Opcode::Csrrs | Opcode::Csrrc => written,
            _ => Taint::PUBLIC,
        };
        let writes = retired.detail & Retired::WRITES != 0;
        let registers = &mut self.harts[hart.id()];
        let kept = match op.immediate as u32 & 0xfff {
            MSCRATCH => Some(&mut registers.scratch),
            MTVAL => Some(&mut registers.trap_value),
            _ => None,
        };
        if let Some(kept) = kept {
            let old = *kept;
            match op.code {
                Opcode::Csrrw | Opcode::Csrrwi => *kept = written,
                _ if writes => *kept = Taint::new(old.bits | written.bits, old.labels | written.labels),
                _ => {}
            }
            return old;
        }
        if writes && written.is_secret() {
            self.findings.add(retired.pc, Leak::Csr, written.labels, hart);
        }
        Taint::PUBLIC
    }

    /// Handles a mark that the program makes.
    fn mark(
        &mut self,
        op: &Op,
        operands: &Operands,
        bus: &Bus,
        image: &Image,
        retired: &Retired,
    ) -> Result<(), ErrorKind> {
        let mask = image.xlen.address_mask();
        let (start, bytes) = (operands.a & mask, operands.b & mask);
        check_range(bus, start, bytes)?;
        if op.code == Opcode::Sltu {
            self.labels.release(start, bytes);
            self.memory.clear(start, bytes);
            return Ok(());
        }
        let name = match (image.data_at(start), image.function_of(retired.pc)) {
            (Some(symbol), _) => symbol.demangled(),
            (None, Some((function, _))) => format!("marked in {function}"),
            (None, None) => format!("marked at {:#x}", retired.pc),
        };
        let label = self.labels.marked(name, start, bytes);
        self.memory.mark(start, bytes, label)
    }
}

/// Returns an error if part of the range is outside memory.
fn check_range(bus: &Bus, start: u64, bytes: u64) -> Result<(), ErrorKind> {
    if bus.memory.contains_range(start, bytes) {
        return Ok(());
    }
    Err(ErrorKind::SecretOutside { start, end: start.saturating_add(bytes) })
}
