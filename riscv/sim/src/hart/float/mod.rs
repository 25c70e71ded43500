//! The F and D extensions: the RISC-V Instruction Set Manual, volume I, chapters "F" and "D", over IEEE 754-2019.
//!
//! `rustc_apfloat` does the rounded arithmetic, and `root.rs` square roots. Moves, comparisons and classification work
//! on the bits. Every NaN result is the canonical NaN. Underflow is detected after rounding, as if the exponent had no
//! bounds.

mod root;
mod soft;

use soft::{DoubleFormat, SingleFormat};

/// An operation of the opcodes `OP-FP` and of fused multiplication and addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatOp {
    Add,
    Sub,
    Mul,
    Div,
    Sqrt,
    Madd,
    Msub,
    Nmsub,
    Nmadd,
    Sgnj,
    Sgnjn,
    Sgnjx,
    Min,
    Max,
    Eq,
    Lt,
    Le,
    Classify,
    /// Converts from the other format.
    Convert,
    ToInteger(Integer),
    FromInteger(Integer),
    MoveToInteger,
    MoveFromInteger,
}

/// The format of the result, or of the operands if the result is an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Single,
    Double,
}

/// An integer type that conversions use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integer {
    Word,
    UnsignedWord,
    Long,
    UnsignedLong,
}

impl Integer {
    const fn range(self) -> (i128, i128) {
        match self {
            Integer::Word => (i32::MIN as i128, i32::MAX as i128),
            Integer::UnsignedWord => (0, u32::MAX as i128),
            Integer::Long => (i64::MIN as i128, i64::MAX as i128),
            Integer::UnsignedLong => (0, u64::MAX as i128),
        }
    }

    /// The value that a register holds.
    const fn value(self, register: u64) -> i128 {
        match self {
            Integer::Word => register as i32 as i128,
            Integer::UnsignedWord => register as u32 as i128,
            Integer::Long => register as i64 as i128,
            Integer::UnsignedLong => register as i128,
        }
    }

    /// The register contents for a value. 32-bit values are sign-extended, unsigned ones too.
    const fn register(self, value: i128) -> u64 {
        match self {
            Integer::Word | Integer::UnsignedWord => value as i32 as u64,
            Integer::Long | Integer::UnsignedLong => value as u64,
        }
    }
}

/// Accrued exceptions, in the encoding of `fflags`.
pub(crate) mod flag {
    pub(crate) const INEXACT: u8 = 1;
    pub(crate) const UNDERFLOW: u8 = 2;
    pub(crate) const OVERFLOW: u8 = 4;
    pub(crate) const DIVIDE_BY_ZERO: u8 = 8;
    pub(crate) const INVALID: u8 = 16;
}

/// Rounding modes of `frm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    NearestEven,
    TowardZero,
    Down,
    Up,
    NearestAway,
}

impl Rounding {
    pub(crate) const fn new(encoded: u8) -> Option<Rounding> {
        Some(match encoded {
            0 => Rounding::NearestEven,
            1 => Rounding::TowardZero,
            2 => Rounding::Down,
            3 => Rounding::Up,
            4 => Rounding::NearestAway,
            _ => return None,
        })
    }
}

/// Executes an operation on register values. Returns the register contents of the result and the exceptions.
pub(crate) fn execute(operation: FloatOp, format: Format, rounding: Rounding, operands: [u64; 3]) -> (u64, u8) {
    match format {
        Format::Single => SingleFormat::execute(operation, rounding, operands),
        Format::Double => DoubleFormat::execute(operation, rounding, operands),
    }
}

/// The upper half of a register that holds a single. As a double the register is a quiet NaN.
pub(crate) const NAN_BOX: u64 = 0xffff_ffff_0000_0000;

/// A binary format, stored in the low bits of a `u64`.
trait FloatBits: Sized {
    const FRACTION_BITS: u32;
    const EXPONENT_BITS: u32;

    const SIGN: u64 = 1 << (Self::FRACTION_BITS + Self::EXPONENT_BITS);
    const INFINITY: u64 = ((1 << Self::EXPONENT_BITS) - 1) << Self::FRACTION_BITS;
    const QUIET: u64 = 1 << (Self::FRACTION_BITS - 1);
    const CANONICAL_NAN: u64 = Self::INFINITY | Self::QUIET;
    const SMALLEST_NORMAL: u64 = 1 << Self::FRACTION_BITS;

    /// The bits of a register's value. A single that is not NaN-boxed becomes the canonical NaN.
    fn unpack(register: u64) -> u64;
    fn pack(bits: u64) -> u64;
    fn less(a: u64, b: u64) -> bool;
    fn equal(a: u64, b: u64) -> bool;

    fn is_nan(bits: u64) -> bool {
        bits & !Self::SIGN > Self::INFINITY
    }

    fn is_signaling(bits: u64) -> bool {
        Self::is_nan(bits) && bits & Self::QUIET == 0
    }

    fn is_infinite(bits: u64) -> bool {
        bits & !Self::SIGN == Self::INFINITY
    }

    fn is_zero(bits: u64) -> bool {
        bits & !Self::SIGN == 0
    }

    /// Minimum or maximum. If only one operand is a NaN, the result is the other. -0 is less than +0.
    fn extreme(a: u64, b: u64, maximum: bool) -> (u64, u8) {
        let flags = if Self::is_signaling(a) || Self::is_signaling(b) { flag::INVALID } else { 0 };
        let value = match (Self::is_nan(a), Self::is_nan(b)) {
            (true, true) => Self::CANONICAL_NAN,
            (true, false) => b,
            (false, true) => a,
            _ => {
                let a_first = Self::less(a, b) || (Self::equal(a, b) && a & Self::SIGN != 0);
                if a_first != maximum { a } else { b }
            }
        };
        (value, flags)
    }

    /// Compares. For equality only a signaling NaN is invalid; for order every NaN is.
    fn compare(operation: FloatOp, a: u64, b: u64) -> (u64, u8) {
        let invalid = match operation {
            FloatOp::Eq => Self::is_signaling(a) || Self::is_signaling(b),
            _ => Self::is_nan(a) || Self::is_nan(b),
        };
        let holds = match operation {
            FloatOp::Eq => Self::equal(a, b),
            FloatOp::Lt => Self::less(a, b),
            _ => Self::less(a, b) || Self::equal(a, b),
        };
        (u64::from(holds), if invalid { flag::INVALID } else { 0 })
    }

    /// The result of `fclass`.
    fn classify(bits: u64) -> u64 {
        let negative = bits & Self::SIGN != 0;
        let subnormal = bits & Self::INFINITY == 0;
        let from_zero = match () {
            () if Self::is_nan(bits) => return 1 << if Self::is_signaling(bits) { 8 } else { 9 },
            () if Self::is_zero(bits) => 0,
            () if subnormal => 1,
            () if Self::is_infinite(bits) => 3,
            () => 2,
        };
        // Negative infinity is 0, negative zero 3, positive zero 4, positive infinity 7.
        1 << if negative { 3 - from_zero } else { 4 + from_zero }
    }
}

impl FloatBits for SingleFormat {
    const FRACTION_BITS: u32 = 23;
    const EXPONENT_BITS: u32 = 8;

    fn unpack(register: u64) -> u64 {
        if register & NAN_BOX == NAN_BOX { register & !NAN_BOX } else { Self::CANONICAL_NAN }
    }

    fn pack(bits: u64) -> u64 {
        bits | NAN_BOX
    }

    fn less(a: u64, b: u64) -> bool {
        f32::from_bits(a as u32) < f32::from_bits(b as u32)
    }

    fn equal(a: u64, b: u64) -> bool {
        f32::from_bits(a as u32) == f32::from_bits(b as u32)
    }
}

impl FloatBits for DoubleFormat {
    const FRACTION_BITS: u32 = 52;
    const EXPONENT_BITS: u32 = 11;

    fn unpack(register: u64) -> u64 {
        register
    }

    fn pack(bits: u64) -> u64 {
        bits
    }

    fn less(a: u64, b: u64) -> bool {
        f64::from_bits(a) < f64::from_bits(b)
    }

    fn equal(a: u64, b: u64) -> bool {
        f64::from_bits(a) == f64::from_bits(b)
    }
}
