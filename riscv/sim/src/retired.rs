//! The description of an executed instruction: the interface between the functional core and the timing models.
//!
//! A model calls `Hart::step` when it fetches an instruction, in program order. The hart executes it and fills in a
//! [`Retired`]; the model computes its cycles. Wrong paths are not executed: a misprediction stalls fetch until it is
//! resolved.

/// A register as the models see it. 0 means no register (the integer register x0 is always ready and never written), 1
/// to 31 are integer registers, and 32 to 63 floating-point registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reg(pub u8);

impl Reg {
    /// No register: a missing operand, or x0.
    pub const NONE: Reg = Reg(0);

    /// Integer register `number`, 0 to 31.
    #[must_use]
    pub const fn integer(number: u8) -> Reg {
        Reg(number & 31)
    }

    /// Floating-point register `number`, 0 to 31.
    #[must_use]
    pub const fn float(number: u8) -> Reg {
        Reg(32 | number & 31)
    }

    /// Whether this is a register other than [`Reg::NONE`].
    #[must_use]
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }

    /// Whether this is a floating-point register.
    #[must_use]
    pub const fn is_float(self) -> bool {
        self.0 >= 32
    }

    /// Index into tables of 64 registers.
    #[must_use]
    pub const fn index(self) -> usize {
        (self.0 & 63) as usize
    }
}

/// The class of an instruction, which determines the unit that executes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// Integer arithmetic, logic, shifts, comparisons, bit manipulation, and the address arithmetic of `auipc`.
    #[default]
    Alu,
    /// Integer multiplication.
    Multiply,
    /// Integer division and remainder. Their time depends on [`Retired::dividend_bits`] and [`Retired::divisor_bits`].
    Divide,
    /// A load to an integer or a floating-point register.
    Load,
    /// A store of an integer or a floating-point register.
    Store,
    /// An atomic memory operation, which reads and writes its address.
    Atomic,
    /// `lr`: a load that reserves its address.
    LoadReserved,
    /// `sc`: a store that succeeds only while the reservation holds. [`Retired::bytes`] is 0 if it failed.
    StoreConditional,
    /// A conditional branch. It is taken if `next_pc` is not `pc + size`.
    Branch,
    /// `jal` that links in no register, or in a register other than x1 and x5.
    Jump,
    /// `jal` or `jalr` that links in x1 or x5. An indirect call has a source register.
    Call,
    /// `jalr` through x1 or x5 that does not link in these registers.
    Return,
    /// Any other `jalr`.
    IndirectJump,
    /// A read or write of a control and status register.
    Csr,
    /// `fence` and `fence.i`.
    Fence,
    /// `ecall`, `ebreak`, `mret`, `wfi`, and instructions that trap.
    System,
    /// Floating-point addition and subtraction.
    FpAdd,
    /// Floating-point multiplication.
    FpMultiply,
    /// Floating-point division.
    FpDivide,
    /// Fused multiplication and addition.
    FpFused,
    /// Square root.
    FpSqrt,
    /// Floating-point moves, sign changes, comparisons, minimum, maximum, classification and conversions.
    FpMove,
    /// An instruction without effect: hints, `nop`, and instructions that only write to x0.
    Nop,
}

impl Class {
    /// Number of classes, for tables.
    pub const COUNT: usize = Class::Nop as usize + 1;

    /// Whether the instruction reads memory.
    #[must_use]
    pub const fn is_load(self) -> bool {
        matches!(self, Class::Load | Class::Atomic | Class::LoadReserved)
    }

    /// Whether the instruction writes memory.
    #[must_use]
    pub const fn is_store(self) -> bool {
        matches!(self, Class::Store | Class::Atomic | Class::StoreConditional)
    }

    /// Whether the instruction can jump or branch. Traps and `mret` do not count.
    #[must_use]
    pub const fn is_control(self) -> bool {
        matches!(self, Class::Branch | Class::Jump | Class::Call | Class::Return | Class::IndirectJump)
    }
}

/// One executed instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retired {
    /// The instruction's address.
    pub pc: u64,
    /// The address of the next instruction to execute. After a trap, that of the trap handler.
    pub next_pc: u64,
    /// The first byte loaded or stored. For a conditional branch, the target address if taken. Otherwise unused.
    pub address: u64,
    /// Number of bytes loaded or stored, or 0 for no access.
    pub bytes: u8,
    /// Size of the instruction in bytes, 2 or 4.
    pub size: u8,
    /// The class of the instruction.
    pub class: Class,
    /// The register that is written.
    pub destination: Reg,
    /// The registers that are read. For loads and stores the first holds the address; for stores the second holds the
    /// data.
    pub sources: [Reg; 3],
    /// Significant bits of the magnitude of a division's dividend. 0 for other instructions.
    pub dividend_bits: u8,
    /// Significant bits of the magnitude of a division's divisor. 0 for other instructions.
    pub divisor_bits: u8,
    /// Other properties that timing may depend on: a bitwise or of [`NEGATIVE`](Retired::NEGATIVE),
    /// [`NEGATED`](Retired::NEGATED), [`WIDE`](Retired::WIDE), [`WRITES`](Retired::WRITES), [`CODE`](Retired::CODE) and
    /// [`FLUSHES`](Retired::FLUSHES).
    pub detail: u8,
}

impl Retired {
    /// In [`Retired::detail`]: a signed division with a negative operand.
    pub const NEGATIVE: u8 = 1;
    /// In [`Retired::detail`]: a signed division whose result is negated. For a quotient, the signs differ and the
    /// divisor is not 0; for a remainder, the dividend is negative.
    pub const NEGATED: u8 = 2;
    /// In [`Retired::detail`]: a product or quotient of 64 bits (not the `w` forms), or a floating-point operation on
    /// doubles.
    pub const WIDE: u8 = 4;
    /// In [`Retired::detail`]: an access that writes the CSR.
    pub const WRITES: u8 = 8;
    /// In [`Retired::detail`]: `fence.i`.
    pub const CODE: u8 = 16;
    /// In [`Retired::detail`]: a write to a CSR after which following instructions are fetched again, because it may
    /// change what they do: any CSR except `mscratch`, `mepc`, `mcause` and `mtval`.
    pub const FLUSHES: u8 = 32;

    /// Whether a branch was taken, or a jump has a target other than the next instruction.
    #[must_use]
    pub const fn is_taken(&self) -> bool {
        self.next_pc != self.pc.wrapping_add(self.size as u64)
    }

    /// Number of bits of a division's quotient, at least 1.
    #[must_use]
    pub const fn quotient_bits(&self) -> u8 {
        let bits = (self.dividend_bits + 1).saturating_sub(self.divisor_bits);
        if bits == 0 { 1 } else { bits }
    }
}
