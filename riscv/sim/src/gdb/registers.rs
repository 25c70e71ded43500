//! The registers as gdb numbers and names them: its manual, "RISC-V Features". x0 to x31 are 0 to 31, pc is 32, f0 to f31
//! are 33 to 64, and control and status register n is 65 + n.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use gdbstub::arch::{Arch, RegId, Registers};

use crate::bus::Bus;
use crate::hart::Hart;
use crate::isa::{Isa, Xlen};
use crate::retired::Reg;

const PC: usize = 32;
const FLOATS: usize = 33;
const CSRS: usize = 65;

/// RV32 and RV64, as `gdbstub` has to know them. A machine with D has registers of 64 bits on RV32 too, so the
/// architectures of `gdbstub_arch` do not fit.
pub(super) enum Riscv {}

impl Arch for Riscv {
    type Usize = u64;
    type Registers = Integers;
    type BreakpointKind = usize;
    type RegId = Register;
}

/// The number of a register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Register(pub(super) usize);

impl RegId for Register {
    fn from_raw_id(number: usize) -> Option<(Register, Option<NonZeroUsize>)> {
        (number < CSRS + 0x1000).then_some((Register(number), None))
    }
}

/// x0 to x31 and pc, as little-endian bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Integers(pub(super) Vec<u8>);

impl Registers for Integers {
    type ProgramCounter = u64;

    /// Nothing calls it.
    fn pc(&self) -> u64 {
        0
    }

    fn gdb_serialize(&self, mut write: impl FnMut(Option<u8>)) {
        self.0.iter().for_each(|byte| write(Some(*byte)));
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        self.0 = bytes.to_vec();
        Ok(())
    }
}

impl Register {
    /// x0 to x31 and pc.
    pub(super) fn integers() -> impl Iterator<Item = Register> {
        (0..=PC).map(Register)
    }

    /// Size in bytes.
    pub(super) fn bytes(self, isa: Isa) -> usize {
        match self.0 {
            FLOATS..CSRS if isa.d => 8,
            FLOATS..CSRS => 4,
            _ => isa.xlen.bits() as usize / 8,
        }
    }

    /// The value, or `None` if the hart has no such register.
    pub(super) fn read(self, hart: &Hart, bus: &Bus) -> Option<u64> {
        match self.0 {
            number @ 0..PC => Some(hart.register(Reg::integer(number as u8))),
            PC => Some(hart.pc()),
            number @ FLOATS..CSRS => hart.isa().f.then(|| hart.register(Reg::float((number - FLOATS) as u8))),
            number => hart.csr(bus, (number - CSRS) as u32),
        }
    }

    /// Sets the register from little-endian bytes, of which there must be as many as it has.
    pub(super) fn write(self, hart: &mut Hart, bus: &Bus, bytes: &[u8]) -> Option<()> {
        let isa = hart.isa();
        if bytes.len() != self.bytes(isa) {
            return None;
        }
        let value = bytes.iter().rfold(0, |value, byte| value << 8 | u64::from(*byte));
        let word = if isa.xlen == Xlen::Rv32 { value as i32 as u64 } else { value };
        match self.0 {
            number @ 0..PC => hart.set_register(Reg::integer(number as u8), word),
            PC => hart.set_pc(value),
            FLOATS..CSRS if !isa.f => return None,
            // Singles are NaN-boxed.
            number @ FLOATS..CSRS => {
                let upper = if bytes.len() == 4 { 0xffff_ffff << 32 } else { 0 };
                hart.set_register(Reg::float((number - FLOATS) as u8), value | upper);
            }
            number => hart.set_csr(bus, (number - CSRS) as u32, word)?,
        }
        Some(())
    }
}

/// The description of the registers that a hart has, in gdb's XML.
pub(super) fn description(hart: &Hart, bus: &Bus) -> String {
    let isa = hart.isa();
    let bits = isa.xlen.bits();
    let mut xml = format!("<target version=\"1.0\"><architecture>riscv:rv{bits}</architecture>");
    // Without Linux, gdb makes steps by the target, and so one hart at a time.
    xml.push_str("<osabi>none</osabi>");
    let mut feature = |name: &str, registers: &mut dyn Iterator<Item = (usize, String, &str)>| {
        let _ = write!(xml, "<feature name=\"org.gnu.gdb.riscv.{name}\">");
        for (number, name, kind) in registers {
            let bits = 8 * Register(number).bytes(isa);
            let _ = write!(xml, "<reg name=\"{name}\" bitsize=\"{bits}\" regnum=\"{number}\" type=\"{kind}\"/>");
        }
        xml.push_str("</feature>");
    };
    let integer = |number| (number, format!("x{number}"), "int");
    feature("cpu", &mut (0..PC).map(integer).chain([(PC, "pc".to_owned(), "code_ptr")]));
    if isa.f {
        let kind = if isa.d { "ieee_double" } else { "ieee_single" };
        feature("fpu", &mut (FLOATS..CSRS).map(|number| (number, format!("f{}", number - FLOATS), kind)));
    }
    let csrs = include_str!("csrs.txt").lines().filter(|line| !line.starts_with('#')).flat_map(|line| {
        let mut fields = line.split(' ');
        let mut next = || fields.next().unwrap_or_default();
        let first = usize::from_str_radix(next(), 16).unwrap_or_default();
        let (count, name, from, end) = (next().parse().unwrap_or(0), next(), next().parse::<usize>(), next());
        (0..count).map(move |at| {
            let index = from.as_ref().map_or(String::new(), |from| (from + at).to_string());
            (CSRS + first + at, format!("{name}{index}{end}"), "int")
        })
    });
    feature("csr", &mut csrs.filter(|(number, ..)| Register(*number).read(hart, bus).is_some()));
    xml.push_str("</target>");
    xml
}
