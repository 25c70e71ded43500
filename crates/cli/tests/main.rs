//! The tests of this crate as one program: one file for each subject. A new file needs its line here.

mod bench;
mod common;
mod damage;
mod faults;
mod formats;
mod interrupts;
mod keys;
mod links;
mod memory;
mod modular;
mod outputs;
mod plan;
mod raw;
mod recorded;
mod report;
mod send;
mod shown;
mod sign;
mod simulate;
mod study;
mod trees;
