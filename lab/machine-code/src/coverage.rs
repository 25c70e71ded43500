//! The instructions that the interpreter must have examined: those of every function with instructions that Valgrind
//! does not support, except code that only leads to a panic.

use std::collections::{HashMap, HashSet};

use iced_x86::{Code, CpuidFeature, EncodingKind, FlowControl, Instruction, Mnemonic};

use crate::image::{Function, Image};
use crate::memory::Memory;

/// Whether this is an instruction of AVX-512, VAES or GFNI.
pub fn is_avx512_vaes_or_gfni(instruction: &Instruction) -> bool {
    let features = instruction.cpuid_features();
    instruction.encoding() == EncodingKind::EVEX
        || features.iter().any(|feature| matches!(feature, CpuidFeature::VAES | CpuidFeature::GFNI))
}

/// Whether this is an instruction that multiplies or adds without touching all flags: MULX, ADCX, ADOX.
pub fn is_mulx_adcx_or_adox(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Mulx | Mnemonic::Adcx | Mnemonic::Adox)
}

/// The instructions of a function from which it can return.
pub(super) fn returning_instructions(image: &Image, function: &Function) -> HashSet<u64> {
    let instructions = image.instructions(function);
    let mut before: HashMap<u64, Vec<u64>> = HashMap::new();
    let mut to_visit = Vec::new();
    let mut memory = Memory::new();
    for instruction in &instructions {
        let (at, next) = (instruction.ip(), instruction.next_ip());
        match instruction.flow_control() {
            FlowControl::Next => before.entry(next).or_default().push(at),
            FlowControl::Call | FlowControl::IndirectCall => {
                let target = callee(instruction, &mut memory);
                let returns = !target.is_some_and(|target| never_returns(image, target));
                before.entry(next).or_default().extend(returns.then_some(at));
            }
            FlowControl::ConditionalBranch => {
                before.entry(next).or_default().push(at);
                before.entry(instruction.near_branch_target()).or_default().push(at);
            }
            FlowControl::UnconditionalBranch => {
                let target = instruction.near_branch_target();
                if function.code.contains(&target) {
                    before.entry(target).or_default().push(at);
                } else if !never_returns(image, target) {
                    to_visit.push(at);
                }
            }
            // The target of an indirect jump is known only when it runs.
            FlowControl::Return | FlowControl::IndirectBranch => to_visit.push(at),
            _ => {}
        }
    }
    let mut found: HashSet<u64> = to_visit.iter().copied().collect();
    while let Some(at) = to_visit.pop() {
        for &earlier in before.get(&at).into_iter().flatten() {
            if found.insert(earlier) {
                to_visit.push(earlier);
            }
        }
    }
    found
}

/// The target of a call if it is always the same: a direct call, or a call through an entry of the GOT.
fn callee(instruction: &Instruction, memory: &mut Memory) -> Option<u64> {
    if instruction.flow_control() == FlowControl::Call {
        return Some(instruction.near_branch_target());
    }
    let entry = instruction.is_ip_rel_memory_operand().then(|| instruction.ip_rel_memory_address())?;
    memory.read_number(entry, 8).ok().map(|(target, _)| target)
}

/// Whether an instruction does nothing and only aligns the next one.
pub(super) fn is_padding(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Nop || instruction.code() == Code::Xchg_r16_AX
}

/// Whether a function reports a panic and does not return.
fn never_returns(image: &Image, target: u64) -> bool {
    const NEVER_RETURN: [&str; 6] = [
        "core::panicking::",
        "core::slice::index::slice_",
        "core::slice::copy_from_slice_impl::len_mismatch_fail",
        "core::option::",
        "core::result::unwrap_failed",
        "core::array::",
    ];
    image.function(target).is_some_and(|function| {
        function.code.start == target && NEVER_RETURN.iter().any(|start| function.name.starts_with(start))
    })
}
