//! Models of gathers and scatters.

use iced_x86::{Instruction, Mnemonic, OpKind};

use crate::machine::{Interpreter, Scalar, StepResult};
use crate::memory::Level;

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
        let mut value = self.operand(instruction, other)?;
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
            value.bytes[count * unit..].fill(0);
            value.levels[count * unit..].fill(Level::Public);
            self.vectors[register.number()] = value;
        }
        self.masks[chosen.number()] = Scalar::new(0, Level::Public);
        Ok(())
    }
}
