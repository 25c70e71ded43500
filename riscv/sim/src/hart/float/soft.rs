//! Rounded arithmetic, by `rustc_apfloat`.

use rustc_apfloat::ieee::{Double, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};

use super::{FloatBits, FloatOp, Integer, Rounding, flag, root};

pub(super) struct SingleFormat;
pub(super) struct DoubleFormat;

/// A format with its arithmetic, and the other format, from which it converts values.
trait SoftFloat: FloatBits {
    type Number: Float + FloatConvert<Quad>;
    type Other: FloatBits;
    type OtherNumber: Float + FloatConvert<Self::Number> + FloatConvert<Quad>;
}

impl SoftFloat for SingleFormat {
    type Number = Single;
    type Other = DoubleFormat;
    type OtherNumber = Double;
}

impl SoftFloat for DoubleFormat {
    type Number = Double;
    type Other = SingleFormat;
    type OtherNumber = Single;
}

impl SingleFormat {
    pub(super) fn execute(operation: FloatOp, rounding: Rounding, operands: [u64; 3]) -> (u64, u8) {
        execute::<SingleFormat>(operation, rounding, operands)
    }
}

impl DoubleFormat {
    pub(super) fn execute(operation: FloatOp, rounding: Rounding, operands: [u64; 3]) -> (u64, u8) {
        execute::<DoubleFormat>(operation, rounding, operands)
    }
}

fn execute<F: SoftFloat>(operation: FloatOp, rounding: Rounding, registers: [u64; 3]) -> (u64, u8) {
    let [a, b, c] = registers.map(F::unpack);
    let float = |(bits, flags)| (F::pack(bits), flags);
    match operation {
        FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Div => float(compute::<F>(operation, rounding, &[a, b])),
        FloatOp::Madd | FloatOp::Msub | FloatOp::Nmsub | FloatOp::Nmadd => {
            float(compute::<F>(operation, rounding, &[a, b, c]))
        }
        FloatOp::Sqrt => float(root::root::<F>(a, rounding)),
        FloatOp::Sgnj => float((a & !F::SIGN | b & F::SIGN, 0)),
        FloatOp::Sgnjn => float((a & !F::SIGN | !b & F::SIGN, 0)),
        FloatOp::Sgnjx => float((a ^ b & F::SIGN, 0)),
        FloatOp::Min => float(F::extreme(a, b, false)),
        FloatOp::Max => float(F::extreme(a, b, true)),
        FloatOp::Eq | FloatOp::Lt | FloatOp::Le => F::compare(operation, a, b),
        FloatOp::Classify => (F::classify(a), 0),
        FloatOp::Convert => float(convert::<F>(F::Other::unpack(registers[0]), rounding)),
        FloatOp::ToInteger(integer) => to_integer::<F>(a, integer, rounding),
        FloatOp::FromInteger(integer) => {
            let number = F::Number::from_i128_r(integer.value(registers[0]), round(rounding));
            float((number.value.to_bits() as u64, flags(number.status)))
        }
        // Moves copy the bits without a NaN-boxing check. Those of a single are sign-extended.
        FloatOp::MoveToInteger if F::SIGN == 1 << 63 => (registers[0], 0),
        FloatOp::MoveToInteger => (registers[0] as i32 as u64, 0),
        FloatOp::MoveFromInteger if F::SIGN == 1 << 63 => (registers[0], 0),
        FloatOp::MoveFromInteger => float((u64::from(registers[0] as u32), 0)),
    }
}

fn compute<F: SoftFloat>(operation: FloatOp, rounding: Rounding, operands: &[u64]) -> (u64, u8) {
    if operands.iter().any(|bits| F::is_nan(*bits)) {
        // Infinity times zero is invalid, even if a NaN is added.
        let product = operands.len() == 3
            && (F::is_infinite(operands[0]) && F::is_zero(operands[1])
                || F::is_zero(operands[0]) && F::is_infinite(operands[1]));
        let invalid = product || operands.iter().any(|bits| F::is_signaling(*bits));
        return (F::CANONICAL_NAN, if invalid { flag::INVALID } else { 0 });
    }
    let number = |index: usize| F::Number::from_bits(u128::from(operands.get(index).copied().unwrap_or(0)));
    let numbers = [0, 1, 2].map(number);
    let result = operate(operation, numbers, round(rounding));
    let exact = || operate(operation, numbers.map(widen), Round::TowardZero);
    finish::<F>(result, rounding, exact)
}

fn convert<F: SoftFloat>(bits: u64, rounding: Rounding) -> (u64, u8) {
    if F::Other::is_nan(bits) {
        return (F::CANONICAL_NAN, if F::Other::is_signaling(bits) { flag::INVALID } else { 0 });
    }
    let number = F::OtherNumber::from_bits(u128::from(bits));
    let result = number.convert_r(round(rounding), &mut false);
    finish::<F>(result, rounding, || Status::OK.and(widen(number)))
}

/// The result's bits and exceptions. `exact` is the same operation in quad precision, truncated.
fn finish<F: SoftFloat>(
    result: StatusAnd<F::Number>,
    rounding: Rounding,
    exact: impl Fn() -> StatusAnd<Quad>,
) -> (u64, u8) {
    let mut flags = flags(result.status);
    if result.value.is_nan() {
        return (F::CANONICAL_NAN, flags);
    }
    let bits = result.value.to_bits() as u64;
    // Subnormal numbers have fewer digits. A result that rounds up to the smallest normal number still underflows if it
    // would round to a smaller number at full precision.
    if flags & flag::INEXACT != 0 && bits & !F::SIGN == F::SMALLEST_NORMAL && is_tiny::<F>(&exact(), rounding) {
        flags |= flag::UNDERFLOW;
    }
    // A result truncated to the largest finite number has overflowed too.
    if flags & flag::INEXACT != 0 && bits & !F::SIGN == F::INFINITY - 1 && is_huge::<F>(&exact()) {
        flags |= flag::OVERFLOW;
    }
    (bits, flags)
}

const QUAD_FRACTION_BITS: u32 = 112;
const QUAD_BIAS: u32 = 16383;

const fn bias<F: FloatBits>() -> u32 {
    (1 << (F::EXPONENT_BITS - 1)) - 1
}

fn magnitude(number: Quad) -> u128 {
    number.to_bits() & !(1 << 127)
}

/// Whether a number's magnitude exceeds every finite number even when truncated to their precision.
fn is_huge<F: FloatBits>(exact: &StatusAnd<Quad>) -> bool {
    magnitude(exact.value) >= u128::from(QUAD_BIAS + bias::<F>() + 1) << QUAD_FRACTION_BITS
}

/// Whether a number just below the smallest normal number stays below it when rounded at full precision.
fn is_tiny<F: FloatBits>(exact: &StatusAnd<Quad>, rounding: Rounding) -> bool {
    let precision = F::FRACTION_BITS + 1;
    // The largest number below the smallest normal one has `precision` significant ones. The midpoint between the two
    // has one more.
    let ones = match rounding {
        Rounding::NearestEven | Rounding::NearestAway => precision,
        _ => precision - 1,
    };
    // The smallest normal number has the exponent 1 - bias, and smaller ones have one less.
    let exponent = u128::from(QUAD_BIAS - bias::<F>()) << QUAD_FRACTION_BITS;
    let border = exponent | ((1 << ones) - 1) << (QUAD_FRACTION_BITS - ones);
    let magnitude = magnitude(exact.value);
    match rounding {
        Rounding::NearestEven | Rounding::NearestAway => magnitude < border,
        _ => magnitude < border || magnitude == border && !exact.status.contains(Status::INEXACT),
    }
}

fn operate<N: Float>(operation: FloatOp, [a, b, c]: [N; 3], round: Round) -> StatusAnd<N> {
    match operation {
        FloatOp::Add => a.add_r(b, round),
        FloatOp::Sub => a.sub_r(b, round),
        FloatOp::Mul => a.mul_r(b, round),
        FloatOp::Div => a.div_r(b, round),
        FloatOp::Madd => a.mul_add_r(b, c, round),
        FloatOp::Msub => a.mul_add_r(b, -c, round),
        FloatOp::Nmsub => (-a).mul_add_r(b, c, round),
        _ => (-a).mul_add_r(b, -c, round),
    }
}

fn widen<N: FloatConvert<Quad>>(number: N) -> Quad {
    number.convert(&mut false).value
}

/// Converts to an integer. Values out of range give the nearest bound, and a NaN gives the upper bound.
fn to_integer<F: SoftFloat>(bits: u64, integer: Integer, rounding: Rounding) -> (u64, u8) {
    /// Wider than all integer types, so that `to_i128_r` returns values out of range and they are clamped below.
    const WIDTH: usize = 100;
    let (low, high) = integer.range();
    if F::is_nan(bits) {
        return (integer.register(high), flag::INVALID);
    }
    let number = F::Number::from_bits(u128::from(bits));
    let result = number.to_i128_r(WIDTH, round(rounding), &mut false);
    let saturated = result.status.contains(Status::INVALID_OP);
    if saturated || result.value < low || result.value > high {
        let end = if number.is_negative() { low } else { high };
        return (integer.register(end), flag::INVALID);
    }
    (integer.register(result.value), flags(result.status))
}

fn flags(status: Status) -> u8 {
    [
        (Status::INVALID_OP, flag::INVALID),
        (Status::DIV_BY_ZERO, flag::DIVIDE_BY_ZERO),
        (Status::OVERFLOW, flag::OVERFLOW),
        (Status::UNDERFLOW, flag::UNDERFLOW),
        (Status::INEXACT, flag::INEXACT),
    ]
    .into_iter()
    .filter(|(bit, _)| status.contains(*bit))
    .fold(0, |flags, (_, flag)| flags | flag)
}

fn round(rounding: Rounding) -> Round {
    match rounding {
        Rounding::NearestEven => Round::NearestTiesToEven,
        Rounding::TowardZero => Round::TowardZero,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
        Rounding::NearestAway => Round::NearestTiesToAway,
    }
}
