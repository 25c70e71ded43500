//! The tests of this crate as one program: one file for each subject. A new file needs its line here.

mod common;
mod float;
mod host;
mod integer;
mod kernels;
mod loader;
mod machine;
mod machines;
mod qemu;
mod rtl;
mod secrets;
mod timing;
