#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

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
mod error;
#[cfg(feature = "alloc")]
mod inverse;
#[cfg(feature = "alloc")]
pub mod lanes;
mod limb;
#[cfg(feature = "alloc")]
mod modulus;
mod montgomery;
mod multiply;
#[cfg(feature = "alloc")]
mod one;
#[cfg(feature = "alloc")]
pub mod prime;
mod reveal;
#[cfg(all(target_arch = "riscv32", target_feature = "m", not(tress_without_riscv32)))]
#[doc(hidden)]
pub mod riscv32;

pub use error::Error;
pub use limb::Limb;
#[cfg(feature = "alloc")]
pub use modulus::Modulus;
#[doc(hidden)]
pub use reveal::reveal;

/// For `lab/arithmetic`, whose algorithms build on these.
#[doc(hidden)]
pub mod parts {
    pub use crate::montgomery::{cios, negative_inverse, prepare};
    pub use crate::multiply::{multiply_add_row, rows};
}
