//! The tests of this crate as one program: one file for each subject. A new file needs its line here.

#[path = "../../../crates/cli/tests/common/mod.rs"]
mod common;
mod simulate;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_tress-simulate");
