//! The tests of this crate as one program, with one file for each subject. Add new files here.

mod auto_traits;
mod cpu;
mod memory;
mod properties;
mod vectors;
