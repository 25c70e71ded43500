//! The tests of this crate as one program, with one file per subject. A new file needs a line here.

mod add;
mod common;
mod cpu;
#[path = "common/freed.rs"]
mod freed;
mod lanes;
mod memory;
mod modulus;
