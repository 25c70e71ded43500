//! Expands compressed instructions to their 32-bit equivalents: the RISC-V Instruction Set Manual, volume I, chapter
//! "C", tables "Instruction listing for RVC".

use crate::isa::{Isa, Xlen};

const OP_IMM: u32 = 0x13;
const OP_IMM_32: u32 = 0x1b;
const OP: u32 = 0x33;
const OP_32: u32 = 0x3b;
const LOAD: u32 = 0x03;
const LOAD_FP: u32 = 0x07;
const STORE: u32 = 0x23;
const STORE_FP: u32 = 0x27;
const SP: u32 = 2;

/// The 32-bit equivalent, or `None` for a reserved encoding.
pub(super) fn expand(code: u16, isa: &Isa) -> Option<u32> {
    if !isa.c {
        return None;
    }
    let code = u32::from(code);
    let wide = isa.xlen == Xlen::Rv64;
    match code & 3 {
        0 => quadrant_0(code, isa, wide),
        1 => quadrant_1(code, isa, wide),
        _ => quadrant_2(code, isa, wide),
    }
}

/// Moves `count` bits from position `from` to position `to`.
fn bits(code: u32, from: u32, count: u32, to: u32) -> u32 {
    (code >> from & ((1 << count) - 1)) << to
}

/// Sign-extends a value of `width` bits.
fn signed(value: u32, width: u32) -> i32 {
    (value << (32 - width)) as i32 >> (32 - width)
}

fn i_type(opcode: u32, funct3: u32, rd: u32, rs1: u32, immediate: i32) -> u32 {
    (immediate as u32) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

fn r_type(opcode: u32, funct3: u32, funct7: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

fn s_type(opcode: u32, funct3: u32, rs1: u32, rs2: u32, offset: u32) -> u32 {
    bits(offset, 5, 7, 25) | rs2 << 20 | rs1 << 15 | funct3 << 12 | bits(offset, 0, 5, 7) | opcode
}

fn b_type(funct3: u32, rs1: u32, offset: i32) -> u32 {
    let offset = offset as u32;
    let high = bits(offset, 12, 1, 31) | bits(offset, 5, 6, 25);
    high | rs1 << 15 | funct3 << 12 | bits(offset, 1, 4, 8) | bits(offset, 11, 1, 7) | 0x63
}

fn j_type(rd: u32, offset: i32) -> u32 {
    let offset = offset as u32;
    let high = bits(offset, 20, 1, 31) | bits(offset, 1, 10, 21) | bits(offset, 11, 1, 20) | bits(offset, 12, 8, 12);
    high | rd << 7 | 0x6f
}

fn quadrant_0(code: u32, isa: &Isa, wide: bool) -> Option<u32> {
    let (low, high) = (8 + bits(code, 2, 3, 0), 8 + bits(code, 7, 3, 0));
    let word_offset = bits(code, 6, 1, 2) | bits(code, 10, 3, 3) | bits(code, 5, 1, 6);
    let double_offset = bits(code, 10, 3, 3) | bits(code, 5, 2, 6);
    Some(match code >> 13 {
        0 => {
            let offset = bits(code, 6, 1, 2) | bits(code, 5, 1, 3) | bits(code, 11, 2, 4) | bits(code, 7, 4, 6);
            if offset == 0 {
                return None;
            }
            i_type(OP_IMM, 0, low, SP, offset as i32)
        }
        1 if isa.d => i_type(LOAD_FP, 3, low, high, double_offset as i32),
        2 => i_type(LOAD, 2, low, high, word_offset as i32),
        3 if wide => i_type(LOAD, 3, low, high, double_offset as i32),
        3 if isa.f => i_type(LOAD_FP, 2, low, high, word_offset as i32),
        4 if isa.zcb => {
            let half = bits(code, 5, 1, 1);
            match (bits(code, 10, 3, 0), bits(code, 6, 1, 0)) {
                (0, upper) => i_type(LOAD, 4, low, high, (half | upper) as i32),
                (1, 0) => i_type(LOAD, 5, low, high, half as i32),
                (1, _) => i_type(LOAD, 1, low, high, half as i32),
                (2, upper) => s_type(STORE, 0, high, low, half | upper),
                (3, 0) => s_type(STORE, 1, high, low, half),
                _ => return None,
            }
        }
        5 if isa.d => s_type(STORE_FP, 3, high, low, double_offset),
        6 => s_type(STORE, 2, high, low, word_offset),
        7 if wide => s_type(STORE, 3, high, low, double_offset),
        7 if isa.f => s_type(STORE_FP, 2, high, low, word_offset),
        _ => return None,
    })
}

fn quadrant_1(code: u32, isa: &Isa, wide: bool) -> Option<u32> {
    let rd = bits(code, 7, 5, 0);
    let high = 8 + bits(code, 7, 3, 0);
    let immediate = signed(bits(code, 2, 5, 0) | bits(code, 12, 1, 5), 6);
    let jump = || {
        let low = bits(code, 3, 3, 1) | bits(code, 11, 1, 4) | bits(code, 2, 1, 5) | bits(code, 7, 1, 6);
        let upper = bits(code, 6, 1, 7) | bits(code, 9, 2, 8) | bits(code, 8, 1, 10) | bits(code, 12, 1, 11);
        signed(low | upper, 12)
    };
    let branch = || {
        let low = bits(code, 3, 2, 1) | bits(code, 10, 2, 3) | bits(code, 2, 1, 5);
        signed(low | bits(code, 5, 2, 6) | bits(code, 12, 1, 8), 9)
    };
    Some(match code >> 13 {
        0 => i_type(OP_IMM, 0, rd, rd, immediate),
        1 if !wide => j_type(1, jump()),
        1 if rd != 0 => i_type(OP_IMM_32, 0, rd, rd, immediate),
        2 => i_type(OP_IMM, 0, rd, 0, immediate),
        3 if immediate == 0 => return None,
        3 if rd == SP => {
            let low = bits(code, 6, 1, 4) | bits(code, 2, 1, 5) | bits(code, 5, 1, 6);
            i_type(OP_IMM, 0, SP, SP, signed(low | bits(code, 3, 2, 7) | bits(code, 12, 1, 9), 10))
        }
        3 => (immediate as u32) << 12 | rd << 7 | 0x37,
        4 => return arithmetic(code, high, immediate, isa, wide),
        5 => j_type(0, jump()),
        6 => b_type(0, high, branch()),
        7 => b_type(1, high, branch()),
        _ => return None,
    })
}

/// Arithmetic on x8 to x15.
fn arithmetic(code: u32, rd: u32, immediate: i32, isa: &Isa, wide: bool) -> Option<u32> {
    let rs2 = 8 + bits(code, 2, 3, 0);
    let amount = immediate & 63;
    let fits = wide || amount < 32;
    Some(match (bits(code, 10, 2, 0), bits(code, 12, 1, 0), bits(code, 5, 2, 0)) {
        (0, ..) if fits => i_type(OP_IMM, 5, rd, rd, amount),
        (1, ..) if fits => i_type(OP_IMM, 5, rd, rd, amount | 0x400),
        (2, ..) => i_type(OP_IMM, 7, rd, rd, immediate),
        (3, 0, 0) => r_type(OP, 0, 0x20, rd, rd, rs2),
        (3, 0, 1) => r_type(OP, 4, 0, rd, rd, rs2),
        (3, 0, 2) => r_type(OP, 6, 0, rd, rd, rs2),
        (3, 0, 3) => r_type(OP, 7, 0, rd, rd, rs2),
        (3, 1, 0) if wide => r_type(OP_32, 0, 0x20, rd, rd, rs2),
        (3, 1, 1) if wide => r_type(OP_32, 0, 0, rd, rd, rs2),
        (3, 1, 2) if isa.zcb => r_type(OP, 0, 1, rd, rd, rs2),
        (3, 1, 3) if isa.zcb => match rs2 - 8 {
            0 => i_type(OP_IMM, 7, rd, rd, 0xff),
            1 => i_type(OP_IMM, 1, rd, rd, 0x604),
            2 => r_type(if wide { OP_32 } else { OP }, 4, 4, rd, rd, 0),
            3 => i_type(OP_IMM, 1, rd, rd, 0x605),
            4 if wide => r_type(OP_32, 0, 4, rd, rd, 0),
            5 => i_type(OP_IMM, 4, rd, rd, -1),
            _ => return None,
        },
        _ => return None,
    })
}

fn quadrant_2(code: u32, isa: &Isa, wide: bool) -> Option<u32> {
    let (rd, rs2) = (bits(code, 7, 5, 0), bits(code, 2, 5, 0));
    let amount = bits(code, 2, 5, 0) | bits(code, 12, 1, 5);
    let word_load = bits(code, 4, 3, 2) | bits(code, 12, 1, 5) | bits(code, 2, 2, 6);
    let double_load = bits(code, 5, 2, 3) | bits(code, 12, 1, 5) | bits(code, 2, 3, 6);
    let word_store = bits(code, 9, 4, 2) | bits(code, 7, 2, 6);
    let double_store = bits(code, 10, 3, 3) | bits(code, 7, 3, 6);
    Some(match code >> 13 {
        0 if wide || amount < 32 => i_type(OP_IMM, 1, rd, rd, amount as i32),
        1 if isa.d => i_type(LOAD_FP, 3, rd, SP, double_load as i32),
        2 if rd != 0 => i_type(LOAD, 2, rd, SP, word_load as i32),
        3 if wide && rd != 0 => i_type(LOAD, 3, rd, SP, double_load as i32),
        3 if !wide && isa.f => i_type(LOAD_FP, 2, rd, SP, word_load as i32),
        4 => match (bits(code, 12, 1, 0), rd, rs2) {
            (0, 0, 0) => return None,
            (0, _, 0) => i_type(0x67, 0, 0, rd, 0),
            (0, ..) => r_type(OP, 0, 0, rd, 0, rs2),
            (_, 0, 0) => 0x0010_0073,
            (_, _, 0) => i_type(0x67, 0, 1, rd, 0),
            _ => r_type(OP, 0, 0, rd, rd, rs2),
        },
        5 if isa.d => s_type(STORE_FP, 3, SP, rs2, double_store),
        6 => s_type(STORE, 2, SP, rs2, word_store),
        7 if wide => s_type(STORE, 3, SP, rs2, double_store),
        7 if isa.f => s_type(STORE_FP, 2, SP, rs2, word_store),
        _ => return None,
    })
}
