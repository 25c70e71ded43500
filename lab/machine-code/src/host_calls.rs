//! Effects outside of the code: CPUID, requests to Valgrind, and functions of the C library.

use iced_x86::{Code, Instruction, Register};

use crate::machine::{Interpreter, Leak, Scalar, StepResult};
use crate::memory::Level;

/// Bits that are used in order, repeatedly, as values of revealed secrets.
const REVEALED: u64 = 0x5a3c_96f0_0f69_c3a5;

/// Most bytes of one call. Larger lengths occur only on untaken sides of branches, where a length may have any value.
const MOST_BYTES: u64 = 1 << 28;

impl Interpreter<'_> {
    /// Runs functions of the C library: those that compiled code calls implicitly, and allocation.
    pub(super) fn external(&mut self, target: u64) -> StepResult {
        let name = self.image.external.get(&target).map_or("?", String::as_str);
        let argument = |register: Register| self.scalars[register.number()];
        let [first, second, third] = [Register::RDI, Register::RSI, Register::RDX].map(argument);
        let count = third.value as usize;
        if matches!(name, "malloc" | "calloc" | "realloc" | "posix_memalign" | "aligned_alloc" | "free") {
            let name = name.to_owned();
            let result = self.allocate(&name, [first, second, third])?;
            return self.return_from_call(Scalar::new(result, Level::Public));
        }
        let is_set = name == "memset";
        let levels = [first.level(), if is_set { Level::Public } else { second.level() }, third.level()];
        match levels.into_iter().max().unwrap_or_default() {
            Level::Public => {}
            Level::Unknown => return Err(self.undecided(Register::None)),
            Level::Secret => return Err(Leak::Address.into()),
        }
        if third.value > MOST_BYTES {
            return Err(format!("{name} of {} bytes", third.value).into());
        }
        let mut result = first;
        match name {
            "memcpy" | "memmove" => {
                let (mut bytes, mut levels) = (vec![0; count], vec![Level::Public; count]);
                self.memory.read(second.value, &mut bytes, &mut levels)?;
                self.memory.write(first.value, &bytes, &levels)?;
            }
            "memset" => {
                self.memory.write(first.value, &vec![second.value as u8; count], &vec![second.levels[0]; count])?;
            }
            "memcmp" | "bcmp" => {
                let (mut bytes, mut levels) = ([vec![0; count], vec![0; count]], vec![Level::Public; count]);
                let mut highest = Level::Public;
                for (bytes, location) in bytes.iter_mut().zip([first, second]) {
                    self.memory.read(location.value, bytes, &mut levels)?;
                    highest = highest.max(levels.iter().copied().max().unwrap_or_default());
                }
                match highest {
                    Level::Public => {}
                    Level::Unknown => return Err(self.undecided(Register::None)),
                    Level::Secret => return Err(Leak::Compare.into()),
                }
                result = Scalar::new(bytes[0].cmp(&bytes[1]) as i64 as u64, Level::Public);
            }
            _ => return Err(format!("a call of {name}").into()),
        }
        self.return_from_call(result)
    }

    /// Returns new memory, whose contents are unknown.
    fn allocate(&mut self, name: &str, [first, second, third]: [Scalar; 3]) -> StepResult<u64> {
        let (align, bytes) = match name {
            "free" => return Ok(0),
            "malloc" => (16, first),
            "calloc" => (16, Scalar::new(first.value.wrapping_mul(second.value), first.level().max(second.level()))),
            "realloc" => (16, second),
            "aligned_alloc" => (first.value, second),
            _ => (second.value, third),
        };
        match bytes.level().max(first.level()) {
            Level::Public => {}
            Level::Unknown => return Err(self.undecided(Register::None)),
            Level::Secret => return Err(Leak::Address.into()),
        }
        if bytes.value > MOST_BYTES || first.value > MOST_BYTES && name == "aligned_alloc" {
            return Err(format!("{name} of {} bytes", bytes.value).into());
        }
        let location = self.heap.0.next_multiple_of(align.max(16));
        self.heap.0 = location + bytes.value;
        self.heap.1.insert(location, bytes.value);
        match name {
            "calloc" => {
                let count = bytes.value as usize;
                self.memory.write(location, &vec![0; count], &vec![Level::Public; count])?;
            }
            "realloc" => {
                let held = self.heap.1.get(&first.value).copied().unwrap_or(0).min(bytes.value) as usize;
                let (mut bytes, mut levels) = (vec![0; held], vec![Level::Public; held]);
                self.memory.read(first.value, &mut bytes, &mut levels)?;
                self.memory.write(location, &bytes, &levels)?;
            }
            "posix_memalign" => {
                self.memory.write_number(first.value, 8, location, Level::Public)?;
                return Ok(0);
            }
            _ => {}
        }
        Ok(location)
    }

    /// Returns from a call.
    fn return_from_call(&mut self, result: Scalar) -> StepResult {
        // All registers that a call may change. The C library leaves no secret in them.
        let changed = [Register::RCX, Register::RDX, Register::RSI, Register::RDI, Register::R8, Register::R9];
        for register in changed.into_iter().chain([Register::R10, Register::R11]) {
            self.set(register, 0, Level::Unknown);
        }
        for register in 0..32 {
            self.set_level(Register::ZMM0 + register, Level::Unknown);
        }
        for register in 0..8 {
            self.set_level(Register::K0 + register, Level::Unknown);
        }
        self.flag_levels = [Level::Unknown; 32];
        self.set(Register::RAX, result.value, result.level());
        self.next = self.pop()?.value;
        Ok(())
    }

    /// Runs instructions that query the processor or make a request to Valgrind.
    pub(super) fn system(&mut self, instruction: &Instruction) -> StepResult<bool> {
        match instruction.code() {
            // A processor with all features.
            Code::Cpuid => {
                for register in [Register::EAX, Register::EBX, Register::ECX, Register::EDX] {
                    self.set(register, u64::from(u32::MAX), Level::Public);
                }
            }
            Code::Xgetbv => {
                self.set(Register::EAX, 0xe7, Level::Public);
                self.set(Register::EDX, 0, Level::Public);
            }
            // The last instruction of a request to Valgrind, which has a number, an address and a length. Without the
            // rotation before it (four bytes), the instruction is a normal no-op.
            Code::Xchg_rm64_r64
                if instruction.op0_register() == Register::RBX
                    && instruction.op1_register() == Register::RBX
                    && self.image.decode(instruction.ip() - 4).is_some_and(|before| {
                        before.code() == Code::Rol_rm64_imm8 && before.op0_register() == Register::RDI
                    }) =>
            {
                let request = self.scalars[0].value;
                let [code, address, length] = [0, 8, 16].map(|at| self.memory.read_number(request + at, 8));
                let ((code, _), (address, _), (length, _)) = (code?, address?, length?);
                match (code, length) {
                    (0x4d43_0001, _) => self.memory.set_level(address, length as usize, Level::Secret)?,
                    // A request for one byte reveals a bit: a tag is correct or wrong.
                    (0x4d43_0002, 1) => {
                        let bit = REVEALED.rotate_right(self.revealed) & 1;
                        self.revealed += 1;
                        self.memory.write_number(address, 1, bit, Level::Public)?;
                    }
                    (0x4d43_0002, _) => self.memory.set_level(address, length as usize, Level::Public)?,
                    _ => return Err(format!("request {code:#x}").into()),
                }
                self.set(Register::RDX, 0, Level::Public);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
