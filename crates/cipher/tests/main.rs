//! The tests of this crate as one program: one file for each subject. A new file needs its line here.

mod auto_traits;
mod cpu;
mod memory;
mod properties;
mod vectors;
