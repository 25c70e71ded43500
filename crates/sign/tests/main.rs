//! The tests of this crate as one program, with one file per subject. A new file needs a line here.

mod common;
mod encrypted;
mod keys;
mod signatures;
mod vectors;
