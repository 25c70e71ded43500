//! The container format (`docs/reference/formats/container.md`): a header that carries the input key to its recipients, and a payload in
//! C2SP chunked-encryption@v1.
//!
//! This module never touches a file: it converts bytes to bytes. [`commands`](crate::commands) processes whole files in parallel.

mod aead;
mod content;
mod expand;
mod header;
mod payload;
mod stanzas;

#[doc(hidden)]
pub use crate::random::fill_random;
pub use aead::Aead;
pub use content::{Content, ContentType, MAX_NAME_BYTES, is_valid_name};
pub use header::{ALIGNMENT_BYTES, Header, MAX_AGE_FILE_BYTES, MAX_RECIPIENTS};
pub use payload::{
    CHUNK_BYTES, MAX_CHUNKS, PREFIX_BYTES, Payload, SEALED_CHUNK_BYTES, TAG_BYTES, plain_bytes, sealed_bytes,
};
