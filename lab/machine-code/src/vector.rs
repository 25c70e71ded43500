//! Models of vector instructions, as far as the scheduling of lanes needs them: the compiler keeps pointers and
//! lengths of several lanes in vectors. Ciphers need no models, only the levels.

use std::sync::OnceLock;

use iced_x86::{EncodingKind, Instruction, Mnemonic, OpKind, Register};

use crate::machine::{Interpreter, StepResult, Vector};
use crate::memory::Level;

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
        let size = self.size(instruction, 0);
        let last = (0..instruction.op_count()).rev().find(|&i| instruction.op_kind(i) != OpKind::Immediate8);
        let last = last.unwrap_or(0);
        // In legacy instructions the first source is also the destination.
        let first = if last >= 2 { last - 1 } else { 0 };
        let unit = element_bytes(mnemonic);

        let result = match mnemonic {
            M::Movups
            | M::Movupd
            | M::Movaps
            | M::Movapd
            | M::Movdqa
            | M::Movdqu
            | M::Lddqu
            | M::Movntdq
            | M::Movntps
            | M::Vmovups
            | M::Vmovupd
            | M::Vmovaps
            | M::Vmovapd
            | M::Vmovdqa
            | M::Vmovdqu
            | M::Vlddqu
            | M::Vmovntdq
            | M::Vmovntps
            | M::Vmovdqa32
            | M::Vmovdqa64
            | M::Vmovdqu8
            | M::Vmovdqu16
            | M::Vmovdqu32
            | M::Vmovdqu64 => self.operand(instruction, 1, size)?,
            M::Movd | M::Movq | M::Vmovd | M::Vmovq => {
                let moved = self.size(instruction, 0).min(self.size(instruction, 1)).min(8);
                self.operand(instruction, 1, moved)?
            }
            M::Movss | M::Movsd | M::Vmovss | M::Vmovsd if last == 1 && !instruction.is_string_instruction() => {
                let moved = if matches!(mnemonic, M::Movss | M::Vmovss) { 4 } else { 8 };
                let mut value = self.operand(instruction, 1, moved)?;
                if instruction.op0_kind() == OpKind::Register && instruction.op1_kind() == OpKind::Register {
                    let old = self.operand(instruction, 0, 16)?;
                    value.bytes[moved..16].copy_from_slice(&old.bytes[moved..16]);
                    value.levels[moved..16].copy_from_slice(&old.levels[moved..16]);
                }
                value
            }
            M::Pxor | M::Xorps | M::Xorpd | M::Vpxor | M::Vpxord | M::Vpxorq | M::Vxorps | M::Vxorpd => {
                self.pairs(instruction, first, last, 8, level, |a, b| a ^ b)?
            }
            M::Pand | M::Andps | M::Andpd | M::Vpand | M::Vpandd | M::Vpandq | M::Vandps | M::Vandpd => {
                self.pairs(instruction, first, last, 8, level, |a, b| a & b)?
            }
            M::Pandn | M::Andnps | M::Andnpd | M::Vpandn | M::Vpandnd | M::Vpandnq | M::Vandnps | M::Vandnpd => {
                self.pairs(instruction, first, last, 8, level, |a, b| !a & b)?
            }
            M::Por | M::Orps | M::Orpd | M::Vpor | M::Vpord | M::Vporq | M::Vorps | M::Vorpd => {
                self.pairs(instruction, first, last, 8, level, |a, b| a | b)?
            }
            M::Paddb | M::Paddw | M::Paddd | M::Paddq | M::Vpaddb | M::Vpaddw | M::Vpaddd | M::Vpaddq => {
                self.pairs(instruction, first, last, unit, level, u64::wrapping_add)?
            }
            M::Psubb | M::Psubw | M::Psubd | M::Psubq | M::Vpsubb | M::Vpsubw | M::Vpsubd | M::Vpsubq => {
                self.pairs(instruction, first, last, unit, level, u64::wrapping_sub)?
            }
            M::Vpminuq | M::Vpminud | M::Pminud | M::Pminub | M::Vpminub => {
                self.pairs(instruction, first, last, unit, level, u64::min)?
            }
            M::Vpmaxuq | M::Vpmaxud | M::Pmaxub | M::Vpmaxub => {
                self.pairs(instruction, first, last, unit, level, u64::max)?
            }
            M::Pcmpeqb | M::Pcmpeqd | M::Vpcmpeqb | M::Vpcmpeqd | M::Vpcmpeqq => {
                self.pairs(instruction, first, last, unit, level, |a, b| if a == b { u64::MAX } else { 0 })?
            }
            M::Psllw | M::Vpsllw | M::Psllq | M::Vpsllq | M::Pslld | M::Vpslld
                if instruction.op_kind(instruction.op_count() - 1) == OpKind::Immediate8 =>
            {
                let count = u32::from(instruction.immediate8());
                let bits = 8 * unit as u32;
                let source = if instruction.op_count() == 3 { 1 } else { 0 };
                let shift = |a: u64, _| if count < bits { a << count } else { 0 };
                self.pairs(instruction, source, source, unit, level, shift)?
            }
            // By a register, whose first eight bytes are the count for all elements.
            M::Psllq | M::Vpsllq => {
                let by = self.operand(instruction, last, 16)?;
                if by.levels[..8].iter().any(|level| *level != Level::Public) {
                    return Ok(false);
                }
                let count = number(&by, 0, 8);
                self.pairs(instruction, first, first, unit, level, |a, _| if count < 64 { a << count } else { 0 })?
            }
            M::Psrlw | M::Vpsrlw | M::Psrlq | M::Vpsrlq | M::Psrld | M::Vpsrld
                if instruction.op_kind(instruction.op_count() - 1) == OpKind::Immediate8 =>
            {
                let count = u32::from(instruction.immediate8());
                let bits = 8 * unit as u32;
                let source = if instruction.op_count() == 3 { 1 } else { 0 };
                let shift = |a: u64, _| if count < bits { a >> count } else { 0 };
                self.pairs(instruction, source, source, unit, level, shift)?
            }
            M::Vpbroadcastb
            | M::Vpbroadcastw
            | M::Vpbroadcastd
            | M::Vpbroadcastq
            | M::Vbroadcastss
            | M::Vbroadcastsd
            | M::Vbroadcasti128
            | M::Vbroadcastf128
            | M::Vbroadcasti32x4
            | M::Vbroadcastf32x4
            | M::Vbroadcasti64x2
            | M::Vbroadcastf64x2
            | M::Vbroadcasti32x8
            | M::Vbroadcastf32x8
            | M::Vbroadcasti64x4
            | M::Vbroadcastf64x4 => {
                let part = moved_bytes(mnemonic);
                let mut value = self.operand(instruction, 1, part)?;
                for i in part..size {
                    (value.bytes[i], value.levels[i]) = (value.bytes[i - part], value.levels[i - part]);
                }
                value
            }
            M::Vinserti128
            | M::Vinsertf128
            | M::Vinserti32x4
            | M::Vinsertf32x4
            | M::Vinserti64x2
            | M::Vinsertf64x2
            | M::Vinserti32x8
            | M::Vinsertf32x8
            | M::Vinserti64x4
            | M::Vinsertf64x4 => {
                let part = moved_bytes(mnemonic);
                let mut value = self.operand(instruction, 1, size)?;
                let from = self.operand(instruction, 2, part)?;
                let at = part * (usize::from(instruction.immediate8()) % (size / part));
                value.bytes[at..at + part].copy_from_slice(&from.bytes[..part]);
                value.levels[at..at + part].copy_from_slice(&from.levels[..part]);
                value
            }
            M::Vextracti128
            | M::Vextractf128
            | M::Vextracti32x4
            | M::Vextractf32x4
            | M::Vextracti64x2
            | M::Vextractf64x2
            | M::Vextracti32x8
            | M::Vextractf32x8
            | M::Vextracti64x4
            | M::Vextractf64x4 => {
                let part = moved_bytes(mnemonic);
                let whole = self.size(instruction, 1);
                let from = self.operand(instruction, 1, whole)?;
                let at = part * (usize::from(instruction.immediate8()) % (whole / part));
                let mut value = Vector::ZERO;
                value.bytes[..part].copy_from_slice(&from.bytes[at..at + part]);
                value.levels[..part].copy_from_slice(&from.levels[at..at + part]);
                value
            }
            M::Pinsrb | M::Pinsrw | M::Pinsrd | M::Pinsrq | M::Vpinsrb | M::Vpinsrw | M::Vpinsrd | M::Vpinsrq => {
                let mut value = self.operand(instruction, first, 16)?;
                let from = self.operand(instruction, last, unit)?;
                let at = unit * (usize::from(instruction.immediate8()) % (16 / unit));
                value.bytes[at..at + unit].copy_from_slice(&from.bytes[..unit]);
                value.levels[at..at + unit].copy_from_slice(&from.levels[..unit]);
                value
            }
            M::Pextrb | M::Pextrw | M::Pextrd | M::Pextrq | M::Vpextrb | M::Vpextrw | M::Vpextrd | M::Vpextrq => {
                let from = self.operand(instruction, 1, 16)?;
                let at = unit * (usize::from(instruction.immediate8()) % (16 / unit));
                let mut value = Vector::ZERO;
                value.bytes[..unit].copy_from_slice(&from.bytes[at..at + unit]);
                value.levels[..unit].copy_from_slice(&from.levels[at..at + unit]);
                value
            }
            M::Punpcklbw
            | M::Punpcklwd
            | M::Punpckldq
            | M::Punpcklqdq
            | M::Vpunpcklbw
            | M::Vpunpcklwd
            | M::Vpunpckldq
            | M::Vpunpcklqdq
            | M::Punpckhbw
            | M::Punpckhwd
            | M::Punpckhdq
            | M::Punpckhqdq
            | M::Vpunpckhbw
            | M::Vpunpckhwd
            | M::Vpunpckhdq
            | M::Vpunpckhqdq => {
                let (unit, half) = interleaving(mnemonic);
                let (a, b) = (self.operand(instruction, first, size)?, self.operand(instruction, last, size)?);
                vector_from_bytes(size, |i| {
                    let from = if i % (2 * unit) < unit { &a } else { &b };
                    let at = i / 16 * 16 + half + i % 16 / (2 * unit) * unit + i % unit;
                    (from.bytes[at], from.levels[at])
                })
            }
            M::Vpternlogd | M::Vpternlogq => {
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
            M::Vpsllvq | M::Vpsllvd => {
                let bits = 8 * unit as u64;
                let shift = |a: u64, count: u64| if count < bits { a << count } else { 0 };
                self.pairs(instruction, first, last, unit, level, shift)?
            }
            M::Vpsrlvq | M::Vpsrlvd => {
                let bits = 8 * unit as u64;
                let shift = |a: u64, count: u64| if count < bits { a >> count } else { 0 };
                self.pairs(instruction, first, last, unit, level, shift)?
            }
            M::Vpmovqb | M::Vpmovqd | M::Vpmovqw | M::Vpmovdb | M::Vpmovdw | M::Vpmovwb
                if !instruction.has_op_mask() =>
            {
                let (wide, narrow) = match mnemonic {
                    M::Vpmovqb => (8, 1),
                    M::Vpmovqw => (8, 2),
                    M::Vpmovqd => (8, 4),
                    M::Vpmovdb => (4, 1),
                    M::Vpmovdw => (4, 2),
                    _ => (2, 1),
                };
                let whole = self.size(instruction, 1);
                let a = self.operand(instruction, 1, whole)?;
                vector_from_bytes(size.min(whole / wide * narrow), |i| {
                    let at = i / narrow * wide + i % narrow;
                    (a.bytes[at], a.levels[at])
                })
            }
            M::Packssdw | M::Vpackssdw | M::Packsswb | M::Vpacksswb => {
                let unit = if matches!(mnemonic, M::Packssdw | M::Vpackssdw) { 4 } else { 2 };
                let (a, b) = (self.operand(instruction, first, size)?, self.operand(instruction, last, size)?);
                vector_from_bytes(size, |i| {
                    let from = if i % 16 < 8 { &a } else { &b };
                    let at = i / 16 * 16 / unit + i % 8 / (unit / 2);
                    let (unused, half) = (64 - 8 * unit as u32, 4 * unit as u32);
                    let wide = (number(from, at, unit) << unused) as i64 >> unused;
                    let narrow = wide.clamp(-1 << (half - 1), (1 << (half - 1)) - 1);
                    let level = from.levels[at * unit..(at + 1) * unit].iter().copied().max().unwrap_or_default();
                    ((narrow >> (8 * (i % (unit / 2)))) as u8, level)
                })
            }
            M::Pslldq | M::Vpslldq | M::Psrldq | M::Vpsrldq => {
                let source = if instruction.op_count() == 3 { 1 } else { 0 };
                let a = self.operand(instruction, source, size)?;
                let by = usize::from(instruction.immediate8()).min(16);
                let left = matches!(mnemonic, M::Pslldq | M::Vpslldq);
                vector_from_bytes(size, |i| {
                    let at = if left { (i % 16).checked_sub(by) } else { Some(i % 16 + by).filter(|at| *at < 16) };
                    at.map_or((0, Level::Public), |at| (a.bytes[i / 16 * 16 + at], a.levels[i / 16 * 16 + at]))
                })
            }
            M::Pshufd | M::Vpshufd => {
                let a = self.operand(instruction, 1, size)?;
                let order = usize::from(instruction.immediate8());
                vector_from_bytes(size, |i| {
                    let at = i / 16 * 16 + 4 * (order >> (i % 16 / 4 * 2) & 3) + i % 4;
                    (a.bytes[at], a.levels[at])
                })
            }
            M::Vpermq | M::Vpermpd if instruction.op_kind(2) == OpKind::Immediate8 => {
                let a = self.operand(instruction, 1, size)?;
                let order = usize::from(instruction.immediate8());
                vector_from_bytes(size, |i| {
                    let at = i / 32 * 32 + 8 * (order >> (i % 32 / 8 * 2) & 3) + i % 8;
                    (a.bytes[at], a.levels[at])
                })
            }
            M::Vpermi2q | M::Vpermt2q | M::Vpermi2d | M::Vpermt2d => {
                let unit = if matches!(mnemonic, M::Vpermi2q | M::Vpermt2q) { 8 } else { 4 };
                let [o0, o1] = [self.operand(instruction, 0, size)?, self.operand(instruction, 1, size)?];
                let b = self.operand(instruction, 2, size)?;
                let overwrites = matches!(mnemonic, M::Vpermt2q | M::Vpermt2d);
                let (index, a) = if overwrites { (o1, o0) } else { (o0, o1) };
                let secret_order = index.level(size);
                vector_from_bytes(size, |i| {
                    let at = usize::from(index.bytes[i / unit * unit]) % (2 * size / unit);
                    let (from, at) = if at < size / unit { (&a, at) } else { (&b, at - size / unit) };
                    let at = at * unit + i % unit;
                    (from.bytes[at], if secret_order == Level::Public { from.levels[at] } else { level })
                })
            }
            M::Vpblendd | M::Blendps | M::Vblendps | M::Blendpd | M::Vblendpd | M::Pblendw | M::Vpblendw => {
                let unit = match mnemonic {
                    M::Pblendw | M::Vpblendw => 2,
                    M::Blendpd | M::Vblendpd => 8,
                    _ => 4,
                };
                let (a, b) = (self.operand(instruction, first, size)?, self.operand(instruction, last, size)?);
                vector_from_bytes(size, |i| {
                    let from = if instruction.immediate8() >> (i / unit % 8) & 1 == 1 { &b } else { &a };
                    (from.bytes[i], from.levels[i])
                })
            }
            M::Palignr | M::Vpalignr => {
                let (a, b) = (self.operand(instruction, first, size)?, self.operand(instruction, last, size)?);
                let by = usize::from(instruction.immediate8());
                vector_from_bytes(size, |i| {
                    let (base, at) = (i / 16 * 16, i % 16 + by);
                    match at {
                        0..16 => (b.bytes[base + at], b.levels[base + at]),
                        16..32 => (a.bytes[base + at - 16], a.levels[base + at - 16]),
                        _ => (0, Level::Public),
                    }
                })
            }
            M::Vperm2i128 | M::Vperm2f128 => {
                let (a, b) = (self.operand(instruction, 1, size)?, self.operand(instruction, 2, size)?);
                let order = usize::from(instruction.immediate8());
                vector_from_bytes(size, |i| {
                    let choice = order >> (i / 16 * 4);
                    let from = if choice & 2 == 0 { &a } else { &b };
                    let at = 16 * (choice & 1) + i % 16;
                    if choice & 8 == 0 { (from.bytes[at], from.levels[at]) } else { (0, Level::Public) }
                })
            }
            M::Pshufb | M::Vpshufb => {
                let (a, order) = (self.operand(instruction, first, size)?, self.operand(instruction, last, size)?);
                let is_public = order.level(size) == Level::Public;
                vector_from_bytes(size, |i| {
                    let at = i / 16 * 16 + usize::from(order.bytes[i] & 15);
                    match (is_public, order.bytes[i] & 0x80) {
                        (false, _) => (0, level.max(Level::Unknown)),
                        (true, 0) => (a.bytes[at], a.levels[at]),
                        _ => (0, Level::Public),
                    }
                })
            }
            M::Vpermb | M::Vpermw | M::Vpermd | M::Vpermq | M::Vpermps | M::Vpermpd
                if instruction.op_kind(2) != OpKind::Immediate8 =>
            {
                let (order, a) = (self.operand(instruction, 1, size)?, self.operand(instruction, 2, size)?);
                let is_public = order.level(size) == Level::Public;
                vector_from_bytes(size, |i| {
                    let at = number(&order, i / unit, unit) as usize % (size / unit) * unit + i % unit;
                    (a.bytes[at], if is_public { a.levels[at] } else { level.max(Level::Unknown) })
                })
            }
            M::Vshufi64x2 | M::Vshuff64x2 | M::Vshufi32x4 | M::Vshuff32x4 => {
                let (a, b) = (self.operand(instruction, 1, size)?, self.operand(instruction, 2, size)?);
                let order = usize::from(instruction.immediate8());
                // Two bits select one of four parts, or one bit one of two.
                let (bits, parts) = if size == 64 { (2, 4) } else { (1, 2) };
                vector_from_bytes(size, |i| {
                    let from = if i < size / 2 { &a } else { &b };
                    let at = 16 * (order >> (i / 16 * bits) & (parts - 1)) + i % 16;
                    (from.bytes[at], from.levels[at])
                })
            }
            M::Valignq | M::Valignd => {
                let (a, b) = (self.operand(instruction, 1, size)?, self.operand(instruction, 2, size)?);
                let by = unit * (usize::from(instruction.immediate8()) % (size / unit));
                vector_from_bytes(size, |i| {
                    let at = i + by;
                    if at < size { (b.bytes[at], b.levels[at]) } else { (a.bytes[at - size], a.levels[at - size]) }
                })
            }
            M::Vpexpandq | M::Vpexpandd => {
                let unit = if mnemonic == M::Vpexpandq { 8 } else { 4 };
                let a = self.operand(instruction, 1, size)?;
                let chosen = if instruction.has_op_mask() { self.get(instruction.op_mask()) } else { u64::MAX };
                vector_from_bytes(size, |i| {
                    let location = i / unit;
                    let before = (chosen & ((1 << location) - 1)).count_ones() as usize;
                    let at = (before * unit + i % unit).min(63);
                    (a.bytes[at], a.levels[at])
                })
            }
            M::Vpmovm2b | M::Vpmovm2w | M::Vpmovm2d | M::Vpmovm2q => {
                let unit = match mnemonic {
                    M::Vpmovm2b => 1,
                    M::Vpmovm2w => 2,
                    M::Vpmovm2d => 4,
                    _ => 8,
                };
                let bits = self.get(instruction.op1_register());
                vector_from_bytes(size, |i| (if bits >> (i / unit) & 1 == 1 { 0xff } else { 0 }, level))
            }
            M::Vpblendmq | M::Vpblendmd if instruction.has_op_mask() => {
                let unit = if mnemonic == M::Vpblendmq { 8 } else { 4 };
                let (a, b) = (self.operand(instruction, 1, size)?, self.operand(instruction, 2, size)?);
                let bits = self.get(instruction.op_mask());
                let value = vector_from_bytes(size, |i| {
                    let from = if bits >> (i / unit) & 1 == 1 { &b } else { &a };
                    (from.bytes[i], from.levels[i])
                });
                return self.put_whole(instruction, &value, size);
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

/// For an instruction that interleaves: bytes of an element, and the half of each 16 bytes that it takes.
fn interleaving(mnemonic: Mnemonic) -> (usize, usize) {
    use Mnemonic as M;
    let unit = match mnemonic {
        M::Punpcklbw | M::Vpunpcklbw | M::Punpckhbw | M::Vpunpckhbw => 1,
        M::Punpcklwd | M::Vpunpcklwd | M::Punpckhwd | M::Vpunpckhwd => 2,
        M::Punpckldq | M::Vpunpckldq | M::Punpckhdq | M::Vpunpckhdq => 4,
        _ => 8,
    };
    let high = matches!(mnemonic, M::Punpckhbw | M::Punpckhwd | M::Punpckhdq | M::Punpckhqdq)
        || matches!(mnemonic, M::Vpunpckhbw | M::Vpunpckhwd | M::Vpunpckhdq | M::Vpunpckhqdq);
    (unit, if high { 8 } else { 0 })
}

/// Bytes of a part that the instruction copies or moves as a whole.
fn moved_bytes(mnemonic: Mnemonic) -> usize {
    use Mnemonic as M;
    match mnemonic {
        M::Vpbroadcastb => 1,
        M::Vpbroadcastw => 2,
        M::Vpbroadcastd | M::Vbroadcastss => 4,
        M::Vpbroadcastq | M::Vbroadcastsd => 8,
        M::Vbroadcasti32x8
        | M::Vbroadcastf32x8
        | M::Vbroadcasti64x4
        | M::Vbroadcastf64x4
        | M::Vinserti32x8
        | M::Vinsertf32x8
        | M::Vinserti64x4
        | M::Vinsertf64x4
        | M::Vextracti32x8
        | M::Vextractf32x8
        | M::Vextracti64x4
        | M::Vextractf64x4 => 32,
        _ => 16,
    }
}

/// Bytes of an element of arithmetic, or of the part that a mask bit selects.
pub(super) fn element_bytes(mnemonic: Mnemonic) -> usize {
    static ALL: OnceLock<Vec<u8>> = OnceLock::new();
    let all = ALL.get_or_init(|| Mnemonic::values().map(|mnemonic| by_name(mnemonic) as u8).collect());
    usize::from(all[mnemonic as usize])
}

/// Finds [`element`]'s result by the last letters of the mnemonic.
fn by_name(mnemonic: Mnemonic) -> usize {
    let name = format!("{mnemonic:?}").to_lowercase();
    let ends = |with: &[&str]| with.iter().any(|end| name.ends_with(end));
    if ends(&["dqu8", "b"]) {
        1
    } else if ends(&["dqu16", "w"]) {
        2
    } else if ends(&["dqu32", "dqa32", "32x4", "32x8", "ps", "ss"]) || ends(&["d"]) && !ends(&["pd", "sd"]) {
        4
    } else {
        8
    }
}
