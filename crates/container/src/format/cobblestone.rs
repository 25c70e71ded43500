//! Cobblestone-128 and -256: C2SP chunked-encryption with SHA-512 and AES-GCM under a key and a context that both sides know. The file
//! has neither a magic nor recipients.

use std::fmt;

use zeroize::Zeroizing;

use super::chunked::PREFIX_BYTES;
use super::{Aead, Format, Payload};
use crate::keys::{Identities, Recipients};
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
    /// `KeyFileLength` for a key of another length; `Usage` for a format that is neither.
    pub fn new(format: Format, key: &[u8], context: &[u8]) -> Result<Self, Error> {
        let Some(aead) = aead(format) else {
            return Err(Error::new(ErrorKind::Usage).with_detail("the format is not Cobblestone"));
        };
        if key.len() != aead.key_bytes() {
            let detail = format!("{} takes {} bytes", format.name(), aead.key_bytes());
            return Err(Error::new(ErrorKind::KeyFileLength).with_detail(detail));
        }
        Ok(Self { format, key: Zeroizing::new(key.to_vec()), context: context.to_vec() })
    }

    /// The format that it is for.
    pub fn format(&self) -> Format {
        self.format
    }

    pub(super) fn start(&self) -> Result<(Payload, [u8; PREFIX_BYTES]), Error> {
        Payload::start(self.aead(), &self.key, &self.context)
    }

    pub(super) fn open(&self, prefix: &[u8; PREFIX_BYTES]) -> Result<Payload, Error> {
        let opened = Payload::resume(self.aead(), &self.key, &self.context, prefix);
        opened.map_err(|error| error.with_detail("another key or context"))
    }

    fn aead(&self) -> Aead {
        aead(self.format).expect("was checked")
    }
}

fn aead(format: Format) -> Option<Aead> {
    match format {
        Format::Cobblestone128 => Some(Aead::Aes128Gcm),
        Format::Cobblestone256 => Some(Aead::Aes256Gcm),
        Format::Tress | Format::Age => None,
    }
}

impl From<CobblestoneKey> for Identities {
    fn from(key: CobblestoneKey) -> Self {
        Self::key(key)
    }
}

impl From<CobblestoneKey> for Recipients {
    fn from(key: CobblestoneKey) -> Self {
        Self::key(key)
    }
}

impl fmt::Debug for CobblestoneKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CobblestoneKey").field("format", &self.format).finish_non_exhaustive()
    }
}
