//! Numbers of many digits, and arithmetic modulo one of them, as signatures need it.
//!
//! A number is a slice of digits ([`Limb`]), the lowest first. A digit has 16, 32 or 64 bits; every algorithm is written
//! once for all of them, on slices that the caller provides.
//!
//! - [`Modulus`]: what signature schemes use, digits of 64 bits on the heap (feature `alloc`, on by default).
//! - [`lanes`]: many exponentiations at once.
//! - [`prime`]: probable primes.
//!
//! What is not constant time says so in its name, `_vartime`. Lengths, of numbers in digits and of moduli in bits, are
//! never secret.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod add;
mod cpu;
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

pub use error::Error;
pub use limb::Limb;
#[cfg(feature = "alloc")]
pub use modulus::Modulus;
use reveal::reveal;
