#![doc = include_str!("../README.md")]
#![doc = include_str!("algorithms.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
extern crate std;

pub mod add;
#[cfg(all(feature = "alloc", target_arch = "x86_64"))]
mod cpu;
#[cfg(all(feature = "secrets", target_arch = "x86_64"))]
#[doc(hidden)]
pub use cpu::take_all_instructions_for_there;
mod error;
pub mod gcd;
pub mod inverse;
#[cfg(feature = "alloc")]
pub mod lanes;
mod limb;
#[cfg(feature = "alloc")]
mod modulus;
pub mod multiply;
#[cfg(feature = "alloc")]
mod one;
pub mod power;
#[cfg(feature = "alloc")]
pub mod prime;
pub mod reduce;
mod reveal;
#[cfg(all(target_arch = "riscv32", target_feature = "m", not(tress_without_riscv32)))]
pub mod riscv32;

pub use error::Error;
pub use limb::Limb;
#[cfg(feature = "alloc")]
pub use modulus::Modulus;
#[doc(hidden)]
pub use reveal::reveal;
