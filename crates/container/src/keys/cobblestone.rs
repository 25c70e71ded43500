//! The key of a format that has no recipients.

use std::fmt;

use zeroize::Zeroizing;

use crate::formats::Format;
use crate::{Error, ErrorKind};

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
    /// `KeyFileLength` for a key of another length or in hexadecimal; `Usage` for a format that is neither.
    pub fn new(format: Format, key: &[u8], context: &[u8]) -> Result<Self, Error> {
        let Some(key_bytes) = format.key_bytes() else {
            return Err(Error::new(ErrorKind::Usage).with_detail("the format is not Cobblestone"));
        };
        if key.len() != key_bytes {
            let detail = format!("{} takes {key_bytes} bytes", format.name());
            return Err(Error::new(ErrorKind::KeyFileLength).with_detail(detail));
        }
        super::key_file(key)?;
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
