//! Models of instructions on general registers.

use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind, Register, RflagsBits};

use crate::machine::{Interpreter, Scalar, StepResult, flags_of, is_high, mask};
use crate::memory::Level;

impl Interpreter<'_> {
    /// Runs an instruction on general registers, whose result has `level`. Returns `false` if there is no model.
    pub(super) fn scalar(&mut self, instruction: &Instruction, level: Level) -> StepResult<bool> {
        use Mnemonic as M;
        let bytes = self.size(instruction, 0);
        let bits = 8 * bytes as u32;
        let mnemonic = instruction.mnemonic();
        let carry = u64::from(self.flag(RflagsBits::CF));
        match mnemonic {
            M::Nop | M::Endbr64 | M::Mfence | M::Lfence | M::Sfence | M::Pause | M::Cld => {}
            _ if is_prefetch(mnemonic) => {}
            M::Vzeroupper => {
                for register in &mut self.vectors[..16] {
                    register.bytes[16..].fill(0);
                    register.levels[16..].fill(Level::Public);
                }
            }
            M::Mov | M::Movzx => {
                let value = Scalar { value: self.number(instruction, 1)?, levels: self.levels(instruction, 1)? };
                self.put_scalar(instruction, value)?;
            }
            M::Movsx | M::Movsxd => {
                let value = extend(self.number(instruction, 1)?, self.size(instruction, 1));
                self.put(instruction, 0, value, level)?;
            }
            M::Movbe | M::Bswap if mnemonic == M::Movbe || bytes > 2 => {
                let operand = if mnemonic == M::Movbe { 1 } else { 0 };
                let value = self.number(instruction, operand)?.swap_bytes() >> (64 - bits);
                self.put(instruction, 0, value, level)?;
            }
            M::Lea => {
                let value = self.address(instruction, 1)?;
                self.put(instruction, 0, value, level)?;
            }
            M::Push => {
                let value = Scalar { value: self.number(instruction, 0)?, levels: self.levels(instruction, 0)? };
                self.push(value)?;
            }
            M::Pop => {
                let top = self.pop()?;
                self.put_scalar(instruction, top)?;
            }
            M::Leave => {
                self.scalars[4] = self.scalars[5];
                self.scalars[5] = self.pop()?;
            }
            M::Cdq | M::Cqo | M::Cwde | M::Cdqe => {
                let (to, from) = match mnemonic {
                    M::Cdq => (Register::EDX, Register::EAX),
                    M::Cqo => (Register::RDX, Register::RAX),
                    M::Cwde => (Register::EAX, Register::AX),
                    _ => (Register::RAX, Register::EAX),
                };
                let value = extend(self.get(from), from.size());
                let is_sign = matches!(mnemonic, M::Cdq | M::Cqo);
                let value = if is_sign { ((value as i64) >> 63) as u64 } else { value };
                self.set(to, value, level);
            }
            M::Xchg => {
                let (a, b) = (self.number(instruction, 0)?, self.number(instruction, 1)?);
                self.put(instruction, 0, b, level)?;
                self.put(instruction, 1, a, level)?;
            }
            M::Add | M::Adc | M::Sub | M::Sbb | M::Cmp | M::Xadd => {
                let (a, b) = (self.number(instruction, 0)?, self.number(instruction, 1)? & mask(bytes));
                let with = if matches!(mnemonic, M::Adc | M::Sbb) { carry } else { 0 };
                let adds = matches!(mnemonic, M::Add | M::Adc | M::Xadd);
                // A subtraction adds the complement; its carry is a borrow.
                let addend = if adds { b } else { !b & mask(bytes) };
                let (result, carry, overflow) = add(a, addend, with ^ u64::from(!adds), bytes);
                let flags = flags_of(result, bytes, carry == adds, overflow);
                if mnemonic == M::Xadd {
                    self.put(instruction, 1, a, level)?;
                }
                if mnemonic != M::Cmp {
                    self.put(instruction, 0, result, level)?;
                }
                self.set_flags(instruction, flags, level);
            }
            M::And | M::Or | M::Xor | M::Test => {
                let (a, b) = (self.number(instruction, 0)?, self.number(instruction, 1)? & mask(bytes));
                let result = match mnemonic {
                    M::Or => a | b,
                    M::Xor => a ^ b,
                    _ => a & b,
                };
                // A public byte that alone decides the result's byte.
                let decides = |of: u64, at: usize| match mnemonic {
                    M::Xor => false,
                    M::Or => (of >> (8 * at)) as u8 == 0xff,
                    _ => (of >> (8 * at)) as u8 == 0,
                };
                let (mut levels, of_b) = (self.levels(instruction, 0)?, self.levels(instruction, 1)?);
                for (at, (level_a, level_b)) in levels[..bytes].iter_mut().zip(of_b).enumerate() {
                    *level_a = match (*level_a, level_b) {
                        (Level::Public, _) if decides(a, at) => Level::Public,
                        (_, Level::Public) if decides(b, at) => Level::Public,
                        (level_a, level_b) => level_a.max(level_b).min(level),
                    };
                }
                if mnemonic != M::Test {
                    self.put_scalar(instruction, Scalar { value: result, levels })?;
                }
                let level = levels[..bytes].iter().copied().max().unwrap_or_default();
                self.set_flags(instruction, flags_of(result, bytes, false, false), level);
            }
            M::Andn | M::Blsr | M::Blsi | M::Blsmsk | M::Bzhi => {
                let a = self.number(instruction, 1)?;
                let result = match mnemonic {
                    M::Andn => !a & self.number(instruction, 2)?,
                    M::Blsr => a & a.wrapping_sub(1),
                    M::Blsi => a & a.wrapping_neg(),
                    M::Blsmsk => a ^ a.wrapping_sub(1),
                    _ => {
                        a & (1u64.checked_shl(self.number(instruction, 2)? as u32 & 0xff).unwrap_or(0).wrapping_sub(1))
                    }
                } & mask(bytes);
                let carry = match mnemonic {
                    M::Blsi => a != 0,
                    M::Bzhi => self.number(instruction, 2)? as u32 & 0xff >= bits,
                    _ => a == 0,
                };
                self.put(instruction, 0, result, level)?;
                self.set_flags(instruction, flags_of(result, bytes, carry, false), level);
            }
            M::Not => {
                let value = !self.number(instruction, 0)?;
                self.put(instruction, 0, value, level)?;
            }
            M::Neg | M::Inc | M::Dec => {
                let a = self.number(instruction, 0)?;
                let result = match mnemonic {
                    M::Neg => a.wrapping_neg(),
                    M::Inc => a.wrapping_add(1),
                    _ => a.wrapping_sub(1),
                } & mask(bytes);
                let top = 1u64 << (bits - 1);
                let overflow = if mnemonic == M::Dec { result == top - 1 } else { result == top };
                self.put(instruction, 0, result, level)?;
                self.set_flags(instruction, flags_of(result, bytes, a != 0, overflow), level);
            }
            M::Shl | M::Sal | M::Shr | M::Sar | M::Rol | M::Ror => {
                let (a, count) = (self.number(instruction, 0)?, self.number(instruction, 1)? as u32);
                let count = count & if bytes == 8 { 63 } else { 31 };
                let (result, carry) = shift(mnemonic, a, count, bytes);
                let top = |value: u64| value >> (bits - 1) & 1 == 1;
                // For a count of one; otherwise the flag is undefined.
                let overflow = match mnemonic {
                    M::Sar => false,
                    M::Shr => top(a),
                    M::Ror => top(result) != top(result << 1),
                    _ => top(result) != carry,
                };
                self.put(instruction, 0, result, level)?;
                // A count of zero does not change the flags.
                if count != 0 || level != Level::Public {
                    self.set_flags(instruction, flags_of(result, bytes, carry, overflow), level);
                }
            }
            M::Shlx | M::Shrx | M::Sarx | M::Rorx => {
                let (a, count) = (self.number(instruction, 1)?, self.number(instruction, 2)? as u32);
                let result = shift(mnemonic, a, count & (bits - 1), bytes).0;
                self.put(instruction, 0, result, level)?;
            }
            M::Shld | M::Shrd => {
                let (a, b) = (self.number(instruction, 0)?, self.number(instruction, 1)?);
                let count = self.number(instruction, 2)? as u32 & if bytes == 8 { 63 } else { 31 };
                // The result of a larger count is undefined.
                if count > bits {
                    return Ok(false);
                }
                let result = match (count, mnemonic) {
                    (0, _) => a,
                    (_, M::Shld) => a << count | b >> (bits - count),
                    _ => a >> count | b << (bits - count),
                };
                self.put(instruction, 0, result & mask(bytes), level)?;
                self.set_flags(instruction, 0, level.max(Level::Unknown));
            }
            M::Imul if instruction.op_count() > 1 => {
                let last = instruction.op_count() - 1;
                let first = last - 1;
                let (a, b) = (self.number(instruction, first)?, self.number(instruction, last)?);
                let (a, b) = (extend(a, bytes) as i64, extend(b, bytes) as i64);
                let exact = i128::from(a) * i128::from(b);
                let result = exact as u64 & mask(bytes);
                let lost = exact != i128::from(extend(result, bytes) as i64);
                self.put(instruction, 0, result, level)?;
                self.set_flags(instruction, flags_of(result, bytes, lost, lost), level);
            }
            M::Mul if bytes >= 4 => {
                let [low, high] = accumulators(bytes);
                let exact = u128::from(self.get(low)) * u128::from(self.number(instruction, 0)?);
                let upper = (exact >> bits) as u64;
                self.set(low, exact as u64, level);
                self.set(high, upper, level);
                self.set_flags(instruction, flags_of(exact as u64, bytes, upper != 0, upper != 0), level);
            }
            M::Mulx => {
                let exact = u128::from(self.get(accumulators(bytes)[1])) * u128::from(self.number(instruction, 2)?);
                // If both are the same register, it gets the high half.
                self.put(instruction, 1, exact as u64 & mask(bytes), level)?;
                self.put(instruction, 0, (exact >> bits) as u64 & mask(bytes), level)?;
            }
            M::Adcx | M::Adox => {
                let flag = if mnemonic == M::Adcx { RflagsBits::CF } else { RflagsBits::OF };
                let (a, b) = (self.number(instruction, 0)?, self.number(instruction, 1)?);
                let (result, carry, _) = add(a, b, u64::from(self.flag(flag)), bytes);
                self.put(instruction, 0, result, level)?;
                self.set_flags(instruction, if carry { flag } else { 0 }, level);
            }
            M::Div if bytes >= 4 => {
                let [low, high] = accumulators(bytes);
                let dividend = u128::from(self.get(high)) << bits | u128::from(self.get(low));
                let divisor = u128::from(self.number(instruction, 0)?);
                if level != Level::Public || divisor == 0 || dividend / divisor > u128::from(mask(bytes)) {
                    return Ok(false);
                }
                self.set(low, (dividend / divisor) as u64, level);
                self.set(high, (dividend % divisor) as u64, level);
                self.set_flags(instruction, 0, Level::Unknown);
            }
            M::Bt | M::Bts | M::Btr | M::Btc if instruction.op0_kind() == OpKind::Register => {
                let (a, bit) = (self.number(instruction, 0)?, self.number(instruction, 1)? as u32 & (bits - 1));
                let result = match mnemonic {
                    M::Bts => a | 1 << bit,
                    M::Btr => a & !(1 << bit),
                    _ => a ^ 1 << bit,
                };
                if mnemonic != M::Bt {
                    self.put(instruction, 0, result, level)?;
                }
                self.set_flags(instruction, if a >> bit & 1 == 1 { RflagsBits::CF } else { 0 }, level);
            }
            M::Bsf | M::Tzcnt | M::Bsr | M::Lzcnt | M::Popcnt => {
                let a = self.number(instruction, 1)?;
                let (is_scan, mut level_of_result) = (matches!(mnemonic, M::Bsf | M::Bsr), level);
                let result = match mnemonic {
                    M::Popcnt => u64::from(a.count_ones()),
                    M::Lzcnt => u64::from(a.leading_zeros() + bits - 64),
                    M::Bsr if a != 0 => u64::from(63 - a.leading_zeros()),
                    M::Bsr | M::Bsf if a == 0 => self.number(instruction, 0)?,
                    _ => u64::from(a.trailing_zeros().min(bits)),
                };
                // BSF and BSR of zero leave the register unchanged on existing processors.
                if is_scan && level != Level::Public {
                    level_of_result = level.max(self.level(instruction.op0_register()));
                }
                if !is_scan || a != 0 || level != Level::Public {
                    self.put(instruction, 0, result, level_of_result)?;
                }
                let counts = matches!(mnemonic, M::Tzcnt | M::Lzcnt);
                let is_zero = if counts { result == 0 } else { a == 0 };
                let flags = flags_of(u64::from(!is_zero), 8, counts && a == 0, false);
                self.set_flags(instruction, flags & (RflagsBits::ZF | RflagsBits::CF), level);
            }
            M::Cmpxchg => {
                let all = [Register::AL, Register::AX, Register::EAX, Register::RAX];
                let accumulator = all[bytes.trailing_zeros() as usize];
                let (a, held) = (self.get(accumulator), self.number(instruction, 0)?);
                if level != Level::Public {
                    return Ok(false);
                }
                if a == held {
                    let new = self.number(instruction, 1)?;
                    self.put(instruction, 0, new, level)?;
                } else {
                    self.set(accumulator, held, level);
                }
                let (difference, carry, overflow) = add(a, !held & mask(bytes), 1, bytes);
                self.set_flags(instruction, flags_of(difference, bytes, !carry, overflow), level);
            }
            M::Stc => self.set_flags(instruction, 0, Level::Public),
            _ if instruction.condition_code() != ConditionCode::None => {
                let holds = self.condition(instruction.condition_code());
                if instruction.op_count() == 1 {
                    self.put(instruction, 0, u64::from(holds), level)?;
                } else {
                    // A condition that is not public selects without a branch: the result may be either operand.
                    let from = if holds { 1 } else { 0 };
                    let (value, mut levels) = (self.number(instruction, from)?, self.levels(instruction, from)?);
                    if self.flags_level(instruction.rflags_read()) != Level::Public {
                        levels = [level.max(self.level(instruction.op0_register())); 8];
                    }
                    self.put_scalar(instruction, Scalar { value, levels })?;
                }
            }
            M::Stosb | M::Stosd | M::Stosq | M::Movsb | M::Movsq if instruction.is_string_instruction() => {
                return self.string(instruction);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Runs REP STOS and REP MOVS, with increasing addresses.
    fn string(&mut self, instruction: &Instruction) -> StepResult<bool> {
        use Mnemonic as M;
        use Register as R;
        if !instruction.has_rep_prefix() || self.level(R::RCX) != Level::Public {
            return Ok(false);
        }
        let unit = match instruction.mnemonic() {
            M::Stosb | M::Movsb => 1,
            M::Stosd => 4,
            _ => 8,
        };
        let moves = matches!(instruction.mnemonic(), M::Movsb | M::Movsq);
        if moves && self.level(R::RSI) != Level::Public {
            return Ok(false);
        }
        for _ in 0..self.get(R::RCX) {
            let (value, level) = if moves {
                self.memory.read_number(self.get(R::RSI), unit)?
            } else {
                (self.get(R::RAX), self.level(R::RAX))
            };
            self.memory.write_number(self.get(R::RDI), unit, value, level)?;
            self.set(R::RDI, self.get(R::RDI) + unit as u64, Level::Public);
            if moves {
                self.set(R::RSI, self.get(R::RSI) + unit as u64, Level::Public);
            }
        }
        self.set(R::RCX, 0, Level::Public);
        Ok(true)
    }

    /// Size of an operand in bytes.
    pub(super) fn size(&self, instruction: &Instruction, operand: u32) -> usize {
        if operand >= instruction.op_count() {
            return 8;
        }
        match instruction.op_kind(operand) {
            OpKind::Register => instruction.op_register(operand).size(),
            OpKind::Memory => instruction.memory_size().size(),
            _ => 8,
        }
    }

    /// The value of an operand of up to eight bytes.
    pub(super) fn number(&mut self, instruction: &Instruction, operand: u32) -> StepResult<u64> {
        match instruction.op_kind(operand) {
            OpKind::Register => Ok(self.get(instruction.op_register(operand))),
            OpKind::Memory => {
                let address = self.address(instruction, operand)?;
                Ok(self.memory.read_number(address, self.size(instruction, operand).min(8))?.0)
            }
            _ => instruction.try_immediate(operand).map_err(|error| error.to_string().into()),
        }
    }

    /// Writes an operand of up to eight bytes.
    pub(super) fn put(&mut self, instruction: &Instruction, operand: u32, value: u64, level: Level) -> StepResult {
        match instruction.op_kind(operand) {
            OpKind::Register => self.set(instruction.op_register(operand), value, level),
            _ => {
                let address = self.address(instruction, operand)?;
                self.memory.write_number(address, self.size(instruction, operand).min(8), value, level)?;
            }
        }
        Ok(())
    }

    /// Writes the first operand, with a level for each byte.
    fn put_scalar(&mut self, instruction: &Instruction, scalar: Scalar) -> StepResult {
        self.put(instruction, 0, scalar.value, Level::Public)?;
        self.put_levels(instruction, 0, &scalar.levels[..self.size(instruction, 0)])
    }

    /// The levels of an operand of up to eight bytes.
    fn levels(&mut self, instruction: &Instruction, operand: u32) -> StepResult<[Level; 8]> {
        let mut levels = [Level::Public; 8];
        match instruction.op_kind(operand) {
            OpKind::Register => {
                let register = instruction.op_register(operand);
                if register.is_gpr() && !is_high(register) {
                    let all = self.scalars[register.full_register().number()].levels;
                    levels[..register.size()].copy_from_slice(&all[..register.size()]);
                } else {
                    levels[0] = self.level(register);
                }
            }
            OpKind::Memory => {
                let (address, size) = (self.address(instruction, operand)?, self.size(instruction, operand).min(8));
                self.memory.read(address, &mut [0; 8][..size], &mut levels[..size])?;
            }
            _ => {}
        }
        Ok(levels)
    }

    /// Sets the levels of the bytes of an operand that has been written.
    pub(super) fn put_levels(&mut self, instruction: &Instruction, operand: u32, levels: &[Level]) -> StepResult {
        match instruction.op_kind(operand) {
            OpKind::Register => {
                let register = instruction.op_register(operand);
                let all = &mut self.scalars[register.full_register().number()].levels;
                let first = usize::from(is_high(register));
                all[first..first + levels.len()].copy_from_slice(levels);
            }
            _ => {
                let address = self.address(instruction, operand)?;
                for (at, level) in levels.iter().enumerate() {
                    self.memory.set_level(address + at as u64, 1, *level)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn condition(&self, code: ConditionCode) -> bool {
        use ConditionCode as C;
        use RflagsBits as F;
        match code {
            C::None => true,
            C::o => self.flag(F::OF),
            C::b => self.flag(F::CF),
            C::e => self.flag(F::ZF),
            C::be => self.flag(F::CF) || self.flag(F::ZF),
            C::s => self.flag(F::SF),
            C::p => self.flag(F::PF),
            C::l => self.flag(F::SF) != self.flag(F::OF),
            C::le => self.flag(F::ZF) || self.flag(F::SF) != self.flag(F::OF),
            C::no => !self.condition(C::o),
            C::ae => !self.condition(C::b),
            C::ne => !self.condition(C::e),
            C::a => !self.condition(C::be),
            C::ns => !self.condition(C::s),
            C::np => !self.condition(C::p),
            C::ge => !self.condition(C::l),
            C::g => !self.condition(C::le),
        }
    }
}

fn is_prefetch(mnemonic: Mnemonic) -> bool {
    matches!(mnemonic, Mnemonic::Prefetcht0 | Mnemonic::Prefetcht1 | Mnemonic::Prefetcht2 | Mnemonic::Prefetchnta)
}

/// Sign-extends a number of `bytes` bytes.
fn extend(value: u64, bytes: usize) -> u64 {
    let unused = 64 - 8 * bytes as u32;
    ((value << unused) as i64 >> unused) as u64
}

/// The registers of a product or dividend of twice as many bytes.
fn accumulators(bytes: usize) -> [Register; 2] {
    if bytes == 4 { [Register::EAX, Register::EDX] } else { [Register::RAX, Register::RDX] }
}

/// A sum with a carry. Returns whether it carries, and whether it overflows as signed numbers.
fn add(a: u64, b: u64, carry: u64, bytes: usize) -> (u64, bool, bool) {
    let wide = u128::from(a) + u128::from(b) + u128::from(carry);
    let result = wide as u64 & mask(bytes);
    let overflow = !(a ^ b) & (a ^ result);
    (result, wide >> (8 * bytes) & 1 == 1, overflow >> (8 * bytes - 1) & 1 == 1)
}

/// A shift or rotation by less than the width. Returns the result and the carry bit.
fn shift(mnemonic: Mnemonic, a: u64, count: u32, bytes: usize) -> (u64, bool) {
    let bits = 8 * bytes as u32;
    if count == 0 {
        return (a, false);
    }
    let turn = count % bits;
    let rotated = if turn == 0 { a } else { a << turn | a >> (bits - turn) } & mask(bytes);
    let back = if turn == 0 { a } else { a >> turn | a << (bits - turn) } & mask(bytes);
    match mnemonic {
        Mnemonic::Shl | Mnemonic::Sal | Mnemonic::Shlx => {
            let wide = u128::from(a) << count;
            (wide as u64 & mask(bytes), wide >> bits & 1 == 1)
        }
        Mnemonic::Shr | Mnemonic::Shrx => (a.checked_shr(count).unwrap_or(0), a >> (count - 1) & 1 == 1),
        Mnemonic::Sar | Mnemonic::Sarx => {
            let a = extend(a, bytes) as i64;
            ((a >> count) as u64 & mask(bytes), a >> (count - 1) & 1 == 1)
        }
        Mnemonic::Rol => (rotated, rotated & 1 == 1),
        _ => (back, back >> (bits - 1) & 1 == 1),
    }
}
