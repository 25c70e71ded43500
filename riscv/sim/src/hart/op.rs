//! A decoded instruction, in the form in which it is executed.
//!
//! All registers hold 64 bits. On RV32 they hold values of 32 bits, sign-extended, as RV64 holds those of its `...w`
//! instructions: so comparisons, logic and loads are the same for both widths, and most of RV32 is executed by the `w`
//! forms of RV64. The 32 floating-point registers follow the integer ones, as 32 to 63.

use super::float::{FloatOp, Format};
use crate::retired::{Class, Retired};

/// What to do. `a` is the register rs1, `b` is rs2 plus the immediate: instructions with a register and with an immediate
/// are the same but for which of the two is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Code {
    /// Not decoded yet.
    Unknown,
    /// No instruction of this machine; the immediate has its bits.
    Illegal,

    Add,
    Addw,
    Sub,
    Subw,
    Sll,
    Sllw,
    Srl,
    Srlw,
    Sra,
    Sraw,
    Slt,
    Sltu,
    Xor,
    Or,
    And,
    /// pc + immediate.
    Auipc,

    /// rs2 + (rs1 << immediate), which is 1 to 3.
    ShiftAdd,
    ShiftAddw,
    /// The same with rs1 zero-extended from 32 bits; the immediate may be 0.
    ShiftAddUw,
    SllUw,
    Andn,
    Orn,
    Xnor,
    Min,
    Max,
    Minu,
    Maxu,
    Clz,
    Clzw,
    Ctz,
    Ctzw,
    Cpop,
    Cpopw,
    Sextb,
    Sexth,
    Zexth,
    Rol,
    Rolw,
    Ror,
    Rorw,
    Orcb,
    Orcbw,
    Rev8,
    Rev8w,
    Bclr,
    Bclrw,
    Bext,
    Bextw,
    Binv,
    Binvw,
    Bset,
    Bsetw,
    Pack,
    Packw,
    Packh,
    Brev8,
    Brev8w,
    Zip,
    Unzip,

    Mul,
    Mulw,
    Mulh,
    Mulhsu,
    Mulhu,
    /// The upper halves of RV32.
    Mulhw,
    Mulhsuw,
    Mulhuw,
    Div,
    Divu,
    Rem,
    Remu,
    Divw,
    Divuw,
    Remw,
    Remuw,

    Lb,
    Lbu,
    Lh,
    Lhu,
    Lw,
    Lwu,
    Ld,
    Flw,
    Fld,
    Sb,
    Sh,
    Sw,
    Sd,
    Fsw,
    Fsd,

    Lrw,
    Lrd,
    Scw,
    Scd,
    Amow,
    Amod,

    Jal,
    Jalr,
    Beq,
    Bne,
    Blt,
    Bge,
    Bltu,
    Bgeu,

    Fence,
    FenceI,
    Ecall,
    Ebreak,
    Mret,
    Wfi,
    /// The immediate has the register's number in its lower 12 bits and, for the forms with `i`, the value above them.
    Csrrw,
    Csrrs,
    Csrrc,
    Csrrwi,
    Csrrsi,
    Csrrci,
    /// `slti x0, x0, n`, a hint that the ISA leaves to programs: a region of the program begins or ends.
    Mark,

    Float,
}

impl Code {
    /// Whether it shifts or rotates by what a register says, where it is no immediate.
    pub(crate) const fn shifts_by_register(self) -> bool {
        use Code::{Rol, Rolw, Ror, Rorw, Sll, Sllw, Sra, Sraw, Srl, Srlw};
        matches!(self, Sll | Sllw | Srl | Srlw | Sra | Sraw | Rol | Rolw | Ror | Rorw)
    }
}

/// What an atomic memory operation makes of the old value and rs2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Amo {
    Swap,
    Add,
    Xor,
    And,
    Or,
    Min,
    Max,
    Minu,
    Maxu,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) code: Code,
    pub(crate) rd: u8,
    pub(crate) rs1: u8,
    pub(crate) rs2: u8,
    pub(crate) rs3: u8,
    pub(crate) class: Class,
    /// Bytes of the instruction.
    pub(crate) size: u8,
    /// Rounding mode as encoded, 7 is that of `frm`.
    pub(crate) rounding: u8,
    pub(crate) immediate: i32,
    pub(crate) float: FloatOp,
    pub(crate) format: Format,
    pub(crate) amo: Amo,
    /// Of [`Retired::detail`], what is known before it is executed.
    pub(crate) detail: u8,
}

impl Op {
    pub(crate) const UNKNOWN: Op = Op::new(Code::Unknown, Class::System);

    pub(crate) const fn new(code: Code, class: Class) -> Op {
        Op {
            code,
            rd: 0,
            rs1: 0,
            rs2: 0,
            rs3: 0,
            class,
            size: 0,
            rounding: 0,
            immediate: 0,
            float: FloatOp::Add,
            format: Format::Single,
            amo: Amo::Swap,
            detail: 0,
        }
    }

    /// The same with its details for the timing models.
    pub(crate) fn with_detail(mut self) -> Op {
        self.detail = match self.code {
            Code::Mul | Code::Mulh | Code::Mulhsu | Code::Mulhu => Retired::WIDE,
            Code::Div | Code::Divu | Code::Rem | Code::Remu => Retired::WIDE,
            Code::Float if self.format == Format::Double => Retired::WIDE,
            Code::Csrrw | Code::Csrrwi => self.csr_write(),
            // To set or clear nothing, by x0 or 0, is no write.
            Code::Csrrs | Code::Csrrc if self.rs1 != 0 => self.csr_write(),
            Code::Csrrsi | Code::Csrrci if self.immediate >> 12 & 31 != 0 => self.csr_write(),
            Code::FenceI => Retired::CODE,
            _ => 0,
        };
        self
    }

    /// Of a CSR that is written: `mscratch` to `mtval` only hold what trap handlers put there (Rocket Chip, `CSR.scala`,
    /// `write_flush`).
    fn csr_write(&self) -> u8 {
        match self.immediate & 0xfff {
            0x340..=0x343 => Retired::WRITES,
            _ => Retired::WRITES | Retired::FLUSHES,
        }
    }
}
