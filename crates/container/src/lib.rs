#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod commands;
mod control;
mod error;
pub mod format;
mod formats;
pub mod keys;
pub mod streaming;
pub mod tree;

// Used by other crates of the workspace; not part of the interface.
#[doc(hidden)]
pub mod pipeline;
mod random;
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
#[doc(hidden)]
pub mod workers;

#[cfg(feature = "age")]
pub use age;
pub use control::Control;
#[doc(hidden)]
pub use error::lower_first;
pub use error::{Error, ErrorKind, Refusal};
/// The former name of [`format`](mod@format).
pub use format as container;
pub use threads::Threads;
