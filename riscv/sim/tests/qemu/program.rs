//! Random programs. A program fills its registers, executes a body of random steps several times, stores its registers,
//! and prints them and its data by Linux's `write`.
//!
//! x2 and x8 point to the data, x3 counts the rounds, x9 is the address of atomic operations, and x4 the target of
//! jumps. x31 accumulates results, so that results that are overwritten count too. The lower half of the data is only
//! read.

use tress_sim::Xlen;

use crate::common::Numbers;
use crate::common::encode::{AES, FLOAT, Float, Format, INTEGER, Instruction, MEMORY, branch, jal, named};
use crate::qemu::compressed;

pub(crate) const TEXT: u64 = 0x10_0000;
pub(crate) const DATA: u64 = TEXT + 0x2_0000;
const DATA_BYTES: u64 = 0x1000;
const DUMP: u64 = DATA + DATA_BYTES;
/// Integer and floating-point registers of 8 bytes each, and `fcsr`.
const DUMP_BYTES: u64 = 32 * 8 + 32 * 8 + 8;
pub(crate) const PRINTED_BYTES: usize = (DATA_BYTES + DUMP_BYTES) as usize;
pub(crate) const MEMORY_BYTES: u64 = 0x2_2000;

const COUNTER: u32 = 3;
const TARGET: u32 = 4;
const BASE: u32 = 8;
const ATOMIC_ADDRESS: u32 = 9;
const SCRATCH: u32 = 30;
const SUM: u32 = 31;

const FFLAGS: u32 = 1;
const FRM: u32 = 2;
const FCSR: u32 = 3;

pub(crate) struct Program {
    /// Text and data, from [`TEXT`] on.
    pub(crate) bytes: Vec<u8>,
    /// A description of the last step.
    pub(crate) last: String,
}

pub(crate) struct Generator {
    pub(crate) xlen: Xlen,
    pub(crate) numbers: Numbers,
    text: Vec<u8>,
    last: String,
}

pub(crate) fn generate(xlen: Xlen, seed: u64, steps: usize, rounds: u32) -> Program {
    let mut generator = Generator { xlen, numbers: Numbers(seed), text: Vec::new(), last: String::new() };
    let data = generator.data();
    generator.begin(rounds);
    let body = generator.text.len();
    for _ in 0..steps {
        generator.step();
    }
    let last = generator.last.clone();
    generator.end(body);
    let mut bytes = generator.text;
    assert!(bytes.len() as u64 <= DATA - TEXT, "{} bytes of text", bytes.len());
    bytes.resize((DATA - TEXT) as usize, 0);
    bytes.extend(data);
    bytes.resize(MEMORY_BYTES as usize, 0);
    Program { bytes, last }
}

impl Generator {
    fn emit(&mut self, word: u32) {
        self.text.extend(word.to_le_bytes());
    }

    fn wide(&self) -> bool {
        self.xlen == Xlen::Rv64
    }

    fn named(&self, name: &str) -> Instruction {
        named(name, self.xlen)
    }

    /// The lower half is a table of integers, singles and doubles; programs write to the upper half.
    fn data(&mut self) -> Vec<u8> {
        let mut data = Vec::new();
        for _ in 0..DATA_BYTES / 8 {
            let entry = match self.numbers.below(3) {
                0 => self.numbers.integer(),
                1 => 0xffff_ffff << 32 | self.float(23, 8),
                _ => self.float(52, 11),
            };
            data.extend(entry.to_le_bytes());
        }
        data
    }

    /// The bits of a float: zero, subnormal, about 1, at the limits of the range, infinite, NaN, or any.
    fn float(&mut self, fraction_bits: u32, exponent_bits: u32) -> u64 {
        let numbers = &mut self.numbers;
        let top = (1 << exponent_bits) - 1;
        let exponent = match numbers.below(8) {
            0 => 0,
            1 => top,
            2 => 1 + numbers.below(3),
            3 => top - 1 - numbers.below(3),
            4..7 => (top / 2).wrapping_add(numbers.below(64)).wrapping_sub(32),
            _ => numbers.below(top),
        };
        let mask = (1 << fraction_bits) - 1;
        let fraction = match numbers.below(5) {
            0 => 0,
            1 => mask,
            2 => (1 << numbers.below(fraction_bits.into())) & mask,
            3 => (numbers.next() << numbers.below(fraction_bits.into())) & mask,
            _ => numbers.next() & mask,
        };
        numbers.below(2) << (fraction_bits + exponent_bits) | exponent << fraction_bits | fraction
    }

    /// A register that steps may write, occasionally x0.
    pub(crate) fn destination(&mut self) -> u32 {
        if self.numbers.below(50) == 0 {
            return 0;
        }
        *self
            .numbers
            .pick(&[1, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])
    }

    pub(crate) fn register(&mut self) -> u32 {
        self.numbers.below(32) as u32
    }

    fn constant(&mut self, register: u32, value: u64) {
        let upper = (value as u32).wrapping_add(0x800) & !0xfff;
        let word = self.named("lui").bits | upper | register << 7;
        self.emit(word);
        let addi = self.named("addi");
        self.emit(addi.immediate(register, register, value as i32 - upper as i32));
    }

    fn csr(&mut self, funct3: u32, rd: u32, csr: u32, operand: u32) {
        self.emit(csr << 20 | operand << 15 | funct3 << 12 | rd << 7 | 0x73);
    }

    fn begin(&mut self, rounds: u32) {
        self.constant(BASE, DATA + DATA_BYTES / 2);
        self.constant(2, DATA + DATA_BYTES / 2);
        self.constant(COUNTER, rounds.into());
        let load = self.named(if self.wide() { "ld" } else { "lw" });
        for register in (1..32).filter(|register| ![2, COUNTER, BASE].contains(register)) {
            self.emit(load.immediate(register, BASE, -(8 * register as i32)));
        }
        let load = self.named("fld");
        for register in 0..32 {
            self.emit(load.immediate(register, BASE, -(8 * register as i32) - 512));
        }
        self.csr(5, 0, FCSR, 0);
    }

    fn end(&mut self, body: usize) {
        let addi = self.named("addi");
        self.emit(addi.immediate(COUNTER, COUNTER, -1));
        // Skips the jump back when the counter is 0.
        self.emit(branch(0, COUNTER, 0, 8));
        let back = body as i32 - self.text.len() as i32;
        self.emit(jal(0, back));

        self.constant(ATOMIC_ADDRESS, DUMP);
        let store = self.named(if self.wide() { "sd" } else { "sw" });
        for register in 0..32 {
            self.emit(store.store(ATOMIC_ADDRESS, register, 8 * register as i32));
        }
        let store = self.named("fsd");
        for register in 0..32 {
            self.emit(store.store(ATOMIC_ADDRESS, register, 256 + 8 * register as i32));
        }
        self.csr(2, 5, FCSR, 0);
        let store = self.named("sw");
        self.emit(store.store(ATOMIC_ADDRESS, 5, 512));
        const WRITE: u64 = 64;
        const EXIT: u64 = 93;
        for (register, value) in [(10, 1), (11, DATA), (12, PRINTED_BYTES as u64), (17, WRITE)] {
            self.constant(register, value);
        }
        self.emit(0x73);
        self.constant(10, 0);
        self.constant(17, EXIT);
        self.emit(0x73);
    }

    fn step(&mut self) {
        match self.numbers.below(20) {
            0..=6 => self.integer(),
            7..=9 => self.access(),
            10 => self.atomic(),
            11..=14 => self.float_operation(),
            15..=17 => {
                let code = compressed::instruction(self);
                self.note(format!("compressed {code:#06x}"));
                self.text.extend(code.to_le_bytes());
            }
            18 => self.control(),
            _ => self.csr_or_fence(),
        }
    }

    fn note(&mut self, what: String) {
        self.last = what;
    }

    fn of(&mut self, instructions: &[Instruction]) -> Instruction {
        loop {
            let instruction = *self.numbers.pick(instructions);
            // QEMU 7.2 continues into the upper half if the lower half is zero: 39 for 1 << 39, where the manual says
            // 32. It lacks Zicond.
            let is_left_out = instruction.name == "ctzw" || instruction.name.starts_with("czero");
            if instruction.is_of(self.xlen) && !is_left_out {
                return instruction;
            }
        }
    }

    fn integer(&mut self) {
        let instruction = if self.numbers.below(8) == 0 { self.of(&AES) } else { self.of(&INTEGER) };
        let (rd, rs1, rs2) = (self.destination(), self.register(), self.register());
        let word = match instruction.format {
            Format::Registers => instruction.registers(rd, rs1, rs2),
            Format::Unary => instruction.registers(rd, rs1, 0),
            Format::Shift(bits) => instruction.immediate(rd, rs1, self.numbers.below(1 << bits) as i32),
            Format::Upper => instruction.bits | rd << 7 | (self.numbers.next() as u32) << 12,
            _ => instruction.immediate(rd, rs1, self.numbers.below(4096) as i32 - 2048),
        };
        self.note(format!("{} {word:#010x}", instruction.name));
        self.emit(word);
        if self.numbers.below(3) == 0 {
            self.accumulate(rd);
        }
    }

    /// x31 = x31 rotated, combined with the register.
    fn accumulate(&mut self, register: u32) {
        let (rori, xor) = (self.named("rori"), self.named("xor"));
        self.emit(rori.immediate(SUM, SUM, 7));
        self.emit(xor.registers(SUM, SUM, register));
    }

    fn access(&mut self) {
        let instruction = self.of(&MEMORY[..15]);
        let float = instruction.name.starts_with('f');
        let word = if instruction.format == Format::Load {
            let rd = if float { self.register() } else { self.destination() };
            instruction.immediate(rd, BASE, self.numbers.below(4080) as i32 - 2048)
        } else {
            let rs2 = self.register();
            instruction.store(BASE, rs2, self.numbers.below(2032) as i32)
        };
        self.note(format!("{} {word:#010x}", instruction.name));
        self.emit(word);
    }

    /// An atomic operation at an aligned address. An `lr` is followed directly by its `sc` of the same size, because
    /// the ISA leaves the result of other sequences to the processor. An `sc` alone fails.
    fn atomic(&mut self) {
        let picked = self.of(&MEMORY[15..]);
        let addi = self.named("addi");
        let place = 8 * self.numbers.below(200) as i32;
        self.emit(addi.immediate(ATOMIC_ADDRESS, BASE, place));
        let (rd, rs2) = (self.destination(), self.register());
        let order = (self.numbers.below(4) as u32) << 25;
        let is_load = picked.name.starts_with("lr");
        if is_load || picked.name.starts_with("sc") && self.numbers.below(4) != 0 {
            let lr = self.named(&picked.name.replace("sc", "lr"));
            let loaded = self.destination();
            self.emit(lr.registers(loaded, ATOMIC_ADDRESS, 0) | order);
        }
        let instruction = self.named(&picked.name.replace("lr", "sc"));
        let word = instruction.registers(rd, ATOMIC_ADDRESS, rs2) | order;
        self.note(format!("{} {word:#010x}", instruction.name));
        self.emit(word);
        self.accumulate(rd);
    }

    fn float_operation(&mut self) {
        let instruction = self.of(&FLOAT);
        let Format::Float(Float { operands, rounds, to_integer, .. }) = instruction.format else { unreachable!() };
        let rd = if to_integer { self.destination() } else { self.register() };
        let mut word = instruction.bits | rd << 7 | self.register() << 15;
        if operands > 1 {
            word |= self.register() << 20;
        }
        if operands > 2 {
            word |= self.register() << 27;
        }
        if rounds {
            word |= self.numbers.pick(&[0, 1, 2, 3, 4, 7]) << 12;
        }
        self.note(format!("{} {word:#010x}", instruction.name));
        self.emit(word);
        if self.numbers.below(2) == 0 {
            // Only the exceptions of this operation.
            self.csr(1, SCRATCH, FFLAGS, 0);
            self.accumulate(SCRATCH);
        }
        if to_integer {
            self.accumulate(rd);
        } else {
            let (store, load) = (self.named("fsd"), self.named("lw"));
            self.emit(store.store(BASE, rd, 2032));
            for half in [2032, 2036] {
                self.emit(load.immediate(SCRATCH, BASE, half));
                self.accumulate(SCRATCH);
            }
        }
    }

    /// A branch or jump over a few steps.
    fn control(&mut self) {
        let before = std::mem::take(&mut self.text);
        for _ in 0..1 + self.numbers.below(3) {
            match self.numbers.below(3) {
                0 => self.access(),
                _ => self.integer(),
            }
        }
        let skipped = std::mem::replace(&mut self.text, before);
        let over = skipped.len() as i32;
        let (rd, rs1, rs2) = (self.destination(), self.register(), self.register());
        match self.numbers.below(8) {
            0..=3 => {
                let condition = *self.numbers.pick(&[0, 1, 4, 5, 6, 7]);
                self.emit(branch(condition, rs1, rs2, 4 + over));
            }
            4 => self.emit(jal(rd, 4 + over)),
            5 => {
                self.emit(self.named("auipc").bits | TARGET << 7);
                // jalr clears bit 0.
                self.emit(0x67 | rd << 7 | TARGET << 15 | ((8 + over) as u32 | 1) << 20);
            }
            6 => {
                let code = compressed::control(self, 2 + over);
                self.text.extend(code.to_le_bytes());
            }
            _ => {
                let addi = self.named("addi");
                self.emit(self.named("auipc").bits | TARGET << 7);
                self.emit(addi.immediate(TARGET, TARGET, 10 + over));
                // c.jr or c.jalr x4.
                let code = if self.numbers.below(2) == 0 { 0x8202_u16 } else { 0x9202 };
                self.text.extend(code.to_le_bytes());
            }
        }
        self.note(format!("a jump over {over} bytes"));
        self.text.extend(skipped);
    }

    fn csr_or_fence(&mut self) {
        let rd = self.destination();
        let source = self.register();
        match self.numbers.below(6) {
            0 => {
                let mode = self.numbers.below(5) as u32;
                self.csr(5, rd, FRM, mode);
            }
            1 => self.csr(1, rd, FFLAGS, source),
            2 => self.csr(2, rd, FFLAGS, source),
            3 => self.csr(3, rd, FFLAGS, source),
            4 => {
                let bits = self.register();
                self.csr(6, rd, FFLAGS, bits);
            }
            _ => self.emit(*[0x0ff0_000f, 0x8330_000f, 0x0000_100f].get(rd as usize % 3).unwrap_or(&0x13)),
        }
        self.note("a CSR or a fence".into());
        self.accumulate(rd);
    }
}
