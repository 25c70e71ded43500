//! age files (<https://c2sp.org/age>): a header of text that carries a file key to its recipients, and chunks of 64 KiB under
//! ChaCha20-Poly1305, of which the last is flagged in its nonce.
//!
//! Crate `age` makes and opens the header. Wrappers of its recipients and identities see the file key.

use std::cell::RefCell;
use std::collections::HashSet;

use age::{DecryptError, EncryptError, Identity, Recipient};
use age_core::format::{FileKey, Stanza};
use age_core::primitives::hkdf;
use age_core::secrecy::ExposeSecret as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::aead::{Aead, NONCE_BYTES};
use super::layout::{LastChunk, Layout};
use super::payload::{NonceRule, Payload};
use super::stanzas::{self, EachIdentity, MAX_RECIPIENTS};
use crate::keys::{Identities, Recipients};
use crate::random::fill_random;
use crate::{Error, ErrorKind};

/// The layout of an age file. Its chunks' counter is longer than any file.
pub(super) const LAYOUT: Layout = Layout::new(65536, 16, 1 << 46, LastChunk::Flagged);
/// Longest header, in bytes. age has no limit; ours bounds the memory that a hostile file takes.
pub(super) const MAX_HEADER_BYTES: usize = 2 << 20;
/// Bytes of the nonce between the header and the first chunk, from which the payload's key is derived.
pub(super) const SALT_BYTES: usize = 16;

const FILE_KEY_BYTES: usize = 16;
pub(super) type FileKeyBytes = Zeroizing<[u8; FILE_KEY_BYTES]>;
/// `--- `, 43 characters of Base64, and a newline.
const MAC_LINE_BYTES: usize = 48;

/// The chunk's number as a big-endian integer of 11 bytes, then 1 for the last chunk and 0 for all others.
struct FlaggedNumber;

impl NonceRule for FlaggedNumber {
    fn nonce(&self, chunk: u64, ends: bool) -> [u8; NONCE_BYTES] {
        let mut nonce = [0; NONCE_BYTES];
        nonce[3..11].copy_from_slice(&chunk.to_be_bytes());
        nonce[11] = ends.into();
        nonce
    }
}

/// Length of the header that these bytes begin with; `None` if its end is not among them.
///
/// # Errors
/// `HeaderDamaged` when the last line has not the length of a MAC.
pub(super) fn header_bytes(bytes: &[u8]) -> Result<Option<usize>, Error> {
    // Stanzas are Base64 and lines that begin with `->`, so these bytes are only before the MAC.
    let Some(mac) = bytes.windows(4).position(|four| four == b"\n---") else { return Ok(None) };
    match bytes[mac + 1..].get(..MAC_LINE_BYTES) {
        Some([.., b'\n']) => Ok(Some(mac + 1 + MAC_LINE_BYTES)),
        Some(_) => Err(Error::new(ErrorKind::HeaderDamaged).with_detail("its last line has not 47 characters")),
        None => Ok(None),
    }
}

/// Opens the header in `start`, which the payload's salt follows. Returns the file key.
pub(super) fn open(start: &[u8], types: &[String], identities: &Identities) -> Result<FileKeyBytes, Error> {
    let seen = KeySeen { identities: EachIdentity(identities), key: RefCell::default() };
    // The key counts only after the header's MAC, which `open` checks, has confirmed it.
    stanzas::open(start, types, &seen)?;
    Ok(seen.key.into_inner())
}

/// The payload under this file key, after this salt.
pub(super) fn payload(file_key: &[u8], salt: &[u8]) -> Payload {
    let key = Zeroizing::new(hkdf(salt, b"payload", file_key));
    Payload::new(LAYOUT, Aead::ChaCha20Poly1305.with_key(&*key), Box::new(FlaggedNumber))
}

/// Starts a file for these recipients. Also returns its bytes before the first chunk.
pub(super) fn start(recipients: &Recipients) -> Result<(Payload, Vec<u8>), Error> {
    let mut file_key = Zeroizing::new([0; FILE_KEY_BYTES]);
    let mut salt = [0; SALT_BYTES];
    fill_random(&mut *file_key)?;
    fill_random(&mut salt)?;
    let head = [&header(&*file_key, recipients)?[..], &salt].concat();
    Ok((payload(&*file_key, &salt), head))
}

/// Makes a header that carries this file key. It ends where the payload's salt begins.
pub(super) fn header(file_key: &[u8], recipients: &Recipients) -> Result<Vec<u8>, Error> {
    let members: Vec<_> = recipients.members().map(|recipient| KeyGiven { recipient, file_key }).collect();
    let encryptor = stanzas::encryptor(members.iter().map(|member| member as &dyn Recipient))?;
    let mut header = Vec::new();
    encryptor.wrap_output(&mut header)?;
    // The crate made another file key, which no recipient got: only its MAC is to be replaced.
    let end = header_bytes(&header)?.expect("was made by age");
    let mac_line = header[..end].windows(4).rposition(|four| four == b"--- ").expect("was made by age");
    if mac_line > MAX_HEADER_BYTES - MAC_LINE_BYTES || stanzas::count(&header) > MAX_RECIPIENTS {
        return Err(stanzas::too_many());
    }
    header.truncate(mac_line + 3);
    let mac_key = Zeroizing::new(hkdf(&[], b"header", file_key));
    let mut mac = Hmac::<Sha256>::new_from_slice(&*mac_key).expect("HMAC takes a key of any length");
    mac.update(&header);
    header.push(b' ');
    header.extend_from_slice(STANDARD_NO_PAD.encode(mac.finalize().into_bytes()).as_bytes());
    header.push(b'\n');
    Ok(header)
}

/// A recipient that gets this file key instead of the one that the crate has made.
struct KeyGiven<'a> {
    recipient: &'a dyn Recipient,
    file_key: &'a [u8],
}

impl Recipient for KeyGiven<'_> {
    fn wrap_file_key(&self, _: &FileKey) -> Result<(Vec<Stanza>, HashSet<String>), EncryptError> {
        self.recipient.wrap_file_key(&FileKey::init_with_mut(|key| key.copy_from_slice(self.file_key)))
    }
}

/// Identities, and the file key that they have found.
struct KeySeen<'a> {
    identities: EachIdentity<'a>,
    key: RefCell<FileKeyBytes>,
}

impl KeySeen<'_> {
    fn note(&self, result: Option<Result<FileKey, DecryptError>>) -> Option<Result<FileKey, DecryptError>> {
        if let Some(Ok(file_key)) = &result {
            self.key.borrow_mut().copy_from_slice(file_key.expose_secret());
        }
        result
    }
}

impl Identity for KeySeen<'_> {
    fn unwrap_stanza(&self, stanza: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        self.note(self.identities.unwrap_stanza(stanza))
    }

    fn unwrap_stanzas(&self, stanzas: &[Stanza]) -> Option<Result<FileKey, DecryptError>> {
        self.note(self.identities.unwrap_stanzas(stanzas))
    }
}
