//! Tress for C: `libtress` and `tress.h`.
//!
//! Every function here is the C form of a function of `tress-cipher`, `tress-container` or `tress-sign`. The rustdoc of
//! this crate is the documentation for C users: `tests/header.rs` generates `include/tress.h` and
//! `include/tress-cipher.h` from it. Types and functions have the names that C sees.
//!
//! Rules for every function:
//!
//! - It returns a [`tress_status`], or a value if it cannot fail. No panic crosses into C.
//! - A required pointer that is NULL is `TRESS_NULL`. NULL with length 0 is an empty buffer. A length above
//!   `PTRDIFF_MAX` is `TRESS_LENGTH`.
//! - A function that returns a handle through a pointer writes NULL there first. Every `_free` accepts NULL.
#![allow(non_camel_case_types)]

mod batch;
mod buffer;
mod chacha20poly1305;
mod ciphers;
mod container;
mod errors;
mod failure;
mod files;
mod filler;
mod keys;
mod lanes;
mod modes;
mod options;
mod raw;
mod reader;
mod sign;
mod status;
mod version;

pub use batch::*;
pub use buffer::*;
pub use chacha20poly1305::*;
pub use ciphers::*;
pub use container::*;
pub use files::*;
pub use filler::*;
pub use keys::*;
pub use lanes::*;
pub use modes::*;
pub use options::*;
pub use reader::*;
pub use sign::*;
pub use status::*;
pub use version::*;
