//! Opens a container for reading: header, commitment, and the length that the size of a regular file implies.

use std::io::{BufReader, IoSliceMut, Read};

use super::Control;
use crate::format::{Content, Header, LAYOUT, Layout, PREFIX_BYTES, Payload};
use crate::keys::Identities;
use crate::source::{OpenSource, SourceReader};
use crate::{Error, ErrorKind};

/// Largest number of bytes that are read from a stream beyond the header.
const READ_AHEAD_BYTES: usize = 8192;

/// A container that was read up to the end of its payload's prefix.
pub(super) struct OpenContainer<'a> {
    pub(super) input: &'a OpenSource<'a>,
    pub(super) header: Header,
    pub(super) layout: Layout,
    prefix: [u8; PREFIX_BYTES],
    /// Offset of the first chunk.
    pub(super) chunks_offset: u64,
    /// The stream after the prefix.
    pub(super) reader: BufReader<SourceReader<'a>>,
    control: &'a Control,
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
        Ok(Self { input, header, layout: LAYOUT, prefix, chunks_offset, reader, control })
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

    /// The length of the plaintext that the size of a regular file implies; `None` for a stream. Not authenticated until the last
    /// chunk is verified.
    pub(super) fn plain_bytes(&self) -> Result<Option<u64>, Error> {
        let Some(bytes) = self.input.seekable_bytes() else { return Ok(None) };
        let sealed = bytes.saturating_sub(self.chunks_offset);
        self.layout.plain_bytes(sealed).map(Some).map_err(|error| error.at(self.input.name()))
    }

    /// Verifies the last chunk, and with it the length of the plaintext.
    pub(super) fn verify_last(&self, payload: &Payload, plain_bytes: u64) -> Result<(), Error> {
        let (last, chunk) = self.last_chunk(plain_bytes)?;
        payload.unseal(last, &mut { chunk }, true).map_err(|error| error.at(self.input.name()))
    }

    /// Number and sealed bytes of the last chunk.
    pub(super) fn last_chunk(&self, plain_bytes: u64) -> Result<(u64, Vec<u8>), Error> {
        let last = self.layout.chunks(plain_bytes) - 1;
        let mut chunk = vec![0; self.layout.sealed_range_bytes(plain_bytes, &(last..last + 1)) as usize];
        let offset = self.chunks_offset + self.layout.sealed_offset(last);
        self.input.read_exact_at(&mut [IoSliceMut::new(&mut chunk)], offset)?;
        Ok((last, chunk))
    }
}
