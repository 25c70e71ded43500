//! `inspect`: reads a container's metadata, with or without an identity.

use std::io::{IoSliceMut, Read};

use super::open::{Extent, OpenContainer};
use super::{Control, Source};
use crate::Error;
use crate::container::{Aead, ContentType, SEALED_CHUNK_BYTES};
use crate::keys::Identities;
use crate::source::OpenSource;
use crate::sys::{Os, System};

/// The result of [`inspect`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// The container's version, `v1`.
    pub version: &'static str,
    /// AEAD of the payload, as the first line states it.
    pub aead: Aead,
    /// Types of the age header's stanzas, in order (`X25519`, `scrypt`, ...).
    pub recipients: Vec<String>,
    /// Length of header in bytes: the offset of the payload.
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
    inspect_on(&Os, source, identities, &Control::new())
}

pub(crate) fn inspect_on(
    system: &dyn System,
    source: &Source,
    identities: Option<&Identities>,
    control: &Control,
) -> Result<Inspection, Error> {
    let input = OpenSource::open(system, source)?;
    let mut container = OpenContainer::read(&input, control)?;
    let opened = identities.map(|identities| container.open(identities)).transpose()?;
    let (extent, last) = match container.extent()? {
        Some(extent) => {
            let mut last = Vec::new();
            if opened.is_some() {
                last.resize(extent.last_sealed_bytes, 0);
                let offset = container.chunks_offset + (extent.chunks - 1) * SEALED_CHUNK_BYTES as u64;
                input.read_exact_at(&mut [IoSliceMut::new(&mut last)], offset)?;
            }
            (extent, last)
        }
        None => read_to_end(&mut container, control)?,
    };
    let mut inspection = Inspection {
        version: "v1",
        aead: container.header.aead(),
        recipients: container.header.recipient_types(),
        header_bytes: container.header.header_bytes(),
        chunks: extent.chunks,
        plaintext_bytes: extent.plain_bytes,
        verified: false,
        content_type: None,
        name: None,
    };
    if let Some((content, payload)) = opened {
        let mut last = last;
        payload.unseal(extent.chunks - 1, &mut last).map_err(|error| error.at(input.name()))?;
        inspection.verified = true;
        inspection.content_type = Some(content.content_type);
        inspection.name = content.name;
    }
    Ok(inspection)
}

/// Counts the chunks of a stream, and returns the last one.
fn read_to_end(container: &mut OpenContainer<'_>, control: &Control) -> Result<(Extent, Vec<u8>), Error> {
    let mut sealed_bytes = 0;
    let mut chunk = Vec::with_capacity(SEALED_CHUNK_BYTES);
    loop {
        chunk.clear();
        let bytes = (&mut container.reader)
            .take(SEALED_CHUNK_BYTES as u64)
            .read_to_end(&mut chunk)
            .map_err(|error| container.input.failure(error, control))?;
        sealed_bytes += bytes as u64;
        if bytes < SEALED_CHUNK_BYTES {
            let extent = Extent::of(sealed_bytes).map_err(|error| error.at(container.input.name()))?;
            return Ok((extent, chunk));
        }
    }
}
