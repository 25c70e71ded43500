//! Instruction encodings by name: the RISC-V Instruction Set Manual, volume I, "Instruction Set Listings".

use tress_sim::Xlen;

/// The operands of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// rd, rs1, rs2.
    Registers,
    /// rd, rs1.
    Unary,
    /// rd, rs1 and a 12-bit immediate.
    Immediate,
    /// rd, rs1 and a shift amount of this number of bits.
    Shift(u32),
    /// rd and a 20-bit immediate.
    Upper,
    /// rd, rs1 and an offset.
    Load,
    /// rs1, rs2 and an offset.
    Store,
    /// rd, rs2, and the address in rs1.
    Atomic,
    /// rd, frs1, frs2, frs3 and a rounding mode. The flags say which of them are integer registers.
    Float(Float),
}

/// The operands of a floating-point instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float {
    /// Number of source operands, 1 to 3.
    pub operands: u32,
    pub rounds: bool,
    pub to_integer: bool,
    pub from_integer: bool,
}

/// The name and encoding of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub name: &'static str,
    /// The bits that do not depend on operands.
    pub bits: u32,
    pub format: Format,
    pub rv32: bool,
    pub rv64: bool,
}

impl Instruction {
    pub fn is_of(&self, xlen: Xlen) -> bool {
        match xlen {
            Xlen::Rv32 => self.rv32,
            Xlen::Rv64 => self.rv64,
        }
    }

    pub fn registers(&self, rd: u32, rs1: u32, rs2: u32) -> u32 {
        self.bits | rd << 7 | rs1 << 15 | rs2 << 20
    }

    pub fn immediate(&self, rd: u32, rs1: u32, immediate: i32) -> u32 {
        self.registers(rd, rs1, 0) | (immediate as u32) << 20
    }

    pub fn store(&self, rs1: u32, rs2: u32, offset: i32) -> u32 {
        self.registers(0, rs1, rs2) | (offset as u32 & 0xfe0) << 20 | (offset as u32 & 31) << 7
    }
}

const fn both(name: &'static str, bits: u32, format: Format) -> Instruction {
    Instruction { name, bits, format, rv32: true, rv64: true }
}

const fn only_64(name: &'static str, bits: u32, format: Format) -> Instruction {
    Instruction { rv32: false, ..both(name, bits, format) }
}

const fn only_32(name: &'static str, bits: u32, format: Format) -> Instruction {
    Instruction { rv64: false, ..both(name, bits, format) }
}

const fn r(funct7: u32, funct3: u32, opcode: u32) -> u32 {
    funct7 << 25 | funct3 << 12 | opcode
}

const fn i(immediate: u32, funct3: u32, opcode: u32) -> u32 {
    immediate << 20 | funct3 << 12 | opcode
}

use Format::{Atomic, Immediate, Load, Registers, Shift, Store, Unary, Upper};

/// All integer instructions except branches.
pub const INTEGER: &[Instruction] = &[
    both("lui", 0x37, Upper),
    both("auipc", 0x17, Upper),
    both("addi", i(0, 0, 0x13), Immediate),
    both("slti", i(0, 2, 0x13), Immediate),
    both("sltiu", i(0, 3, 0x13), Immediate),
    both("xori", i(0, 4, 0x13), Immediate),
    both("ori", i(0, 6, 0x13), Immediate),
    both("andi", i(0, 7, 0x13), Immediate),
    only_64("addiw", i(0, 0, 0x1b), Immediate),
    only_32("slli", i(0, 1, 0x13), Shift(5)),
    only_32("srli", i(0, 5, 0x13), Shift(5)),
    only_32("srai", i(0x400, 5, 0x13), Shift(5)),
    only_64("slli", i(0, 1, 0x13), Shift(6)),
    only_64("srli", i(0, 5, 0x13), Shift(6)),
    only_64("srai", i(0x400, 5, 0x13), Shift(6)),
    only_64("slliw", i(0, 1, 0x1b), Shift(5)),
    only_64("srliw", i(0, 5, 0x1b), Shift(5)),
    only_64("sraiw", i(0x400, 5, 0x1b), Shift(5)),
    both("add", r(0, 0, 0x33), Registers),
    both("sub", r(0x20, 0, 0x33), Registers),
    both("sll", r(0, 1, 0x33), Registers),
    both("slt", r(0, 2, 0x33), Registers),
    both("sltu", r(0, 3, 0x33), Registers),
    both("xor", r(0, 4, 0x33), Registers),
    both("srl", r(0, 5, 0x33), Registers),
    both("sra", r(0x20, 5, 0x33), Registers),
    both("or", r(0, 6, 0x33), Registers),
    both("and", r(0, 7, 0x33), Registers),
    only_64("addw", r(0, 0, 0x3b), Registers),
    only_64("subw", r(0x20, 0, 0x3b), Registers),
    only_64("sllw", r(0, 1, 0x3b), Registers),
    only_64("srlw", r(0, 5, 0x3b), Registers),
    only_64("sraw", r(0x20, 5, 0x3b), Registers),
    both("mul", r(1, 0, 0x33), Registers),
    both("mulh", r(1, 1, 0x33), Registers),
    both("mulhsu", r(1, 2, 0x33), Registers),
    both("mulhu", r(1, 3, 0x33), Registers),
    both("div", r(1, 4, 0x33), Registers),
    both("divu", r(1, 5, 0x33), Registers),
    both("rem", r(1, 6, 0x33), Registers),
    both("remu", r(1, 7, 0x33), Registers),
    only_64("mulw", r(1, 0, 0x3b), Registers),
    only_64("divw", r(1, 4, 0x3b), Registers),
    only_64("divuw", r(1, 5, 0x3b), Registers),
    only_64("remw", r(1, 6, 0x3b), Registers),
    only_64("remuw", r(1, 7, 0x3b), Registers),
    both("sh1add", r(0x10, 2, 0x33), Registers),
    both("sh2add", r(0x10, 4, 0x33), Registers),
    both("sh3add", r(0x10, 6, 0x33), Registers),
    only_64("add.uw", r(0x04, 0, 0x3b), Registers),
    only_64("sh1add.uw", r(0x10, 2, 0x3b), Registers),
    only_64("sh2add.uw", r(0x10, 4, 0x3b), Registers),
    only_64("sh3add.uw", r(0x10, 6, 0x3b), Registers),
    only_64("slli.uw", i(0x080, 1, 0x1b), Shift(6)),
    both("andn", r(0x20, 7, 0x33), Registers),
    both("orn", r(0x20, 6, 0x33), Registers),
    both("xnor", r(0x20, 4, 0x33), Registers),
    both("clz", i(0x600, 1, 0x13), Unary),
    both("ctz", i(0x601, 1, 0x13), Unary),
    both("cpop", i(0x602, 1, 0x13), Unary),
    both("sext.b", i(0x604, 1, 0x13), Unary),
    both("sext.h", i(0x605, 1, 0x13), Unary),
    only_32("zext.h", r(0x04, 4, 0x33), Unary),
    only_64("zext.h", r(0x04, 4, 0x3b), Unary),
    only_64("clzw", i(0x600, 1, 0x1b), Unary),
    only_64("ctzw", i(0x601, 1, 0x1b), Unary),
    only_64("cpopw", i(0x602, 1, 0x1b), Unary),
    both("max", r(0x05, 6, 0x33), Registers),
    both("maxu", r(0x05, 7, 0x33), Registers),
    both("min", r(0x05, 4, 0x33), Registers),
    both("minu", r(0x05, 5, 0x33), Registers),
    both("rol", r(0x30, 1, 0x33), Registers),
    both("ror", r(0x30, 5, 0x33), Registers),
    only_32("rori", i(0x600, 5, 0x13), Shift(5)),
    only_64("rori", i(0x600, 5, 0x13), Shift(6)),
    only_64("rolw", r(0x30, 1, 0x3b), Registers),
    only_64("rorw", r(0x30, 5, 0x3b), Registers),
    only_64("roriw", i(0x600, 5, 0x1b), Shift(5)),
    both("orc.b", i(0x287, 5, 0x13), Unary),
    only_32("rev8", i(0x698, 5, 0x13), Unary),
    only_64("rev8", i(0x6b8, 5, 0x13), Unary),
    both("bclr", r(0x24, 1, 0x33), Registers),
    both("bext", r(0x24, 5, 0x33), Registers),
    both("binv", r(0x34, 1, 0x33), Registers),
    both("bset", r(0x14, 1, 0x33), Registers),
    only_32("bclri", i(0x480, 1, 0x13), Shift(5)),
    only_32("bexti", i(0x480, 5, 0x13), Shift(5)),
    only_32("binvi", i(0x680, 1, 0x13), Shift(5)),
    only_32("bseti", i(0x280, 1, 0x13), Shift(5)),
    only_64("bclri", i(0x480, 1, 0x13), Shift(6)),
    only_64("bexti", i(0x480, 5, 0x13), Shift(6)),
    only_64("binvi", i(0x680, 1, 0x13), Shift(6)),
    only_64("bseti", i(0x280, 1, 0x13), Shift(6)),
    both("pack", r(0x04, 4, 0x33), Registers),
    both("packh", r(0x04, 7, 0x33), Registers),
    only_64("packw", r(0x04, 4, 0x3b), Registers),
    both("brev8", i(0x687, 5, 0x13), Unary),
    only_32("zip", i(0x08f, 1, 0x13), Unary),
    only_32("unzip", i(0x08f, 5, 0x13), Unary),
];

/// Loads and stores of both register files, and atomic operations.
pub const MEMORY: &[Instruction] = &[
    both("lb", i(0, 0, 0x03), Load),
    both("lh", i(0, 1, 0x03), Load),
    both("lw", i(0, 2, 0x03), Load),
    only_64("ld", i(0, 3, 0x03), Load),
    both("lbu", i(0, 4, 0x03), Load),
    both("lhu", i(0, 5, 0x03), Load),
    only_64("lwu", i(0, 6, 0x03), Load),
    both("flw", i(0, 2, 0x07), Load),
    both("fld", i(0, 3, 0x07), Load),
    both("sb", i(0, 0, 0x23), Store),
    both("sh", i(0, 1, 0x23), Store),
    both("sw", i(0, 2, 0x23), Store),
    only_64("sd", i(0, 3, 0x23), Store),
    both("fsw", i(0, 2, 0x27), Store),
    both("fsd", i(0, 3, 0x27), Store),
    both("lr.w", r(0x08, 2, 0x2f), Atomic),
    both("sc.w", r(0x0c, 2, 0x2f), Atomic),
    both("amoswap.w", r(0x04, 2, 0x2f), Atomic),
    both("amoadd.w", r(0x00, 2, 0x2f), Atomic),
    both("amoxor.w", r(0x10, 2, 0x2f), Atomic),
    both("amoand.w", r(0x30, 2, 0x2f), Atomic),
    both("amoor.w", r(0x20, 2, 0x2f), Atomic),
    both("amomin.w", r(0x40, 2, 0x2f), Atomic),
    both("amomax.w", r(0x50, 2, 0x2f), Atomic),
    both("amominu.w", r(0x60, 2, 0x2f), Atomic),
    both("amomaxu.w", r(0x70, 2, 0x2f), Atomic),
    only_64("lr.d", r(0x08, 3, 0x2f), Atomic),
    only_64("sc.d", r(0x0c, 3, 0x2f), Atomic),
    only_64("amoswap.d", r(0x04, 3, 0x2f), Atomic),
    only_64("amoadd.d", r(0x00, 3, 0x2f), Atomic),
    only_64("amoxor.d", r(0x10, 3, 0x2f), Atomic),
    only_64("amoand.d", r(0x30, 3, 0x2f), Atomic),
    only_64("amoor.d", r(0x20, 3, 0x2f), Atomic),
    only_64("amomin.d", r(0x40, 3, 0x2f), Atomic),
    only_64("amomax.d", r(0x50, 3, 0x2f), Atomic),
    only_64("amominu.d", r(0x60, 3, 0x2f), Atomic),
    only_64("amomaxu.d", r(0x70, 3, 0x2f), Atomic),
];

const fn f(operands: u32, rounds: bool) -> Format {
    Format::Float(Float { operands, rounds, to_integer: false, from_integer: false })
}

const fn to_integer(operands: u32, rounds: bool) -> Format {
    Format::Float(Float { operands, rounds, to_integer: true, from_integer: false })
}

const fn from_integer(rounds: bool) -> Format {
    Format::Float(Float { operands: 1, rounds, to_integer: false, from_integer: true })
}

/// OP-FP with the rounding mode or funct3, and the value of the rs2 field.
const fn fp(funct7: u32, funct3: u32, rs2: u32) -> u32 {
    funct7 << 25 | rs2 << 20 | funct3 << 12 | 0x53
}

/// Floating-point instructions. Those on doubles have bit 25 set.
pub const FLOAT: &[Instruction] = &[
    both("fmadd.s", 0x43, f(3, true)),
    both("fmsub.s", 0x47, f(3, true)),
    both("fnmsub.s", 0x4b, f(3, true)),
    both("fnmadd.s", 0x4f, f(3, true)),
    both("fadd.s", fp(0x00, 0, 0), f(2, true)),
    both("fsub.s", fp(0x04, 0, 0), f(2, true)),
    both("fmul.s", fp(0x08, 0, 0), f(2, true)),
    both("fdiv.s", fp(0x0c, 0, 0), f(2, true)),
    both("fsqrt.s", fp(0x2c, 0, 0), f(1, true)),
    both("fsgnj.s", fp(0x10, 0, 0), f(2, false)),
    both("fsgnjn.s", fp(0x10, 1, 0), f(2, false)),
    both("fsgnjx.s", fp(0x10, 2, 0), f(2, false)),
    both("fmin.s", fp(0x14, 0, 0), f(2, false)),
    both("fmax.s", fp(0x14, 1, 0), f(2, false)),
    both("fcvt.w.s", fp(0x60, 0, 0), to_integer(1, true)),
    both("fcvt.wu.s", fp(0x60, 0, 1), to_integer(1, true)),
    only_64("fcvt.l.s", fp(0x60, 0, 2), to_integer(1, true)),
    only_64("fcvt.lu.s", fp(0x60, 0, 3), to_integer(1, true)),
    both("fmv.x.w", fp(0x70, 0, 0), to_integer(1, false)),
    both("feq.s", fp(0x50, 2, 0), to_integer(2, false)),
    both("flt.s", fp(0x50, 1, 0), to_integer(2, false)),
    both("fle.s", fp(0x50, 0, 0), to_integer(2, false)),
    both("fclass.s", fp(0x70, 1, 0), to_integer(1, false)),
    both("fcvt.s.w", fp(0x68, 0, 0), from_integer(true)),
    both("fcvt.s.wu", fp(0x68, 0, 1), from_integer(true)),
    only_64("fcvt.s.l", fp(0x68, 0, 2), from_integer(true)),
    only_64("fcvt.s.lu", fp(0x68, 0, 3), from_integer(true)),
    both("fmv.w.x", fp(0x78, 0, 0), from_integer(false)),
    both("fmadd.d", 0x43 | 1 << 25, f(3, true)),
    both("fmsub.d", 0x47 | 1 << 25, f(3, true)),
    both("fnmsub.d", 0x4b | 1 << 25, f(3, true)),
    both("fnmadd.d", 0x4f | 1 << 25, f(3, true)),
    both("fadd.d", fp(0x01, 0, 0), f(2, true)),
    both("fsub.d", fp(0x05, 0, 0), f(2, true)),
    both("fmul.d", fp(0x09, 0, 0), f(2, true)),
    both("fdiv.d", fp(0x0d, 0, 0), f(2, true)),
    both("fsqrt.d", fp(0x2d, 0, 0), f(1, true)),
    both("fsgnj.d", fp(0x11, 0, 0), f(2, false)),
    both("fsgnjn.d", fp(0x11, 1, 0), f(2, false)),
    both("fsgnjx.d", fp(0x11, 2, 0), f(2, false)),
    both("fmin.d", fp(0x15, 0, 0), f(2, false)),
    both("fmax.d", fp(0x15, 1, 0), f(2, false)),
    both("fcvt.s.d", fp(0x20, 0, 1), f(1, true)),
    both("fcvt.d.s", fp(0x21, 0, 0), f(1, false)),
    both("fcvt.w.d", fp(0x61, 0, 0), to_integer(1, true)),
    both("fcvt.wu.d", fp(0x61, 0, 1), to_integer(1, true)),
    only_64("fcvt.l.d", fp(0x61, 0, 2), to_integer(1, true)),
    only_64("fcvt.lu.d", fp(0x61, 0, 3), to_integer(1, true)),
    only_64("fmv.x.d", fp(0x71, 0, 0), to_integer(1, false)),
    both("feq.d", fp(0x51, 2, 0), to_integer(2, false)),
    both("flt.d", fp(0x51, 1, 0), to_integer(2, false)),
    both("fle.d", fp(0x51, 0, 0), to_integer(2, false)),
    both("fclass.d", fp(0x71, 1, 0), to_integer(1, false)),
    both("fcvt.d.w", fp(0x69, 0, 0), from_integer(false)),
    both("fcvt.d.wu", fp(0x69, 0, 1), from_integer(false)),
    only_64("fcvt.d.l", fp(0x69, 0, 2), from_integer(true)),
    only_64("fcvt.d.lu", fp(0x69, 0, 3), from_integer(true)),
    only_64("fmv.d.x", fp(0x79, 0, 0), from_integer(false)),
];

/// The instruction with this name.
pub fn named(name: &str, xlen: Xlen) -> Instruction {
    *[INTEGER, MEMORY, FLOAT]
        .into_iter()
        .flatten()
        .find(|instruction| instruction.name == name && instruction.is_of(xlen))
        .unwrap_or_else(|| panic!("no {name} in {xlen:?}"))
}

/// A branch: `funct3` 0 is beq, 1 bne, 4 blt, 6 bltu.
pub fn branch(funct3: u32, rs1: u32, rs2: u32, offset: i32) -> u32 {
    let offset = offset as u32;
    let bit = |from: u32, to: u32| (offset >> from & 1) << to;
    let low = (1..5).map(|number| bit(number, number + 7)).sum::<u32>();
    let high = (5..11).map(|number| bit(number, number + 20)).sum::<u32>();
    bit(12, 31) | high | rs2 << 20 | rs1 << 15 | funct3 << 12 | low | bit(11, 7) | 0x63
}

pub fn jal(rd: u32, offset: i32) -> u32 {
    let offset = offset as u32;
    let bit = |from: u32, to: u32| (offset >> from & 1) << to;
    let low = (1..11).map(|number| bit(number, number + 20)).sum::<u32>();
    let middle = (12..20).map(|number| bit(number, number)).sum::<u32>();
    bit(20, 31) | low | bit(11, 20) | middle | rd << 7 | 0x6f
}
