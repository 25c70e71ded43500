//! Tress for C: `libtress` and `tress.h`.
//!
//! Every function here is the C form of one of `tress-cipher`, `tress-container` or `tress-sign`. What is told to C users
//! stands in the comments of this crate, from which `tests/header.rs` makes `include/tress.h`; types and functions have
//! the names that C sees.
//!
//! Rules that hold for every function:
//!
//! - It returns a [`tress_status`], or a value that cannot fail. Nothing panics across the border.
//! - A pointer that is needed and NULL is `TRESS_NULL`; NULL with length 0 is an empty run of bytes. A length above
//!   `PTRDIFF_MAX` is `TRESS_LENGTH`.
//! - What hands out a handle writes NULL there first. Every `_free` takes NULL.
// Types have the names that C sees.
#![allow(non_camel_case_types)]

mod batch;
mod buffer;
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
