//! Containers of AES-CCM chunks, encrypted in lanes on all cores.
//!
//! - [`container`]: the format, one header and one batch of chunks at a time; no files. The authority is
//!   `docs/formats/container.md`.
//! - [`keys`]: recipients, identities, passphrases, raw key files, and the key pairs that `tress keygen` makes.
//! - [`net`]: files from one machine to another, over connections that begin with Noise IK.
//! - [`plan`]: how long a transfer takes when computing overlaps communicating.
//! - [`streaming`]: containers that are no files: pushed piece by piece, read at any place, whole in memory.
//! - [`tree`]: a folder as a tar stream and back.
#![forbid(unsafe_code)]

pub mod container;
mod error;
mod input;
pub mod keys;
#[cfg(feature = "net")]
pub mod net;
mod output;
mod pipeline;
pub mod plan;
pub mod shown;
pub mod streaming;
mod sys;
mod threads;
pub mod tree;
pub mod verbs;

pub use age;
pub use error::{Error, ErrorKind, Refusal};
pub use verbs::Control;
