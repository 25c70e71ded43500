//! The tests of this crate as one program. Each subject has a file, which needs a line here.

mod common;
mod damage;
mod external;
mod faults;
mod formats;
mod interrupts;
mod keys;
mod memory;
mod outputs;
mod plan;
mod raw;
mod recorded;
mod refusals;
mod send;
mod shown;
mod sign;
mod trees;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_tress");
