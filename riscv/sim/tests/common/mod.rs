//! Helpers that the tests share: ELF files from instruction words, reproducible numbers, instructions by name.
#![allow(dead_code, unreachable_pub, reason = "every test program uses a part of it")]

pub mod encode;

use encode::named;
use tress_sim::Xlen;

/// Address at which memory begins.
pub const BASE: u64 = 0x8000_0000;
pub const BOTH: [Xlen; 2] = [Xlen::Rv32, Xlen::Rv64];

/// An ELF executable with one segment of these bytes at an address, which is also the entry. The names are function
/// symbols.
pub fn elf(xlen: Xlen, address: u64, bytes: &[u8], symbols: &[(&str, u64)]) -> Vec<u8> {
    elf_with_data(xlen, address, bytes, symbols, &[])
}

/// As [`elf`], with data symbols: name, address and size.
pub fn elf_with_data(
    xlen: Xlen,
    address: u64,
    bytes: &[u8],
    functions: &[(&str, u64)],
    data: &[(&str, u64, u64)],
) -> Vec<u8> {
    let wide = xlen == Xlen::Rv64;
    let word = |value: u64| if wide { value.to_le_bytes().to_vec() } else { (value as u32).to_le_bytes().to_vec() };
    let half = |value: u16| value.to_le_bytes().to_vec();
    let number = |value: u32| value.to_le_bytes().to_vec();
    let (header_bytes, program_bytes, section_bytes) = if wide { (64, 56, 64) } else { (52, 32, 40) };
    // The offsets in the file and in memory are equal modulo the page size, as for mapped pages.
    let data_at = 0x1000 + address % 0x1000;
    let mut strings = vec![0];
    let mut table = vec![0; if wide { 24 } else { 16 }];
    // Types of global functions and objects.
    let functions = functions.iter().map(|(name, value)| (*name, *value, 0, 0x12));
    let data = data.iter().map(|(name, value, size)| (*name, *value, *size, 0x11));
    for (name, value, size, info) in functions.chain(data) {
        let at = number(strings.len() as u32);
        strings.extend_from_slice(name.as_bytes());
        strings.push(0);
        // Section 1, which is never read.
        table.extend(match wide {
            true => [at, vec![info, 0], half(1), word(value), word(size)].concat(),
            false => [at, word(value), word(size), vec![info, 0], half(1)].concat(),
        });
    }
    let table_at = data_at + bytes.len() as u64;
    let strings_at = table_at + table.len() as u64;
    let sections_at = strings_at + strings.len() as u64;
    let section = |kind: u32, offset: u64, size: u64, link: u32, entry: u64| {
        let flags_address = [word(0), word(0)].concat();
        [
            number(0),
            number(kind),
            flags_address,
            word(offset),
            word(size),
            number(link),
            number(1),
            word(1),
            word(entry),
        ]
        .concat()
    };
    let mut file = vec![0x7f, b'E', b'L', b'F', if wide { 2 } else { 1 }, 1, 1];
    file.resize(16, 0);
    file.extend([half(2), half(243), number(1), word(address), word(header_bytes), word(sections_at)].concat());
    file.extend([number(0), half(header_bytes as u16), half(program_bytes as u16), half(1)].concat());
    file.extend([half(section_bytes), half(3), half(2)].concat());
    let size = bytes.len() as u64;
    file.extend(
        match wide {
            true => {
                [number(1), number(7), word(data_at), word(address), word(address), word(size), word(size), word(4096)]
            }
            false => {
                [number(1), word(data_at), word(address), word(address), word(size), word(size), number(7), word(4096)]
            }
        }
        .concat(),
    );
    file.resize(data_at as usize, 0);
    file.extend_from_slice(bytes);
    file.extend_from_slice(&table);
    file.extend_from_slice(&strings);
    file.extend(section(0, 0, 0, 0, 0));
    file.extend(section(2, table_at, table.len() as u64, 2, if wide { 24 } else { 16 }));
    file.extend(section(3, strings_at, strings.len() as u64, 0, 0));
    file
}

/// Little-endian bytes of 32-bit instructions.
pub fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A program as instruction words.
#[derive(Clone)]
pub struct Code {
    pub xlen: Xlen,
    pub words: Vec<u32>,
}

impl Code {
    pub fn new(xlen: Xlen) -> Code {
        Code { xlen, words: Vec::new() }
    }

    pub fn word(mut self, word: u32) -> Code {
        self.words.push(word);
        self
    }

    pub fn i(self, name: &str, rd: u32, rs1: u32, immediate: i32) -> Code {
        let word = named(name, self.xlen).immediate(rd, rs1, immediate);
        self.word(word)
    }

    pub fn r(self, name: &str, rd: u32, rs1: u32, rs2: u32) -> Code {
        let word = named(name, self.xlen).registers(rd, rs1, rs2);
        self.word(word)
    }

    pub fn store(self, name: &str, base: u32, register: u32, offset: i32) -> Code {
        let word = named(name, self.xlen).store(base, register, offset);
        self.word(word)
    }

    pub fn csr(self, funct3: u32, number: u32, rd: u32, rs1: u32) -> Code {
        self.word(number << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x73)
    }

    /// A semihosting call, which is never compressed, with the operation in x10.
    pub fn semihosting(self, operation: i32) -> Code {
        self.i("addi", 10, 0, operation).word(0x01f0_1013).word(0x0010_0073).word(0x4070_5013)
    }

    pub fn csrr(self, rd: u32, csr: u32) -> Code {
        self.csr(2, csr, rd, 0)
    }

    pub fn csrw(self, csr: u32, rs1: u32) -> Code {
        self.csr(1, csr, 0, rs1)
    }
}

/// Numbers that repeat in every run: SplitMix64 (Steele, Lea, Flood 2014).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// A 64-bit integer as programs use them: small, extreme, or any.
    pub fn integer(&mut self) -> u64 {
        match self.below(8) {
            0 => self.below(4),
            1 => self.below(4).wrapping_neg(),
            2 => 1 << self.below(64),
            3 => (1_u64 << self.below(64)).wrapping_sub(1),
            4 => (1 << self.below(64)) ^ u64::MAX,
            5 => u64::from(self.next() as u32),
            _ => self.next(),
        }
    }
}
