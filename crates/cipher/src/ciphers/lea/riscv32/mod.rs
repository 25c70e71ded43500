//! LEA on 32-bit RISC-V, in assembly: four blocks side by side, which share the reading of round keys, and CTR with the first rounds
//! partly computed ahead.

mod kernels;

/// The engine, which holds the proof of the target.
pub(super) type Riscv32 = crate::ciphers::words::riscv32::Riscv32<super::keys::RoundKeys>;
