//! Which bits of an instruction's result may differ if the secrets differ.
//!
//! Sums, differences and comparisons are computed for the smallest and the largest values of the operands. A carry or
//! outcome that is the same for both is public.

use crate::hart::crypto;
use crate::hart::integer::{reverse_in_bytes, unzip, word, zip};
use crate::hart::op::{Op, Opcode};

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
pub(super) fn widened(code: Opcode, bits: u64) -> u64 {
    match code {
        Opcode::Lb => bits as i8 as u64,
        Opcode::Lh => bits as i16 as u64,
        Opcode::Lw | Opcode::Lrw | Opcode::Amow => word(bits),
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
        Opcode::Add => sum(a, ta, b, tb),
        Opcode::Addw => word(sum(a, ta, b, tb)),
        Opcode::Sub => difference(a, ta, b, tb),
        Opcode::Subw => word(difference(a, ta, b, tb)),
        Opcode::ShiftAdd => sum(register, tb, a << (immediate & 3), ta << (immediate & 3)),
        Opcode::ShiftAddw => word(sum(register, tb, a << (immediate & 3), ta << (immediate & 3))),
        Opcode::ShiftAddUw => {
            let low = |value: u64| u64::from(value as u32) << (immediate & 3);
            sum(register, tb, low(a), low(ta))
        }
        Opcode::SllUw => u64::from(ta as u32) << (immediate & 63),
        Opcode::Sll => shifted(63, |bits, by| bits << by),
        Opcode::Sllw => shifted(31, |bits, by| word(bits << by)),
        Opcode::Srl => shifted(63, |bits, by| bits >> by),
        Opcode::Srlw => shifted(31, |bits, by| word(u64::from(bits as u32 >> by))),
        Opcode::Sra => shifted(63, |bits, by| (bits as i64 >> by) as u64),
        Opcode::Sraw => shifted(31, |bits, by| (bits as i32 >> by) as u64),
        Opcode::Rol => shifted(63, u64::rotate_left),
        Opcode::Rolw => shifted(31, |bits, by| (bits as u32).rotate_left(by) as i32 as u64),
        Opcode::Ror => shifted(63, u64::rotate_right),
        Opcode::Rorw => shifted(31, |bits, by| (bits as u32).rotate_right(by) as i32 as u64),
        Opcode::Slt => u64::from(!order(a, ta, b, tb, true)),
        Opcode::Sltu => u64::from(!order(a, ta, b, tb, false)),
        Opcode::Xor | Opcode::Xnor => ta | tb,
        // A public zero hides a secret in a conjunction, and a public one in a disjunction.
        Opcode::And => (ta | tb) & (ta | a) & (tb | b),
        Opcode::Andn => (ta | tb) & (ta | a) & (tb | !b),
        Opcode::Or => (ta | tb) & (ta | !a) & (tb | !b),
        Opcode::Orn => (ta | tb) & (ta | !a) & (tb | b),
        Opcode::Min => extreme(true, false),
        Opcode::Max => extreme(true, true),
        Opcode::Minu => extreme(false, false),
        Opcode::Maxu => extreme(false, true),
        Opcode::Clz => count((a | ta).leading_zeros(), (a & !ta).leading_zeros()),
        Opcode::Clzw => count(((a | ta) as u32).leading_zeros(), ((a & !ta) as u32).leading_zeros()),
        Opcode::Ctz => count((a | ta).trailing_zeros(), (a & !ta).trailing_zeros()),
        Opcode::Ctzw => count(((a | ta) as u32).trailing_zeros(), ((a & !ta) as u32).trailing_zeros()),
        Opcode::Cpop => count(0, ta.count_ones()),
        Opcode::Cpopw => count(0, (ta as u32).count_ones()),
        Opcode::Sextb => ta as i8 as u64,
        Opcode::Sexth => ta as i16 as u64,
        Opcode::Zexth => u64::from(ta as u16),
        Opcode::Orcb => or_combined(a, ta),
        Opcode::Orcbw => word(or_combined(a, ta)),
        Opcode::Rev8 => ta.swap_bytes(),
        Opcode::Rev8w => (ta as u32).swap_bytes() as i32 as u64,
        Opcode::Brev8 => reverse_in_bytes(ta),
        Opcode::Brev8w => word(reverse_in_bytes(ta)),
        Opcode::Zip => word(u64::from(zip(ta as u32))),
        Opcode::Unzip => word(u64::from(unzip(ta as u32))),
        Opcode::Bclr | Opcode::Bset => at_bit(63, |bits, bit| bits & !bit),
        Opcode::Bclrw | Opcode::Bsetw => at_bit(31, |bits, bit| word(bits & !bit)),
        Opcode::Binv => at_bit(63, |bits, _| bits),
        Opcode::Binvw => at_bit(31, |bits, _| word(bits)),
        Opcode::Bext => at_bit(63, |bits, bit| u64::from(bits & bit != 0)) & 1,
        Opcode::Bextw => at_bit(31, |bits, bit| u64::from(bits & bit != 0)) & 1,
        Opcode::Pack => u64::from(ta as u32) | tb << 32,
        Opcode::Packw => word(u64::from(ta as u16) | tb << 16),
        Opcode::Packh => u64::from(ta as u8) | u64::from(tb as u8) << 8,
        // Sums without carries: the bits that each secret bit changes.
        code if crypto::is_linear(code) => {
            let changed =
                |bit: u64| crypto::execute(code, ta & 1 << bit, 0, 0) | crypto::execute(code, 0, tb & 1 << bit, 0);
            (0..64).fold(0, |all, bit| all | changed(bit))
        }
        // A condition that public bits decide is public.
        Opcode::CzeroEqz | Opcode::CzeroNez if tb == 0 || b & !tb != 0 => {
            if (b == 0) == (op.code == Opcode::CzeroEqz) {
                0
            } else {
                ta
            }
        }
        Opcode::CzeroEqz | Opcode::CzeroNez => a | ta,
        Opcode::Mul | Opcode::Clmul => product(a, ta, b, tb),
        Opcode::Mulw | Opcode::Clmulw => word(product(a, ta, b, tb)),
        // A product with a public zero is zero.
        Opcode::Clmulh
        | Opcode::Clmulhw
        | Opcode::Clmulr
        | Opcode::Clmulrw
        | Opcode::Mulh
        | Opcode::Mulhsu
        | Opcode::Mulhu
        | Opcode::Mulhw
        | Opcode::Mulhsuw
        | Opcode::Mulhuw
            if a | ta == 0 || b | tb == 0 =>
        {
            0
        }
        _ => all(ta | tb),
    }
}

/// Whether the result is the same for all pairs of equal operands.
fn is_constant_of_equal(code: Opcode) -> bool {
    matches!(
        code,
        Opcode::Xor
            | Opcode::Xnor
            | Opcode::Sub
            | Opcode::Subw
            | Opcode::Slt
            | Opcode::Sltu
            | Opcode::Andn
            | Opcode::Orn
    )
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
