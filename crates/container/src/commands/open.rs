//! Opens a container for reading: header, commitment, and the length that the size of a regular file implies.

use std::io::{BufReader, IoSliceMut, Read};

use super::Control;
use crate::container::{
    CHUNK_BYTES, Content, Header, PREFIX_BYTES, Payload, SEALED_CHUNK_BYTES, TAG_BYTES, plain_bytes,
};
use crate::keys::Identities;
use crate::source::{OpenSource, SourceReader};
use crate::{Error, ErrorKind};

/// Largest number of bytes that are read from a stream beyond the header.
const READ_AHEAD_BYTES: usize = 8192;

/// A container that was read up to the end of its payload's prefix.
pub(super) struct OpenContainer<'a> {
    pub(super) input: &'a OpenSource<'a>,
    pub(super) header: Header,
    prefix: [u8; PREFIX_BYTES],
    /// Offset of the first chunk.
    pub(super) chunks_offset: u64,
    /// The stream after the prefix.
    pub(super) reader: BufReader<SourceReader<'a>>,
    control: &'a Control,
}

/// The chunks of a container that is a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) plain_bytes: u64,
    pub(super) chunks: u64,
    pub(super) last_sealed_bytes: usize,
}

impl<'a> OpenContainer<'a> {
    /// Reads the header and the prefix.
    pub(super) fn read(input: &'a OpenSource<'a>, control: &'a Control) -> Result<Self, Error> {
        let mut reader = BufReader::with_capacity(READ_AHEAD_BYTES, input.reader(control));
        let header = Header::read(&mut reader).map_err(|error| input.failure(error, control))?;
        let mut prefix = [0; PREFIX_BYTES];
        reader.read_exact(&mut prefix).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Error::new(ErrorKind::Truncated).at(input.name()),
            _ => input.failure(error, control),
        })?;
        let chunks_offset = header.header_bytes() + PREFIX_BYTES as u64;
        Ok(Self { input, header, prefix, chunks_offset, reader, control })
    }

    /// Opens the header, and checks the commitment.
    pub(super) fn open(&self, identities: &Identities) -> Result<(Content, Payload), Error> {
        let opened = || {
            let content = self.header.open(identities)?;
            let payload = Payload::open(&content, &self.prefix)?;
            Ok((content, payload))
        };
        opened().map_err(|error: Error| self.input.failure(error, self.control))
    }

    /// The chunks that the size of a regular file implies; `None` for a stream. Not authenticated until the last chunk is verified.
    pub(super) fn extent(&self) -> Result<Option<Extent>, Error> {
        let Some(bytes) = self.input.seekable_bytes() else { return Ok(None) };
        let sealed = bytes.saturating_sub(self.chunks_offset);
        Extent::of(sealed).map(Some).map_err(|error| error.at(self.input.name()))
    }

    /// Verifies the last chunk, and with it the length of the plaintext.
    pub(super) fn verify_last(&self, payload: &Payload, extent: &Extent) -> Result<(), Error> {
        let last = extent.chunks - 1;
        let mut chunk = vec![0; extent.last_sealed_bytes];
        let offset = self.chunks_offset + last * SEALED_CHUNK_BYTES as u64;
        self.input.read_exact_at(&mut [IoSliceMut::new(&mut chunk)], offset)?;
        payload.unseal(last, &mut chunk).map_err(|error| error.at(self.input.name()))
    }
}

impl Extent {
    /// The chunks in `sealed` bytes of payload, not counting the prefix.
    pub(super) fn of(sealed: u64) -> Result<Self, Error> {
        let plain_bytes = plain_bytes(sealed)?;
        Ok(Self {
            plain_bytes,
            chunks: plain_bytes / CHUNK_BYTES as u64 + 1,
            last_sealed_bytes: (plain_bytes % CHUNK_BYTES as u64) as usize + TAG_BYTES,
        })
    }
}
