//! Runs instructions on vectors and mask registers by their models.

use iced_x86::{EncodingKind, Instruction, Mnemonic, OpKind, RflagsBits};

use crate::machine::{Interpreter, Scalar, StepResult, Vector, flags_of, mask};
use crate::memory::Level;
use crate::operations::{Operands, VectorOperation as V, element_bytes, holds, operation};

impl Interpreter<'_> {
    /// Runs an instruction whose result has at most `level`. Returns `false` if there is no model.
    pub(super) fn vector(&mut self, instruction: &Instruction, level: Level) -> StepResult<bool> {
        use Mnemonic as M;
        let is_short = matches!(
            instruction.mnemonic(),
            M::Vmovss | M::Vmovsd | M::Vpmovqb | M::Vpmovqw | M::Vpmovqd | M::Vpmovdb | M::Vpmovdw | M::Vpmovwb
        );
        // A mask does not apply to the bytes after a short result.
        let is_masked_short = is_short && instruction.has_op_mask();
        if is_masked_short || self.level(instruction.op_mask()) != Level::Public || instruction.is_string_instruction()
        {
            return Ok(false);
        }
        let Some(operation) = operation(instruction.mnemonic()) else { return Ok(false) };
        let (size, unit) = (self.size(instruction, 0), element_bytes(instruction.mnemonic()));
        let bits = 8 * unit as u64;
        let operands = 0..instruction.op_count();
        let last = operands.rev().find(|&i| instruction.op_kind(i) != OpKind::Immediate8).unwrap_or(0);
        let immediate = (last + 1 < instruction.op_count()).then(|| instruction.immediate8());
        // In legacy instructions the first source is also the destination.
        let (third, first) = if last >= 2 { (last - 2, last - 1) } else { (0, 0) };

        let result = match operation {
            V::Move | V::Blend => self.operand(instruction, last)?,
            V::Elements(function) => {
                let (a, b) = (self.operand(instruction, first)?, self.operand(instruction, last)?);
                let element = |i| function(a.number(i, unit), b.number(i, unit), bits);
                if instruction.op0_register().is_k() {
                    return self.put_bits(instruction, self.size(instruction, first) / unit, level, |i| {
                        element(i) << (64 - bits) != 0
                    });
                }
                elements(size, unit, |i| (element(i), a.level_of(i, unit).max(b.level_of(i, unit)).min(level)))
            }
            V::Shift(function) => {
                // By an immediate, or by the first eight bytes of a register.
                let by = self.operand(instruction, last)?;
                let (a, count, count_level) = match immediate {
                    Some(count) => (by, u64::from(count), Level::Public),
                    None => (self.operand(instruction, first)?, by.number(0, 8), by.level(8)),
                };
                elements(size, unit, |i| {
                    (function(a.number(i, unit), count, bits), a.level_of(i, unit).max(count_level))
                })
            }
            V::Bytes(function) => {
                let operands = Operands {
                    a: self.operand(instruction, first)?,
                    b: self.operand(instruction, last)?,
                    c: self.operand(instruction, third)?,
                    immediate,
                    chosen: self.chosen(instruction),
                    size,
                    source: (self.size(instruction, last), instruction.op_kind(last) == OpKind::Memory),
                    unit,
                    unknown: level.max(Level::Unknown),
                };
                elements(size, 1, |i| {
                    let (byte, level) = function(&operands, i);
                    (u64::from(byte), level)
                })
            }
            V::Compare { is_signed } => {
                let (a, b) = (self.operand(instruction, first)?, self.operand(instruction, last)?);
                return self.put_bits(instruction, self.size(instruction, first) / unit, level, |i| {
                    holds(immediate.unwrap_or_default(), is_signed, [&a, &b].map(|of| of.number(i, unit)), bits)
                });
            }
            V::SignBits(unit) => {
                let a = self.operand(instruction, last)?;
                return self.put_bits(instruction, self.size(instruction, last) / unit, level, |i| {
                    a.bytes[unit * i + unit - 1] >> 7 == 1
                });
            }
            V::Mask(function) => {
                let by = self.number(instruction, last)?;
                let (a, b) = match immediate {
                    Some(count) => (by, u64::from(count)),
                    None => (self.number(instruction, first)?, by),
                };
                self.put_scalar_or_mask(instruction, function(a, b, bits) & mask(unit), level)?;
                return Ok(true);
            }
            V::MaskFlags(function) => {
                let [zero, carry] = function(self.number(instruction, first)?, self.number(instruction, last)?);
                let flags = flags_of(zero & mask(unit), 8, carry & mask(unit) == 0, false);
                self.set_flags(instruction, flags & (RflagsBits::ZF | RflagsBits::CF), level);
                return Ok(true);
            }
        };
        let kept = if matches!(operation, V::Blend) { first } else { 0 };
        self.put_vector(instruction, result, kept)?;
        Ok(true)
    }

    /// An operand. Bytes after it are zero.
    pub(super) fn operand(&mut self, instruction: &Instruction, operand: u32) -> StepResult<Vector> {
        let mut value = Vector::ZERO;
        let size = self.size(instruction, operand).max(1);
        let (bytes, levels) = (&mut value.bytes[..size], &mut value.levels[..size]);
        if instruction.op_kind(operand) != OpKind::Register {
            let address = self.address(instruction, operand)?;
            self.memory.read(address, bytes, levels)?;
            if instruction.is_broadcast() {
                value = elements(64, size, |_| (value.number(0, size), value.level(size)));
            }
            return Ok(value);
        }
        let register = instruction.op_register(operand);
        if register.is_vector_register() {
            let from = &self.vectors[register.number()];
            bytes.copy_from_slice(&from.bytes[..size]);
            levels.copy_from_slice(&from.levels[..size]);
        } else {
            bytes.copy_from_slice(&self.get(register).to_le_bytes()[..size]);
            levels.fill(self.level(register));
        }
        Ok(value)
    }

    /// A bit for each element that the instruction's mask selects.
    fn chosen(&self, instruction: &Instruction) -> u64 {
        if instruction.has_op_mask() { self.get(instruction.op_mask()) } else { u64::MAX }
    }

    /// Writes a bit for each element, into a mask register or a general one.
    fn put_bits(
        &mut self,
        instruction: &Instruction,
        count: usize,
        level: Level,
        bit: impl Fn(usize) -> bool,
    ) -> StepResult<bool> {
        let bits = (0..count).fold(0, |bits, i| bits | u64::from(bit(i)) << i);
        self.put_scalar_or_mask(instruction, bits & self.chosen(instruction), level)?;
        Ok(true)
    }

    fn put_scalar_or_mask(&mut self, instruction: &Instruction, value: u64, level: Level) -> StepResult {
        if instruction.op0_register().is_k() {
            self.masks[instruction.op0_register().number()] = Scalar::new(value, level);
            return Ok(());
        }
        self.put(instruction, 0, value, level)
    }

    /// Writes the elements of the result that the mask selects. The others are those of operand `kept`, or zero.
    fn put_vector(&mut self, instruction: &Instruction, mut value: Vector, kept: u32) -> StepResult {
        let (size, unit) = (self.size(instruction, 0), element_bytes(instruction.mnemonic()));
        value.bytes[size..].fill(0);
        value.levels[size..].fill(Level::Public);
        if instruction.has_op_mask() {
            let chosen = self.chosen(instruction);
            let kept = if instruction.zeroing_masking() { Vector::ZERO } else { self.operand(instruction, kept)? };
            for i in (0..size).filter(|i| chosen >> (i / unit) & 1 == 0) {
                (value.bytes[i], value.levels[i]) = kept.byte(i);
            }
        }
        match instruction.op0_kind() {
            OpKind::Register if instruction.op0_register().is_vector_register() => {
                // All but legacy instructions clear the remaining bytes.
                let all = if instruction.encoding() == EncodingKind::Legacy { size } else { 64 };
                let register = &mut self.vectors[instruction.op0_register().number()];
                register.bytes[..all].copy_from_slice(&value.bytes[..all]);
                register.levels[..all].copy_from_slice(&value.levels[..all]);
            }
            OpKind::Register => {
                self.set(instruction.op0_register(), value.number(0, 8), Level::Public);
                self.put_levels(instruction, 0, &value.levels[..size])?;
            }
            _ => {
                let address = self.address(instruction, 0)?;
                self.memory.write(address, &value.bytes[..size], &value.levels[..size])?;
            }
        }
        Ok(())
    }
}

/// A vector of `size` bytes, by its elements of `unit` bytes.
fn elements(size: usize, unit: usize, element: impl Fn(usize) -> (u64, Level)) -> Vector {
    let mut value = Vector::ZERO;
    for i in 0..size / unit {
        let (number, level) = element(i);
        value.bytes[unit * i..unit * (i + 1)].copy_from_slice(&number.to_le_bytes()[..unit]);
        value.levels[unit * i..unit * (i + 1)].fill(level);
    }
    value
}
