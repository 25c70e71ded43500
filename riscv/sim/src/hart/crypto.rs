//! Carry-less products, permutations and the instructions for AES and SHA-2: the RISC-V Instruction Set Manual, volume I,
//! chapters "B" and "Scalar Cryptography", FIPS 197 and FIPS 180-4. `a` and `b` are the registers rs1 and rs2.

use super::integer::word;
use super::op::Opcode;

/// `b * x` in the field of AES.
const fn double(b: u8) -> u8 {
    b << 1 ^ if b & 0x80 == 0 { 0 } else { 0x1b }
}

const fn times(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        product ^= if b & 1 == 0 { 0 } else { a };
        (a, b) = (double(a), b >> 1);
    }
    product
}

/// SubBytes and its inverse: the inverse in the field is the power 254.
const BOXES: [[u8; 256]; 2] = {
    let mut boxes = [[0; 256]; 2];
    let mut number = 0;
    while number < 256 {
        let byte = number as u8;
        let (mut inverse, mut power) = (1, 0);
        while power < 254 {
            inverse = times(inverse, byte);
            power += 1;
        }
        let rotated = inverse.rotate_left(1) ^ inverse.rotate_left(2) ^ inverse.rotate_left(3) ^ inverse.rotate_left(4);
        let out = inverse ^ rotated ^ 0x63;
        boxes[0][number] = out;
        boxes[1][out as usize] = byte;
        number += 1;
    }
    boxes
};

/// Column of the matrix of MixColumns, and of its inverse.
const COLUMNS: [[u8; 4]; 2] = [[2, 1, 1, 3], [14, 9, 13, 11]];

/// MixColumns of a column, or its inverse.
fn mix(column: u32, inverse: bool) -> u32 {
    let products = |byte: u8| u32::from_le_bytes(COLUMNS[usize::from(inverse)].map(|factor| times(factor, byte)));
    (0..4).zip(column.to_le_bytes()).fold(0, |mixed, (row, byte)| mixed ^ products(byte).rotate_left(8 * row))
}

fn mix_both(columns: u64, inverse: bool) -> u64 {
    u64::from(mix(columns as u32, inverse)) | u64::from(mix((columns >> 32) as u32, inverse)) << 32
}

/// One byte of `b` through the box, and as a column, added to `a`.
fn aes32(a: u64, b: u64, select: i32, inverse: bool, mixes: bool) -> u64 {
    let byte = u32::from(BOXES[usize::from(inverse)][(b as u32 >> (8 * select)) as usize & 255]);
    let column = if mixes { mix(byte, inverse) } else { byte };
    word(a ^ u64::from(column.rotate_left(8 * select as u32)))
}

/// The lower half of a state, whose halves are `a` and `b`, after ShiftRows and SubBytes or their inverses.
fn aes64(a: u64, b: u64, inverse: bool) -> u64 {
    let state = u128::from(b) << 64 | u128::from(a);
    let byte = |at: usize| {
        let (column, row) = (at / 4, at % 4);
        let from = if inverse { column + 4 - row } else { column + row } % 4;
        BOXES[usize::from(inverse)][usize::from(state.to_le_bytes()[4 * from + row])]
    };
    u64::from_le_bytes(std::array::from_fn(byte))
}

/// A step of the key schedule: the upper word of `a` through the boxes, rotated except in round 10.
fn key_step(a: u64, round: i32) -> u64 {
    let upper = (a >> 32) as u32;
    let rotated = if round == 10 { upper } else { upper.rotate_right(8) };
    let constant = if round == 10 { 0 } else { (0..round).fold(1, |constant, _| double(constant)) };
    let boxed = u32::from_le_bytes(rotated.to_le_bytes().map(|byte| BOXES[0][usize::from(byte)]));
    u64::from(boxed ^ u32::from(constant)) * 0x1_0000_0001
}

fn product(a: u64, b: u64) -> u128 {
    (0..64).filter(|bit| b >> bit & 1 != 0).fold(0, |product, bit| product ^ u128::from(a) << bit)
}

/// The fields of `a`, as the fields of `b` select them. A selector beyond the last field gives zero.
fn permute(a: u64, b: u64, register: u32, field: u32) -> u64 {
    let mask = (1 << field) - 1;
    (0..register).step_by(field as usize).fold(0, |whole, at| {
        let from = (b >> at & mask) * u64::from(field);
        whole | if from < u64::from(register) { (a >> from & mask) << at } else { 0 }
    })
}

/// Three rotations to the right. The last one may be a shift.
fn sha256(a: u64, [first, second]: [u32; 2], third: fn(u32) -> u32) -> u64 {
    let a = a as u32;
    word((a.rotate_right(first) ^ a.rotate_right(second) ^ third(a)).into())
}

fn sum0(a: u64) -> u64 {
    a.rotate_right(28) ^ a.rotate_right(34) ^ a.rotate_right(39)
}

fn sum1(a: u64) -> u64 {
    a.rotate_right(14) ^ a.rotate_right(18) ^ a.rotate_right(41)
}

fn sigma0(a: u64) -> u64 {
    a.rotate_right(1) ^ a.rotate_right(8) ^ a >> 7
}

fn sigma1(a: u64) -> u64 {
    a.rotate_right(19) ^ a.rotate_right(61) ^ a >> 6
}

/// Whether the result for a sum without carries is that sum of the results.
pub(crate) fn is_linear(code: Opcode) -> bool {
    use Opcode::*;
    matches!(
        code,
        Aes64im
            | Aes64ks2
            | Sha256sum0
            | Sha256sum1
            | Sha256sig0
            | Sha256sig1
            | Sha512sum0
            | Sha512sum1
            | Sha512sig0
            | Sha512sig1
            | Sha512sum0r
            | Sha512sum1r
            | Sha512sig0l
            | Sha512sig1l
            | Sha512sig0h
            | Sha512sig1h
    )
}

/// The result of one of these instructions. `number` is the selected byte or the round.
pub(crate) fn execute(code: Opcode, a: u64, b: u64, number: i32) -> u64 {
    // RV32 has halves of 64 bits in two registers. In a result's lower half, the lower one is rs1.
    let low = |value: u64| u64::from(value as u32);
    let (rs1_low, rs1_high) = (low(b) << 32 | low(a), low(a) << 32 | low(b));
    match code {
        Opcode::Clmul => product(a, b) as u64,
        Opcode::Clmulh => (product(a, b) >> 64) as u64,
        Opcode::Clmulr => (product(a, b) >> 63) as u64,
        Opcode::Clmulw => word(product(low(a), low(b)) as u64),
        Opcode::Clmulhw => word((product(low(a), low(b)) >> 32) as u64),
        Opcode::Clmulrw => word((product(low(a), low(b)) >> 31) as u64),
        Opcode::Xperm4 => permute(a, b, 64, 4),
        Opcode::Xperm8 => permute(a, b, 64, 8),
        Opcode::Xperm4w => word(permute(a, b, 32, 4)),
        Opcode::Xperm8w => word(permute(a, b, 32, 8)),
        Opcode::Aes32esi => aes32(a, b, number, false, false),
        Opcode::Aes32esmi => aes32(a, b, number, false, true),
        Opcode::Aes32dsi => aes32(a, b, number, true, false),
        Opcode::Aes32dsmi => aes32(a, b, number, true, true),
        Opcode::Aes64es => aes64(a, b, false),
        Opcode::Aes64esm => mix_both(aes64(a, b, false), false),
        Opcode::Aes64ds => aes64(a, b, true),
        Opcode::Aes64dsm => mix_both(aes64(a, b, true), true),
        Opcode::Aes64im => mix_both(a, true),
        Opcode::Aes64ks1i => key_step(a, number),
        Opcode::Aes64ks2 => {
            let first = a >> 32 ^ low(b);
            first | (first ^ b >> 32) << 32
        }
        Opcode::Sha256sum0 => sha256(a, [2, 13], |a| a.rotate_right(22)),
        Opcode::Sha256sum1 => sha256(a, [6, 11], |a| a.rotate_right(25)),
        Opcode::Sha256sig0 => sha256(a, [7, 18], |a| a >> 3),
        Opcode::Sha256sig1 => sha256(a, [17, 19], |a| a >> 10),
        Opcode::Sha512sum0 => sum0(a),
        Opcode::Sha512sum1 => sum1(a),
        Opcode::Sha512sig0 => sigma0(a),
        Opcode::Sha512sig1 => sigma1(a),
        Opcode::Sha512sum0r => word(sum0(rs1_low)),
        Opcode::Sha512sum1r => word(sum1(rs1_low)),
        Opcode::Sha512sig0l => word(sigma0(rs1_low)),
        Opcode::Sha512sig1l => word(sigma1(rs1_low)),
        Opcode::Sha512sig0h => word(sigma0(rs1_high) >> 32),
        Opcode::Sha512sig1h => word(sigma1(rs1_high) >> 32),
        _ => 0,
    }
}
