//! C2SP chunked-encryption@v1 (<https://c2sp.org/chunked-encryption>): the payload of a container, with SHA-256, AES-CCM and the
//! container's first line as context; and all of a Cobblestone file, with SHA-512, AES-GCM and a context of its user.

use hmac::Hmac;
use sha2::{Sha256, Sha512};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::aead::{Aead, NONCE_BYTES};
use super::content::Content;
use super::expand::hkdf_expand;
use super::layout::{LastChunk, Layout};
use super::payload::{NonceRule, Payload};
use crate::random::fill_random;
use crate::{Error, ErrorKind};

/// The layout of a container's payload. CCM calls the block cipher twice per block, so it has half of the specification's 2^38
/// chunks.
pub const LAYOUT: Layout = Layout::new(16384, 16, 1 << 37, LastChunk::Shorter);
/// The layout of a Cobblestone file.
pub(super) const COBBLESTONE: Layout = Layout::new(16384, 16, 1 << 38, LastChunk::Shorter);
/// Bytes of salt and commitment before the first chunk.
pub const PREFIX_BYTES: usize = SALT_BYTES + COMMITMENT_BYTES;

const SALT_BYTES: usize = 24;
const COMMITMENT_BYTES: usize = 32;
const LABEL: &[u8] = b"c2sp.org/chunked-encryption@v1+";

/// The base nonce, wiped on drop.
struct BaseNonce(Zeroizing<[u8; NONCE_BYTES]>);

impl NonceRule for BaseNonce {
    /// Base nonce XOR the chunk's number as a big-endian integer of the nonce's width.
    fn nonce(&self, chunk: u64, _ends: bool) -> [u8; NONCE_BYTES] {
        let mut nonce = *self.0;
        for (byte, number) in nonce[NONCE_BYTES - 8..].iter_mut().zip(chunk.to_be_bytes()) {
            *byte ^= number;
        }
        nonce
    }
}

impl Payload {
    /// Starts a payload of this content with a fresh salt. Also returns the prefix to write before the first chunk.
    ///
    /// # Errors
    /// `Io` when the system has no randomness.
    pub fn create(content: &Content) -> Result<(Payload, [u8; PREFIX_BYTES]), Error> {
        Self::start(content.aead(), content.input_key(), content.first_line().as_bytes())
    }

    /// Opens the payload that begins with this prefix.
    ///
    /// # Errors
    /// `Commitment` when the prefix does not hold the commitment that follows from the input key, the salt and the first line.
    pub fn open(content: &Content, prefix: &[u8; PREFIX_BYTES]) -> Result<Payload, Error> {
        Self::resume(content.aead(), content.input_key(), content.first_line().as_bytes(), prefix)
    }

    /// Starts a payload of this input key and context with a fresh salt.
    pub(super) fn start(aead: Aead, input_key: &[u8], context: &[u8]) -> Result<(Payload, [u8; PREFIX_BYTES]), Error> {
        let mut prefix = [0; PREFIX_BYTES];
        fill_random(&mut prefix[..SALT_BYTES])?;
        let (payload, commitment) = Self::derive(aead, input_key, &prefix[..SALT_BYTES], context);
        prefix[SALT_BYTES..].copy_from_slice(&commitment);
        Ok((payload, prefix))
    }

    /// Opens the payload of this input key and context that begins with this prefix.
    pub(super) fn resume(
        aead: Aead,
        input_key: &[u8],
        context: &[u8],
        prefix: &[u8; PREFIX_BYTES],
    ) -> Result<Payload, Error> {
        let (salt, expected) = prefix.split_at(SALT_BYTES);
        let (payload, commitment) = Self::derive(aead, input_key, salt, context);
        if bool::from(commitment.ct_eq(expected)) { Ok(payload) } else { Err(ErrorKind::Commitment.into()) }
    }

    /// key || base nonce || commitment = HKDF-Expand(input key, label || name || 0x00 || salt || context).
    fn derive(aead: Aead, input_key: &[u8], salt: &[u8], context: &[u8]) -> (Self, [u8; COMMITMENT_BYTES]) {
        let key_bytes = aead.key_bytes();
        let info = [LABEL, aead.iana_name().as_bytes(), &[0], salt, context];
        let mut output = Zeroizing::new([0; 32 + NONCE_BYTES + COMMITMENT_BYTES]);
        let output = &mut output[..key_bytes + NONCE_BYTES + COMMITMENT_BYTES];
        let layout = match aead {
            Aead::Aes128Gcm | Aead::Aes256Gcm => {
                hkdf_expand::<Hmac<Sha512>>(input_key, &info, output);
                COBBLESTONE
            }
            Aead::Aes128Ccm | Aead::Aes256Ccm | Aead::ChaCha20Poly1305 => {
                hkdf_expand::<Hmac<Sha256>>(input_key, &info, output);
                LAYOUT
            }
        };
        let (key, rest) = output.split_at(key_bytes);
        let (nonce, commitment) = rest.split_at(NONCE_BYTES);
        let mut base_nonce = Zeroizing::new([0; NONCE_BYTES]);
        base_nonce.copy_from_slice(nonce);
        (
            Self::new(layout, aead.with_key(key), Box::new(BaseNonce(base_nonce))),
            commitment.try_into().expect("32 bytes are left"),
        )
    }
}
