//! Decodes instructions of the F and D extensions.

use super::Fields;
use crate::hart::float::{FloatOp, Format, Integer};
use crate::hart::op::{Op, Opcode};
use crate::retired::Class;

/// Index of a floating-point register. They follow the integer registers.
pub(super) const fn float(register: u8) -> u8 {
    32 | register
}

impl Fields<'_> {
    /// The format that bits 26 and 25 encode.
    fn format(self) -> Option<Format> {
        match self.word >> 25 & 3 {
            0 if self.isa.f => Some(Format::Single),
            1 if self.isa.d => Some(Format::Double),
            _ => None,
        }
    }

    /// The rounding mode, or `None` if the encoding is reserved.
    fn rounding(self) -> Option<u8> {
        let mode = self.funct3() as u8;
        (mode < 5 || mode == 7).then_some(mode)
    }

    pub(super) fn fused(self) -> Option<Op> {
        let operation = match self.word >> 2 & 3 {
            0 => FloatOp::Madd,
            1 => FloatOp::Msub,
            2 => FloatOp::Nmsub,
            _ => FloatOp::Nmadd,
        };
        Some(Op {
            rd: float(self.rd()),
            rs1: float(self.rs1()),
            rs2: float(self.rs2()),
            rs3: float((self.word >> 27) as u8),
            rounding: self.rounding()?,
            float: operation,
            format: self.format()?,
            ..Op::new(Opcode::Float, Class::FpFused)
        })
    }

    pub(super) fn float(self) -> Option<Op> {
        let format = self.format()?;
        let (rd, rs1, rs2) = (self.rd(), self.rs1(), self.rs2());
        let op = |operation, class| Op { float: operation, format, ..Op::new(Opcode::Float, class) };
        // Two floating-point operands, with a floating-point or an integer result.
        let binary = |operation, class| Op { rd: float(rd), rs1: float(rs1), rs2: float(rs2), ..op(operation, class) };
        let compare = |operation| Op { rd, ..binary(operation, Class::FpMove) };
        let unary = |operation, class| Op { rd: float(rd), rs1: float(rs1), ..op(operation, class) };
        let to_integer = |operation| Op { rd, rs1: float(rs1), ..op(operation, Class::FpMove) };
        let from_integer = |operation| Op { rd: float(rd), rs1, ..op(operation, Class::FpMove) };
        let rounded = |op: Op| Some(Op { rounding: self.rounding()?, ..op });
        let single = format == Format::Single;
        Some(match (self.word >> 27, self.funct3(), rs2) {
            (0x00, ..) => rounded(binary(FloatOp::Add, Class::FpAdd))?,
            (0x01, ..) => rounded(binary(FloatOp::Sub, Class::FpAdd))?,
            (0x02, ..) => rounded(binary(FloatOp::Mul, Class::FpMultiply))?,
            (0x03, ..) => rounded(binary(FloatOp::Div, Class::FpDivide))?,
            (0x0b, _, 0) => rounded(unary(FloatOp::Sqrt, Class::FpSqrt))?,
            (0x04, 0, _) => binary(FloatOp::Sgnj, Class::FpMove),
            (0x04, 1, _) => binary(FloatOp::Sgnjn, Class::FpMove),
            (0x04, 2, _) => binary(FloatOp::Sgnjx, Class::FpMove),
            (0x05, 0, _) => binary(FloatOp::Min, Class::FpMove),
            (0x05, 1, _) => binary(FloatOp::Max, Class::FpMove),
            (0x14, 0, _) => compare(FloatOp::Le),
            (0x14, 1, _) => compare(FloatOp::Lt),
            (0x14, 2, _) => compare(FloatOp::Eq),
            // Conversion between the formats. The rs2 field encodes the source format.
            (0x08, _, 1) if single && self.isa.d => rounded(unary(FloatOp::Convert, Class::FpMove))?,
            (0x08, _, 0) if !single => rounded(unary(FloatOp::Convert, Class::FpMove))?,
            (0x18, ..) => rounded(to_integer(FloatOp::ToInteger(self.integer()?)))?,
            (0x1a, ..) => rounded(from_integer(FloatOp::FromInteger(self.integer()?)))?,
            (0x1c, 0, 0) if single || self.wide() => to_integer(FloatOp::MoveToInteger),
            (0x1c, 1, 0) => to_integer(FloatOp::Classify),
            (0x1e, 0, 0) if single || self.wide() => from_integer(FloatOp::MoveFromInteger),
            _ => return None,
        })
    }

    /// The integer type of a conversion, encoded in the rs2 field.
    fn integer(self) -> Option<Integer> {
        Some(match self.rs2() {
            0 => Integer::Word,
            1 => Integer::UnsignedWord,
            2 if self.wide() => Integer::Long,
            3 if self.wide() => Integer::UnsignedLong,
            _ => return None,
        })
    }
}
