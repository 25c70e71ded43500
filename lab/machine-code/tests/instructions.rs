//! The interpreter computes what this processor computes.
//!
//! Every instruction for which the interpreter has a model, and every instruction on vectors, runs on the processor
//! and in the interpreter, with the same random operands, some bytes of which are secret. Bytes of the result that are
//! public must be the processor's, and only secret bytes may change when secret bytes of the operands do. The
//! instructions are all that the encoder of iced-x86 knows, in all their forms, and that this processor has.
#![cfg(target_arch = "x86_64")]

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use iced_x86::{Code, Encoder, FlowControl, Instruction, OpKind, Register};
use tress_machine_code::{Image, Interpreter, Level, Reason};

/// How often each instruction runs, with other registers and operands.
const ROUNDS: usize = 16;
/// Offsets in [`Operands`], after four vectors: mask registers, general registers, operands of the comparison that sets
/// the flags, and then the flags; memory.
const MASKS: usize = 256;
const GENERAL: usize = 288;
const COMPARED: usize = 320;
const MEMORY: usize = 512;

/// Registers and memory, before and after an instruction.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Operands([u8; 1024]);

// The code around an instruction: it loads the operands before, and stores them after.
core::arch::global_asm!(
    ".globl tress_instruction_before, tress_instruction_after, tress_instruction_end",
    "tress_instruction_before:",
    "push rbx",
    "vmovdqu64 zmm0, [rdi]",
    "vmovdqu64 zmm1, [rdi + 64]",
    "vmovdqu64 zmm2, [rdi + 128]",
    "vmovdqu64 zmm3, [rdi + 192]",
    "kmovq k0, [rdi + {MASKS}]",
    "kmovq k1, [rdi + {MASKS} + 8]",
    "kmovq k2, [rdi + {MASKS} + 16]",
    "kmovq k3, [rdi + {MASKS} + 24]",
    "mov rax, [rdi + {COMPARED}]",
    "cmp rax, [rdi + {COMPARED} + 8]",
    "mov rax, [rdi + {GENERAL}]",
    "mov rcx, [rdi + {GENERAL} + 8]",
    "mov rdx, [rdi + {GENERAL} + 16]",
    "mov rbx, [rdi + {GENERAL} + 24]",
    "lea rsi, [rdi + {MEMORY}]",
    "tress_instruction_after:",
    "setc [rdi + {COMPARED} + 16]",
    "seto [rdi + {COMPARED} + 17]",
    "sets [rdi + {COMPARED} + 18]",
    "setz [rdi + {COMPARED} + 19]",
    "setp [rdi + {COMPARED} + 20]",
    "vmovdqu64 [rdi], zmm0",
    "vmovdqu64 [rdi + 64], zmm1",
    "vmovdqu64 [rdi + 128], zmm2",
    "vmovdqu64 [rdi + 192], zmm3",
    "kmovq [rdi + {MASKS}], k0",
    "kmovq [rdi + {MASKS} + 8], k1",
    "kmovq [rdi + {MASKS} + 16], k2",
    "kmovq [rdi + {MASKS} + 24], k3",
    "mov [rdi + {GENERAL}], rax",
    "mov [rdi + {GENERAL} + 8], rcx",
    "mov [rdi + {GENERAL} + 16], rdx",
    "mov [rdi + {GENERAL} + 24], rbx",
    "pop rbx",
    "ret",
    "tress_instruction_end:",
    MASKS = const MASKS,
    GENERAL = const GENERAL,
    COMPARED = const COMPARED,
    MEMORY = const MEMORY,
);

unsafe extern "C" {
    static tress_instruction_before: u8;
    static tress_instruction_after: u8;
    static tress_instruction_end: u8;
}

/// A page for the code around an instruction, and a page for its operands.
struct Place {
    code: *mut u8,
    around: [&'static [u8]; 2],
}

impl Place {
    fn new() -> Place {
        let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let [before, after, end] =
            [&raw const tress_instruction_before, &raw const tress_instruction_after, &raw const tress_instruction_end];
        let part = |start: *const u8, end: *const u8| {
            // SAFETY: the labels are in one piece of code, in this order.
            unsafe { std::slice::from_raw_parts(start, end.addr() - start.addr()) }
        };
        // SAFETY: the pages are new.
        let code = unsafe { libc::mmap(std::ptr::null_mut(), 8192, all, flags, -1, 0) };
        assert_ne!(code, libc::MAP_FAILED, "no memory for code");
        Place { code: code.cast(), around: [part(before, after), part(after, end)] }
    }

    /// The addresses of the code and of the operands.
    fn addresses(&self) -> [u64; 2] {
        [self.code.addr() as u64, self.code.addr() as u64 + 4096]
    }

    /// Writes the code with an instruction, and operands. Returns the code.
    fn write(&self, instruction: &[u8], operands: &Operands) -> Vec<u8> {
        let code = [self.around[0], instruction, self.around[1]].concat();
        assert!(code.len() <= 4096);
        // SAFETY: the pages are writable, and nothing else uses them.
        unsafe {
            self.code.copy_from_nonoverlapping(code.as_ptr(), code.len());
            self.code.add(4096).cast::<Operands>().write(*operands);
        }
        code
    }

    /// Runs the code that was written last.
    fn run(&self, operands: &Operands) -> Operands {
        // SAFETY: the code is a function that changes only the operands and registers that a callee may change.
        unsafe {
            let held = self.code.add(4096).cast::<Operands>();
            held.write(*operands);
            let function: unsafe extern "sysv64" fn(*mut Operands) = std::mem::transmute(self.code);
            function(held);
            held.read()
        }
    }
}

/// Random operands, among them limits of ranges, small counts and equal numbers.
fn random_operands(random: &mut Rng) -> Operands {
    const SPECIAL: [u64; 6] = [0, u64::MAX, 1 << 63, 7, 33 << 32 | 9, 0x7fff_ffff_8000_0000];
    let mut operands = Operands([0; 1024]);
    for part in operands.0.chunks_exact_mut(32) {
        let is_special = random.bool();
        for number in part.chunks_exact_mut(8) {
            let value = if is_special { SPECIAL[random.usize(..6)] } else { random.u64(..) };
            number.copy_from_slice(&value.to_le_bytes());
        }
    }
    operands
}

/// The instruction with random registers, or with memory as an operand. `None` if it has operands of other kinds.
fn instruction(code: Code, random: &mut Rng) -> Option<Instruction> {
    let info = code.op_code();
    let mut instruction = Instruction::default();
    instruction.set_code(code);
    let is_distinct = info.requires_unique_reg_nums() || info.requires_unique_dest_reg_num();
    for (i, kind) in info.op_kinds().iter().enumerate() {
        let operand = i as u32;
        let kind = format!("{kind:?}");
        let first = kind.split('_').next().unwrap_or_default();
        let number = if is_distinct { operand } else { random.u32(..4) };
        if kind == "mem" || kind.contains("vsib") || kind.ends_with("_or_mem") && random.bool() {
            instruction.set_op_kind(operand, OpKind::Memory);
            instruction.set_memory_base(Register::RSI);
            match kind.chars().last() {
                Some('x') => instruction.set_memory_index(Register::XMM3),
                Some('y') => instruction.set_memory_index(Register::YMM3),
                Some('z') => instruction.set_memory_index(Register::ZMM3),
                _ => instruction.set_is_broadcast(info.can_broadcast() && random.bool()),
            }
            continue;
        }
        let name = kind.replace("imm", "immediate").replace("sex", "to");
        let (name, is_one) = name.strip_suffix("_const_1").map_or((&*name, false), |name| (name, true));
        if let Some(kind) = OpKind::values().find(|kind| format!("{kind:?}").to_lowercase() == name) {
            let value = random.u8(..) & [0xff, 0x7f, 0x0f][random.usize(..3)];
            instruction.set_op_kind(operand, kind);
            instruction.set_immediate_i64(operand, if is_one { 1 } else { i64::from(value.cast_signed()) });
            continue;
        }
        let register = match first {
            "xmm" => Register::XMM0 + number,
            "ymm" => Register::YMM0 + number,
            "zmm" => Register::ZMM0 + number,
            "k" => Register::K0 + number,
            // AL, DL, AH and DH.
            "r8" => Register::AL + 2 * number,
            "r16" => Register::AX + number,
            "r32" => Register::EAX + number,
            "r64" => Register::RAX + number,
            "al" => Register::AL,
            "ax" => Register::AX,
            "cl" => Register::CL,
            "eax" => Register::EAX,
            "rax" => Register::RAX,
            _ => return None,
        };
        instruction.set_op_kind(operand, OpKind::Register);
        instruction.set_op_register(operand, register);
    }
    if info.require_op_mask_register() || info.can_use_op_mask_register() && random.bool() {
        instruction.set_op_mask(Register::K1 + random.u32(..2));
        instruction.set_zeroing_masking(info.can_use_zeroing_masking() && random.bool());
    }
    Some(instruction)
}

/// Names of the processor's features, as iced-x86 writes them.
fn features() -> BTreeSet<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").expect("/proc, as Linux has it");
    let flags = text.lines().find(|line| line.starts_with("flags")).expect("flags of the processor");
    let mut all: BTreeSet<String> = flags.split_whitespace().map(|flag| flag.replace('_', "")).collect();
    for (flag, name) in [("lm", "x64"), ("pni", "sse3"), ("abm", "lzcnt"), ("shani", "sha")] {
        if all.contains(flag) {
            all.insert(name.to_owned());
        }
    }
    all
}

#[test]
fn models_agree_with_the_processor() {
    let features = features();
    let has = |name: &str| name.starts_with("intel") && !name.ends_with("only") || features.contains(name);
    if !has("avx512f") || !has("avx512bw") {
        eprintln!("SKIPPED: this processor lacks AVX-512");
        return;
    }
    let (place, mut random) = (Place::new(), Rng::with_seed(1));
    let (mut with_model, mut without_model) = (BTreeSet::new(), BTreeSet::new());
    let mut wrong = BTreeMap::new();
    let is_here = |code: &Code| {
        let has = |feature| has(&format!("{feature:?}").to_lowercase().replace('_', ""));
        // CPUID and XGETBV have the results of a processor with all features.
        code.op_code().mode64() && code.cpuid_features().iter().all(has) && ![Code::Cpuid, Code::Xgetbv].contains(code)
    };
    for code in Code::values().filter(is_here) {
        for _ in 0..ROUNDS {
            let Some(instruction) = instruction(code, &mut random) else { break };
            let mut encoder = Encoder::new(64);
            let has_effects = instruction.flow_control() != FlowControl::Next || instruction.is_stack_instruction();
            if has_effects || instruction.is_privileged() || encoder.encode(&instruction, 0).is_err() {
                continue;
            }
            let bytes = encoder.take_buffer();
            let mut operands = random_operands(&mut random);
            if instruction.memory_index() != Register::None {
                // Addresses of a gather that are in the memory.
                operands.0[192..256].chunks_exact_mut(8).for_each(|index| {
                    index.copy_from_slice(&random.u64(..64).to_le_bytes());
                });
            }
            let some_of_64 = [1, 8, 64][random.usize(..3)];
            let can_be_secret = (0..MASKS).chain(GENERAL..COMPARED).chain(MEMORY..MEMORY + 64);
            let some: Vec<usize> = can_be_secret.filter(|_| random.u32(..64) < some_of_64).collect();
            let is_vector = (0..instruction.op_count()).any(|i| instruction.op_register(i).is_vector_register());
            let mut has_model = false;
            for secret in [&[][..], &some] {
                let [entry, start] = place.addresses();
                let image = Image::of_code(entry, place.write(&bytes, &operands));
                let mut machine = Interpreter::new(&image);
                for &at in secret {
                    machine.memory.set_level(start + at as u64, 1, Level::Secret).expect("readable");
                }
                let stop = machine.call(entry, &[start]).err();
                if secret.is_empty() {
                    has_model = machine.unknown.is_empty();
                }
                match stop.map(|stop| stop.reason) {
                    None if has_model => with_model.insert(instruction.mnemonic()),
                    None if is_vector => without_model.insert(instruction.mnemonic()),
                    Some(Reason::Leak(_)) if !secret.is_empty() => continue,
                    Some(Reason::Leak(leak)) => panic!("{instruction}: {leak:?} without secrets"),
                    _ => break,
                };
                let (mut found, mut levels) = (Operands([0; 1024]), [Level::Public; 1024]);
                machine.memory.read(start, &mut found.0, &mut levels).expect("readable");
                let mut other = operands;
                secret.iter().for_each(|&at| other.0[at] = random.u8(..));
                let (right, also) = (place.run(&operands), place.run(&other));
                for at in (0..1024).filter(|at| levels[*at] != Level::Secret) {
                    let is_right = levels[at] == Level::Unknown || found.0[at] == right.0[at];
                    if !is_right || right.0[at] != also.0[at] {
                        let what = if is_right { "depends on a secret" } else { "is wrong" };
                        wrong.entry(format!("{code:?}")).or_insert(format!("{instruction}: byte {at} {what}"));
                    }
                }
            }
        }
    }
    without_model.retain(|mnemonic| !with_model.contains(mnemonic));
    println!("{} mnemonics with a model: {with_model:?}", with_model.len());
    println!("levels alone of {} mnemonics: {without_model:?}", without_model.len());
    for (code, what) in &wrong {
        println!("{code}: {what}");
    }
    assert!(wrong.is_empty(), "{} instructions differ", wrong.len());
    assert!(with_model.len() > 300 && without_model.len() > 100, "nothing was compared");
}
