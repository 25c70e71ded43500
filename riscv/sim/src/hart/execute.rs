//! Executes one instruction: the RISC-V Instruction Set Manual, volume I, in terms of [`Code`].

use super::{
    Event, Hart,
    decode::{decode, is_compressed},
    float::{self, Rounding},
    integer::{
        divide, divide_unsigned, magnitude_bits, or_combine, remainder, remainder_unsigned, reverse_in_bytes, unzip,
        word, zip,
    },
    op::{Code, Op},
};
use crate::{
    bus::Bus,
    device::semihosting,
    error::{Error, cause},
    retired::{Class, Reg, Retired},
};

const A0: usize = 10;
const A1: usize = 11;

/// Not a value of `mcause`: the instruction must be decoded first.
const UNDECODED: u64 = u64::MAX;

/// Cause and value of a trap.
type Fault = super::memory::Fault;

impl Hart {
    /// Executes the next instruction and describes it in `retired`, unless the hart waits.
    ///
    /// # Errors
    ///
    /// A trap that the program does not handle, or a console that cannot be written to. The hart cannot continue.
    #[inline]
    pub fn step(&mut self, bus: &mut Bus, retired: &mut Retired) -> Result<Event, Box<Error>> {
        self.step_and_tell::<true>(bus, retired)
    }

    /// Executes the next instruction. `retired` is filled in only if `TELL` is true.
    #[inline]
    pub(crate) fn step_and_tell<const TELL: bool>(
        &mut self,
        bus: &mut Bus,
        retired: &mut Retired,
    ) -> Result<Event, Box<Error>> {
        if self.attention
            && let Some(event) = self.attend(bus, retired)
        {
            return Ok(event);
        }
        let Some(op) = bus.code.op(self.pc) else { return self.step_undecoded(bus, retired) };
        match self.execute::<TELL>(*op, bus, retired) {
            Ok(event) if bus.host.alarm => self.alarmed(bus, event),
            Ok(event) => Ok(event),
            Err((UNDECODED, _)) => self.step_undecoded(bus, retired),
            Err((cause, value)) => self.raise(bus, retired, cause, value),
        }
    }

    /// Decodes the instruction at pc, caches it and executes it.
    #[cold]
    #[inline(never)]
    fn step_undecoded(&mut self, bus: &mut Bus, retired: &mut Retired) -> Result<Event, Box<Error>> {
        if !bus.code.bring_near(self.pc) {
            match self.fetch(bus) {
                Ok(op) => bus.code.keep(self.pc, op),
                Err((cause, value)) => return self.raise(bus, retired, cause, value),
            }
        }
        self.step(bus, retired)
    }

    fn fetch(&self, bus: &Bus) -> Result<Op, Fault> {
        let half = |address: u64| match bus.memory.read::<2>(address & self.address_mask) {
            Some(bytes) => Ok(u32::from(u16::from_le_bytes(bytes))),
            None => Err((cause::INSTRUCTION_ACCESS, address & self.address_mask)),
        };
        let low = half(self.pc)?;
        let bits = if is_compressed(low) { low } else { low | half(self.pc.wrapping_add(2))? << 16 };
        Ok(decode(bits, &self.isa).with_detail())
    }

    #[inline(always)]
    fn execute<const TELL: bool>(&mut self, op: Op, bus: &mut Bus, retired: &mut Retired) -> Result<Event, Fault> {
        let pc = self.pc;
        let a = self.x[op.rs1 as usize & 63];
        let immediate = i64::from(op.immediate) as u64;
        let b = self.x[op.rs2 as usize & 63].wrapping_add(immediate);
        let address = a.wrapping_add(immediate) & self.address_mask;
        let mut next = pc.wrapping_add(u64::from(op.size)) & self.address_mask;
        let mut bytes = 0;
        let mut event = Event::Retired;
        // `b` is rs2 plus the immediate. Stores use the immediate for the address, so they read rs2 separately.
        let stored = self.x[op.rs2 as usize & 63];
        let value = match op.code {
            Code::Add => a.wrapping_add(b),
            Code::Addw => word(a.wrapping_add(b)),
            Code::Sub => a.wrapping_sub(b),
            Code::Subw => word(a.wrapping_sub(b)),
            Code::Sll => a << (b & 63),
            Code::Sllw => word(a << (b & 31)),
            Code::Srl => a >> (b & 63),
            Code::Srlw => word(u64::from(a as u32 >> (b & 31))),
            Code::Sra => (a as i64 >> (b & 63)) as u64,
            Code::Sraw => (a as i32 >> (b & 31)) as u64,
            Code::Slt => u64::from((a as i64) < b as i64),
            Code::Sltu => u64::from(a < b),
            Code::Xor => a ^ b,
            Code::Or => a | b,
            Code::And => a & b,
            Code::Auipc => self.canonical(pc.wrapping_add(immediate)),

            Code::ShiftAdd => stored.wrapping_add(a << (op.immediate & 3)),
            Code::ShiftAddw => word(stored.wrapping_add(a << (op.immediate & 3))),
            Code::ShiftAddUw => stored.wrapping_add(u64::from(a as u32) << (op.immediate & 3)),
            Code::SllUw => u64::from(a as u32) << (op.immediate & 63),
            Code::Andn => a & !b,
            Code::Orn => a | !b,
            Code::Xnor => !(a ^ b),
            Code::Min => (a as i64).min(b as i64) as u64,
            Code::Max => (a as i64).max(b as i64) as u64,
            Code::Minu => a.min(b),
            Code::Maxu => a.max(b),
            Code::Clz => a.leading_zeros().into(),
            Code::Clzw => (a as u32).leading_zeros().into(),
            Code::Ctz => a.trailing_zeros().into(),
            Code::Ctzw => (a as u32).trailing_zeros().into(),
            Code::Cpop => a.count_ones().into(),
            Code::Cpopw => (a as u32).count_ones().into(),
            Code::Sextb => a as i8 as u64,
            Code::Sexth => a as i16 as u64,
            Code::Zexth => u64::from(a as u16),
            Code::Rol => a.rotate_left(b as u32 & 63),
            Code::Rolw => (a as u32).rotate_left(b as u32 & 31) as i32 as u64,
            Code::Ror => a.rotate_right(b as u32 & 63),
            Code::Rorw => (a as u32).rotate_right(b as u32 & 31) as i32 as u64,
            Code::Orcb => or_combine(a),
            Code::Orcbw => word(or_combine(a)),
            Code::Rev8 => a.swap_bytes(),
            Code::Rev8w => (a as u32).swap_bytes() as i32 as u64,
            Code::Bclr => a & !(1 << (b & 63)),
            Code::Bclrw => word(a & !(1 << (b & 31))),
            Code::Bext => a >> (b & 63) & 1,
            Code::Bextw => a >> (b & 31) & 1,
            Code::Binv => a ^ 1 << (b & 63),
            Code::Binvw => word(a ^ 1 << (b & 31)),
            Code::Bset => a | 1 << (b & 63),
            Code::Bsetw => word(a | 1 << (b & 31)),
            Code::Pack => u64::from(a as u32) | b << 32,
            Code::Packw => word(u64::from(a as u16) | b << 16),
            Code::Packh => u64::from(a as u8) | u64::from(b as u8) << 8,
            Code::Brev8 => reverse_in_bytes(a),
            Code::Brev8w => word(reverse_in_bytes(a)),
            Code::Zip => zip(a as u32) as i32 as u64,
            Code::Unzip => unzip(a as u32) as i32 as u64,

            Code::Mul => a.wrapping_mul(b),
            Code::Mulw => word(a.wrapping_mul(b)),
            Code::Mulh => ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64,
            Code::Mulhsu => (i128::from(a as i64).wrapping_mul(i128::from(b)) >> 64) as u64,
            Code::Mulhu => ((u128::from(a) * u128::from(b)) >> 64) as u64,
            Code::Mulhw => ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u64,
            Code::Mulhsuw => (i64::from(a as i32).wrapping_mul(i64::from(b as u32)) >> 32) as u64,
            Code::Mulhuw => word((u64::from(a as u32) * u64::from(b as u32)) >> 32),
            Code::Div => divide(a, b),
            Code::Divu => divide_unsigned(a, b),
            Code::Rem => remainder(a, b),
            Code::Remu => remainder_unsigned(a, b),
            // On overflow the quotient 2^31 wraps to the dividend.
            Code::Divw => word(divide(word(a), word(b))),
            Code::Divuw => word(divide_unsigned(u64::from(a as u32), u64::from(b as u32))),
            Code::Remw => word(remainder(word(a), word(b))),
            Code::Remuw => word(remainder_unsigned(u64::from(a as u32), u64::from(b as u32))),

            Code::Lb => {
                bytes = 1;
                self.load::<1>(bus, address)? as i8 as u64
            }
            Code::Lbu => {
                bytes = 1;
                self.load::<1>(bus, address)?
            }
            Code::Lh => {
                bytes = 2;
                self.load::<2>(bus, address)? as i16 as u64
            }
            Code::Lhu => {
                bytes = 2;
                self.load::<2>(bus, address)?
            }
            Code::Lw => {
                bytes = 4;
                word(self.load::<4>(bus, address)?)
            }
            Code::Lwu => {
                bytes = 4;
                self.load::<4>(bus, address)?
            }
            Code::Ld => {
                bytes = 8;
                self.load::<8>(bus, address)?
            }
            Code::Flw => {
                bytes = 4;
                self.float_on(bus)?;
                self.load::<4>(bus, address)? | float::BOX
            }
            Code::Fld => {
                bytes = 8;
                self.float_on(bus)?;
                self.load::<8>(bus, address)?
            }
            Code::Sb => {
                bytes = 1;
                self.store::<1>(bus, address, stored)?;
                0
            }
            Code::Sh => {
                bytes = 2;
                self.store::<2>(bus, address, stored)?;
                0
            }
            Code::Sw => {
                bytes = 4;
                self.store::<4>(bus, address, stored)?;
                0
            }
            Code::Sd => {
                bytes = 8;
                self.store::<8>(bus, address, stored)?;
                0
            }
            Code::Fsw => {
                bytes = 4;
                self.float_on(bus)?;
                self.store::<4>(bus, address, stored)?;
                0
            }
            Code::Fsd => {
                bytes = 8;
                self.float_on(bus)?;
                self.store::<8>(bus, address, stored)?;
                0
            }
            Code::Lrw | Code::Scw | Code::Amow | Code::Lrd | Code::Scd | Code::Amod => {
                let (value, written) = self.atomic(bus, address, stored)?;
                if written || op.class != Class::StoreConditional {
                    bytes = if matches!(op.code, Code::Lrw | Code::Scw | Code::Amow) { 4 } else { 8 };
                }
                value
            }

            Code::Jal => {
                let link = self.canonical(next);
                next = pc.wrapping_add(immediate) & self.address_mask;
                link
            }
            Code::Jalr => {
                let link = self.canonical(next);
                next = address & !1;
                link
            }
            Code::Beq => self.branch(a == stored, immediate, &mut next),
            Code::Bne => self.branch(a != stored, immediate, &mut next),
            Code::Blt => self.branch((a as i64) < stored as i64, immediate, &mut next),
            Code::Bge => self.branch(a as i64 >= stored as i64, immediate, &mut next),
            Code::Bltu => self.branch(a < stored, immediate, &mut next),
            Code::Bgeu => self.branch(a >= stored, immediate, &mut next),

            Code::Float => self.float(bus)?,
            Code::Mark => {
                event = Event::Mark(op.immediate as u16);
                0
            }
            Code::Csrrw | Code::Csrrs | Code::Csrrc | Code::Csrrwi | Code::Csrrsi | Code::Csrrci => {
                self.access_csr(bus)?
            }
            Code::Fence => 0,
            Code::Unknown => return Err((UNDECODED, 0)),
            Code::FenceI | Code::Ecall | Code::Ebreak | Code::Mret | Code::Wfi | Code::Illegal => {
                if let Some(target) = self.system(bus)? {
                    next = target;
                }
                0
            }
        };
        if next & self.align_mask != 0 {
            return Err((cause::INSTRUCTION_MISALIGNED, next));
        }
        if TELL {
            retired.pc = pc;
            retired.next_pc = next;
            retired.address = address;
            retired.bytes = bytes;
            retired.size = op.size;
            retired.class = op.class;
            retired.destination = Reg(op.rd);
            retired.sources = [Reg(op.rs1), Reg(op.rs2), Reg(op.rs3)];
            retired.detail = op.detail;
            (retired.dividend_bits, retired.divisor_bits) = (0, 0);
            match op.class {
                Class::Divide => {
                    (retired.dividend_bits, retired.divisor_bits) = division_bits(op.code, a, b);
                    retired.detail |= division_signs(op.code, a, b);
                }
                Class::Branch => retired.address = pc.wrapping_add(immediate) & self.address_mask,
                _ => {}
            }
        }
        self.x[op.rd as usize & 63] = value;
        self.x[0] = 0;
        self.pc = next;
        self.completed += 1;
        Ok(event)
    }

    /// Looks up the instruction at pc again. Rare instructions use this, so that `execute` can keep fields of the
    /// instruction in registers rather than all of it in memory.
    pub(super) fn current(&self, bus: &Bus) -> Op {
        bus.code.op(self.pc).copied().unwrap_or(Op::UNKNOWN)
    }

    /// A value in the form that registers hold: sign-extended from the register width.
    #[inline]
    fn canonical(&self, value: u64) -> u64 {
        if self.address_mask == u64::MAX { value } else { word(value) }
    }

    #[inline]
    fn branch(&self, taken: bool, offset: u64, next: &mut u64) -> u64 {
        if taken {
            *next = self.pc.wrapping_add(offset) & self.address_mask;
        }
        0
    }

    /// Returns an illegal-instruction fault while the floating-point unit is off.
    fn float_on(&self, bus: &Bus) -> Result<(), Fault> {
        if self.has_float() { Ok(()) } else { Err(self.illegal(bus)) }
    }

    #[inline(never)]
    fn float(&mut self, bus: &Bus) -> Result<u64, Fault> {
        let op = self.current(bus);
        self.float_on(bus)?;
        // Operations that do not round have the mode 0.
        let encoded = if op.rounding == 7 { self.csr.frm } else { op.rounding };
        let Some(rounding) = Rounding::new(encoded) else { return Err(self.illegal(bus)) };
        let operands = [op.rs1, op.rs2, op.rs3].map(|register| self.x[register as usize & 63]);
        let (value, flags) = float::execute(op.float, op.format, rounding, operands);
        self.csr.fflags |= flags;
        Ok(value)
    }

    #[cold]
    #[inline(never)]
    fn access_csr(&mut self, bus: &Bus) -> Result<u64, Fault> {
        let op = self.current(bus);
        let number = op.immediate as u32 & 0xfff;
        let small = (op.immediate as u32 >> 12 & 31).into();
        let operand = match op.code {
            Code::Csrrw | Code::Csrrs | Code::Csrrc => self.x[op.rs1 as usize & 63],
            _ => small,
        };
        let old = self.read_csr(bus, number).ok_or_else(|| self.illegal(bus))?;
        // Setting or clearing no bits (operand x0 or 0) is not a write.
        let nothing = op.rs1 == 0 && small == 0;
        let new = match op.code {
            Code::Csrrw | Code::Csrrwi => Some(operand),
            Code::Csrrs | Code::Csrrsi => (!nothing).then_some(old | operand),
            _ => (!nothing).then_some(old & !operand),
        };
        if let Some(new) = new
            && self.write_csr(bus, number, new).is_none()
        {
            return Err(self.illegal(bus));
        }
        Ok(old)
    }

    #[cold]
    #[inline(never)]
    fn system(&mut self, bus: &mut Bus) -> Result<Option<u64>, Fault> {
        match self.current(bus).code {
            Code::FenceI => bus.code.flush(),
            Code::Ecall => return Err((cause::ECALL_MACHINE, 0)),
            Code::Ebreak if self.is_semihosting(bus) => {
                let (operation, parameter) = (self.x[A0] & self.address_mask, self.x[A1]);
                let result = semihosting::call(bus, self.isa.xlen, operation, parameter, self.cycle);
                self.x[A0] = self.canonical(result);
            }
            Code::Ebreak => return Err((cause::BREAKPOINT, self.pc)),
            Code::Mret => return Ok(Some(self.leave_trap())),
            Code::Wfi => self.wait(),
            _ => return Err(self.illegal(bus)),
        }
        Ok(None)
    }

    /// Whether the `ebreak` at pc is between the two shifts that make it a semihosting call.
    fn is_semihosting(&self, bus: &Bus) -> bool {
        let word = |address: u64| bus.memory.read(address & self.address_mask).map(u32::from_le_bytes);
        word(self.pc.wrapping_sub(4)) == Some(semihosting::BEFORE)
            && word(self.pc.wrapping_add(4)) == Some(semihosting::AFTER)
    }

    /// The fault of an illegal instruction. Its value is the instruction's bits.
    #[cold]
    fn illegal(&self, bus: &Bus) -> Fault {
        let half = |address: u64| {
            bus.memory.read(address & self.address_mask).map_or(0, |half| u64::from(u16::from_le_bytes(half)))
        };
        let low = half(self.pc);
        let bits = if is_compressed(low as u32) { low } else { low | half(self.pc.wrapping_add(2)) << 16 };
        (cause::ILLEGAL_INSTRUCTION, bits)
    }

    /// Handles the instruction's effects outside the hart, while the host's alarm is set.
    #[cold]
    #[inline(never)]
    fn alarmed(&self, bus: &mut Bus, event: Event) -> Result<Event, Box<Error>> {
        match bus.attend() {
            Ok(true) => Ok(Event::Exited),
            Ok(false) => Ok(event),
            Err(error) => Err(Box::new(error.at(self.place()))),
        }
    }
}

/// Significant bits of the magnitudes of a division's operands.
fn division_bits(code: Code, a: u64, b: u64) -> (u8, u8) {
    let bits = |value: u64| match code {
        Code::Div | Code::Rem => magnitude_bits(value, true),
        Code::Divu | Code::Remu => magnitude_bits(value, false),
        Code::Divw | Code::Remw => magnitude_bits(word(value), true),
        _ => magnitude_bits(u64::from(value as u32), false),
    };
    (bits(a), bits(b))
}

/// The bits of [`Retired::detail`] that depend on the signs of a division's operands.
fn division_signs(code: Code, a: u64, b: u64) -> u8 {
    let (a, b) = match code {
        Code::Div | Code::Rem => (a as i64, b as i64),
        Code::Divw | Code::Remw => ((a as i32).into(), (b as i32).into()),
        _ => return 0,
    };
    let negated = match code {
        Code::Rem | Code::Remw => a < 0,
        _ => (a < 0) != (b < 0) && b != 0,
    };
    (u8::from(a < 0 || b < 0) * Retired::NEGATIVE) | (u8::from(negated) * Retired::NEGATED)
}
