//! The root of `libtress-cipher`: those files of `libtress` that need neither containers nor signatures.
#![allow(non_camel_case_types)]
#![allow(dead_code, reason = "helpers of the other files; what nothing uses is found in libtress")]

mod ciphers;
mod failure;
mod filler;
mod lanes;
mod modes;
mod raw;
mod status;
mod version;

pub use ciphers::*;
pub use filler::*;
pub use lanes::*;
pub use modes::*;
pub use status::*;
pub use version::*;
