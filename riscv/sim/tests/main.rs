//! The tests of this crate, as one program. A new file of tests needs a `mod` line here.

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
