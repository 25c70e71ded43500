//! `inspect`: reads a container's metadata, with or without an identity.

use std::io::Read;

use super::open::OpenContainer;
use super::{Control, Source};
use crate::Error;
use crate::format::{Aead, ContentType, Format, Opened};
use crate::keys::Identities;
use crate::source::OpenSource;
use crate::sys::{Os, System};

/// The result of [`inspect`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// The file's format.
    pub format: Format,
    /// The format's version: `v2` for containers of folders that are not from 0.2, `v1` for everything else.
    pub version: &'static str,
    /// AEAD of the payload, as the first line states it.
    pub aead: Aead,
    /// Types of the age header's stanzas, in order (`X25519`, `scrypt`, ...). Cobblestone files have none.
    pub recipients: Vec<String>,
    /// Length of the part with the recipients in bytes: the offset of the payload, without an armor.
    pub header_bytes: u64,
    /// Number of chunks in the payload.
    pub chunks: u64,
    /// Length of the plaintext in bytes.
    pub plaintext_bytes: u64,
    /// Whether header, commitment and last chunk were verified with an identity.
    pub verified: bool,
    /// File or tree; `None` unless verified.
    pub content_type: Option<ContentType>,
    /// Name stored in the container; `None` unless verified.
    pub name: Option<String>,
}

/// Reads a container's header and size. With identities, also verifies the header, the commitment and the last chunk. A stream is read
/// to its end.
///
/// # Errors
/// The errors of decryption, for the parts that are read.
pub fn inspect(source: &Source, identities: Option<&Identities>) -> Result<Inspection, Error> {
    inspect_on(&Os, source, None, identities, &Control::new())
}

/// Inspects like [`inspect`], a file of this format, if there is one: Cobblestone files are not recognised without it, or a key for them.
///
/// # Errors
/// The same as [`inspect`]; `OtherFormat`, `Cancelled`.
pub fn inspect_with(
    source: &Source,
    format: Option<Format>,
    identities: Option<&Identities>,
    control: &Control,
) -> Result<Inspection, Error> {
    inspect_on(&Os, source, format, identities, control)
}

pub(crate) fn inspect_on(
    system: &dyn System,
    source: &Source,
    format: Option<Format>,
    identities: Option<&Identities>,
    control: &Control,
) -> Result<Inspection, Error> {
    let input = OpenSource::open(system, source)?;
    let format = format.or_else(|| identities?.format());
    let mut container = OpenContainer::read(&input, format, control)?;
    let opened = identities.map(|identities| container.open(identities)).transpose()?;
    let (plaintext_bytes, last) = match container.plain_bytes()? {
        Some(bytes) if opened.is_some() => (bytes, container.last_chunk(bytes)?.1),
        Some(bytes) => (bytes, Vec::new()),
        None => read_to_end(&mut container, control)?,
    };
    let chunks = container.layout.chunks(plaintext_bytes);
    let mut inspection = Inspection {
        format: container.head.format(),
        version: container.head.version().name(),
        aead: container.head.aead(),
        recipients: container.head.recipient_types(),
        header_bytes: container.head.header_bytes(),
        chunks,
        plaintext_bytes,
        verified: false,
        content_type: None,
        name: None,
    };
    if let Some(Opened { content, payload }) = opened {
        let mut last = last;
        payload.unseal(chunks - 1, &mut last, true).map_err(|error| error.at(input.name()))?;
        inspection.verified = true;
        inspection.content_type = Some(content.content_type());
        inspection.name = content.name().map(str::to_owned);
    }
    Ok(inspection)
}

/// Reads a stream to its end. Returns the length of its plaintext, and the last chunk.
fn read_to_end(container: &mut OpenContainer<'_>, control: &Control) -> Result<(u64, Vec<u8>), Error> {
    let chunk_bytes = container.layout.sealed_chunk_bytes() as u64;
    let (mut sealed_bytes, mut last, mut chunk) = (0, Vec::new(), Vec::new());
    loop {
        let reader = &mut container.reader;
        let bytes = reader
            .take(chunk_bytes)
            .read_to_end(&mut chunk)
            .map_err(|error| container.input.failure(error, control))?;
        if bytes == 0 {
            let plain_bytes = container.layout.plain_bytes(sealed_bytes);
            return Ok((plain_bytes.map_err(|error| error.at(container.input.name()))?, last));
        }
        sealed_bytes += bytes as u64;
        std::mem::swap(&mut last, &mut chunk);
        chunk.clear();
    }
}
