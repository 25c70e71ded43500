//! Models of vector instructions, as far as the scheduling of lanes needs them: the compiler keeps pointers and
//! lengths of several lanes in vectors. Ciphers need no models, only the levels.

use iced_x86::{EncodingKind, Instruction, Mnemonic, OpKind, Register};

use crate::machine::{Interpreter, StepResult, Vector};
use crate::memory::Level;
use crate::operations::{Rearrangement, VectorOperation as V, element_bytes, operation};

impl Interpreter<'_> {
    /// Runs an instruction on vector or mask registers, whose result has at most `level`. Returns `false` if there is no model.
    pub(super) fn vector(&mut self, instruction: &Instruction, level: Level) -> StepResult<bool> {
        use Mnemonic as M;
        let mnemonic = instruction.mnemonic();
        if instruction.op_mask() != Register::None && self.level(instruction.op_mask()) != Level::Public {
            return Ok(false);
        }
        if instruction.op_count() == 0 {
            return Ok(false);
        }
        if self.mask_instruction(instruction, level)? {
            return Ok(true);
        }
        let Some(operation) = operation(mnemonic) else { return Ok(false) };
        let size = self.size(instruction, 0);
        let last = (0..instruction.op_count()).rev().find(|&i| instruction.op_kind(i) != OpKind::Immediate8);
        let last = last.unwrap_or(0);
        // In legacy instructions the first source is also the destination.
        let first = if last >= 2 { last - 1 } else { 0 };
        let unit = element_bytes(mnemonic);
        let with_immediate = last + 1 < instruction.op_count();
        let bits = 8 * unit as u64;

        let result = match operation {
            V::Move => self.operand(instruction, 1, size)?,
            V::MoveLow => {
                let moved = self.size(instruction, 0).min(self.size(instruction, 1)).min(8);
                self.operand(instruction, 1, moved)?
            }
            V::MoveScalar if last == 1 && !instruction.is_string_instruction() => {
                let mut value = self.operand(instruction, 1, unit)?;
                if instruction.op0_kind() == OpKind::Register && instruction.op1_kind() == OpKind::Register {
                    let old = self.operand(instruction, 0, 16)?;
                    value.bytes[unit..16].copy_from_slice(&old.bytes[unit..16]);
                    value.levels[unit..16].copy_from_slice(&old.levels[unit..16]);
                }
                value
            }
            V::Bits(function) => self.pairs(instruction, first, last, 8, level, function)?,
            V::Elements(function) => self.pairs(instruction, first, last, unit, level, function)?,
            V::Shift(function) if with_immediate => {
                let count = u64::from(instruction.immediate8());
                self.pairs(instruction, last, last, unit, level, |a, _| function(a, count, bits))?
            }
            // By a register, whose first eight bytes are the count for all elements.
            V::Shift(function) if matches!(mnemonic, M::Psllq | M::Vpsllq) => {
                let by = self.operand(instruction, last, 16)?;
                if by.levels[..8].iter().any(|level| *level != Level::Public) {
                    return Ok(false);
                }
                let count = number(&by, 0, 8);
                self.pairs(instruction, first, first, unit, level, |a, _| function(a, count, bits))?
            }
            V::ShiftEach(function) => {
                self.pairs(instruction, first, last, unit, level, |a, count| function(a, count, bits))?
            }
            V::Broadcast(part) => {
                let mut value = self.operand(instruction, 1, part)?;
                for i in part..size {
                    (value.bytes[i], value.levels[i]) = (value.bytes[i - part], value.levels[i - part]);
                }
                value
            }
            V::Insert(part) => {
                let mut value = self.operand(instruction, first, size)?;
                let from = self.operand(instruction, last, part)?;
                let at = part * (usize::from(instruction.immediate8()) % (size / part));
                value.bytes[at..at + part].copy_from_slice(&from.bytes[..part]);
                value.levels[at..at + part].copy_from_slice(&from.levels[..part]);
                value
            }
            V::Extract(part) => {
                let whole = self.size(instruction, 1);
                let from = self.operand(instruction, 1, whole)?;
                let at = part * (usize::from(instruction.immediate8()) % (whole / part));
                vector_from_bytes(part, |i| (from.bytes[at + i], from.levels[at + i]))
            }
            V::Narrow(wide, narrow) if !instruction.has_op_mask() => {
                let whole = self.size(instruction, 1);
                let a = self.operand(instruction, 1, whole)?;
                vector_from_bytes(size.min(whole / wide * narrow), |i| {
                    let at = i / narrow * wide + i % narrow;
                    (a.bytes[at], a.levels[at])
                })
            }
            V::Ternary => {
                let [a, b, c] = [0, 1, 2].map(|i| self.operand(instruction, i, size));
                let (a, b, c, table) = (a?, b?, c?, instruction.immediate8());
                let constant = matches!(table, 0 | 0xff);
                vector_from_bytes(size, |i| {
                    let bit = |bit: u8| {
                        let index =
                            (a.bytes[i] >> bit & 1) << 2 | (b.bytes[i] >> bit & 1) << 1 | (c.bytes[i] >> bit & 1);
                        (table >> index & 1) << bit
                    };
                    let of = a.levels[i].max(b.levels[i]).max(c.levels[i]);
                    ((0..8).map(bit).fold(0, |all, bit| all | bit), if constant { Level::Public } else { of })
                })
            }
            V::PermuteTwo { overwrites } => {
                let [o0, o1] = [self.operand(instruction, 0, size)?, self.operand(instruction, 1, size)?];
                let b = self.operand(instruction, 2, size)?;
                let (index, a) = if overwrites { (o1, o0) } else { (o0, o1) };
                let secret_order = index.level(size);
                vector_from_bytes(size, |i| {
                    let at = usize::from(index.bytes[i / unit * unit]) % (2 * size / unit);
                    let (from, at) = if at < size / unit { (&a, at) } else { (&b, at - size / unit) };
                    let at = at * unit + i % unit;
                    (from.bytes[at], if secret_order == Level::Public { from.levels[at] } else { level })
                })
            }
            V::FromMask => {
                let bits = self.get(instruction.op1_register());
                vector_from_bytes(size, |i| (if bits >> (i / unit) & 1 == 1 { 0xff } else { 0 }, level))
            }
            V::BlendByMask if instruction.has_op_mask() => {
                let (a, b) = (self.operand(instruction, 1, size)?, self.operand(instruction, 2, size)?);
                let bits = self.get(instruction.op_mask());
                let value = vector_from_bytes(size, |i| {
                    let from = if bits >> (i / unit) & 1 == 1 { &b } else { &a };
                    (from.bytes[i], from.levels[i])
                });
                return self.put_whole(instruction, &value, size);
            }
            V::BlendBySign => {
                let [a, b, by] = [1, 2, 3].map(|i| self.operand(instruction, i, size));
                let (a, b, by) = (a?, b?, by?);
                vector_from_bytes(size, |i| {
                    let sign = i / unit * unit + unit - 1;
                    let from = if by.bytes[sign] >> 7 == 1 { &b } else { &a };
                    (from.bytes[i], from.levels[i].max(by.levels[sign]))
                })
            }
            V::Expand => {
                let a = self.operand(instruction, 1, size)?;
                let chosen = if instruction.has_op_mask() { self.get(instruction.op_mask()) } else { u64::MAX };
                vector_from_bytes(size, |i| {
                    let location = i / unit;
                    let before = (chosen & ((1 << location) - 1)).count_ones() as usize;
                    let at = (before * unit + i % unit).min(63);
                    (a.bytes[at], a.levels[at])
                })
            }
            V::Rearrange(operation) => {
                let (a, b) = (self.operand(instruction, first, size)?, self.operand(instruction, last, size)?);
                let order = with_immediate.then(|| usize::from(instruction.immediate8()));
                rearranged(operation, [&a, &b], order, [size, unit], level.max(Level::Unknown))
            }
            _ => return Ok(false),
        };
        self.put_vector(instruction, &result, size, unit)?;
        Ok(true)
    }

    /// The first `size` bytes of an operand; the remaining bytes are zero.
    pub(super) fn operand(&mut self, instruction: &Instruction, operand: u32, size: usize) -> StepResult<Vector> {
        let mut value = Vector::ZERO;
        match instruction.op_kind(operand) {
            OpKind::Register => {
                let register = instruction.op_register(operand);
                if register.is_vector_register() {
                    let from = &self.vectors[register.number()];
                    value.bytes[..size].copy_from_slice(&from.bytes[..size]);
                    value.levels[..size].copy_from_slice(&from.levels[..size]);
                } else {
                    value.bytes[..8].copy_from_slice(&self.get(register).to_le_bytes());
                    value.levels[..8].fill(self.level(register));
                    value.bytes[size.min(8)..8].fill(0);
                }
            }
            _ => {
                let address = self.address(instruction, operand)?;
                let there = instruction.memory_size().size().min(size).max(1);
                self.memory.read(address, &mut value.bytes[..there], &mut value.levels[..there])?;
                if instruction.is_broadcast() {
                    for i in there..size {
                        (value.bytes[i], value.levels[i]) = (value.bytes[i - there], value.levels[i - there]);
                    }
                }
            }
        }
        Ok(value)
    }

    /// Applies a function to two operands, element by element.
    fn pairs(
        &mut self,
        instruction: &Instruction,
        first: u32,
        last: u32,
        unit: usize,
        most: Level,
        function: impl Fn(u64, u64) -> u64,
    ) -> StepResult<Vector> {
        let size = self.size(instruction, 0);
        let (a, b) = (self.operand(instruction, first, size)?, self.operand(instruction, last, size)?);
        let mut value = Vector::ZERO;
        for i in 0..size / unit {
            let at = unit * i..unit * (i + 1);
            let result = function(number(&a, i, unit), number(&b, i, unit));
            value.bytes[at.clone()].copy_from_slice(&result.to_le_bytes()[..unit]);
            let level = a.levels[at.clone()].iter().chain(&b.levels[at.clone()]).copied().max().unwrap_or_default();
            value.levels[at].fill(level.min(most));
        }
        Ok(value)
    }

    /// Writes the elements of the result that the mask selects.
    fn put_vector(&mut self, instruction: &Instruction, value: &Vector, size: usize, unit: usize) -> StepResult {
        let mut value = *value;
        if instruction.has_op_mask() {
            let bits = self.get(instruction.op_mask());
            let zeroes = instruction.zeroing_masking();
            let old = self.operand(instruction, 0, size)?;
            for i in 0..size {
                if bits >> (i / unit) & 1 == 0 {
                    (value.bytes[i], value.levels[i]) =
                        if zeroes { (0, Level::Public) } else { (old.bytes[i], old.levels[i]) };
                }
            }
        }
        self.put_whole(instruction, &value, size).map(|_| ())
    }

    fn put_whole(&mut self, instruction: &Instruction, value: &Vector, size: usize) -> StepResult<bool> {
        match instruction.op0_kind() {
            OpKind::Register if instruction.op0_register().is_vector_register() => {
                let register = &mut self.vectors[instruction.op0_register().number()];
                // All but legacy instructions clear the remaining bytes.
                let all = if instruction.encoding() == EncodingKind::Legacy { size } else { 64 };
                let mut value = *value;
                value.bytes[size..].fill(0);
                value.levels[size..].fill(Level::Public);
                register.bytes[..all].copy_from_slice(&value.bytes[..all]);
                register.levels[..all].copy_from_slice(&value.levels[..all]);
            }
            OpKind::Register => {
                self.set(instruction.op0_register(), number(value, 0, 8), Level::Public);
                self.put_levels(instruction, 0, &value.levels[..instruction.op0_register().size()])?;
            }
            _ => {
                let address = self.address(instruction, 0)?;
                self.memory.write(address, &value.bytes[..size], &value.levels[..size])?;
            }
        }
        Ok(true)
    }
}

/// Makes a vector byte by byte.
fn vector_from_bytes(size: usize, byte: impl Fn(usize) -> (u8, Level)) -> Vector {
    let mut value = Vector::ZERO;
    for i in 0..size {
        (value.bytes[i], value.levels[i]) = byte(i);
    }
    value
}

/// An element as a number.
pub(super) fn number(vector: &Vector, index: usize, unit: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes[..unit].copy_from_slice(&vector.bytes[unit * index..unit * (index + 1)]);
    u64::from_le_bytes(bytes)
}

/// A rearrangement of two operands, of which instructions with one source take only the second. `secret` is the level
/// of bytes whose place depends on a secret.
fn rearranged(
    operation: Rearrangement,
    [a, b]: [&Vector; 2],
    order: Option<usize>,
    [size, unit]: [usize; 2],
    secret: Level,
) -> Vector {
    use Rearrangement as R;
    let by = order.unwrap_or(0);
    let zero = (0, Level::Public);
    let secret_order = [a, b].map(|order| order.level(size) != Level::Public);
    let of = |from: &Vector, at: usize| (from.bytes[at], from.levels[at]);
    vector_from_bytes(size, |i| {
        // The 16 bytes that this byte is in, and its place in them.
        let (base, place) = (i / 16 * 16, i % 16);
        match operation {
            R::Interleave(unit, half) => {
                let from = if i % (2 * unit) < unit { a } else { b };
                of(from, base + half + place / (2 * unit) * unit + i % unit)
            }
            R::Pack(unit) | R::PackUnsigned(unit) => {
                let from = if place < 8 { a } else { b };
                let at = base / unit + i % 8 / (unit / 2);
                let (unused, half) = (64 - 8 * unit as u32, 4 * unit as u32);
                let wide = (number(from, at, unit) << unused) as i64 >> unused;
                let range = match operation {
                    R::PackUnsigned(_) => 0..=(1 << half) - 1,
                    _ => -1 << (half - 1)..=(1 << (half - 1)) - 1,
                };
                let narrow = wide.clamp(*range.start(), *range.end());
                let level = from.levels[at * unit..(at + 1) * unit].iter().copied().max().unwrap_or_default();
                ((narrow >> (8 * (i % (unit / 2)))) as u8, level)
            }
            R::ShiftLeft => place.checked_sub(by).map_or(zero, |at| of(b, base + at)),
            R::ShiftRight if place + by < 16 => of(b, i + by),
            R::ShiftRight => zero,
            R::Shuffle => of(b, base + 4 * (by >> (place / 4 * 2) & 3) + i % 4),
            R::ShuffleTwo => of(if place < 8 { a } else { b }, base + 4 * (by >> (place / 4 * 2) & 3) + i % 4),
            R::ShuffleLow if place < 8 => of(b, base + 2 * (by >> (place / 2 * 2) & 3) + i % 2),
            R::ShuffleLow => of(b, i),
            R::Permute if order.is_some() => of(b, i / 32 * 32 + 8 * (by >> (i % 32 / 8 * 2) & 3) + i % 8),
            R::Permute => {
                let at = number(a, i / unit, unit) as usize % (size / unit) * unit + i % unit;
                (b.bytes[at], if secret_order[0] { secret } else { b.levels[at] })
            }
            R::Blend => of(if by >> (i / unit % 8) & 1 == 1 { b } else { a }, i),
            R::AlignBytes => match place + by {
                at @ 0..16 => of(b, base + at),
                at @ 16..32 => of(a, base + at - 16),
                _ => zero,
            },
            R::PermuteHalves => {
                let choice = by >> (i / 16 * 4);
                let from = if choice & 2 == 0 { a } else { b };
                if choice & 8 == 0 { of(from, 16 * (choice & 1) + place) } else { zero }
            }
            R::ShuffleBytes if secret_order[1] => (0, secret),
            R::ShuffleBytes if b.bytes[i] & 0x80 != 0 => zero,
            R::ShuffleBytes => of(a, base + usize::from(b.bytes[i] & 15)),
            R::ShuffleLanes => {
                // Two bits select one of four parts, or one bit one of two.
                let (bits, parts) = if size == 64 { (2, 4) } else { (1, 2) };
                of(if i < size / 2 { a } else { b }, 16 * (by >> (i / 16 * bits) & (parts - 1)) + place)
            }
            R::AlignElements => {
                let at = i + unit * (by % (size / unit));
                if at < size { of(b, at) } else { of(a, at - size) }
            }
        }
    })
}
