//! An interpreter of x86-64 that finds where code depends on secrets. It tests code that claims constant time and
//! that Valgrind cannot run, because Valgrind does not support AVX-512, VAES and GFNI.
//!
//! It runs functions of the test's own executable, in builds with the feature `interpreter`.
//! docs/explanation/side-channels.md says what such a test shows and what it does not.
#![cfg(all(feature = "interpreter", target_arch = "x86_64"))]
#![forbid(unsafe_code)]

mod coverage;
mod image;
mod machine;
mod masks;
mod memory;
mod outside;
mod properties;
mod scalar;
mod sides;
mod vector;

pub use coverage::{is_multiplication_with_two_carries, is_new, is_padding, returning};
pub use image::{Function, Image};
pub use machine::{Leak, Machine, Reason, Stop};
pub use memory::{Level, Memory};
pub use sides::Sides;
