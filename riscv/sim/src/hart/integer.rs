//! Integer arithmetic beyond what the processor underneath has as one operation: the RISC-V Instruction Set Manual,
//! volume I, chapters "M" and "B", and Zbkb of the Scalar Cryptography chapter.

/// Division: by zero it gives all ones, and the one overflow gives the dividend.
pub(super) fn divide(a: u64, b: u64) -> u64 {
    if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 }
}

pub(super) fn divide_unsigned(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(u64::MAX)
}

/// Remainder: by zero it gives the dividend, and the one overflow gives zero.
pub(super) fn remainder(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { (a as i64).wrapping_rem(b as i64) as u64 }
}

pub(super) fn remainder_unsigned(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(a)
}

/// The lower half of a register with the sign of its bit 31.
#[inline]
pub(crate) fn word(value: u64) -> u64 {
    value as i32 as u64
}

/// Whether a division's operands count as signed, to tell how long one takes.
pub(super) fn magnitude_bits(value: u64, signed: bool) -> u8 {
    let magnitude = if signed { (value as i64).unsigned_abs() } else { value };
    (u64::BITS - magnitude.leading_zeros()) as u8
}

/// Each byte that is not zero becomes all ones.
pub(super) fn or_combine(value: u64) -> u64 {
    u64::from_le_bytes(value.to_le_bytes().map(|byte| if byte == 0 { 0 } else { 0xff }))
}

/// The bits of each byte in reverse.
pub(crate) fn reverse_in_bytes(value: u64) -> u64 {
    u64::from_le_bytes(value.to_le_bytes().map(u8::reverse_bits))
}

/// Bits of the lower half to the even places, of the upper half to the odd ones, of 32.
pub(crate) fn zip(value: u32) -> u32 {
    (0..16).fold(0, |zipped, bit| zipped | (value >> bit & 1) << (2 * bit) | (value >> (16 + bit) & 1) << (2 * bit + 1))
}

/// The inverse of [`zip`].
pub(crate) fn unzip(value: u32) -> u32 {
    (0..16).fold(0, |whole, bit| whole | (value >> (2 * bit) & 1) << bit | (value >> (2 * bit + 1) & 1) << (16 + bit))
}
