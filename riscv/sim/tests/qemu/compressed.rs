//! Random compressed instructions, by the tables "Instruction listing for RVC" of the ISA manual.

use super::program::Generator;
use tress_sim::Xlen;

/// Moves bits of a number to bits of an instruction, each as (from, to).
fn scatter(number: u32, places: &[(u32, u32)]) -> u16 {
    places.iter().map(|(from, to)| ((number >> from & 1) << to) as u16).sum()
}

const IMMEDIATE: &[(u32, u32)] = &[(5, 12), (4, 6), (3, 5), (2, 4), (1, 3), (0, 2)];
const WORD: &[(u32, u32)] = &[(5, 12), (4, 11), (3, 10), (2, 6), (6, 5)];
const DOUBLE: &[(u32, u32)] = &[(5, 12), (4, 11), (3, 10), (7, 6), (6, 5)];
const WORD_FROM_STACK: &[(u32, u32)] = &[(5, 12), (4, 6), (3, 5), (2, 4), (7, 3), (6, 2)];
const DOUBLE_FROM_STACK: &[(u32, u32)] = &[(5, 12), (4, 6), (3, 5), (8, 4), (7, 3), (6, 2)];
const WORD_TO_STACK: &[(u32, u32)] = &[(5, 12), (4, 11), (3, 10), (2, 9), (7, 8), (6, 7)];
const DOUBLE_TO_STACK: &[(u32, u32)] = &[(5, 12), (4, 11), (3, 10), (8, 9), (7, 8), (6, 7)];
const STACK_ADDRESS: &[(u32, u32)] = &[(5, 12), (4, 11), (9, 10), (8, 9), (7, 8), (6, 7), (2, 6), (3, 5)];
const JUMP: &[(u32, u32)] =
    &[(11, 12), (4, 11), (9, 10), (8, 9), (10, 8), (6, 7), (7, 6), (3, 5), (2, 4), (1, 3), (5, 2)];
const BRANCH: &[(u32, u32)] = &[(8, 12), (4, 11), (3, 10), (7, 6), (6, 5), (2, 4), (1, 3), (5, 2)];

/// The register among x8 to x15 that holds the data's address.
const BASE: u16 = 0;

fn form(funct3: u16, quadrant: u16) -> u16 {
    funct3 << 13 | quadrant
}

/// Any instruction except jumps that does not write x0, x2, x8 or x9.
pub(crate) fn instruction(generator: &mut Generator) -> u16 {
    let wide = generator.xlen == Xlen::Rv64;
    let numbers = &mut generator.numbers;
    // x10 to x15 may be written, x8 to x15 read.
    let small_rd = 2 + numbers.below(6) as u16;
    let small_rs = numbers.below(8) as u16;
    let immediate = numbers.below(64) as u32;
    let not_zero = 1 + numbers.below(63) as u32;
    let amount = if wide { not_zero } else { not_zero % 32 };
    let word = 4 * numbers.below(31) as u32;
    let double = 8 * numbers.below(31) as u32;
    let stack_word = 4 * numbers.below(63) as u32;
    let stack_double = 8 * numbers.below(63) as u32;
    let rd = loop {
        let rd = generator.destination() as u16;
        if rd != 0 {
            break rd;
        }
    };
    let rs = 1 + generator.numbers.below(31) as u16;
    let any = generator.register() as u16;
    let high = rd << 7;
    match generator.numbers.below(28) {
        0 => form(0, 1) | high | scatter(not_zero, IMMEDIATE),
        1 if wide => form(1, 1) | high | scatter(immediate, IMMEDIATE),
        1 | 2 => form(2, 1) | high | scatter(immediate, IMMEDIATE),
        3 => form(3, 1) | high | scatter(not_zero, IMMEDIATE),
        4 => form(0, 0) | scatter(4 * (1 + word), STACK_ADDRESS) | small_rd << 2,
        5 => form(0, 2) | high | scatter(amount, IMMEDIATE),
        6 => form(4, 1) | small_rd << 7 | scatter(amount, IMMEDIATE),
        7 => form(4, 1) | 1 << 10 | small_rd << 7 | scatter(amount, IMMEDIATE),
        8 => form(4, 1) | 2 << 10 | small_rd << 7 | scatter(immediate, IMMEDIATE),
        number @ 9..13 => form(4, 1) | 3 << 10 | small_rd << 7 | (number as u16 - 9) << 5 | small_rs << 2,
        number @ (13 | 14) if wide => {
            form(4, 1) | 1 << 12 | 3 << 10 | small_rd << 7 | (number as u16 - 13) << 5 | small_rs << 2
        }
        13..16 => form(4, 2) | high | rs << 2,
        16 => form(4, 2) | 1 << 12 | high | rs << 2,
        17 => form(2, 2) | high | scatter(stack_word, WORD_FROM_STACK),
        18 if wide => form(3, 2) | high | scatter(stack_double, DOUBLE_FROM_STACK),
        18 => form(3, 2) | any << 7 | scatter(stack_word, WORD_FROM_STACK),
        19 => form(1, 2) | any << 7 | scatter(stack_double, DOUBLE_FROM_STACK),
        20 => form(6, 2) | any << 2 | scatter(stack_word, WORD_TO_STACK),
        21 if wide => form(7, 2) | any << 2 | scatter(stack_double, DOUBLE_TO_STACK),
        21 => form(7, 2) | any << 2 | scatter(stack_word, WORD_TO_STACK),
        22 => form(5, 2) | any << 2 | scatter(stack_double, DOUBLE_TO_STACK),
        23 => form(2, 0) | BASE << 7 | small_rd << 2 | scatter(word, WORD),
        24 if wide => form(3, 0) | BASE << 7 | small_rd << 2 | scatter(double, DOUBLE),
        24 => form(3, 0) | BASE << 7 | small_rs << 2 | scatter(word, WORD),
        25 => form(1, 0) | BASE << 7 | small_rs << 2 | scatter(double, DOUBLE),
        26 => form(6, 0) | BASE << 7 | small_rs << 2 | scatter(word, WORD),
        _ if wide => form(7, 0) | BASE << 7 | small_rs << 2 | scatter(double, DOUBLE),
        _ => form(5, 0) | BASE << 7 | small_rs << 2 | scatter(double, DOUBLE),
    }
}

/// A forward jump or branch.
pub(crate) fn control(generator: &mut Generator, offset: i32) -> u16 {
    let offset = offset as u32;
    let register = generator.numbers.below(8) as u16;
    match generator.numbers.below(4) {
        0 => form(5, 1) | scatter(offset, JUMP),
        // c.jal exists on RV32 only.
        1 if generator.xlen == Xlen::Rv32 => form(1, 1) | scatter(offset, JUMP),
        1 | 2 => form(6, 1) | register << 7 | scatter(offset, BRANCH),
        _ => form(7, 1) | register << 7 | scatter(offset, BRANCH),
    }
}
