//! The tests of this crate, as one program. A new file of tests needs a `mod` line here.

#[path = "../../../crates/cli/tests/common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
mod gdb;
mod simulate;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_tress-simulate");
