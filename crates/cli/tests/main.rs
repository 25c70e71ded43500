//! The tests of this crate as one program: one file for each subject. A new file needs its line here.

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
mod send;
mod shown;
mod sign;
mod trees;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_tress");
