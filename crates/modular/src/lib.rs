//! Numbers of many digits, and arithmetic modulo one of them, as signatures need it.
//!
//! A number is a slice of digits ([`Limb`]), the lowest first. A digit has 16, 32 or 64 bits; every algorithm is written
//! once for all of them, on slices that the caller provides.
//!
//! - [`Modulus`]: what signature schemes use, digits of 64 bits on the heap (feature `alloc`, on by default).
//! - [`lanes`]: many exponentiations at once.
//! - [`prime`]: probable primes.
//! - `riscv32`: assembly for 32-bit RISC-V, on builds for it.
//!
//! The feature `std`, on by default, only lets the crate read `TRESS_CPU` from the environment of x86-64 (`tress_cipher::cpu` says
//! what it is).
//!
//! What is not constant time says so in its name, `_vartime`. Lengths, of numbers in digits and of moduli in bits, are
//! never secret.
//!
//! "The paper" is Y. Choi, D. Baek, S. Kim, D. Won, Implementation and benchmarking test for the cryptographic library on
//! several OSs (in Korean), which implements or names most of what is here.
//!
//! ```
//! use tress_modular::Modulus;
//!
//! // 2^127 − 1 is a prime: Fermat's theorem.
//! let prime = Modulus::new(&[u64::MAX, u64::MAX >> 1])?;
//! let power = prime.power(&[7], &[u64::MAX - 1, u64::MAX >> 1]);
//! assert_eq!(power, [1, 0]);
//! # Ok::<(), tress_modular::Error>(())
//! ```
//!
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
