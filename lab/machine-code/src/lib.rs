//! An interpreter of x86-64 that finds where code depends on secrets. It tests code that claims constant time and
//! that Valgrind cannot run, because Valgrind does not support AVX-512, VAES and GFNI.
//!
//! It runs functions of the test's own executable, in builds with the feature `interpreter`.
//! docs/explanation/side-channels.md says what such a test shows and what it does not.
#![cfg(all(feature = "interpreter", target_arch = "x86_64"))]
#![forbid(unsafe_code)]

mod coverage;
mod dead_branches;
mod gather;
mod host_calls;
mod image;
mod machine;
mod memory;
mod operations;
mod planted;
mod properties;
mod run;
mod scalar;
mod vector;

pub use coverage::{is_avx512_vaes_or_gfni, is_mulx_adcx_or_adox};
pub use image::{Function, Image};
pub use machine::{Interpreter, Leak, Reason, Stop};
pub use memory::{Level, Memory};
pub use planted::check_planted;
pub use run::{Run, check_examined};
