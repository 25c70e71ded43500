//! Kernels in assembly for 32-bit RISC-V (RV32I; RC6 multiplies), as the backend `riscv32` uses them; PIPO's by themselves
//! for what the modes do not say: keys of four messages side by side, CTR with a prepared nonce.
//!
//! One folder a cipher. The same files make `libtress_rv32.a` for C (`riscv/firmware/library`). Stack: at most 256 bytes in any
//! kernel.

pub(crate) mod aes;
pub mod pipo;
pub(crate) mod rc6;
