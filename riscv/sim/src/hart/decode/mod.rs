//! Decodes instructions to [`Op`], by the lines of instructions.txt: the RISC-V Instruction Set Manual, volume I,
//! "RV32/64G Instruction Set Listings", and the chapters on compressed instructions and bit manipulation. Reserved
//! encodings are illegal instructions.

mod compressed;
mod float;

use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

use self::float::float;
use super::op::{Amo, Op, Opcode};
use crate::isa::{Isa, Xlen};
use crate::report::CLASSES;
use crate::retired::Class;

/// Decodes a 32-bit instruction, or a compressed one in the lower half of `bits`.
pub(crate) fn decode(bits: u32, isa: &Isa) -> Op {
    let (word, size) = match is_compressed(bits) {
        true => (compressed::expand(bits as u16, isa), 2),
        false => (Some(bits), 4),
    };
    let illegal = Op {
        immediate: if size == 2 { bits & 0xffff } else { bits } as i32,
        ..Op::new(Opcode::Illegal, Class::System)
    };
    let mut op = word.and_then(|word| Fields { word, isa }.op()).unwrap_or(illegal);
    op.size = size;
    op.class = match op.code {
        Opcode::Jal | Opcode::Jalr if is_link(op.rd) => Class::Call,
        Opcode::Jalr if is_link(op.rs1) => Class::Return,
        _ if op.class == Class::Alu && op.rd == 0 => Class::Nop,
        _ => op.class,
    };
    op
}

/// Whether the lowest two bits mark an instruction of 16 bits.
pub(crate) const fn is_compressed(bits: u32) -> bool {
    bits & 3 != 3
}

/// Whether the calling convention uses this register for return addresses.
fn is_link(register: u8) -> bool {
    register == 1 || register == 5
}

/// The lines of instructions.txt, by the bits that encode the major opcode.
static LINES: LazyLock<[Vec<Line>; 32]> = LazyLock::new(|| {
    let mut lines = [const { Vec::new() }; 32];
    let text = include_str!("instructions.txt").lines();
    for line in text.filter(|line| !line.is_empty() && !line.starts_with('#')).map(Line::new) {
        lines[(line.value >> 2 & 31) as usize].push(line);
    }
    lines
});

/// An instruction in instructions.txt.
struct Line {
    mask: u32,
    /// The bits under the mask.
    value: u32,
    /// Bits that must be 0 on RV32.
    narrow: u32,
    /// The operation on RV64 and on RV32.
    codes: [Opcode; 2],
    amo: Amo,
    class: Class,
    operands: Operands,
    immediate: i32,
    needs: &'static str,
}

/// The operands of an instruction: which fields of [`Op`] it sets, and where its immediate is.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operands {
    None,
    Address,
    Registers,
    Byte,
    Unary,
    Immediate,
    Shift,
    Round,
    Upper,
    Jump,
    Branch,
    Store,
    FloatLoad,
    FloatStore,
    Csr,
    CsrValue,
}

/// The variant with this name.
fn named<T: Deserialize<'static>>(name: &'static str) -> T {
    let name: StrDeserializer<'static, Error> = name.into_deserializer();
    T::deserialize(name).expect("a name in instructions.txt")
}

impl Line {
    fn new(line: &'static str) -> Line {
        let mut columns = line.split("  ").map(str::trim).filter(|column| !column.is_empty());
        let mut column = || columns.next().unwrap_or_default();
        let (pattern, operation, class, operands, needs) = (column(), column(), column(), column(), column());
        let bits = |set: &str| {
            let pattern = pattern.chars().filter(|bit| *bit != ' ');
            pattern.fold(0, |bits, bit| bits << 1 | u32::from(set.contains(bit)))
        };
        let (operation, amo) = operation.split_once(':').unwrap_or((operation, "Swap"));
        let (wide, narrow) = operation.split_once(' ').unwrap_or((operation, operation));
        let (operands, immediate) = operands.split_once(' ').unwrap_or((operands, "0"));
        Line {
            mask: bits("01"),
            value: bits("1"),
            narrow: bits("w"),
            codes: [named(wide), named(narrow)],
            amo: named(amo),
            class: CLASSES.iter().find(|(_, name)| *name == class).expect("a class").0,
            operands: named(operands),
            immediate: immediate.parse().expect("a number"),
            needs,
        }
    }

    fn fits(&self, Fields { word, isa }: Fields<'_>) -> bool {
        let mask = if isa.xlen == Xlen::Rv64 { self.mask } else { self.mask | self.narrow };
        let has = |names: &str| names.split('/').any(|name| isa.has(name));
        word & mask == self.value && self.needs.split_whitespace().all(has)
    }

    fn op(&self, fields: Fields<'_>) -> Op {
        let (rd, rs1, rs2, word) = (fields.rd(), fields.rs1(), fields.rs2(), fields.word as i32);
        let code = self.codes[usize::from(!fields.wide())];
        let op = Op { amo: self.amo, immediate: self.immediate, ..Op::new(code, self.class) };
        let i_immediate = word >> 20;
        let s_immediate = (word >> 25) << 5 | i32::from(rd);
        let b_immediate = (word >> 31) << 12 | (word << 4 & 0x800) | (word >> 20 & 0x7e0) | (word >> 7 & 0x1e);
        let j_immediate = (word >> 31) << 20 | (word & 0xf_f000) | (word >> 9 & 0x800) | (word >> 20 & 0x7fe);
        match self.operands {
            Operands::None => op,
            Operands::Address => Op { rs1, ..op },
            Operands::Registers => Op { rd, rs1, rs2, ..op },
            Operands::Byte => Op { rd, rs1, rs2, immediate: word >> 30 & 3, ..op },
            Operands::Unary => Op { rd, rs1, ..op },
            Operands::Immediate => Op { rd, rs1, immediate: i_immediate, ..op },
            Operands::Shift => Op { rd, rs1, immediate: i_immediate & 63, ..op },
            Operands::Round => Op { rd, rs1, immediate: i_immediate & 15, ..op },
            Operands::Upper => Op { rd, immediate: word & !0xfff, ..op },
            Operands::Jump => Op { rd, immediate: j_immediate, ..op },
            Operands::Branch => Op { rs1, rs2, immediate: b_immediate, ..op },
            Operands::Store => Op { rs1, rs2, immediate: s_immediate, ..op },
            Operands::FloatLoad => Op { rd: float(rd), rs1, immediate: i_immediate, ..op },
            Operands::FloatStore => Op { rs1, rs2: float(rs2), immediate: s_immediate, ..op },
            Operands::Csr => Op { rd, rs1, immediate: i_immediate & 0xfff, ..op },
            Operands::CsrValue => Op { rd, immediate: i_immediate & 0xfff | i32::from(rs1) << 12, ..op },
        }
    }
}

/// A 32-bit instruction and its fields.
#[derive(Clone, Copy)]
struct Fields<'a> {
    word: u32,
    isa: &'a Isa,
}

impl Fields<'_> {
    fn rd(self) -> u8 {
        (self.word >> 7 & 31) as u8
    }

    fn rs1(self) -> u8 {
        (self.word >> 15 & 31) as u8
    }

    fn rs2(self) -> u8 {
        (self.word >> 20 & 31) as u8
    }

    fn funct3(self) -> u32 {
        self.word >> 12 & 7
    }

    fn wide(self) -> bool {
        self.isa.xlen == Xlen::Rv64
    }

    fn op(self) -> Option<Op> {
        match self.word & 0x7f {
            0x43 | 0x47 | 0x4b | 0x4f => self.fused(),
            0x53 => self.float(),
            _ => LINES[(self.word >> 2 & 31) as usize].iter().find(|line| line.fits(self)).map(|line| line.op(self)),
        }
    }
}
