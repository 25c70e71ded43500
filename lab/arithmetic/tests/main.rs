//! The tests of this crate as one program.

mod algorithms;
#[path = "../../../crates/modular/tests/common/mod.rs"]
mod common;
