//! The formats by name, and the key of those that have no recipients.

use std::fmt;

use zeroize::Zeroizing;

use crate::{Error, ErrorKind};

/// A format of encrypted files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Our container: AES-CCM, a name, folders, recipients that change in place.
    #[default]
    Tress,
    /// The format of `age` and `rage`.
    Age,
    /// C2SP Cobblestone-128: AES-128-GCM under a key of 16 bytes.
    Cobblestone128,
    /// C2SP Cobblestone-256: AES-256-GCM under a key of 32 bytes.
    Cobblestone256,
}

impl Format {
    /// All formats.
    pub const ALL: &[Format] = &[Format::Tress, Format::Age, Format::Cobblestone128, Format::Cobblestone256];

    /// The name on the command line and in the output of `inspect`.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Tress => "tress",
            Format::Age => "age",
            Format::Cobblestone128 => "cobblestone-128",
            Format::Cobblestone256 => "cobblestone-256",
        }
    }

    /// The format with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Format> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }
}

/// Key and context of Cobblestone files. The key is wiped on drop and `Debug` does not show it.
#[derive(Clone)]
pub struct CobblestoneKey {
    format: Format,
    key: Zeroizing<Vec<u8>>,
    context: Vec<u8>,
}

impl CobblestoneKey {
    /// A key of 16 bytes for Cobblestone-128, or of 32 bytes for Cobblestone-256; and the context, which may be empty and is not secret.
    ///
    /// # Errors
    /// `KeyFileLength` for a key of another length; `Usage` for a format that is neither.
    pub fn new(format: Format, key: &[u8], context: &[u8]) -> Result<Self, Error> {
        let key_bytes = match format {
            Format::Cobblestone128 => 16,
            Format::Cobblestone256 => 32,
            Format::Tress | Format::Age => {
                return Err(Error::new(ErrorKind::Usage).with_detail("the format is not Cobblestone"));
            }
        };
        if key.len() != key_bytes {
            let detail = format!("{} takes {key_bytes} bytes", format.name());
            return Err(Error::new(ErrorKind::KeyFileLength).with_detail(detail));
        }
        Ok(Self { format, key: Zeroizing::new(key.to_vec()), context: context.to_vec() })
    }

    /// The format that it is for.
    pub fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    pub(crate) fn context(&self) -> &[u8] {
        &self.context
    }
}

impl fmt::Debug for CobblestoneKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CobblestoneKey").field("format", &self.format).finish_non_exhaustive()
    }
}
