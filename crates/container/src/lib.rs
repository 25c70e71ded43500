//! Containers of AES-CCM chunks, encrypted in lanes on all cores.
//!
//! - [`container`]: the format, one header and one batch of chunks at a time; no files. The authority is
//!   `docs/formats/container.md`.
//! - [`keys`]: recipients, identities, passphrases, raw key files, and the key pairs that `tress keygen` makes.
//! - [`streaming`]: containers that are no files: pushed piece by piece, read at any place, whole in memory.
//! - [`tree`]: a folder as a tar stream and back.
#![forbid(unsafe_code)]

pub mod container;
mod error;
pub mod keys;
pub mod streaming;
pub mod tree;
pub mod verbs;

// For the crates above, which move chunks in other ways; no part of the interface.
#[doc(hidden)]
pub mod pipeline;
#[doc(hidden)]
pub mod sink;
#[doc(hidden)]
pub mod source;
#[doc(hidden)]
pub mod sys;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod testing;
#[doc(hidden)]
pub mod threads;

pub use age;
#[doc(hidden)]
pub use error::lower_first;
pub use error::{Error, ErrorKind, Refusal};
pub use verbs::Control;
