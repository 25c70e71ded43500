//! The part of a container before its chunks.

use std::io::{self, Read};

use crate::format::{Content, Header, PREFIX_BYTES, Payload};
use crate::keys::Identities;
use crate::{Error, ErrorKind};

/// The header and the payload's prefix, opened.
pub(super) struct Head {
    pub(super) content: Content,
    pub(super) payload: Payload,
    /// Length of the header in bytes, without the prefix.
    pub(super) header_bytes: u64,
}

impl Head {
    /// Reads and opens the header and the prefix, and leaves `source` at the first chunk.
    ///
    /// # Errors
    /// The errors of [`Header::read`] and [`Header::open`]; `Commitment`, `Truncated`; `Io` of the source.
    pub(super) fn read(source: &mut dyn Read, identities: &Identities) -> Result<Self, Error> {
        let header = Header::read(source)?;
        let mut prefix = [0; PREFIX_BYTES];
        source.read_exact(&mut prefix).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => ErrorKind::Truncated.into(),
            _ => Error::from(error),
        })?;
        let content = header.open(identities)?;
        let payload = Payload::open(&content, &prefix)?;
        Ok(Self { content, payload, header_bytes: header.header_bytes() })
    }

    /// Offset of the first chunk in the container.
    pub(super) fn chunks_offset(&self) -> u64 {
        self.header_bytes + PREFIX_BYTES as u64
    }
}
