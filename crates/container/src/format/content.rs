//! The content of the age file in a header: the payload's input key, and a description of the payload.
//!
//! Text lines, an empty line, then the raw key (`docs/reference/formats/container.md`, "Content"). Parsing accepts exactly what encoding
//! produces: one order of lines, no repeated or unknown lines, and nothing after the key.

use std::fmt;

use zeroize::Zeroizing;

use super::{Aead, Format};
use crate::random::fill_random;
use crate::{Error, ErrorKind};

/// Longest name that a container stores, in bytes: the limit of common file systems.
pub const MAX_NAME_BYTES: usize = 255;

/// Upper bound on the encoded content in bytes; the longest valid content is far shorter.
pub(super) const MAX_CONTENT_BYTES: usize = 1024;

/// Type of the plaintext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ContentType {
    /// The bytes of one file.
    File,
    /// A tar stream of a folder.
    Tree,
}

impl ContentType {
    /// The name in the header and in the output of `inspect`: `file` or `tree`.
    pub const fn name(self) -> &'static str {
        match self {
            ContentType::File => "file",
            ContentType::Tree => "tree",
        }
    }

    /// Version of the containers of this type that are written.
    const fn version(self) -> Version {
        match self {
            ContentType::File => Version::V1,
            ContentType::Tree => Version::V2,
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::File, Self::Tree].into_iter().find(|kind| kind.name() == name)
    }
}

/// Version of a container, which its first line names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// Files, and the trees of 0.2: files, folders and links that stay inside, with permission bits and times.
    #[default]
    V1,
    /// Trees with everything that tar keeps, and an index.
    V2,
}

impl Version {
    /// The name: `v1` or `v2`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
        }
    }
}

/// Whether a container can store this name: 1 to 255 bytes, without path separators of any system and control characters, and neither
/// `.` nor `..`. The author of the container chose the name, so a reader that makes a file with this name relies on the check.
pub fn is_valid_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME_BYTES
        && name != "."
        && name != ".."
        && !name.chars().any(|c| c == '/' || c == '\\' || c.is_control())
}

/// What a file holds, and the secret of its head that others may be made from: of a container the sealed part of its header. The key is
/// wiped on drop and `Debug` does not show it.
#[derive(Clone)]
pub struct Content {
    format: Format,
    aead: Aead,
    version: Version,
    content_type: ContentType,
    name: Option<String>,
    input_key: Zeroizing<Vec<u8>>,
}

impl Content {
    /// Makes a content with a fresh random input key.
    ///
    /// # Errors
    /// `BadName` for a name that [`is_valid_name`] rejects; `Io` when the system has no randomness.
    pub fn generate(aead: Aead, content_type: ContentType, name: Option<String>) -> Result<Self, Error> {
        if name.as_deref().is_some_and(|name| !is_valid_name(name)) {
            return Err(ErrorKind::BadName.into());
        }
        let mut input_key = Zeroizing::new(vec![0; aead.key_bytes()]);
        fill_random(&mut input_key)?;
        Ok(Self { format: Format::Tress, aead, version: content_type.version(), content_type, name, input_key })
    }

    /// Makes a file's content with a given input key; `None` if the length is not the AEAD's.
    #[doc(hidden)]
    pub fn with_input_key(aead: Aead, input_key: &[u8]) -> Option<Self> {
        (input_key.len() == aead.key_bytes()).then(|| Self::of_file(Format::Tress, aead, input_key))
    }

    /// The content of a file without a name.
    pub(super) fn of_file(format: Format, aead: Aead, input_key: &[u8]) -> Self {
        let input_key = Zeroizing::new(input_key.to_vec());
        Self { format, aead, version: Version::V1, content_type: ContentType::File, name: None, input_key }
    }

    /// AEAD of the payload.
    pub fn aead(&self) -> Aead {
        self.aead
    }

    /// Format of the file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Version of the container.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The content of an older version, to test how it is read.
    #[doc(hidden)]
    #[must_use]
    pub fn with_version(self, version: Version) -> Self {
        Self { version, ..self }
    }

    /// The container's first line, which states version and AEAD, including its newline.
    pub(super) fn first_line(&self) -> String {
        self.aead.first_line().replacen(Version::V1.name(), self.version.name(), 1)
    }

    /// Type of the plaintext.
    pub fn content_type(&self) -> ContentType {
        self.content_type
    }

    /// Name of the file or folder; [`is_valid_name`] accepts it.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The payload's input key: 16 bytes for `aes-128-ccm`, 32 for `aes-256-ccm`; the file key of an age file.
    #[doc(hidden)]
    pub fn input_key(&self) -> &[u8] {
        &self.input_key
    }

    /// Encodes the content for the age file.
    pub(super) fn encode(&self) -> Zeroizing<Vec<u8>> {
        // One allocation that never grows: growing would leave the key behind in freed memory.
        let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_CONTENT_BYTES));
        bytes.extend_from_slice(format!("aead {}\ntype {}\n", self.aead.name(), self.content_type.name()).as_bytes());
        if let Some(name) = &self.name {
            bytes.extend_from_slice(b"name ");
            bytes.extend_from_slice(name.as_bytes());
            bytes.push(b'\n');
        }
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.input_key);
        bytes
    }

    /// Parses the output of [`Content::encode`].
    ///
    /// # Errors
    /// `HeaderDamaged` for anything else. The bytes were authenticated, so the damage is not an accident.
    pub(super) fn decode(bytes: &[u8], version: Version) -> Result<Self, Error> {
        Self::parse(bytes, version)
            .ok_or_else(|| Error::new(ErrorKind::HeaderDamaged).with_detail("content is malformed"))
    }

    fn parse(bytes: &[u8], version: Version) -> Option<Self> {
        let (line, rest) = split_line(bytes)?;
        let aead = Aead::from_name(line.strip_prefix("aead ")?)?;
        let (line, rest) = split_line(rest)?;
        let content_type = ContentType::from_name(line.strip_prefix("type ")?)?;
        if version == Version::V2 && content_type == ContentType::File {
            return None;
        }
        let (line, rest) = split_line(rest)?;
        let (name, key) = if line.is_empty() {
            (None, rest)
        } else {
            let name = line.strip_prefix("name ").filter(|name| is_valid_name(name))?;
            let (end, key) = split_line(rest)?;
            if !end.is_empty() {
                return None;
            }
            (Some(name.to_owned()), key)
        };
        (key.len() == aead.key_bytes()).then(|| Self {
            format: Format::Tress,
            aead,
            version,
            content_type,
            name,
            input_key: Zeroizing::new(key.to_vec()),
        })
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content")
            .field("aead", &self.aead)
            .field("content_type", &self.content_type)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

fn split_line(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(name: Option<&str>) -> Content {
        Content::generate(Aead::Aes256Ccm, ContentType::Tree, name.map(Into::into)).unwrap()
    }

    #[test]
    fn encoded_content_decodes() {
        for name in [None, Some("a"), Some("Größe 1.txt"), Some(&*"x".repeat(MAX_NAME_BYTES))] {
            let original = content(name);
            let read = Content::decode(&original.encode(), Version::V2).unwrap();
            assert_eq!(read.aead, original.aead);
            assert_eq!(read.content_type, original.content_type);
            assert_eq!(read.name.as_deref(), name);
            assert_eq!(read.input_key(), original.input_key());
        }
    }

    #[test]
    fn names_that_could_leave_a_folder_are_refused() {
        for name in ["", ".", "..", "a/b", "a\\b", "a\nb", "a\0", "\u{7f}", &"x".repeat(MAX_NAME_BYTES + 1)] {
            assert!(!is_valid_name(name), "{name:?}");
            let error = Content::generate(Aead::Aes128Ccm, ContentType::File, Some(name.into())).unwrap_err();
            assert_eq!(error.kind, ErrorKind::BadName);
        }
    }

    #[test]
    fn every_deviation_is_damage() {
        let key = [7; 16];
        let good: &[&[u8]] = &[b"aead aes-128-ccm\ntype file\n\n", b"aead aes-128-ccm\ntype tree\nname n\n\n"];
        let bad: &[&[u8]] = &[
            b"",
            b"aead aes-128-ccm\n",
            b"type file\naead aes-128-ccm\n\n",
            b"aead aes-128-ccm\r\ntype file\r\n\r\n",
            b"aead aes-192-ccm\ntype file\n\n",
            b"aead aes-256-ccm\ntype file\n\n",
            b"aead aes-128-ccm\ntype link\n\n",
            b"aead aes-128-ccm\ntype file\nname \n\n",
            b"aead aes-128-ccm\ntype file\nname a/b\n\n",
            b"aead aes-128-ccm\ntype file\nname a\nname b\n\n",
            b"aead aes-128-ccm\ntype file\nsize 1\n\n",
            b"aead aes-128-ccm\ntype file\nname \xff\n\n",
            b"aead aes-128-ccm\ntype file\n\n\n",
        ];
        for head in good {
            let bytes = [*head, &key].concat();
            assert!(Content::decode(&bytes, Version::V1).is_ok());
            // A file has version 1.
            assert_eq!(Content::decode(&bytes, Version::V2).is_ok(), head.windows(4).any(|word| word == b"tree"));
        }
        for head in bad {
            let error = Content::decode(&[*head, &key].concat(), Version::V1).unwrap_err();
            assert_eq!(error.kind, ErrorKind::HeaderDamaged, "{:?}", String::from_utf8_lossy(head));
        }
    }

    #[test]
    fn debug_shows_no_key() {
        let mut content = content(None);
        content.input_key = Zeroizing::new(vec![0xAB; 32]);
        let shown = format!("{content:?}");
        assert!(!shown.contains("171") && !shown.to_lowercase().contains("ab, ab"));
    }
}
