//! The tests of this crate as one program: one file for each subject. A new file needs its line here.

mod algorithms;
mod common;
mod cpu;
mod lanes;
mod memory;
mod modulus;
mod one;
