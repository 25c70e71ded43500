//! An interpreter of x86-64 that finds where secrets show: for tests of code that claims constant time, and that Valgrind
//! cannot run since it does not know AVX-512, VAES and GFNI.
//!
//! It runs functions of the test's own executable. Only builds with the feature `interpreter` have it. docs/explanation/side-channels.md
//! says what it shows and what it does not.
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
