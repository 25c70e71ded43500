//! Where secrets show: bytes that are marked as secret are followed through registers and memory, and every instruction
//! whose time, addresses or path depend on them is told, once for each place.
//!
//! Of every bit of a register and of memory it is known whether secrets have a part in it, and which ones. What an
//! instruction makes of such bits is in `rules`; they are those of Valgrind's Memcheck for undefined bits (N. Nethercote,
//! J. Seward, "Using Valgrind to detect undefined value errors with bit-precision", 2005): a bit is public only where it
//! is the same for all values of the secrets. What a program does after a branch on a secret is followed on the side that
//! was taken, and no other.
//!
//! A program marks memory itself by two hints, which the ISA leaves to custom use: `slt x0, ADDRESS, BYTES` says that
//! these bytes are secret from here on, `sltu x0, ADDRESS, BYTES` that they are public.
//!
//! ```text
//! rules      bits of a result from bits of the operands      shadow   memory's secret bits
//! secret     what is secret: symbols, addresses, marks       findings where it showed
//! ```

mod findings;
mod rules;
mod secret;
mod shadow;

pub use findings::{Finding, Leak, SecretReport, SecretsReport};
pub use secret::{Secret, SecretName};

use crate::{
    bus::Bus,
    elf::Image,
    error::{Error, ErrorKind, Place},
    hart::{
        Event, Hart,
        op::{Amo, Code, Op},
    },
    retired::{Class, Reg, Retired},
};
use findings::Findings;
use rules::{Operands, equality_is_public, order_is_public};
use secret::Labels;
use shadow::Shadow;

/// The CSR that trap handlers keep a register in.
const MSCRATCH: u32 = 0x340;
const A0: usize = 10;
const A1: usize = 11;

/// Which instructions take a time that depends on their operands, besides division and floating point, which always count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// Multiplication: multipliers that end early for small numbers.
    pub multiply: bool,
    /// Shifts and rotations by a register: cores without a barrel shifter.
    pub shift: bool,
}

/// Which bits secrets have a part in, and the labels of these secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taint {
    bits: u64,
    labels: u16,
}

impl Taint {
    const PUBLIC: Taint = Taint { bits: 0, labels: 0 };

    /// These bits; without any there are no labels.
    fn new(bits: u64, labels: u16) -> Taint {
        Taint { bits, labels: if bits == 0 { 0 } else { labels } }
    }

    fn is_secret(self) -> bool {
        self.bits != 0
    }
}

/// A hart's registers, the values as they were before the instruction that is looked at.
#[derive(Debug)]
struct Registers {
    values: [u64; 64],
    taints: [Taint; 64],
    scratch: Taint,
}

/// Follows secrets through a run.
#[derive(Debug)]
pub(crate) struct Tracker {
    variable: Variable,
    labels: Labels,
    memory: Shadow,
    harts: Vec<Registers>,
    /// The last instruction that asked the host for something.
    asked: u64,
    findings: Findings,
}

impl Tracker {
    pub(crate) fn new(harts: usize, variable: Variable) -> Tracker {
        let registers = || Registers { values: [0; 64], taints: [Taint::PUBLIC; 64], scratch: Taint::PUBLIC };
        Tracker {
            variable,
            labels: Labels::default(),
            memory: Shadow::default(),
            harts: (0..harts).map(|_| registers()).collect(),
            asked: 0,
            findings: Findings::default(),
        }
    }

    /// These bytes are secret, whatever is written there, until the program says otherwise.
    pub(crate) fn keep(&mut self, secret: &Secret, bus: &Bus) -> Result<(), ErrorKind> {
        check_range(bus, secret.start, secret.bytes)?;
        let label = self.labels.keep(secret)?;
        self.memory.mark(secret.start, secret.bytes, label)
    }

    /// A run begins or goes on: registers may have been set meanwhile.
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

    /// Takes what came of a step.
    pub(crate) fn follow_event(
        &mut self,
        event: Event,
        hart: &Hart,
        bus: &mut Bus,
        image: &Image,
        retired: &Retired,
    ) -> Result<(), Box<Error>> {
        if matches!(event, Event::Trapped | Event::Waiting) {
            return Ok(());
        }
        self.follow(hart, bus, image, retired).map_err(|kind| {
            let place = hart.place();
            let instructions = place.instructions.saturating_sub(1);
            Box::new(Error::new(kind).at(Place { pc: retired.pc, instructions, ..place }))
        })?;
        self.follow_host(hart, bus);
        Ok(())
    }

    /// Takes what the host has read in memory: what is secret there has left the machine.
    pub(crate) fn follow_host(&mut self, hart: &Hart, bus: &mut Bus) {
        let Some(looked) = &mut bus.host.looked else { return };
        for (start, bytes) in looked.drain(..) {
            let labels = self.memory.labels(start, bytes);
            if labels != 0 {
                self.labels.count(labels);
                self.findings.add(self.asked, Leak::Output, labels, hart);
            }
        }
    }

    /// Takes an instruction that was executed.
    fn follow(&mut self, hart: &Hart, bus: &Bus, image: &Image, retired: &Retired) -> Result<(), ErrorKind> {
        // After `fence.i` there is nothing that it was decoded to, and nothing that it did.
        let Some(op) = bus.code.op(retired.pc).filter(|op| op.code != Code::Unknown).copied() else {
            return Ok(());
        };
        let registers = &self.harts[hart.id()];
        let (rs1, rs2) = (usize::from(op.rs1 & 63), usize::from(op.rs2 & 63));
        let operands = Operands {
            a: registers.values[rs1],
            b: registers.values[rs2],
            immediate: i64::from(op.immediate) as u64,
            ta: registers.taints[rs1].bits,
            tb: registers.taints[rs2].bits,
            same: op.rs1 == op.rs2,
        };
        let (first, second) = (registers.taints[rs1], registers.taints[rs2]);
        let third = registers.taints[usize::from(op.rs3 & 63)];
        let labels = first.labels | second.labels;
        let mut tell = |leak, taint: Taint| {
            if taint.is_secret() {
                self.findings.add(retired.pc, leak, taint.labels, hart);
            }
        };
        let result = match op.class {
            Class::Load | Class::LoadReserved | Class::Store | Class::StoreConditional | Class::Atomic => {
                tell(Leak::Address, first);
                self.access(&op, retired, bus, first, second, hart)?
            }
            Class::Branch => {
                let public = match op.code {
                    Code::Beq | Code::Bne => equality_is_public(&operands),
                    Code::Blt | Code::Bge => order_is_public(&operands, true),
                    _ => order_is_public(&operands, false),
                };
                if !public {
                    tell(Leak::Branch, Taint { bits: u64::MAX, labels });
                }
                Taint::PUBLIC
            }
            Class::Jump | Class::Call | Class::Return | Class::IndirectJump => {
                if op.code == Code::Jalr {
                    tell(Leak::Jump, first);
                }
                Taint::PUBLIC
            }
            Class::Csr => self.csr(&op, retired, first, hart),
            Class::System => {
                // The host answers in a0.
                let registers = &mut self.harts[hart.id()];
                for register in [A0, A1].into_iter().filter(|_| op.code == Code::Ebreak) {
                    let taint = registers.taints[register];
                    if taint.is_secret() {
                        self.findings.add(retired.pc, Leak::Output, taint.labels, hart);
                    }
                }
                if op.code == Code::Ebreak {
                    self.asked = retired.pc;
                    registers.values[A0] = hart.register(Reg(A0 as u8));
                    registers.taints[A0] = Taint::PUBLIC;
                }
                Taint::PUBLIC
            }
            Class::Fence => Taint::PUBLIC,
            Class::FpAdd | Class::FpMultiply | Class::FpDivide | Class::FpFused | Class::FpSqrt | Class::FpMove => {
                let bits = first.bits | second.bits | third.bits;
                let all = Taint::new(if bits == 0 { 0 } else { u64::MAX }, labels | third.labels);
                if op.class != Class::FpMove {
                    tell(Leak::Float, all);
                }
                all
            }
            Class::Alu | Class::Multiply | Class::Divide | Class::Nop => {
                match op.class {
                    Class::Divide => tell(Leak::Division, Taint { bits: first.bits | second.bits, labels }),
                    Class::Multiply if self.variable.multiply => {
                        tell(Leak::Multiplication, Taint { bits: first.bits | second.bits, labels });
                    }
                    _ if self.variable.shift && op.code.shifts_by_register() => {
                        tell(Leak::Shift, Taint::new(second.bits & 63, second.labels));
                    }
                    _ => {}
                }
                if op.rd == 0 && matches!(op.code, Code::Slt | Code::Sltu) && op.rs1 != 0 && op.rs2 != 0 {
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

    /// A load, store or atomic operation; `first` is of the address, `stored` of what is stored.
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
        // What stands at an address that a secret has chosen tells of that secret.
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
            let asks = bus.asks_the_host(address, bytes);
            if asks {
                self.asked = retired.pc;
            }
            if asks && written.is_secret() {
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

    /// An access to a CSR: all but one are public, and nothing secret may be written to them.
    fn csr(&mut self, op: &Op, retired: &Retired, written: Taint, hart: &Hart) -> Taint {
        let written = match op.code {
            Code::Csrrw | Code::Csrrs | Code::Csrrc => written,
            _ => Taint::PUBLIC,
        };
        let writes = retired.detail & Retired::WRITES != 0;
        if op.immediate as u32 & 0xfff == MSCRATCH {
            let scratch = &mut self.harts[hart.id()].scratch;
            let old = *scratch;
            match op.code {
                Code::Csrrw | Code::Csrrwi => *scratch = written,
                _ if writes => *scratch = Taint::new(old.bits | written.bits, old.labels | written.labels),
                _ => {}
            }
            return old;
        }
        if writes && written.is_secret() {
            self.findings.add(retired.pc, Leak::Csr, written.labels, hart);
        }
        Taint::PUBLIC
    }

    /// The program's own mark.
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
        if op.code == Code::Sltu {
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

/// Refuses what is not all memory.
fn check_range(bus: &Bus, start: u64, bytes: u64) -> Result<(), ErrorKind> {
    if bus.memory.contains_range(start, bytes) {
        return Ok(());
    }
    Err(ErrorKind::SecretOutside { start, end: start.saturating_add(bytes) })
}
