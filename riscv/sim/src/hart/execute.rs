//! Executes one instruction: the RISC-V Instruction Set Manual, volume I, in terms of [`Opcode`].

use super::decode::{decode, is_compressed};
use super::float::{self, Rounding};
use super::integer::{
    divide, divide_unsigned, magnitude_bits, or_combine, remainder, remainder_unsigned, reverse_in_bytes, unzip, word,
    zip,
};
use super::op::{Op, Opcode};
use super::{Event, Hart, crypto};
use crate::bus::Bus;
use crate::device::{linux, semihosting};
use crate::error::{Error, cause};
use crate::retired::{Class, Reg, Retired};

const SP: usize = 2;
const A0: usize = 10;
const A1: usize = 11;
const A2: usize = 12;
const A7: usize = 17;
/// Size of a block of Zicbom and Zicboz in bytes, as `Zic64b` has it.
pub(crate) const CACHE_BLOCK_BYTES: u64 = 64;

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
        self.step_and_describe::<true>(bus, retired)
    }

    /// Executes the next instruction. `retired` is filled in only if `DESCRIBE` is true.
    #[inline]
    pub(crate) fn step_and_describe<const DESCRIBE: bool>(
        &mut self,
        bus: &mut Bus,
        retired: &mut Retired,
    ) -> Result<Event, Box<Error>> {
        if self.attention
            && let Some(event) = self.attend(bus, retired)?
        {
            return Ok(event);
        }
        let Some(op) = bus.code.op(self.pc) else { return self.step_undecoded(bus, retired) };
        match self.execute::<DESCRIBE>(*op, bus, retired) {
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
        // An instruction with a breakpoint is not kept, so all others take no longer than without breakpoints.
        let pc = self.pc;
        let is_breakpoint = bus.stops.breakpoints.contains(&pc);
        if is_breakpoint && bus.stops.stop(self.place_of_stop(), None) {
            return Ok(Event::Stopped);
        }
        if !bus.code.find_page(self.pc) {
            match self.fetch(bus) {
                Ok(op) => bus.code.keep(self.pc, op),
                Err((cause, value)) => return self.raise(bus, retired, cause, value),
            }
        }
        let event = self.step(bus, retired);
        if is_breakpoint {
            bus.code.drop_executed(pc);
        }
        event
    }

    /// Hart, address and completed instructions: the same again only if nothing was executed.
    pub(super) fn place_of_stop(&self) -> (usize, u64, u64) {
        (self.id, self.pc, self.completed)
    }

    pub(super) fn fetch(&self, bus: &Bus) -> Result<Op, Fault> {
        let half = |address: u64| match bus.memory.read::<2>(address & self.address_mask) {
            Some(bytes) => Ok(u32::from(u16::from_le_bytes(bytes))),
            None => Err((cause::INSTRUCTION_ACCESS, address & self.address_mask)),
        };
        let low = half(self.pc)?;
        let bits = if is_compressed(low) { low } else { low | half(self.pc.wrapping_add(2))? << 16 };
        Ok(decode(bits, &self.isa).with_detail())
    }

    #[inline(always)]
    fn execute<const DESCRIBE: bool>(&mut self, op: Op, bus: &mut Bus, retired: &mut Retired) -> Result<Event, Fault> {
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
        macro_rules! load {
            ($bytes:literal) => {{
                bytes = $bytes;
                self.load::<$bytes>(bus, address)?
            }};
        }
        // A store writes nothing to rd, which is x0.
        macro_rules! store {
            ($bytes:literal) => {{
                bytes = $bytes;
                self.store::<$bytes>(bus, address, stored)?;
                0
            }};
        }
        let value = match op.code {
            Opcode::Add => a.wrapping_add(b),
            Opcode::Addw => word(a.wrapping_add(b)),
            Opcode::Sub => a.wrapping_sub(b),
            Opcode::Subw => word(a.wrapping_sub(b)),
            Opcode::Sll => a << (b & 63),
            Opcode::Sllw => word(a << (b & 31)),
            Opcode::Srl => a >> (b & 63),
            Opcode::Srlw => word(u64::from(a as u32 >> (b & 31))),
            Opcode::Sra => (a as i64 >> (b & 63)) as u64,
            Opcode::Sraw => (a as i32 >> (b & 31)) as u64,
            Opcode::Slt => u64::from((a as i64) < b as i64),
            Opcode::Sltu => u64::from(a < b),
            Opcode::Xor => a ^ b,
            Opcode::Or => a | b,
            Opcode::And => a & b,
            Opcode::Auipc => self.canonical(pc.wrapping_add(immediate)),

            Opcode::ShiftAdd => stored.wrapping_add(a << (op.immediate & 3)),
            Opcode::ShiftAddw => word(stored.wrapping_add(a << (op.immediate & 3))),
            Opcode::ShiftAddUw => stored.wrapping_add(u64::from(a as u32) << (op.immediate & 3)),
            Opcode::SllUw => u64::from(a as u32) << (op.immediate & 63),
            Opcode::Andn => a & !b,
            Opcode::Orn => a | !b,
            Opcode::Xnor => !(a ^ b),
            Opcode::Min => (a as i64).min(b as i64) as u64,
            Opcode::Max => (a as i64).max(b as i64) as u64,
            Opcode::Minu => a.min(b),
            Opcode::Maxu => a.max(b),
            Opcode::Clz => a.leading_zeros().into(),
            Opcode::Clzw => (a as u32).leading_zeros().into(),
            Opcode::Ctz => a.trailing_zeros().into(),
            Opcode::Ctzw => (a as u32).trailing_zeros().into(),
            Opcode::Cpop => a.count_ones().into(),
            Opcode::Cpopw => (a as u32).count_ones().into(),
            Opcode::Sextb => a as i8 as u64,
            Opcode::Sexth => a as i16 as u64,
            Opcode::Zexth => u64::from(a as u16),
            Opcode::Rol => a.rotate_left(b as u32 & 63),
            Opcode::Rolw => (a as u32).rotate_left(b as u32 & 31) as i32 as u64,
            Opcode::Ror => a.rotate_right(b as u32 & 63),
            Opcode::Rorw => (a as u32).rotate_right(b as u32 & 31) as i32 as u64,
            Opcode::Orcb => or_combine(a),
            Opcode::Orcbw => word(or_combine(a)),
            Opcode::Rev8 => a.swap_bytes(),
            Opcode::Rev8w => (a as u32).swap_bytes() as i32 as u64,
            Opcode::Bclr => a & !(1 << (b & 63)),
            Opcode::Bclrw => word(a & !(1 << (b & 31))),
            Opcode::Bext => a >> (b & 63) & 1,
            Opcode::Bextw => a >> (b & 31) & 1,
            Opcode::Binv => a ^ 1 << (b & 63),
            Opcode::Binvw => word(a ^ 1 << (b & 31)),
            Opcode::Bset => a | 1 << (b & 63),
            Opcode::Bsetw => word(a | 1 << (b & 31)),
            Opcode::Pack => u64::from(a as u32) | b << 32,
            Opcode::Packw => word(u64::from(a as u16) | b << 16),
            Opcode::Packh => u64::from(a as u8) | u64::from(b as u8) << 8,
            Opcode::Brev8 => reverse_in_bytes(a),
            Opcode::Brev8w => word(reverse_in_bytes(a)),
            Opcode::Zip => zip(a as u32) as i32 as u64,
            Opcode::Unzip => unzip(a as u32) as i32 as u64,

            Opcode::CzeroEqz => a * u64::from(stored != 0),
            Opcode::CzeroNez => a * u64::from(stored == 0),

            Opcode::Mul => a.wrapping_mul(b),
            Opcode::Mulw => word(a.wrapping_mul(b)),
            Opcode::Mulh => ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64,
            Opcode::Mulhsu => (i128::from(a as i64).wrapping_mul(i128::from(b)) >> 64) as u64,
            Opcode::Mulhu => ((u128::from(a) * u128::from(b)) >> 64) as u64,
            Opcode::Mulhw => ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u64,
            Opcode::Mulhsuw => (i64::from(a as i32).wrapping_mul(i64::from(b as u32)) >> 32) as u64,
            Opcode::Mulhuw => word((u64::from(a as u32) * u64::from(b as u32)) >> 32),
            Opcode::Div => divide(a, b),
            Opcode::Divu => divide_unsigned(a, b),
            Opcode::Rem => remainder(a, b),
            Opcode::Remu => remainder_unsigned(a, b),
            // On overflow the quotient 2^31 wraps to the dividend.
            Opcode::Divw => word(divide(word(a), word(b))),
            Opcode::Divuw => word(divide_unsigned(u64::from(a as u32), u64::from(b as u32))),
            Opcode::Remw => word(remainder(word(a), word(b))),
            Opcode::Remuw => word(remainder_unsigned(u64::from(a as u32), u64::from(b as u32))),

            Opcode::Lb => load!(1) as i8 as u64,
            Opcode::Lbu => load!(1),
            Opcode::Lh => load!(2) as i16 as u64,
            Opcode::Lhu => load!(2),
            Opcode::Lw => word(load!(4)),
            Opcode::Lwu => load!(4),
            Opcode::Ld => load!(8),
            Opcode::Flw => {
                self.float_on(bus)?;
                load!(4) | float::NAN_BOX
            }
            Opcode::Fld => {
                self.float_on(bus)?;
                load!(8)
            }
            Opcode::Sb => store!(1),
            Opcode::Sh => store!(2),
            Opcode::Sw => store!(4),
            Opcode::Sd => store!(8),
            Opcode::Fsw => {
                self.float_on(bus)?;
                store!(4)
            }
            Opcode::Fsd => {
                self.float_on(bus)?;
                store!(8)
            }
            Opcode::Lrw | Opcode::Scw | Opcode::Amow | Opcode::Lrd | Opcode::Scd | Opcode::Amod => {
                let (value, written) = self.atomic(bus, address, stored)?;
                if written || op.class != Class::StoreConditional {
                    bytes = if matches!(op.code, Opcode::Lrw | Opcode::Scw | Opcode::Amow) { 4 } else { 8 };
                }
                value
            }

            Opcode::Jal => {
                let link = self.canonical(next);
                next = pc.wrapping_add(immediate) & self.address_mask;
                link
            }
            Opcode::Jalr => {
                let link = self.canonical(next);
                next = address & !1;
                link
            }
            Opcode::Beq => self.branch(a == stored, immediate, &mut next),
            Opcode::Bne => self.branch(a != stored, immediate, &mut next),
            Opcode::Blt => self.branch((a as i64) < stored as i64, immediate, &mut next),
            Opcode::Bge => self.branch(a as i64 >= stored as i64, immediate, &mut next),
            Opcode::Bltu => self.branch(a < stored, immediate, &mut next),
            Opcode::Bgeu => self.branch(a >= stored, immediate, &mut next),

            Opcode::Float => self.float(bus)?,
            Opcode::Mark => {
                event = Event::Mark(op.immediate as u16);
                0
            }
            Opcode::Csrrw | Opcode::Csrrs | Opcode::Csrrc | Opcode::Csrrwi | Opcode::Csrrsi | Opcode::Csrrci => {
                self.access_csr(bus)?
            }
            Opcode::Fence => 0,
            Opcode::Unknown => return Err((UNDECODED, 0)),
            Opcode::FenceI
            | Opcode::CboClean
            | Opcode::CboZero
            | Opcode::Ecall
            | Opcode::Ebreak
            | Opcode::Mret
            | Opcode::Wfi
            | Opcode::Illegal => {
                if let Some(target) = self.system(bus)? {
                    next = target;
                }
                0
            }
            // Carry-less products, permutations, AES and SHA-2.
            _ => self.crypto(bus),
        };
        if next & self.align_mask != 0 {
            return Err((cause::INSTRUCTION_MISALIGNED, next));
        }
        if DESCRIBE {
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

    #[inline(never)]
    fn crypto(&self, bus: &Bus) -> u64 {
        let op = self.current(bus);
        let [a, b] = [op.rs1, op.rs2].map(|register| self.x[register as usize & 63]);
        crypto::execute(op.code, a, b, op.immediate)
    }

    #[cold]
    #[inline(never)]
    fn access_csr(&mut self, bus: &mut Bus) -> Result<u64, Fault> {
        // `mip` shows what has arrived at the devices.
        bus.advance(self.cycle);
        let op = self.current(bus);
        let number = op.immediate as u32 & 0xfff;
        let small = (op.immediate as u32 >> 12 & 31).into();
        let operand = match op.code {
            Opcode::Csrrw | Opcode::Csrrs | Opcode::Csrrc => self.x[op.rs1 as usize & 63],
            _ => small,
        };
        let readable = self.may_use(number).then(|| self.read_csr(bus, number)).flatten();
        let old = readable.ok_or_else(|| self.illegal(bus))?;
        // Setting or clearing no bits (operand x0 or 0) is not a write.
        let nothing = op.rs1 == 0 && small == 0;
        let new = match op.code {
            Opcode::Csrrw | Opcode::Csrrwi => Some(operand),
            Opcode::Csrrs | Opcode::Csrrsi => (!nothing).then_some(old | operand),
            _ => (!nothing).then_some(old & !operand),
        };
        if let Some(new) = new
            && self.write_csr(bus, number, new).is_none()
        {
            return Err(self.illegal(bus));
        }
        self.check_protection(bus);
        Ok(old)
    }

    #[cold]
    #[inline(never)]
    fn system(&mut self, bus: &mut Bus) -> Result<Option<u64>, Fault> {
        let op = self.current(bus);
        match op.code {
            // User mode needs bits of `menvcfg`, which are zero.
            Opcode::CboClean | Opcode::CboZero if !self.csr.user => {
                let address = self.x[op.rs1 as usize & 63] & self.address_mask;
                let start = address & !(CACHE_BLOCK_BYTES - 1);
                let may =
                    if op.code == Opcode::CboZero { bus.memory.is_writable(start) } else { bus.is_there(address) };
                if !may {
                    return Err((cause::STORE_ACCESS, address));
                }
                for address in (start..start + CACHE_BLOCK_BYTES).step_by(8).filter(|_| op.code == Opcode::CboZero) {
                    self.store::<8>(bus, address, 0)?;
                }
            }
            Opcode::FenceI => bus.code.flush(),
            Opcode::Ecall if self.csr.user => return Err((cause::ECALL_USER, 0)),
            Opcode::Ecall if bus.host.linux.is_some() => {
                let [number, first, second, third, stack] = [A7, A0, A1, A2, SP].map(|register| self.x[register]);
                let arguments = [first, second, third];
                let result = linux::call(bus, self.isa.xlen, number, arguments, stack, self.cycle);
                self.x[A0] = self.canonical(result.unwrap_or_else(u64::wrapping_neg));
            }
            Opcode::Ecall => return Err((cause::ECALL_MACHINE, 0)),
            Opcode::Ebreak if self.is_semihosting(bus) => {
                let (operation, parameter) = (self.x[A0] & self.address_mask, self.x[A1]);
                let result = semihosting::call(bus, self.isa.xlen, operation, parameter, self.cycle);
                self.x[A0] = self.canonical(result);
            }
            Opcode::Ebreak => return Err((cause::BREAKPOINT, self.pc)),
            Opcode::Mret if !self.csr.user => return Ok(Some(self.leave_trap(bus))),
            Opcode::Wfi if !self.csr.user || !self.csr.traps_wait => self.wait(),
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
fn division_bits(code: Opcode, a: u64, b: u64) -> (u8, u8) {
    let bits = |value: u64| match code {
        Opcode::Div | Opcode::Rem => magnitude_bits(value, true),
        Opcode::Divu | Opcode::Remu => magnitude_bits(value, false),
        Opcode::Divw | Opcode::Remw => magnitude_bits(word(value), true),
        _ => magnitude_bits(u64::from(value as u32), false),
    };
    (bits(a), bits(b))
}

/// The bits of [`Retired::detail`] that depend on the signs of a division's operands.
fn division_signs(code: Opcode, a: u64, b: u64) -> u8 {
    let (a, b) = match code {
        Opcode::Div | Opcode::Rem => (a as i64, b as i64),
        Opcode::Divw | Opcode::Remw => ((a as i32).into(), (b as i32).into()),
        _ => return 0,
    };
    let negated = match code {
        Opcode::Rem | Opcode::Remw => a < 0,
        _ => (a < 0) != (b < 0) && b != 0,
    };
    (u8::from(a < 0 || b < 0) * Retired::NEGATIVE) | (u8::from(negated) * Retired::NEGATED)
}
