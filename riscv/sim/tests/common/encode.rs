//! Instruction encodings by name (instructions.txt): the RISC-V Instruction Set Manual, volume I, "Instruction Set Listings".

use std::sync::LazyLock;

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
    /// rd, frs1, frs2, frs3 and a rounding mode. rd can be an integer register.
    Float(Float),
}

/// The operands of a floating-point instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float {
    /// Number of source operands, 1 to 3.
    pub operands: u32,
    pub rounds: bool,
    pub to_integer: bool,
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

/// Reads a line of instructions.txt.
fn instruction(line: &'static str) -> Instruction {
    let [name, bits, widths, format, details @ ..] = &line.split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("{line}")
    };
    let number = || details[0].parse().expect("a number");
    let format = match *format {
        "registers" => Format::Registers,
        "unary" => Format::Unary,
        "immediate" => Format::Immediate,
        "shift" => Format::Shift(number()),
        "upper" => Format::Upper,
        "load" => Format::Load,
        "store" => Format::Store,
        "atomic" => Format::Atomic,
        "float" => Format::Float(Float {
            operands: number(),
            rounds: details.contains(&"rounds"),
            to_integer: details.contains(&"to-integer"),
        }),
        _ => panic!("{line}"),
    };
    let bits = u32::from_str_radix(bits, 16).expect("bits");
    Instruction { name, bits, format, rv32: *widths != "rv64", rv64: *widths != "rv32" }
}

/// The instructions of a group of instructions.txt; the text before the first group describes the columns.
fn group(number: usize) -> Vec<Instruction> {
    let group = include_str!("instructions.txt").split("\n\n").nth(number).expect("a group");
    group.lines().filter(|line| !line.starts_with('#')).map(instruction).collect()
}

/// All integer instructions except branches.
pub static INTEGER: LazyLock<Vec<Instruction>> = LazyLock::new(|| group(1));
/// Loads and stores of both register files, and atomic operations.
pub static MEMORY: LazyLock<Vec<Instruction>> = LazyLock::new(|| group(2));
/// Floating-point instructions. Those on doubles have bit 25 set.
pub static FLOAT: LazyLock<Vec<Instruction>> = LazyLock::new(|| group(3));

/// Integer instructions for AES.
pub static AES: LazyLock<Vec<Instruction>> = LazyLock::new(|| group(4));

/// The instruction with this name.
pub fn named(name: &str, xlen: Xlen) -> Instruction {
    *[&INTEGER, &MEMORY, &FLOAT]
        .into_iter()
        .flat_map(|group| group.iter())
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
