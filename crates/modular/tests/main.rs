//! The tests of this crate as one program, with one file per subject. A new file needs a line here.

mod algorithms;
mod common;
mod cpu;
mod lanes;
mod memory;
mod modulus;
mod one;
