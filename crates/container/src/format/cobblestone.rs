//! Cobblestone-128 and -256: C2SP chunked-encryption with SHA-512 and AES-GCM under a key and a context that both sides know. The file
//! has neither a magic nor recipients.

use super::Payload;
use super::aead::Aead;
use super::chunked::PREFIX_BYTES;
use crate::Error;
use crate::formats::Format;
use crate::keys::CobblestoneKey;

/// AEAD of the payload.
pub(super) fn aead(format: Format) -> Aead {
    if format == Format::Cobblestone128 { Aead::Aes128Gcm } else { Aead::Aes256Gcm }
}

/// Starts a file. Also returns its bytes before the first chunk.
pub(super) fn start(key: &CobblestoneKey) -> Result<(Payload, [u8; PREFIX_BYTES]), Error> {
    Payload::start(aead(key.format()), key.key(), key.context())
}

/// Opens the file that begins with this prefix.
pub(super) fn open(key: &CobblestoneKey, prefix: &[u8; PREFIX_BYTES]) -> Result<Payload, Error> {
    let opened = Payload::resume(aead(key.format()), key.key(), key.context(), prefix);
    opened.map_err(|error| error.with_detail("another key or context"))
}
