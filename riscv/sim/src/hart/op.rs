//! The decoded form of an instruction, which the hart executes.
//!
//! All registers hold 64 bits. On RV32 they hold sign-extended 32-bit values, as RV64 holds the results of its `...w`
//! instructions. So comparisons, logic and loads are the same for both widths, and most RV32 instructions execute as
//! the `w` forms of RV64. The floating-point registers follow the integer registers, as 32 to 63.

use serde::Deserialize;

use super::float::{FloatOp, Format};
use crate::retired::{Class, Retired};

/// The operation. `a` is register rs1, and `b` is register rs2 plus the immediate. Instructions with a register operand
/// have a zero immediate; those with an immediate have x0 as rs2.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Opcode {
    /// Not decoded yet.
    Unknown,
    /// Not an instruction of this machine. The immediate holds its bits.
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

    /// rs2 + (rs1 << immediate). The immediate is 1 to 3.
    ShiftAdd,
    ShiftAddw,
    /// As `ShiftAdd`, with rs1 zero-extended from 32 bits. The immediate is 0 to 3.
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
    CzeroEqz,
    CzeroNez,

    // What `crypto` executes.
    Clmul,
    Clmulw,
    Clmulh,
    Clmulhw,
    Clmulr,
    Clmulrw,
    Xperm4,
    Xperm4w,
    Xperm8,
    Xperm8w,
    Aes32esi,
    Aes32esmi,
    Aes32dsi,
    Aes32dsmi,
    Aes64es,
    Aes64esm,
    Aes64ds,
    Aes64dsm,
    Aes64im,
    Aes64ks1i,
    Aes64ks2,
    Sha256sum0,
    Sha256sum1,
    Sha256sig0,
    Sha256sig1,
    Sha512sum0,
    Sha512sum1,
    Sha512sig0,
    Sha512sig1,
    Sha512sum0r,
    Sha512sum1r,
    Sha512sig0l,
    Sha512sig1l,
    Sha512sig0h,
    Sha512sig1h,

    Mul,
    Mulw,
    Mulh,
    Mulhsu,
    Mulhu,
    /// The upper halves of products on RV32.
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
    /// Cleans, flushes or invalidates a block of a cache.
    CboClean,
    CboZero,
    Ecall,
    Ebreak,
    Mret,
    Wfi,
    /// CSR instructions. The immediate has the CSR's number in its lower 12 bits and, for the forms with `i`, the value
    /// above.
    Csrrw,
    Csrrs,
    Csrrc,
    Csrrwi,
    Csrrsi,
    Csrrci,
    /// `slti x0, x0, n`, a hint reserved for software: marks the beginning or end of a region of the program.
    Mark,

    Float,
}

impl Opcode {
    /// Whether it shifts or rotates by `b`, a register or an immediate.
    pub(crate) const fn shifts_by_register(self) -> bool {
        use Opcode::{Rol, Rolw, Ror, Rorw, Sll, Sllw, Sra, Sraw, Srl, Srlw};
        matches!(self, Sll | Sllw | Srl | Srlw | Sra | Sraw | Rol | Rolw | Ror | Rorw)
    }
}

/// The operation of an atomic memory instruction on the old value and rs2.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
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
    pub(crate) code: Opcode,
    pub(crate) rd: u8,
    pub(crate) rs1: u8,
    pub(crate) rs2: u8,
    pub(crate) rs3: u8,
    pub(crate) class: Class,
    /// Size of the instruction in bytes.
    pub(crate) size: u8,
    /// The encoded rounding mode. 7 means the mode in `frm`.
    pub(crate) rounding: u8,
    pub(crate) immediate: i32,
    pub(crate) float: FloatOp,
    pub(crate) format: Format,
    pub(crate) amo: Amo,
    /// The bits of [`Retired::detail`] that are known before execution.
    pub(crate) detail: u8,
}

impl Op {
    pub(crate) const UNKNOWN: Op = Op::new(Opcode::Unknown, Class::System);

    pub(crate) const fn new(code: Opcode, class: Class) -> Op {
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

    /// Sets the details for the timing models.
    pub(crate) fn with_detail(mut self) -> Op {
        self.detail = match self.code {
            Opcode::Mul | Opcode::Mulh | Opcode::Mulhsu | Opcode::Mulhu => Retired::WIDE,
            Opcode::Div | Opcode::Divu | Opcode::Rem | Opcode::Remu => Retired::WIDE,
            Opcode::Float if self.format == Format::Double => Retired::WIDE,
            Opcode::Csrrw | Opcode::Csrrwi => self.csr_write(),
            // Setting or clearing no bits (operand x0 or 0) is not a write.
            Opcode::Csrrs | Opcode::Csrrc if self.rs1 != 0 => self.csr_write(),
            Opcode::Csrrsi | Opcode::Csrrci if self.immediate >> 12 & 31 != 0 => self.csr_write(),
            Opcode::FenceI => Retired::CODE,
            _ => 0,
        };
        self
    }

    /// Details of a CSR write. `mscratch` to `mtval` only hold values for trap handlers, so writes to them do not flush
    /// the pipeline (Rocket Chip, `CSR.scala`, `write_flush`).
    fn csr_write(&self) -> u8 {
        match self.immediate & 0xfff {
            0x340..=0x343 => Retired::WRITES,
            _ => Retired::WRITES | Retired::FLUSHES,
        }
    }
}
