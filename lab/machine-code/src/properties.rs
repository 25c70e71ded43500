//! Properties of single instructions.

use iced_x86::{Instruction, Mnemonic, Register};

/// Instructions whose time depends on the values of their operands.
pub(super) fn has_variable_time(instruction: &Instruction) -> bool {
    if matches!(instruction.mnemonic(), Mnemonic::Div | Mnemonic::Idiv) {
        return true;
    }
    // Floating-point arithmetic, which is slower for subnormal numbers.
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    let name = name.strip_prefix('v').unwrap_or(&name);
    ["add", "sub", "mul", "div", "sqrt", "fmadd", "fmsub", "fnmadd", "fnmsub", "rcp", "rsqrt", "cvt", "min", "max"]
        .iter()
        .any(|start| name.starts_with(start))
        && ["ps", "pd", "ss", "sd"].iter().any(|end| name.ends_with(end))
}

/// Whether the result does not depend on the operands.
pub(super) fn is_constant(instruction: &Instruction) -> bool {
    match instruction.mnemonic() {
        Mnemonic::Vpternlogd | Mnemonic::Vpternlogq => {
            !instruction.has_op_mask() && matches!(instruction.immediate8(), 0 | 0xff)
        }
        Mnemonic::Pcmpeqb | Mnemonic::Pcmpeqd | Mnemonic::Pcmpeqw => {
            instruction.op0_register() == instruction.op1_register()
        }
        Mnemonic::Vpcmpeqb | Mnemonic::Vpcmpeqd | Mnemonic::Vpcmpeqw | Mnemonic::Vpcmpeqq => {
            instruction.op1_register() != Register::None && instruction.op1_register() == instruction.op2_register()
        }
        Mnemonic::Kxorb | Mnemonic::Kxorw | Mnemonic::Kxord | Mnemonic::Kxorq => {
            instruction.op1_register() == instruction.op2_register()
        }
        Mnemonic::Kxnorb | Mnemonic::Kxnorw | Mnemonic::Kxnord | Mnemonic::Kxnorq => {
            instruction.op1_register() == instruction.op2_register()
        }
        _ => false,
    }
}
