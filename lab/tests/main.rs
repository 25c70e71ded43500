//! The tests of this crate as one program: one file for each subject. A new file needs its line here.

mod bench;
mod bench_image;
mod kernels;
mod roofs;
mod study;
