//! Integer operations that Rust's integer types do not have as such: the RISC-V Instruction Set Manual, volume I,
//! chapters "M" and "B", and Zbkb of the Scalar Cryptography chapter.

/// Signed quotient. Division by zero gives all ones, and overflow gives the dividend.
pub(super) fn divide(a: u64, b: u64) -> u64 {
    if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 }
}

pub(super) fn divide_unsigned(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(u64::MAX)
}

/// Signed remainder. Division by zero gives the dividend, and overflow gives zero.
pub(super) fn remainder(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { (a as i64).wrapping_rem(b as i64) as u64 }
}

pub(super) fn remainder_unsigned(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(a)
}

/// The lower half of a register, sign-extended from bit 31.
#[inline]
pub(crate) fn word(value: u64) -> u64 {
    value as i32 as u64
}

/// Number of significant bits of a value's magnitude, on which the time of a division depends.
pub(super) fn magnitude_bits(value: u64, signed: bool) -> u8 {
    let magnitude = if signed { (value as i64).unsigned_abs() } else { value };
    (u64::BITS - magnitude.leading_zeros()) as u8
}

/// Turns each byte that is not zero into all ones.
pub(super) fn or_combine(value: u64) -> u64 {
    u64::from_le_bytes(value.to_le_bytes().map(|byte| if byte == 0 { 0 } else { 0xff }))
}

/// Reverses the bits of each byte.
pub(crate) fn reverse_in_bytes(value: u64) -> u64 {
    u64::from_le_bytes(value.to_le_bytes().map(u8::reverse_bits))
}

/// Interleaves the halves of 32 bits: the lower half goes to the even bits, the upper half to the odd bits.
pub(crate) fn zip(value: u32) -> u32 {
    (0..16).fold(0, |zipped, bit| zipped | (value >> bit & 1) << (2 * bit) | (value >> (16 + bit) & 1) << (2 * bit + 1))
}

/// The inverse of [`zip`].
pub(crate) fn unzip(value: u32) -> u32 {
    (0..16).fold(0, |whole, bit| whole | (value >> (2 * bit) & 1) << bit | (value >> (2 * bit + 1) & 1) << (16 + bit))
}
