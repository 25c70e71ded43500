//! Opens a file for reading: its head in any format, and the length that the size of a regular file implies.

use std::io::IoSliceMut;

use super::Control;
use crate::Error;
use crate::format::{Format, Head, Layout, Opened, Payload, SealedReader};
use crate::keys::Identities;
use crate::source::{OpenSource, SourceReader};

/// A file that was read up to its first chunk.
pub(super) struct OpenContainer<'a> {
    pub(super) input: &'a OpenSource<'a>,
    pub(super) head: Head,
    pub(super) layout: Layout,
    /// Offset of the first chunk.
    pub(super) chunks_offset: u64,
    /// The stream of chunks.
    pub(super) reader: SealedReader<SourceReader<'a>>,
    control: &'a Control,
}

impl<'a> OpenContainer<'a> {
    /// Reads the head, which is in the expected format if there is one.
    pub(super) fn read(
        input: &'a OpenSource<'a>,
        expected: Option<Format>,
        control: &'a Control,
    ) -> Result<Self, Error> {
        let may_be_armored = expected.is_none_or(|format| format.magic().is_some());
        let mut reader = SealedReader::new(input.reader(control), may_be_armored);
        let head = Head::read(&mut reader, expected).map_err(|error| input.failure(error, control))?;
        let (layout, chunks_offset) = (head.layout(), head.chunks_offset);
        Ok(Self { input, head, layout, chunks_offset, reader, control })
    }

    /// Opens the head, and checks what it commits to.
    pub(super) fn open(&self, identities: &Identities) -> Result<Opened, Error> {
        self.head.open(identities).map_err(|error| self.input.failure(error, self.control))
    }

    /// The length of the plaintext that the size of a regular file implies; `None` for a stream and for an armored file. Not authenticated
    /// until the last chunk is verified.
    pub(super) fn plain_bytes(&self) -> Result<Option<u64>, Error> {
        // Offsets in an armored file are not those of its bytes.
        let Some(bytes) = self.input.seekable_bytes().filter(|_| !self.reader.is_armored()) else { return Ok(None) };
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
