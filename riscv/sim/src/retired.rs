//! What one executed instruction tells the timing models: the seam between function and time.
//!
//! A model calls `Hart::step` when it fetches an instruction, in program order. The hart executes it at once and fills in
//! a [`Retired`]; the model says when. Wrong paths are not executed: a misprediction stalls fetch until it is resolved.

/// A register as the models see it: 0 is none (the integer register x0 is always ready and never written), 1 to 31 are
/// the integer registers, 32 to 63 the floating-point ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reg(pub u8);

impl Reg {
    /// No register: an operand that is not there, or x0.
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

    /// Whether there is a register at all.
    #[must_use]
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }

    /// Whether it is a floating-point register.
    #[must_use]
    pub const fn is_float(self) -> bool {
        self.0 >= 32
    }

    /// An index for tables of 64 registers.
    #[must_use]
    pub const fn index(self) -> usize {
        (self.0 & 63) as usize
    }
}

/// What kind of unit an instruction needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// Integer arithmetic, logic, shifts, comparisons, bit manipulation, and the address arithmetic of `auipc`.
    #[default]
    Alu,
    /// Integer multiplication.
    Multiply,
    /// Integer division and remainder; [`Retired::dividend_bits`] and [`Retired::divisor_bits`] say how long one takes.
    Divide,
    /// A load, of either register file.
    Load,
    /// A store, of either register file.
    Store,
    /// An atomic memory operation: reads and writes its address.
    Atomic,
    /// `lr`: a load that reserves its address.
    LoadReserved,
    /// `sc`: a store that happens only while the reservation holds; [`Retired::bytes`] is 0 where it did not.
    StoreConditional,
    /// A conditional branch, taken where `next_pc` is not `pc + size`.
    Branch,
    /// `jal` without a link, or with one in a register that no convention uses for it.
    Jump,
    /// `jal` or `jalr` that links in x1 or x5. An indirect one has a source register.
    Call,
    /// `jalr` through x1 or x5 that does not link there.
    Return,
    /// Any other `jalr`.
    IndirectJump,
    /// A read or write of a control and status register.
    Csr,
    /// `fence` and `fence.i`.
    Fence,
    /// `ecall`, `ebreak`, `mret`, `wfi`, and what traps.
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
    /// An instruction without effect: hints, `nop`, and whatever writes to x0 alone.
    Nop,
}

impl Class {
    /// Number of classes, for tables.
    pub const COUNT: usize = Class::Nop as usize + 1;

    /// Whether it reads memory.
    #[must_use]
    pub const fn is_load(self) -> bool {
        matches!(self, Class::Load | Class::Atomic | Class::LoadReserved)
    }

    /// Whether it writes memory.
    #[must_use]
    pub const fn is_store(self) -> bool {
        matches!(self, Class::Store | Class::Atomic | Class::StoreConditional)
    }

    /// Whether it may go elsewhere than to the next instruction (traps and `mret` apart).
    #[must_use]
    pub const fn is_control(self) -> bool {
        matches!(self, Class::Branch | Class::Jump | Class::Call | Class::Return | Class::IndirectJump)
    }
}

/// One executed instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retired {
    /// Its address.
    pub pc: u64,
    /// The address of the instruction executed next, a trap handler's after a trap.
    pub next_pc: u64,
    /// The first byte that it loads or stores. Of a conditional branch, where it goes if it is taken. Of no meaning
    /// otherwise.
    pub address: u64,
    /// Bytes of that access, 0 where there is none.
    pub bytes: u8,
    /// Bytes of the instruction itself, 2 or 4.
    pub size: u8,
    /// The unit it needs.
    pub class: Class,
    /// The register it writes.
    pub destination: Reg,
    /// The registers it reads; the address of a load or store comes from the first, what is stored from the second.
    pub sources: [Reg; 3],
    /// Of a division: significant bits of the dividend's magnitude, else 0.
    pub dividend_bits: u8,
    /// Of a division: significant bits of the divisor's magnitude, else 0.
    pub divisor_bits: u8,
    /// What else time may depend on: the constants [`NEGATIVE`](Retired::NEGATIVE), [`NEGATED`](Retired::NEGATED),
    /// [`WIDE`](Retired::WIDE), [`WRITES`](Retired::WRITES), [`CODE`](Retired::CODE) and [`FLUSHES`](Retired::FLUSHES),
    /// ored.
    pub detail: u8,
}

impl Retired {
    /// In [`Retired::detail`]: a signed division with a negative operand.
    pub const NEGATIVE: u8 = 1;
    /// In [`Retired::detail`]: a signed division whose result has to be negated: a quotient of different signs and a
    /// divisor other than 0, the remainder of a negative dividend.
    pub const NEGATED: u8 = 2;
    /// In [`Retired::detail`]: a product or quotient of 64 bits (not the `w` forms), or a floating-point operation on
    /// doubles.
    pub const WIDE: u8 = 4;
    /// In [`Retired::detail`]: an access to a CSR that writes it.
    pub const WRITES: u8 = 8;
    /// In [`Retired::detail`]: `fence.i`.
    pub const CODE: u8 = 16;
    /// In [`Retired::detail`]: an access to a CSR that may change what instructions behind it do, so that these are fetched
    /// anew: a write to any but `mscratch`, `mepc`, `mcause` and `mtval`.
    pub const FLUSHES: u8 = 32;

    /// Whether a branch was taken, or a jump went anywhere but straight on.
    #[must_use]
    pub const fn is_taken(&self) -> bool {
        self.next_pc != self.pc.wrapping_add(self.size as u64)
    }

    /// Of a division: bits of the quotient, at least 1.
    #[must_use]
    pub const fn quotient_bits(&self) -> u8 {
        let bits = (self.dividend_bits + 1).saturating_sub(self.divisor_bits);
        if bits == 0 { 1 } else { bits }
    }
}
