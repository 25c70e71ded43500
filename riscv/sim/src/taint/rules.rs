//! Which bits of an instruction's result may differ if the secrets differ.
//!
//! Sums, differences and comparisons are computed for the smallest and the largest values of the operands. A carry or
//! outcome that is the same for both is public.

use crate::hart::{
    integer::{reverse_in_bytes, unzip, word, zip},
    op::{Code, Op},
};

/// The operands of an instruction: values, and their secret bits (`ta`, `tb`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands {
    pub(super) a: u64,
    /// The register without the immediate.
    pub(super) b: u64,
    pub(super) immediate: u64,
    pub(super) ta: u64,
    pub(super) tb: u64,
    /// Whether both operands are the same register.
    pub(super) same: bool,
}

/// Whether the equality of the operands is the same for all values of the secrets.
pub(super) fn equality_is_public(operands: &Operands) -> bool {
    let secret = operands.ta | operands.tb;
    operands.same || secret == 0 || (operands.a ^ operands.b) & !secret != 0
}

/// Whether `a < b` has the same outcome for all values of the secrets.
pub(super) fn order_is_public(operands: &Operands, signed: bool) -> bool {
    operands.same || order(operands.a, operands.ta, operands.b, operands.tb, signed)
}

fn order(a: u64, ta: u64, b: u64, tb: u64, signed: bool) -> bool {
    // Inverting the sign bit turns the order of signed numbers into that of unsigned ones.
    let turn = if signed { 1 << 63 } else { 0 };
    let (a, b) = (a ^ turn, b ^ turn);
    (a | ta) < (b & !tb) || (a & !ta) >= (b | tb)
}

fn sum(a: u64, ta: u64, b: u64, tb: u64) -> u64 {
    let low = (a & !ta).wrapping_add(b & !tb);
    let high = (a | ta).wrapping_add(b | tb);
    ta | tb | (low ^ high)
}

fn difference(a: u64, ta: u64, b: u64, tb: u64) -> u64 {
    let low = (a & !ta).wrapping_sub(b | tb);
    let high = (a | ta).wrapping_sub(b & !tb);
    ta | tb | (low ^ high)
}

/// The lower half of a product: secret from the lowest bit on that depends on a secret bit.
fn product(a: u64, ta: u64, b: u64, tb: u64) -> u64 {
    let from =
        |secret: u64, other: u64| if secret == 0 { 64 } else { secret.trailing_zeros() + other.trailing_zeros() };
    let lowest = from(ta, b | tb).min(from(tb, a | ta));
    u64::MAX.checked_shl(lowest).unwrap_or(0)
}

/// All bits, if any bit is secret.
fn all(bits: u64) -> u64 {
    if bits == 0 { 0 } else { u64::MAX }
}

/// The result of a bit count: its low 7 bits, unless the bounds `low` and `high` are equal.
fn count(low: u32, high: u32) -> u64 {
    if low == high { 0 } else { 0x7f }
}

/// Secret bits of a loaded value after extension to the register width.
pub(super) fn widened(code: Code, bits: u64) -> u64 {
    match code {
        Code::Lb => bits as i8 as u64,
        Code::Lh => bits as i16 as u64,
        Code::Lw | Code::Lrw | Code::Amow => word(bits),
        _ => bits,
    }
}

/// Secret bits of the result of an integer instruction.
pub(super) fn result(op: &Op, operands: &Operands) -> u64 {
    let Operands { a, b: register, immediate, ta, tb, same } = *operands;
    let b = register.wrapping_add(immediate);
    if ta | tb == 0 || same && is_constant_of_equal(op.code) {
        return 0;
    }
    // A shift by a public amount moves secret bits as it moves values. If the amount is secret, any bit may be secret.
    let shifted = |amount_bits: u64, moved: fn(u64, u32) -> u64| match tb & amount_bits {
        0 => moved(ta, (b & amount_bits) as u32),
        _ if a == 0 && ta == 0 => 0,
        _ => u64::MAX,
    };
    // A single-bit operation at a public position, or at any position.
    let at_bit = |amount_bits: u64, known: fn(u64, u64) -> u64| match tb & amount_bits {
        0 => known(ta, 1 << (b & amount_bits)),
        _ => u64::MAX,
    };
    let extreme = |signed: bool, maximum: bool| {
        if !order(a, ta, b, tb, signed) {
            return ta | tb | (a ^ b);
        }
        let less = if signed { (a as i64) < b as i64 } else { a < b };
        if less != maximum { ta } else { tb }
    };
    match op.code {
        Code::Add => sum(a, ta, b, tb),
        Code::Addw => word(sum(a, ta, b, tb)),
        Code::Sub => difference(a, ta, b, tb),
        Code::Subw => word(difference(a, ta, b, tb)),
        Code::ShiftAdd => sum(register, tb, a << (immediate & 3), ta << (immediate & 3)),
        Code::ShiftAddw => word(sum(register, tb, a << (immediate & 3), ta << (immediate & 3))),
        Code::ShiftAddUw => {
            let low = |value: u64| u64::from(value as u32) << (immediate & 3);
            sum(register, tb, low(a), low(ta))
        }
        Code::SllUw => u64::from(ta as u32) << (immediate & 63),
        Code::Sll => shifted(63, |bits, by| bits << by),
        Code::Sllw => shifted(31, |bits, by| word(bits << by)),
        Code::Srl => shifted(63, |bits, by| bits >> by),
        Code::Srlw => shifted(31, |bits, by| word(u64::from(bits as u32 >> by))),
        Code::Sra => shifted(63, |bits, by| (bits as i64 >> by) as u64),
        Code::Sraw => shifted(31, |bits, by| (bits as i32 >> by) as u64),
        Code::Rol => shifted(63, u64::rotate_left),
        Code::Rolw => shifted(31, |bits, by| (bits as u32).rotate_left(by) as i32 as u64),
        Code::Ror => shifted(63, u64::rotate_right),
        Code::Rorw => shifted(31, |bits, by| (bits as u32).rotate_right(by) as i32 as u64),
        Code::Slt => u64::from(!order(a, ta, b, tb, true)),
        Code::Sltu => u64::from(!order(a, ta, b, tb, false)),
        Code::Xor | Code::Xnor => ta | tb,
        // A public zero hides a secret in a conjunction, and a public one in a disjunction.
        Code::And => (ta | tb) & (ta | a) & (tb | b),
        Code::Andn => (ta | tb) & (ta | a) & (tb | !b),
        Code::Or => (ta | tb) & (ta | !a) & (tb | !b),
        Code::Orn => (ta | tb) & (ta | !a) & (tb | b),
        Code::Min => extreme(true, false),
        Code::Max => extreme(true, true),
        Code::Minu => extreme(false, false),
        Code::Maxu => extreme(false, true),
        Code::Clz => count((a | ta).leading_zeros(), (a & !ta).leading_zeros()),
        Code::Clzw => count(((a | ta) as u32).leading_zeros(), ((a & !ta) as u32).leading_zeros()),
        Code::Ctz => count((a | ta).trailing_zeros(), (a & !ta).trailing_zeros()),
        Code::Ctzw => count(((a | ta) as u32).trailing_zeros(), ((a & !ta) as u32).trailing_zeros()),
        Code::Cpop => count(0, ta.count_ones()),
        Code::Cpopw => count(0, (ta as u32).count_ones()),
        Code::Sextb => ta as i8 as u64,
        Code::Sexth => ta as i16 as u64,
        Code::Zexth => u64::from(ta as u16),
        Code::Orcb => or_combined(a, ta),
        Code::Orcbw => word(or_combined(a, ta)),
        Code::Rev8 => ta.swap_bytes(),
        Code::Rev8w => (ta as u32).swap_bytes() as i32 as u64,
        Code::Brev8 => reverse_in_bytes(ta),
        Code::Brev8w => word(reverse_in_bytes(ta)),
        Code::Zip => word(u64::from(zip(ta as u32))),
        Code::Unzip => word(u64::from(unzip(ta as u32))),
        Code::Bclr | Code::Bset => at_bit(63, |bits, bit| bits & !bit),
        Code::Bclrw | Code::Bsetw => at_bit(31, |bits, bit| word(bits & !bit)),
        Code::Binv => at_bit(63, |bits, _| bits),
        Code::Binvw => at_bit(31, |bits, _| word(bits)),
        Code::Bext => at_bit(63, |bits, bit| u64::from(bits & bit != 0)) & 1,
        Code::Bextw => at_bit(31, |bits, bit| u64::from(bits & bit != 0)) & 1,
        Code::Pack => u64::from(ta as u32) | tb << 32,
        Code::Packw => word(u64::from(ta as u16) | tb << 16),
        Code::Packh => u64::from(ta as u8) | u64::from(tb as u8) << 8,
        Code::Mul => product(a, ta, b, tb),
        Code::Mulw => word(product(a, ta, b, tb)),
        // A product with a public zero is zero.
        Code::Mulh | Code::Mulhsu | Code::Mulhu | Code::Mulhw | Code::Mulhsuw | Code::Mulhuw
            if a | ta == 0 || b | tb == 0 =>
        {
            0
        }
        _ => all(ta | tb),
    }
}

/// Whether the result is the same for all pairs of equal operands.
fn is_constant_of_equal(code: Code) -> bool {
    matches!(code, Code::Xor | Code::Xnor | Code::Sub | Code::Subw | Code::Slt | Code::Sltu | Code::Andn | Code::Orn)
}

/// For `orc.b`, each byte is all ones or all zeros. It is public if one of its public bits is set.
fn or_combined(a: u64, ta: u64) -> u64 {
    let known = (a & !ta).to_le_bytes();
    let mut bytes = ta.to_le_bytes();
    for (byte, known) in bytes.iter_mut().zip(known) {
        *byte = if known == 0 && *byte != 0 { 0xff } else { 0 };
    }
    u64::from_le_bytes(bytes)
}
