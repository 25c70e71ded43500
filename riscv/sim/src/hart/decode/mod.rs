//! Decodes instructions to [`Op`]: the RISC-V Instruction Set Manual, volume I, "RV32/64G Instruction Set Listings",
//! and the chapters on compressed instructions and bit manipulation. Reserved encodings are illegal instructions.

mod compressed;
mod float;

use super::op::{Amo, Op, Opcode};
use crate::isa::{Isa, Xlen};
use crate::retired::Class;

/// Decodes a 32-bit instruction, or a compressed one in the lower half of `bits`.
pub(crate) fn decode(bits: u32, isa: &Isa) -> Op {
    let (word, size) = match is_compressed(bits) {
        true => (compressed::expand(bits as u16, isa), 2),
        false => (Some(bits), 4),
    };
    let illegal = Op {
        immediate: if size == 2 { bits & 0xffff } else { bits } as i32,
        ..Op::new(Opcode::Illegal, Class::System)
    };
    let mut op = word.and_then(|word| Fields { word, isa }.op()).unwrap_or(illegal);
    op.size = size;
    if op.class == Class::Alu && op.rd == 0 {
        op.class = Class::Nop;
    }
    op
}

/// Whether the lowest two bits mark an instruction of 16 bits.
pub(crate) const fn is_compressed(bits: u32) -> bool {
    bits & 3 != 3
}

/// A 32-bit instruction and its fields.
#[derive(Clone, Copy)]
struct Fields<'a> {
    word: u32,
    isa: &'a Isa,
}

impl Fields<'_> {
    fn rd(self) -> u8 {
        (self.word >> 7 & 31) as u8
    }

    fn rs1(self) -> u8 {
        (self.word >> 15 & 31) as u8
    }

    fn rs2(self) -> u8 {
        (self.word >> 20 & 31) as u8
    }

    fn funct3(self) -> u32 {
        self.word >> 12 & 7
    }

    fn funct7(self) -> u32 {
        self.word >> 25
    }

    fn i_immediate(self) -> i32 {
        self.word as i32 >> 20
    }

    fn s_immediate(self) -> i32 {
        (self.word as i32 >> 25) << 5 | (self.word >> 7 & 31) as i32
    }

    fn b_immediate(self) -> i32 {
        let word = self.word as i32;
        (word >> 31) << 12 | (word << 4 & 0x800) | (word >> 20 & 0x7e0) | (word >> 7 & 0x1e)
    }

    fn j_immediate(self) -> i32 {
        let word = self.word as i32;
        (word >> 31) << 20 | (word & 0xf_f000) | (word >> 9 & 0x800) | (word >> 20 & 0x7fe)
    }

    fn wide(self) -> bool {
        self.isa.xlen == Xlen::Rv64
    }

    fn op(self) -> Option<Op> {
        match self.word & 0x7f {
            0x37 => {
                Some(Op { rd: self.rd(), immediate: (self.word & !0xfff) as i32, ..Op::new(Opcode::Add, Class::Alu) })
            }
            0x17 => {
                Some(Op { rd: self.rd(), immediate: (self.word & !0xfff) as i32, ..Op::new(Opcode::Auipc, Class::Alu) })
            }
            0x6f => Some(self.jal()),
            0x67 if self.funct3() == 0 => Some(self.jalr()),
            0x63 => self.branch(),
            0x03 => self.load(),
            0x23 => self.store(),
            0x13 => self.immediate(),
            0x1b if self.wide() => self.immediate_word(),
            0x33 => {
                let (code, class) = self.register_code()?;
                let number = match code {
                    Opcode::ShiftAdd | Opcode::ShiftAddw => self.funct3() / 2,
                    Opcode::Aes32esi | Opcode::Aes32esmi | Opcode::Aes32dsi | Opcode::Aes32dsmi => self.funct7() >> 5,
                    _ => 0,
                };
                Some(Op { immediate: number as i32, ..self.registers(code, class) })
            }
            0x3b if self.wide() => self.register_word(),
            0x0f => match self.funct3() {
                0 => Some(Op::new(Opcode::Fence, Class::Fence)),
                1 => Some(Op::new(Opcode::FenceI, Class::Fence)),
                2 if self.rd() == 0 => self.cache_block(),
                _ => None,
            },
            0x73 => self.system(),
            0x2f if self.isa.a => self.atomic(),
            0x07 => self.load_float(),
            0x27 => self.store_float(),
            0x43 | 0x47 | 0x4b | 0x4f => self.fused(),
            0x53 => self.float(),
            _ => None,
        }
    }

    fn cache_block(self) -> Option<Op> {
        let code = match self.word >> 20 {
            0..=2 if self.isa.zicbom => Opcode::CboClean,
            4 if self.isa.zicboz => Opcode::CboZero,
            _ => return None,
        };
        Some(Op { rs1: self.rs1(), ..Op::new(code, Class::Fence) })
    }

    fn jal(self) -> Op {
        let class = if is_link(self.rd()) { Class::Call } else { Class::Jump };
        Op { rd: self.rd(), immediate: self.j_immediate(), ..Op::new(Opcode::Jal, class) }
    }

    fn jalr(self) -> Op {
        let class = match (is_link(self.rd()), is_link(self.rs1())) {
            (true, _) => Class::Call,
            (false, true) => Class::Return,
            (false, false) => Class::IndirectJump,
        };
        Op { rd: self.rd(), rs1: self.rs1(), immediate: self.i_immediate(), ..Op::new(Opcode::Jalr, class) }
    }

    fn branch(self) -> Option<Op> {
        let code = match self.funct3() {
            0 => Opcode::Beq,
            1 => Opcode::Bne,
            4 => Opcode::Blt,
            5 => Opcode::Bge,
            6 => Opcode::Bltu,
            7 => Opcode::Bgeu,
            _ => return None,
        };
        Some(Op { rs1: self.rs1(), rs2: self.rs2(), immediate: self.b_immediate(), ..Op::new(code, Class::Branch) })
    }

    fn load(self) -> Option<Op> {
        let code = match self.funct3() {
            0 => Opcode::Lb,
            1 => Opcode::Lh,
            2 => Opcode::Lw,
            3 if self.wide() => Opcode::Ld,
            4 => Opcode::Lbu,
            5 => Opcode::Lhu,
            6 if self.wide() => Opcode::Lwu,
            _ => return None,
        };
        Some(Op { rd: self.rd(), rs1: self.rs1(), immediate: self.i_immediate(), ..Op::new(code, Class::Load) })
    }

    fn store(self) -> Option<Op> {
        let code = match self.funct3() {
            0 => Opcode::Sb,
            1 => Opcode::Sh,
            2 => Opcode::Sw,
            3 if self.wide() => Opcode::Sd,
            _ => return None,
        };
        Some(Op { rs1: self.rs1(), rs2: self.rs2(), immediate: self.s_immediate(), ..Op::new(code, Class::Store) })
    }

    fn registers(self, code: Opcode, class: Class) -> Op {
        Op { rd: self.rd(), rs1: self.rs1(), rs2: self.rs2(), ..Op::new(code, class) }
    }

    fn with_immediate(self, code: Opcode, immediate: i32) -> Op {
        Op { rd: self.rd(), rs1: self.rs1(), immediate, ..Op::new(code, Class::Alu) }
    }

    /// The operation for this machine's register width.
    fn by_width(self, wide: Opcode, narrow: Opcode) -> Opcode {
        if self.wide() { wide } else { narrow }
    }

    fn immediate(self) -> Option<Op> {
        let immediate = self.i_immediate();
        if self.funct3() == 2 && self.rd() == 0 && self.rs1() == 0 && immediate >= 0 {
            return Some(Op { immediate, ..Op::new(Opcode::Mark, Class::Nop) });
        }
        let code = match self.funct3() {
            0 => self.by_width(Opcode::Add, Opcode::Addw),
            2 => Opcode::Slt,
            3 => Opcode::Sltu,
            4 => Opcode::Xor,
            6 => Opcode::Or,
            7 => Opcode::And,
            _ => return self.shift(),
        };
        Some(self.with_immediate(code, immediate))
    }

    /// Shifts by an immediate, and the other instructions in the same encoding space. On RV64 the shift amount uses one
    /// bit of funct7.
    fn shift(self) -> Option<Op> {
        let isa = self.isa;
        let amount = self.word >> 20 & if self.wide() { 63 } else { 31 };
        let kind = if self.wide() { self.funct7() & !1 } else { self.funct7() };
        let code = match (self.funct3(), kind) {
            (1, 0x00) => self.by_width(Opcode::Sll, Opcode::Sllw),
            (5, 0x00) => self.by_width(Opcode::Srl, Opcode::Srlw),
            (5, 0x20) => self.by_width(Opcode::Sra, Opcode::Sraw),
            (1, 0x24) if isa.zbs => self.by_width(Opcode::Bclr, Opcode::Bclrw),
            (5, 0x24) if isa.zbs => self.by_width(Opcode::Bext, Opcode::Bextw),
            (1, 0x34) if isa.zbs => self.by_width(Opcode::Binv, Opcode::Binvw),
            (1, 0x14) if isa.zbs => self.by_width(Opcode::Bset, Opcode::Bsetw),
            (5, 0x30) if isa.zbb || isa.zbkb => self.by_width(Opcode::Ror, Opcode::Rorw),
            _ => return self.unary(),
        };
        Some(self.with_immediate(code, amount as i32))
    }

    /// Instructions with one operand, encoded where shifts have the amount.
    fn unary(self) -> Option<Op> {
        let isa = self.isa;
        let code = match (self.funct3(), self.word >> 20) {
            (1, 0x600) if isa.zbb => self.by_width(Opcode::Clz, Opcode::Clzw),
            (1, 0x601) if isa.zbb => self.by_width(Opcode::Ctz, Opcode::Ctzw),
            (1, 0x602) if isa.zbb => self.by_width(Opcode::Cpop, Opcode::Cpopw),
            (1, 0x604) if isa.zbb => Opcode::Sextb,
            (1, 0x605) if isa.zbb => Opcode::Sexth,
            (5, 0x287) if isa.zbb => self.by_width(Opcode::Orcb, Opcode::Orcbw),
            (5, 0x6b8) if self.wide() && (isa.zbb || isa.zbkb) => Opcode::Rev8,
            (5, 0x698) if !self.wide() && (isa.zbb || isa.zbkb) => Opcode::Rev8w,
            (5, 0x687) if isa.zbkb => self.by_width(Opcode::Brev8, Opcode::Brev8w),
            (1, 0x100) if isa.zknh => Opcode::Sha256sum0,
            (1, 0x101) if isa.zknh => Opcode::Sha256sum1,
            (1, 0x102) if isa.zknh => Opcode::Sha256sig0,
            (1, 0x103) if isa.zknh => Opcode::Sha256sig1,
            (1, 0x104) if isa.zknh && self.wide() => Opcode::Sha512sum0,
            (1, 0x105) if isa.zknh && self.wide() => Opcode::Sha512sum1,
            (1, 0x106) if isa.zknh && self.wide() => Opcode::Sha512sig0,
            (1, 0x107) if isa.zknh && self.wide() => Opcode::Sha512sig1,
            (1, 0x300) if isa.zknd && self.wide() => Opcode::Aes64im,
            (1, 0x310..=0x31a) if (isa.zkne || isa.zknd) && self.wide() => {
                return Some(self.with_immediate(Opcode::Aes64ks1i, self.i_immediate() & 15));
            }
            (1, 0x08f) if isa.zbkb && !self.wide() => Opcode::Zip,
            (5, 0x08f) if isa.zbkb && !self.wide() => Opcode::Unzip,
            _ => return None,
        };
        Some(self.with_immediate(code, 0))
    }

    fn immediate_word(self) -> Option<Op> {
        let isa = self.isa;
        let amount = i32::from(self.rs2());
        Some(match (self.funct3(), self.funct7()) {
            (0, _) => self.with_immediate(Opcode::Addw, self.i_immediate()),
            (1, 0x00) => self.with_immediate(Opcode::Sllw, amount),
            (5, 0x00) => self.with_immediate(Opcode::Srlw, amount),
            (5, 0x20) => self.with_immediate(Opcode::Sraw, amount),
            (5, 0x30) if isa.zbb || isa.zbkb => self.with_immediate(Opcode::Rorw, amount),
            (1, 0x04 | 0x05) if isa.zba => self.with_immediate(Opcode::SllUw, (self.word >> 20 & 63) as i32),
            (1, 0x30) if isa.zbb => match amount {
                0 => self.with_immediate(Opcode::Clzw, 0),
                1 => self.with_immediate(Opcode::Ctzw, 0),
                2 => self.with_immediate(Opcode::Cpopw, 0),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Instructions on two registers at the full register width.
    fn register_code(self) -> Option<(Opcode, Class)> {
        use Opcode::*;
        let isa = self.isa;
        if self.funct7() == 1 {
            return self.multiply().filter(|_| isa.m);
        }
        let code = match (self.funct7(), self.funct3()) {
            (0x00, 0) => self.by_width(Add, Addw),
            (0x20, 0) => self.by_width(Sub, Subw),
            (0x00, 1) => self.by_width(Sll, Sllw),
            (0x00, 2) => Slt,
            (0x00, 3) => Sltu,
            (0x00, 4) => Xor,
            (0x00, 5) => self.by_width(Srl, Srlw),
            (0x20, 5) => self.by_width(Sra, Sraw),
            (0x00, 6) => Or,
            (0x00, 7) => And,
            (0x20, 4) if isa.zbb || isa.zbkb => Xnor,
            (0x20, 6) if isa.zbb || isa.zbkb => Orn,
            (0x20, 7) if isa.zbb || isa.zbkb => Andn,
            (0x30, 1) if isa.zbb || isa.zbkb => self.by_width(Rol, Rolw),
            (0x30, 5) if isa.zbb || isa.zbkb => self.by_width(Ror, Rorw),
            (0x05, 4) if isa.zbb => Min,
            (0x05, 5) if isa.zbb => Minu,
            (0x05, 6) if isa.zbb => Max,
            (0x05, 7) if isa.zbb => Maxu,
            // On RV32 zext.h is encoded as pack with x0.
            (0x04, 4) if isa.zbkb => self.by_width(Pack, Packw),
            (0x04, 4) if isa.zbb && !self.wide() && self.rs2() == 0 => Zexth,
            (0x04, 7) if isa.zbkb => Packh,
            (0x24, 1) if isa.zbs => self.by_width(Bclr, Bclrw),
            (0x24, 5) if isa.zbs => self.by_width(Bext, Bextw),
            (0x34, 1) if isa.zbs => self.by_width(Binv, Binvw),
            (0x14, 1) if isa.zbs => self.by_width(Bset, Bsetw),
            (0x10, 2 | 4 | 6) if isa.zba => self.by_width(ShiftAdd, ShiftAddw),
            (0x07, 5) if isa.zicond => CzeroEqz,
            (0x07, 7) if isa.zicond => CzeroNez,
            (0x05, 1) if isa.zbc || isa.zbkc => self.by_width(Clmul, Clmulw),
            (0x05, 3) if isa.zbc || isa.zbkc => self.by_width(Clmulh, Clmulhw),
            (0x05, 2) if isa.zbc => self.by_width(Clmulr, Clmulrw),
            (0x14, 2) if isa.zbkx => self.by_width(Xperm4, Xperm4w),
            (0x14, 4) if isa.zbkx => self.by_width(Xperm8, Xperm8w),
            // The two bits above select a byte.
            (0x11 | 0x31 | 0x51 | 0x71, 0) if isa.zkne && !self.wide() => Aes32esi,
            (0x13 | 0x33 | 0x53 | 0x73, 0) if isa.zkne && !self.wide() => Aes32esmi,
            (0x15 | 0x35 | 0x55 | 0x75, 0) if isa.zknd && !self.wide() => Aes32dsi,
            (0x17 | 0x37 | 0x57 | 0x77, 0) if isa.zknd && !self.wide() => Aes32dsmi,
            (0x19, 0) if isa.zkne && self.wide() => Aes64es,
            (0x1b, 0) if isa.zkne && self.wide() => Aes64esm,
            (0x1d, 0) if isa.zknd && self.wide() => Aes64ds,
            (0x1f, 0) if isa.zknd && self.wide() => Aes64dsm,
            (0x3f, 0) if (isa.zkne || isa.zknd) && self.wide() => Aes64ks2,
            (0x28, 0) if isa.zknh && !self.wide() => Sha512sum0r,
            (0x29, 0) if isa.zknh && !self.wide() => Sha512sum1r,
            (0x2a, 0) if isa.zknh && !self.wide() => Sha512sig0l,
            (0x2b, 0) if isa.zknh && !self.wide() => Sha512sig1l,
            (0x2e, 0) if isa.zknh && !self.wide() => Sha512sig0h,
            (0x2f, 0) if isa.zknh && !self.wide() => Sha512sig1h,
            _ => return None,
        };
        Some((code, Class::Alu))
    }

    fn multiply(self) -> Option<(Opcode, Class)> {
        use Opcode::*;
        Some(match self.funct3() {
            0 => (self.by_width(Mul, Mulw), Class::Multiply),
            1 => (self.by_width(Mulh, Mulhw), Class::Multiply),
            2 => (self.by_width(Mulhsu, Mulhsuw), Class::Multiply),
            3 => (self.by_width(Mulhu, Mulhuw), Class::Multiply),
            4 => (self.by_width(Div, Divw), Class::Divide),
            5 => (self.by_width(Divu, Divuw), Class::Divide),
            6 => (self.by_width(Rem, Remw), Class::Divide),
            7 => (self.by_width(Remu, Remuw), Class::Divide),
            _ => return None,
        })
    }

    /// RV64 instructions on the lower halves of two registers.
    fn register_word(self) -> Option<Op> {
        use Opcode::*;
        let isa = self.isa;
        let (code, class) = match (self.funct7(), self.funct3()) {
            (0x00, 0) => (Addw, Class::Alu),
            (0x20, 0) => (Subw, Class::Alu),
            (0x00, 1) => (Sllw, Class::Alu),
            (0x00, 5) => (Srlw, Class::Alu),
            (0x20, 5) => (Sraw, Class::Alu),
            (0x01, 0) if isa.m => (Mulw, Class::Multiply),
            (0x01, 4) if isa.m => (Divw, Class::Divide),
            (0x01, 5) if isa.m => (Divuw, Class::Divide),
            (0x01, 6) if isa.m => (Remw, Class::Divide),
            (0x01, 7) if isa.m => (Remuw, Class::Divide),
            (0x04, 0) if isa.zba => (ShiftAddUw, Class::Alu),
            (0x10, 2 | 4 | 6) if isa.zba => (ShiftAddUw, Class::Alu),
            (0x30, 1) if isa.zbb || isa.zbkb => (Rolw, Class::Alu),
            (0x30, 5) if isa.zbb || isa.zbkb => (Rorw, Class::Alu),
            (0x04, 4) if isa.zbkb => (Packw, Class::Alu),
            (0x04, 4) if isa.zbb && self.rs2() == 0 => (Zexth, Class::Alu),
            _ => return None,
        };
        // add.uw does not shift; sh1add.uw to sh3add.uw shift by funct3 / 2.
        let shift = if code == ShiftAddUw { self.funct3() / 2 } else { 0 };
        Some(Op { immediate: shift as i32, ..self.registers(code, class) })
    }

    fn system(self) -> Option<Op> {
        let code = match self.funct3() {
            0 => {
                return Some(match self.word {
                    0x0000_0073 => Op::new(Opcode::Ecall, Class::System),
                    0x0010_0073 => Op::new(Opcode::Ebreak, Class::System),
                    0x3020_0073 => Op::new(Opcode::Mret, Class::System),
                    0x1050_0073 => Op::new(Opcode::Wfi, Class::System),
                    _ => return None,
                });
            }
            1 => Opcode::Csrrw,
            2 => Opcode::Csrrs,
            3 => Opcode::Csrrc,
            5 => Opcode::Csrrwi,
            6 => Opcode::Csrrsi,
            7 => Opcode::Csrrci,
            _ => return None,
        };
        let number = (self.word >> 20) as i32;
        let op = Op { rd: self.rd(), immediate: number, ..Op::new(code, Class::Csr) };
        Some(match self.funct3() {
            1..=3 => Op { rs1: self.rs1(), ..op },
            _ => Op { immediate: number | i32::from(self.rs1()) << 12, ..op },
        })
    }

    fn atomic(self) -> Option<Op> {
        let double = match self.funct3() {
            2 => false,
            3 if self.wide() => true,
            _ => return None,
        };
        let (code, class, amo) = match self.funct7() >> 2 {
            2 if self.rs2() == 0 => (if double { Opcode::Lrd } else { Opcode::Lrw }, Class::LoadReserved, Amo::Swap),
            3 => (if double { Opcode::Scd } else { Opcode::Scw }, Class::StoreConditional, Amo::Swap),
            operation => {
                let amo = match operation {
                    0x00 => Amo::Add,
                    0x01 => Amo::Swap,
                    0x04 => Amo::Xor,
                    0x08 => Amo::Or,
                    0x0c => Amo::And,
                    0x10 => Amo::Min,
                    0x14 => Amo::Max,
                    0x18 => Amo::Minu,
                    0x1c => Amo::Maxu,
                    _ => return None,
                };
                (if double { Opcode::Amod } else { Opcode::Amow }, Class::Atomic, amo)
            }
        };
        Some(Op { amo, ..self.registers(code, class) })
    }
}

/// Whether the calling convention uses this register for return addresses.
fn is_link(register: u8) -> bool {
    register == 1 || register == 5
}
