#![doc = include_str!("../README.md")]
#![cfg_attr(feature = "algorithms", doc = include_str!("algorithms.md"))]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
// `Modulus` does not use all algorithms.
#![cfg_attr(not(feature = "algorithms"), allow(dead_code, unreachable_pub, unused_imports))]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(test, all(feature = "std", target_arch = "x86_64")))]
extern crate std;

pub mod add;
#[cfg(all(feature = "alloc", target_arch = "x86_64"))]
mod cpu;
#[cfg(all(feature = "secrets", target_arch = "x86_64"))]
#[doc(hidden)]
pub use cpu::take_all_instructions_for_there;
#[cfg(test)]
mod counts_test;
mod error;
#[cfg(any(feature = "algorithms", test))]
pub mod gcd;
#[cfg(feature = "algorithms")]
pub mod inverse;
#[cfg(not(feature = "algorithms"))]
mod inverse;
#[cfg(feature = "alloc")]
pub mod lanes;
mod limb;
#[cfg(feature = "alloc")]
mod modulus;
#[cfg(feature = "algorithms")]
pub mod multiply;
#[cfg(not(feature = "algorithms"))]
mod multiply;
#[cfg(feature = "alloc")]
mod one;
#[cfg(any(feature = "algorithms", test))]
pub mod power;
#[cfg(feature = "alloc")]
pub mod prime;
#[cfg(feature = "algorithms")]
pub mod reduce;
#[cfg(not(feature = "algorithms"))]
mod reduce;
mod reveal;
#[cfg(all(feature = "algorithms", target_arch = "riscv32", target_feature = "m", not(tress_without_riscv32)))]
pub mod riscv32;
#[cfg(all(not(feature = "algorithms"), target_arch = "riscv32", target_feature = "m", not(tress_without_riscv32)))]
mod riscv32;

pub use error::Error;
pub use limb::Limb;
#[cfg(feature = "alloc")]
pub use modulus::Modulus;
#[doc(hidden)]
pub use reveal::reveal;
