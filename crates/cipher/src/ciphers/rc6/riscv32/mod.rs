//! RC6 on 32-bit RISC-V, in assembly. It works block by block: a core that issues one instruction a cycle has no gaps that a second
//! block could fill.

mod kernels;

/// The engine, which holds the proof of the target.
pub(super) type Riscv32 = crate::ciphers::words::riscv32::Riscv32<super::keys::RoundKeys>;
