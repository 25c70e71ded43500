//! Models of instructions on mask registers, of comparisons into them, and of gathers and scatters.

use iced_x86::{Instruction, Mnemonic, OpKind, RflagsBits};

use crate::machine::{Interpreter, Scalar, StepResult, flags_of, mask};
use crate::memory::Level;
use crate::operations::element_bytes;
use crate::vector::number;

impl Interpreter<'_> {
    /// Runs a gather or scatter, whose addresses must be public.
    pub(super) fn elements(&mut self, instruction: &Instruction) -> StepResult {
        use Mnemonic as M;
        let (unit, index_unit) = match instruction.mnemonic() {
            M::Vpgatherdd | M::Vpscatterdd => (4, 4),
            M::Vpgatherdq | M::Vpscatterdq => (8, 4),
            M::Vpgatherqd | M::Vpscatterqd => (4, 8),
            M::Vpgatherqq | M::Vpscatterqq => (8, 8),
            _ => return Err("a gather or scatter of another kind".to_owned().into()),
        };
        let chosen = instruction.op_mask();
        if !chosen.is_k() || self.level(chosen) != Level::Public {
            return Err("a gather or scatter whose mask is not known".to_owned().into());
        }
        let scatters = instruction.op0_kind() == OpKind::Memory;
        let (memory, other) = if scatters { (0, 1) } else { (1, 0) };
        let register = instruction.op_register(other);
        let mut value = self.operand(instruction, other, register.size())?;
        let count = (register.size() / unit).min(instruction.memory_index().size() / index_unit);
        let bits = self.get(chosen);
        for i in (0..count).filter(|i| bits >> i & 1 == 1) {
            let address = instruction
                .virtual_address(memory, i, |register, element, size| {
                    if register.is_vector_register() {
                        let at = element * size..(element + 1) * size;
                        let mut bytes = [0; 8];
                        bytes[..size].copy_from_slice(&self.vectors[register.number()].bytes[at]);
                        return Some(u64::from_le_bytes(bytes));
                    }
                    Some(if register.is_gpr() { self.get(register) } else { 0 })
                })
                .ok_or_else(|| "an address of an unknown kind".to_owned())?;
            let at = i * unit..(i + 1) * unit;
            if scatters {
                self.memory.write(address, &value.bytes[at.clone()], &value.levels[at])?;
            } else {
                self.memory.read(address, &mut value.bytes[at.clone()], &mut value.levels[at])?;
            }
        }
        if !scatters {
            self.vectors[register.number()] = value;
        }
        self.masks[chosen.number()] = Scalar::new(0, Level::Public);
        Ok(())
    }

    /// Runs comparisons into mask registers, and instructions on mask registers.
    pub(super) fn mask_instruction(&mut self, instruction: &Instruction, level: Level) -> StepResult<bool> {
        use Mnemonic as M;
        let mnemonic = instruction.mnemonic();
        let result = match mnemonic {
            M::Kmovb | M::Kmovw | M::Kmovd | M::Kmovq => {
                let value = self.number(instruction, 1)? & mask(width(mnemonic));
                self.put_scalar_or_mask(instruction, value, level)?;
                return Ok(true);
            }
            M::Kortestb | M::Kortestw | M::Kortestd | M::Kortestq => {
                let any = self.number(instruction, 0)? | self.number(instruction, 1)?;
                let all = mask(width(mnemonic));
                let flags = flags_of(any & all, 8, any & all == all, false);
                self.set_flags(instruction, flags & (RflagsBits::ZF | RflagsBits::CF), level);
                return Ok(true);
            }
            M::Ktestb | M::Ktestw | M::Ktestd | M::Ktestq => {
                let (a, b) = (self.number(instruction, 0)?, self.number(instruction, 1)?);
                let all = mask(width(mnemonic));
                let flags = flags_of(a & b & all, 8, !a & b & all == 0, false);
                self.set_flags(instruction, flags & (RflagsBits::ZF | RflagsBits::CF), level);
                return Ok(true);
            }
            M::Kandb | M::Kandw | M::Kandd | M::Kandq => self.number(instruction, 1)? & self.number(instruction, 2)?,
            M::Korb | M::Korw | M::Kord | M::Korq => self.number(instruction, 1)? | self.number(instruction, 2)?,
            M::Kxorb | M::Kxorw | M::Kxord | M::Kxorq => self.number(instruction, 1)? ^ self.number(instruction, 2)?,
            M::Kxnorb | M::Kxnorw | M::Kxnord | M::Kxnorq => {
                !(self.number(instruction, 1)? ^ self.number(instruction, 2)?) & mask(width(mnemonic))
            }
            M::Knotb | M::Knotw | M::Knotd | M::Knotq => !self.number(instruction, 1)? & mask(width(mnemonic)),
            M::Kshiftlb | M::Kshiftlw | M::Kshiftld | M::Kshiftlq => {
                let count = u32::from(instruction.immediate8());
                self.number(instruction, 1)?.checked_shl(count).unwrap_or(0) & mask(width(mnemonic))
            }
            M::Kshiftrb | M::Kshiftrw | M::Kshiftrd | M::Kshiftrq => {
                let count = u32::from(instruction.immediate8());
                self.number(instruction, 1)?.checked_shr(count).unwrap_or(0)
            }
            M::Kunpckbw | M::Kunpckwd | M::Kunpckdq => {
                let half = match mnemonic {
                    M::Kunpckbw => 1,
                    M::Kunpckwd => 2,
                    _ => 4,
                };
                let (a, b) = (self.number(instruction, 1)? & mask(half), self.number(instruction, 2)? & mask(half));
                a << (8 * half) | b
            }
            M::Vpmovq2m
            | M::Vpmovd2m
            | M::Vpmovb2m
            | M::Pmovmskb
            | M::Vpmovmskb
            | M::Movmskps
            | M::Movmskpd
            | M::Vmovmskps
            | M::Vmovmskpd => {
                let unit = match mnemonic {
                    M::Vpmovq2m | M::Movmskpd | M::Vmovmskpd => 8,
                    M::Vpmovd2m | M::Movmskps | M::Vmovmskps => 4,
                    _ => 1,
                };
                let size = self.size(instruction, 1);
                let a = self.operand(instruction, 1, size)?;
                (0..size / unit).fold(0, |bits, i| bits | u64::from(a.bytes[unit * i + unit - 1] >> 7) << i)
            }
            M::Vptestmd | M::Vptestmq | M::Vptestnmd | M::Vptestnmq | M::Vptestmb | M::Vptestnmb => {
                let none = matches!(mnemonic, M::Vptestnmd | M::Vptestnmq | M::Vptestnmb);
                self.comparison_bits(instruction, element_bytes(mnemonic), |a, b| (a & b == 0) == none)?
            }
            M::Vpcmpeqq | M::Vpcmpeqd | M::Vpcmpeqb | M::Vpcmpeqw if instruction.op0_register().is_k() => {
                self.comparison_bits(instruction, element_bytes(mnemonic), |a, b| a == b)?
            }
            M::Vpcmpuq | M::Vpcmpud | M::Vpcmpub | M::Vpcmpuw => {
                let predicate = instruction.immediate8() & 7;
                self.comparison_bits(instruction, element_bytes(mnemonic), |a, b| {
                    predicate_holds(predicate, a.cmp(&b))
                })?
            }
            M::Vpcmpq | M::Vpcmpd => {
                let (predicate, unit) = (instruction.immediate8() & 7, element_bytes(mnemonic));
                let signed = |a: u64| (a as i64) << (64 - 8 * unit);
                self.comparison_bits(instruction, unit, |a, b| predicate_holds(predicate, signed(a).cmp(&signed(b))))?
            }
            M::Vpcmpgtq | M::Vpcmpgtd if instruction.op0_register().is_k() => {
                let unit = element_bytes(mnemonic);
                let signed = |a: u64| (a as i64) << (64 - 8 * unit);
                self.comparison_bits(instruction, unit, |a, b| signed(a) > signed(b))?
            }
            _ => return Ok(false),
        };
        self.put_scalar_or_mask(instruction, result, level)?;
        Ok(true)
    }

    fn put_scalar_or_mask(&mut self, instruction: &Instruction, value: u64, level: Level) -> StepResult {
        if instruction.op0_kind() == OpKind::Register && instruction.op0_register().is_k() {
            self.masks[instruction.op0_register().number()] = Scalar::new(value, level);
            return Ok(());
        }
        self.put(instruction, 0, value, level)
    }

    /// The bits of a comparison of elements. A mask clears the bits of elements that it does not select.
    fn comparison_bits(
        &mut self,
        instruction: &Instruction,
        unit: usize,
        holds: impl Fn(u64, u64) -> bool,
    ) -> StepResult<u64> {
        let size = self.size(instruction, 1);
        let (a, b) = (self.operand(instruction, 1, size)?, self.operand(instruction, 2, size)?);
        let bits = (0..size / unit)
            .filter(|&i| holds(number(&a, i, unit), number(&b, i, unit)))
            .fold(0, |bits, i| bits | 1u64 << i);
        let chosen = if instruction.has_op_mask() { self.get(instruction.op_mask()) } else { u64::MAX };
        Ok(bits & chosen)
    }
}

fn predicate_holds(predicate: u8, order: std::cmp::Ordering) -> bool {
    match predicate {
        0 => order.is_eq(),
        1 => order.is_lt(),
        2 => order.is_le(),
        3 => false,
        4 => order.is_ne(),
        5 => order.is_ge(),
        6 => order.is_gt(),
        _ => true,
    }
}

/// Width of a mask in bytes.
fn width(mnemonic: Mnemonic) -> usize {
    element_bytes(mnemonic)
}
