//! Crate root of `libtress-cipher`: the files of `libtress` that need neither containers nor signatures.
#![allow(non_camel_case_types)]
#![allow(dead_code, reason = "some helpers serve only the other files of libtress, whose build reports unused code")]

mod chacha20poly1305;
mod ciphers;
mod failure;
mod filler;
mod lanes;
mod modes;
mod raw;
mod status;
mod version;

pub use chacha20poly1305::*;
pub use ciphers::*;
pub use filler::*;
pub use lanes::*;
pub use modes::*;
pub use status::*;
pub use version::*;
