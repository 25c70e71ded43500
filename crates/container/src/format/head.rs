//! The part of a file before its first chunk, in any format.

use std::io::Read;

use super::age::{self, FileKeyBytes};
use super::armor::SealedReader;
use super::chunked::{COBBLESTONE, LAYOUT, PREFIX_BYTES};
use super::header::{ALIGNMENT_BYTES, Header};
use super::{Aead, Content, Layout, Payload, Version, cobblestone, stanzas};
use crate::formats::Format;
use crate::keys::{Identities, Recipients};
use crate::{Error, ErrorKind};

/// Bytes that tell the formats apart.
const MAGIC_BYTES: usize = 64;

/// A head as it was read. Nothing in it is authenticated before [`Head::open`].
pub(crate) struct Head {
    fields: Fields,
    /// Offset of the first chunk in the file without its armor.
    pub(crate) chunks_offset: u64,
}

enum Fields {
    Tress(Header, [u8; PREFIX_BYTES]),
    /// The header with the payload's salt, and the types of its stanzas.
    Age(Vec<u8>, Vec<String>),
    Cobblestone(Format, [u8; PREFIX_BYTES]),
}

/// What a file's head has carried: the content and the keys of its payload.
pub(crate) struct Opened {
    pub(crate) content: Content,
    pub(crate) payload: Payload,
}

impl Head {
    /// Reads a head, and leaves `input` at the first chunk. Formats with a magic are recognised; if a format is expected, it must be
    /// that one.
    ///
    /// # Errors
    /// `NotAContainer`, `OtherFormat`, `ArmorDamaged`; `Truncated`; the errors of [`Header::read`]; `Io` of the input.
    pub(crate) fn read(input: &mut SealedReader<impl Read>, expected: Option<Format>) -> Result<Self, Error> {
        let mut needed = MAGIC_BYTES;
        loop {
            let bytes = input.fill_to(needed)?;
            let at_end = bytes.len() < needed;
            match Self::parse(bytes, expected, at_end)? {
                Parsed::Needs(more) => needed = more,
                Parsed::Head(head) => {
                    input.consume(head.chunks_offset as usize);
                    return Ok(head);
                }
            }
        }
    }

    /// Parses the head that these bytes begin with; `at_end` is whether no more follow.
    pub(crate) fn parse(bytes: &[u8], expected: Option<Format>, at_end: bool) -> Result<Parsed, Error> {
        if bytes.len() < MAGIC_BYTES && !at_end {
            return Ok(Parsed::Needs(MAGIC_BYTES));
        }
        if bytes.is_empty() && expected.is_none() {
            return Err(Error::new(ErrorKind::NotAContainer).with_detail("it is empty"));
        }
        let format = match (expected, Format::recognise(bytes)) {
            // The file may begin with any bytes, even with the magic of another format.
            (Some(expected), _) if expected.magic().is_none() => expected,
            (Some(expected), Some(found)) if expected != found => {
                let names = format!("it is {}, not {}", found.name(), expected.name());
                return Err(Error::new(ErrorKind::OtherFormat).with_detail(names));
            }
            (Some(Format::Age), None) => {
                return Err(Error::new(ErrorKind::OtherFormat).with_detail("it does not begin like an age file"));
            }
            (_, found) => found.unwrap_or_default(),
        };
        match format {
            Format::Tress => Self::parse_tress(bytes, at_end),
            Format::Age => Self::parse_age(bytes, at_end),
            Format::Cobblestone128 | Format::Cobblestone256 => Self::parse_cobblestone(bytes, format, at_end),
        }
    }

    fn parse_tress(bytes: &[u8], at_end: bool) -> Result<Parsed, Error> {
        if Format::recognise(bytes).is_some() && bytes.len() < ALIGNMENT_BYTES && !at_end {
            return Ok(Parsed::Needs(ALIGNMENT_BYTES));
        }
        let end = Header::length(bytes)?;
        if bytes.len() < end + PREFIX_BYTES && !at_end {
            return Ok(Parsed::Needs(end + PREFIX_BYTES));
        }
        let header = Header::read(&mut &*bytes)?;
        let prefix = prefix(&bytes[end..])?;
        Ok(Parsed::head(Fields::Tress(header, prefix), end + PREFIX_BYTES))
    }

    fn parse_age(bytes: &[u8], at_end: bool) -> Result<Parsed, Error> {
        if !bytes.starts_with(b"age-encryption.org/v1\n") && bytes.contains(&b'\n') {
            return Err(ErrorKind::UnknownVersion.into());
        }
        let end = age::header_bytes(&bytes[..bytes.len().min(age::MAX_HEADER_BYTES)])?;
        let end = end.map(|header_bytes| header_bytes + age::SALT_BYTES);
        match end {
            Some(end) if end <= bytes.len() => {
                let types = stanzas::types(&bytes[..end])?;
                Ok(Parsed::head(Fields::Age(bytes[..end].to_vec(), types), end))
            }
            None if bytes.len() >= age::MAX_HEADER_BYTES => Err(ErrorKind::HeaderTooLarge.into()),
            _ if at_end => Err(ErrorKind::Truncated.into()),
            // Twice as much each time: a long header is not searched again for every byte.
            _ => Ok(Parsed::Needs(end.unwrap_or(2 * bytes.len()))),
        }
    }

    fn parse_cobblestone(bytes: &[u8], format: Format, at_end: bool) -> Result<Parsed, Error> {
        if bytes.len() < PREFIX_BYTES && !at_end {
            return Ok(Parsed::Needs(PREFIX_BYTES));
        }
        Ok(Parsed::head(Fields::Cobblestone(format, prefix(bytes)?), PREFIX_BYTES))
    }

    /// The file's format.
    pub(crate) fn format(&self) -> Format {
        match &self.fields {
            Fields::Tress(..) => Format::Tress,
            Fields::Age(..) => Format::Age,
            Fields::Cobblestone(format, _) => *format,
        }
    }

    /// How the file is cut into chunks.
    pub(crate) fn layout(&self) -> Layout {
        match &self.fields {
            Fields::Tress(..) => LAYOUT,
            Fields::Age(..) => age::LAYOUT,
            Fields::Cobblestone(..) => COBBLESTONE,
        }
    }

    /// Version of the format.
    pub(crate) fn version(&self) -> Version {
        match &self.fields {
            Fields::Tress(header, _) => header.version(),
            Fields::Age(..) | Fields::Cobblestone(..) => Version::V1,
        }
    }

    /// AEAD of the payload.
    pub(crate) fn aead(&self) -> Aead {
        match &self.fields {
            Fields::Tress(header, _) => header.aead(),
            Fields::Age(..) => Aead::ChaCha20Poly1305,
            Fields::Cobblestone(format, _) => cobblestone::aead(*format),
        }
    }

    /// Length in bytes of the part that has the recipients, which another part can replace.
    pub(crate) fn header_bytes(&self) -> u64 {
        match &self.fields {
            Fields::Tress(header, _) => header.header_bytes(),
            Fields::Age(..) => self.chunks_offset - age::SALT_BYTES as u64,
            Fields::Cobblestone(..) => 0,
        }
    }

    /// The bytes between that part and the first chunk.
    pub(crate) fn kept(&self) -> &[u8] {
        match &self.fields {
            Fields::Age(start, _) => &start[start.len() - age::SALT_BYTES..],
            Fields::Tress(_, prefix) | Fields::Cobblestone(_, prefix) => prefix,
        }
    }

    /// Types of the recipients' stanzas, for which no key is needed.
    pub(crate) fn recipient_types(&self) -> Vec<String> {
        match &self.fields {
            Fields::Tress(header, _) => header.recipient_types(),
            Fields::Age(_, types) => stanzas::without_grease(types),
            Fields::Cobblestone(..) => Vec::new(),
        }
    }

    /// Opens the head with the first of `identities` that fits.
    ///
    /// # Errors
    /// The errors of [`Header::open`]; `Commitment`.
    pub(crate) fn open(&self, identities: &Identities) -> Result<Opened, Error> {
        match &self.fields {
            Fields::Tress(header, prefix) => {
                let content = header.open(identities)?;
                let payload = Payload::open(&content, prefix)?;
                Ok(Opened { content, payload })
            }
            Fields::Age(start, types) => {
                let file_key: FileKeyBytes = age::open(start, types, identities)?;
                let payload = age::payload(&*file_key, self.kept());
                Ok(Opened { content: Content::of_file(Format::Age, self.aead(), &*file_key), payload })
            }
            Fields::Cobblestone(format, prefix) => {
                let mut result = Err(ErrorKind::NoMatchingKey.into());
                for key in identities.keys().filter(|key| key.format() == *format) {
                    result = cobblestone::open(key, prefix);
                    if result.is_ok() {
                        break;
                    }
                }
                Ok(Opened { payload: result?, content: Content::of_file(*format, self.aead(), &[]) })
            }
        }
    }

    /// Makes the part that has the recipients anew, for other recipients of this content.
    ///
    /// # Errors
    /// The errors of [`Header::seal`]; `OtherFormat` for a format without recipients.
    pub(crate) fn rewrapped(&self, content: &Content, recipients: &Recipients) -> Result<Vec<u8>, Error> {
        match &self.fields {
            Fields::Tress(..) => Header::seal(content, recipients),
            Fields::Age(..) => age::header(content.input_key(), recipients),
            Fields::Cobblestone(..) => Err(Error::new(ErrorKind::OtherFormat).with_detail("it has no recipients")),
        }
    }
}

/// The result of [`Head::parse`].
pub(crate) enum Parsed {
    Head(Head),
    /// This many bytes of the file are needed, at least.
    Needs(usize),
}

impl Parsed {
    fn head(fields: Fields, bytes: usize) -> Self {
        Self::Head(Head { fields, chunks_offset: bytes as u64 })
    }
}

fn prefix(bytes: &[u8]) -> Result<[u8; PREFIX_BYTES], Error> {
    bytes.first_chunk().copied().ok_or(ErrorKind::Truncated.into())
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
        let (payload, prefix) = cobblestone::start(key)?;
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
