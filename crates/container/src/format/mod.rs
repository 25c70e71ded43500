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

use crate::keys::Recipients;
#[doc(hidden)]
pub use crate::random::fill_random;
use crate::{Error, ErrorKind};
pub use aead::Aead;
pub(crate) use armor::{Dearmor, SealedReader};
pub use chunked::{LAYOUT, PREFIX_BYTES};
pub use cobblestone::CobblestoneKey;
pub use content::{Content, ContentType, MAX_NAME_BYTES, is_valid_name};
pub(crate) use head::{Head, Opened, Parsed};
pub use header::{ALIGNMENT_BYTES, Header, MAX_AGE_FILE_BYTES, MAX_RECIPIENTS};
pub use layout::{LastChunk, Layout};
pub use payload::Payload;

/// A format of encrypted files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Our container: AES-CCM, a name, folders, recipients that change in place.
    #[default]
    Tress,
    /// The format of `age` and `rage`.
    Age,
    /// C2SP Cobblestone-128: AES-128-GCM under a key of 16 bytes.
    Cobblestone128,
    /// C2SP Cobblestone-256: AES-256-GCM under a key of 32 bytes.
    Cobblestone256,
}

impl Format {
    /// All formats.
    pub const ALL: &[Format] = &[Format::Tress, Format::Age, Format::Cobblestone128, Format::Cobblestone256];

    /// The name on the command line and in the output of `inspect`.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Tress => "tress",
            Format::Age => "age",
            Format::Cobblestone128 => "cobblestone-128",
            Format::Cobblestone256 => "cobblestone-256",
        }
    }

    /// The format with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Format> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }
}

/// Starts a file in this format, with a content for a container. Also returns the file's bytes before the first chunk.
pub(crate) fn start(
    format: Format,
    content: impl FnOnce() -> Result<Content, Error>,
    recipients: &Recipients,
) -> Result<(Payload, Vec<u8>), Error> {
    if let Some(key) = recipients.sole_key()? {
        if ![Format::Tress, key.format()].contains(&format) {
            return Err(Error::new(ErrorKind::MixedRecipients).with_detail("the key is for another format"));
        }
        let (payload, prefix) = key.start()?;
        return Ok((payload, prefix.to_vec()));
    }
    match format {
        Format::Tress => {
            let content = content()?;
            let mut head = Header::seal(&content, recipients)?;
            let (payload, prefix) = Payload::create(&content)?;
            head.extend_from_slice(&prefix);
            Ok((payload, head))
        }
        Format::Age => age::start(recipients),
        Format::Cobblestone128 | Format::Cobblestone256 => {
            Err(Error::new(ErrorKind::Usage).with_detail(format!("{} takes one key", format.name())))
        }
    }
}
