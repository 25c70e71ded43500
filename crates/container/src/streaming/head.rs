//! What is before the chunks of a container.

use std::io::{self, Read};

use crate::container::{Content, Header, PREFIX_BYTES, Payload};
use crate::keys::Identities;
use crate::{Error, ErrorKind};

/// The header and the payload's prefix, opened.
pub(super) struct Head {
    pub(super) content: Content,
    pub(super) payload: Payload,
    /// Bytes of the header, to which those of the prefix come.
    pub(super) header_bytes: u64,
}

impl Head {
    /// Leaves `source` at the first chunk.
    ///
    /// # Errors
    /// As [`Header::read`] and [`Header::open`]; `Commitment`, `Truncated`; `Io` of the source.
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

    /// Where the first chunk begins.
    pub(super) fn chunks_offset(&self) -> u64 {
        self.header_bytes + PREFIX_BYTES as u64
    }
}
