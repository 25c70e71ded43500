//! The formats of encrypted files (`docs/reference/formats/`): our container, age files and Cobblestone files.
//!
//! A format makes a [`Payload`] of a [`Layout`], an AEAD with its key and a rule for nonces, and has a head before it: `chunked.rs` with
//! `header.rs` for containers, `cobblestone.rs`, and `age.rs` with `armor.rs`. `head.rs` recognises a head and opens it. Pipeline,
//! streams, ranges and transfers ask payload and layout.
//!
//! This module never touches a file: it converts bytes to bytes. [`commands`](crate::commands) processes whole files in parallel.

mod aead;
mod age;
mod armor;
mod chunked;
mod cobblestone;
mod content;
mod expand;
mod head;
mod header;
mod layout;
mod payload;
mod stanzas;

pub use crate::formats::Format;
pub use crate::keys::CobblestoneKey;
#[doc(hidden)]
pub use crate::random::fill_random;
pub use aead::Aead;
pub(crate) use armor::{Dearmor, SealedReader};
pub use chunked::{LAYOUT, PREFIX_BYTES};
pub use content::{Content, ContentType, MAX_NAME_BYTES, Version, is_valid_name};
pub(crate) use head::{Head, Opened, Parsed, start};
pub use header::{ALIGNMENT_BYTES, Header, MAX_AGE_FILE_BYTES};
pub use layout::{LastChunk, Layout};
pub use payload::Payload;
pub use stanzas::MAX_RECIPIENTS;
