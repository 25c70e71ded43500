//! The container format (`docs/reference/formats/container.md`): a header that carries the input key to its recipients, and a
//! payload in C2SP chunked-encryption@v1.
//!
//! `tress.rs` makes a [`Payload`] of a [`Layout`], an AEAD with its key and a rule for nonces. Pipeline, streams, ranges and
//! transfers ask these.
//!
//! This module never touches a file: it converts bytes to bytes. [`commands`](crate::commands) processes whole files in parallel.

mod aead;
mod content;
mod expand;
mod header;
mod layout;
mod payload;
mod stanzas;
mod tress;

#[doc(hidden)]
pub use crate::random::fill_random;
pub use aead::Aead;
pub use content::{Content, ContentType, MAX_NAME_BYTES, is_valid_name};
pub use header::{ALIGNMENT_BYTES, Header, MAX_AGE_FILE_BYTES, MAX_RECIPIENTS};
pub use layout::{LastChunk, Layout};
pub use payload::Payload;
pub(crate) use tress::start;
pub use tress::{LAYOUT, PREFIX_BYTES};
