#![doc = include_str!("algorithms.md")]
#![no_std]
#![forbid(unsafe_code)]

pub mod multiply;
pub mod power;
pub mod reduce;
#[cfg(all(target_arch = "riscv32", target_feature = "m", not(tress_without_riscv32)))]
pub mod riscv32;

pub use tress_modular::{Error, Limb, add};
