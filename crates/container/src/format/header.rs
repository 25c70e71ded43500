//! The header: first line, length, age file, and zeros up to a multiple of 4096 bytes.

use std::fmt;
use std::io::{self, Read, Write};

use zeroize::Zeroizing;

use super::content::MAX_CONTENT_BYTES;
use super::stanzas::{self, EachIdentity};
use super::{Aead, Content, Version};
use crate::formats::Format;
use crate::keys::{Identities, Recipients};
use crate::{Error, ErrorKind};

/// The header's length is a multiple of this, so that a header of the same length can replace it.
pub const ALIGNMENT_BYTES: usize = 4096;
/// Longest age file in a header, in bytes.
pub const MAX_AGE_FILE_BYTES: usize = 65536;

const MAGIC: &[u8] = Format::Tress.magic().expect("has one");
/// The newline of the first line is within this many bytes, in every version.
const MAX_FIRST_LINE_BYTES: usize = 64;
const LENGTH_BYTES: usize = 4;

/// A header as it was read. Nothing in it is authenticated before [`Header::open`].
#[derive(Clone)]
pub struct Header {
    version: Version,
    aead: Aead,
    header_bytes: usize,
    stanza_types: Vec<String>,
    age_file: Vec<u8>,
}

impl Header {
    /// Makes all bytes of a container before its payload, for these recipients.
    ///
    /// # Errors
    /// `NoRecipients`, `MixedRecipients` (a passphrase must be the only recipient), `Plugin`; `HeaderTooLarge` when there are too many
    /// recipients. 662 for X25519 always fit.
    pub fn seal(content: &Content, recipients: &Recipients) -> Result<Vec<u8>, Error> {
        let mut age_file = Vec::new();
        let mut writer = stanzas::encryptor(recipients.members())?.wrap_output(&mut age_file)?;
        writer.write_all(&content.encode())?;
        writer.finish()?;
        if age_file.len() > MAX_AGE_FILE_BYTES || stanzas::count(&age_file) > stanzas::MAX_RECIPIENTS {
            return Err(stanzas::too_many());
        }

        let first_line = content.first_line();
        let used = first_line.len() + LENGTH_BYTES + age_file.len();
        let mut header = Vec::with_capacity(used.next_multiple_of(ALIGNMENT_BYTES));
        header.extend_from_slice(first_line.as_bytes());
        header.extend_from_slice(&(age_file.len() as u32).to_be_bytes());
        header.extend_from_slice(&age_file);
        header.resize(used.next_multiple_of(ALIGNMENT_BYTES), 0);
        Ok(header)
    }

    /// Reads exactly the header, at most 68 KiB and 25 bytes, and leaves `input` at the payload.
    ///
    /// # Errors
    /// `NotAContainer`, `UnknownVersion`, `UnknownAead`, `HeaderTooLarge`, `HeaderPadding`, `HeaderDamaged`,
    /// `Truncated`; `Io` from `input`.
    pub fn read(input: &mut dyn Read) -> Result<Header, Error> {
        // No header is shorter, so one call reads the usual header completely.
        let mut bytes = vec![0; ALIGNMENT_BYTES];
        let available = read_up_to(input, &mut bytes)?;
        bytes.truncate(available);
        let HeaderFields { version, aead, start, length, header_bytes } = HeaderFields::read(&bytes)?;
        bytes.resize(header_bytes, 0);
        if read_up_to(input, &mut bytes[ALIGNMENT_BYTES..])? < header_bytes - ALIGNMENT_BYTES {
            return Err(ErrorKind::Truncated.into());
        }
        if bytes[start + length..].iter().any(|&byte| byte != 0) {
            return Err(ErrorKind::HeaderPadding.into());
        }
        bytes.truncate(start + length);
        let age_file = bytes.split_off(start);

        let stanza_types = stanzas::types(&age_file)?;
        Ok(Self { version, aead, header_bytes, stanza_types, age_file })
    }

    /// The length in bytes of the header that begins with `first`, which must hold at least [`ALIGNMENT_BYTES`].
    ///
    /// # Errors
    /// `NotAContainer`, `UnknownVersion`, `UnknownAead`, `HeaderTooLarge`; `Truncated` for fewer bytes.
    pub fn length(first: &[u8]) -> Result<usize, Error> {
        HeaderFields::read(first).map(|lengths| lengths.header_bytes)
    }

    /// The version that the first line names.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The AEAD that the first line names.
    pub fn aead(&self) -> Aead {
        self.aead
    }

    /// Length of the header in bytes: the offset of the payload in the container.
    pub fn header_bytes(&self) -> u64 {
        self.header_bytes as u64
    }

    /// Types of the recipient stanzas, in order, such as `X25519`, `ssh-ed25519`, `scrypt`, `tress-raw-key`. Stanzas whose type ends in
    /// `-grease` are left out: age implementations add them as dummies. Needs no key, and is not authenticated before the header is opened.
    pub fn recipient_types(&self) -> Vec<String> {
        stanzas::without_grease(&self.stanza_types)
    }

    /// Opens the age file with the first identity that matches a stanza.
    ///
    /// # Errors
    /// `NoMatchingKey`, `WrongPassphrase`, `WorkFactorTooHigh`, `Plugin`, `BadIdentity`, `Io`; `HeaderDamaged`; `AeadMismatch` when the
    /// first line names another AEAD than the sealed content.
    pub fn open(&self, identities: &Identities) -> Result<Content, Error> {
        let mut reader = stanzas::open(&self.age_file, &self.stanza_types, &EachIdentity(identities))?;
        // One allocation that never grows: growing would leave the key behind in freed memory.
        let mut bytes = Zeroizing::new(vec![0; MAX_CONTENT_BYTES + 1]);
        let length = read_up_to(&mut reader, &mut bytes)
            .map_err(|error| Error::new(ErrorKind::HeaderDamaged).with_source(error))?;
        let content = Content::decode(&bytes[..length], self.version)?;
        if content.aead() != self.aead {
            return Err(ErrorKind::AeadMismatch.into());
        }
        Ok(content)
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Header")
            .field("aead", &self.aead)
            .field("header_bytes", &self.header_bytes)
            .field("stanza_types", &self.stanza_types)
            .finish_non_exhaustive()
    }
}

/// The fields before the age file.
struct HeaderFields {
    version: Version,
    aead: Aead,
    /// Offset of the age file.
    start: usize,
    /// Length of the age file in bytes.
    length: usize,
    header_bytes: usize,
}

impl HeaderFields {
    fn read(bytes: &[u8]) -> Result<Self, Error> {
        let (version, aead) = parse_first_line(bytes)?;
        if bytes.len() < ALIGNMENT_BYTES {
            return Err(ErrorKind::Truncated.into());
        }
        let start = aead.first_line().len() + LENGTH_BYTES;
        let length = u32::from_be_bytes(bytes[start - LENGTH_BYTES..start].try_into().expect("4 bytes"));
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > MAX_AGE_FILE_BYTES {
            return Err(Error::new(ErrorKind::HeaderTooLarge).with_detail(format!("{length} bytes")));
        }
        Ok(Self { version, aead, start, length, header_bytes: (start + length).next_multiple_of(ALIGNMENT_BYTES) })
    }
}

/// Parses the start of the input, at least 64 bytes unless the input is shorter.
fn parse_first_line(bytes: &[u8]) -> Result<(Version, Aead), Error> {
    if !bytes.starts_with(MAGIC) {
        return Err(ErrorKind::NotAContainer.into());
    }
    let window = &bytes[..bytes.len().min(MAX_FIRST_LINE_BYTES)];
    let Some(end) = window.iter().position(|&byte| byte == b'\n') else {
        let cut = bytes.len() < MAX_FIRST_LINE_BYTES;
        return Err(if cut { ErrorKind::Truncated } else { ErrorKind::NotAContainer }.into());
    };
    let line = &window[MAGIC.len()..end];
    let version = [Version::V1, Version::V2].into_iter().find_map(|version| {
        let rest = line.strip_prefix(version.name().as_bytes())?.strip_prefix(b" ")?;
        Some((version, rest))
    });
    let (version, name) = version.ok_or(ErrorKind::UnknownVersion)?;
    let aead = std::str::from_utf8(name).ok().and_then(Aead::from_name);
    Ok((version, aead.ok_or(ErrorKind::UnknownAead)?))
}

fn read_up_to(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
