//! Galois/counter mode (SP 800-38D): encryption with authentication that needs one call of the cipher for each block. Needs the feature
//! `gcm`.
//!
//! One message at a time, with nonces of 12 bytes and tags of 16. A nonce that is used twice with a key reveals the key of GHASH, and
//! with it every message can be forged: prefer [`super::ccm`] where you may choose.

#[cfg(target_arch = "x86_64")]
mod x86;

use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

#[cfg(target_arch = "x86_64")]
use crate::cpu::Clmul256;
use crate::engine::{increment_by, xor_block};
use crate::operation::{Ctr, Modes};
use crate::reveal::reveal;
use crate::{BLOCK_BYTES, Block, CcmCipher, Error};

/// Bytes that are encrypted before they are hashed: a multiple of GHASH's groups that stays in the first-level cache.
const PIECE_BYTES: usize = 4096;

/// A cipher with 128-bit blocks in GCM, with its key of GHASH.
///
/// ```
/// use tress_cipher::{aes::Aes, modes::gcm::Gcm};
///
/// let gcm = Gcm::new(Aes::new(&[7; 16])?);
/// let mut data = *b"hello";
/// let tag = gcm.seal(&[0; 12], b"", &mut data)?;
/// gcm.open(&[0; 12], b"", &mut data, &tag)?;
/// assert_eq!(&data, b"hello");
/// # Ok::<(), tress_cipher::Error>(())
/// ```
pub struct Gcm<C> {
    cipher: C,
    hash_key: HashKey,
}

/// The key of GHASH.
enum HashKey {
    /// In the form of crate `ghash`, for every processor.
    Crate(GHash),
    #[cfg(target_arch = "x86_64")]
    Wide(x86::Powers),
}

impl<C> core::fmt::Debug for Gcm<C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Gcm").finish_non_exhaustive()
    }
}

impl<C: CcmCipher> Gcm<C> {
    /// Longest message.
    pub(crate) const MAX_BYTES: u64 = (1 << 36) - 32;

    /// GCM with the key of `cipher`.
    pub fn new(cipher: C) -> Self {
        let mut key = Zeroizing::new([0; BLOCK_BYTES]);
        cipher.core().ctr(Ctr { counter: [0; BLOCK_BYTES], data: &mut *key });
        #[cfg(target_arch = "x86_64")]
        if let Some(proof) = Clmul256::detect() {
            return Gcm { cipher, hash_key: HashKey::Wide(x86::Powers::new(&key, proof)) };
        }
        Gcm { cipher, hash_key: HashKey::Crate(GHash::new(&(*key).into())) }
    }

    /// Encrypts in place and returns the tag. A nonce must never be used twice with a key.
    ///
    /// # Errors
    /// `MessageTooLong` for more than 2^36 − 32 bytes.
    pub fn seal(&self, nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> Result<Block, Error> {
        self.apply(nonce, aad, data, true)
    }

    /// Decrypts in place. If the tag does not match, the data is wiped.
    ///
    /// # Errors
    /// `Authentication` if the tag does not match, and `MessageTooLong` as [`Gcm::seal`].
    pub fn open(&self, nonce: &[u8; 12], aad: &[u8], data: &mut [u8], tag: &Block) -> Result<(), Error> {
        // If the message is forged, this is its valid tag: do not leave it in memory.
        let made = Zeroizing::new(self.apply(nonce, aad, data, false)?);
        if reveal(made.ct_eq(tag)) {
            return Ok(());
        }
        data.zeroize();
        Err(Error::Authentication)
    }

    fn apply(&self, nonce: &[u8; 12], aad: &[u8], data: &mut [u8], encrypts: bool) -> Result<Block, Error> {
        if data.len() as u64 > Self::MAX_BYTES {
            return Err(Error::MessageTooLong);
        }
        let mut counter = [0; BLOCK_BYTES];
        counter[..12].copy_from_slice(nonce);
        counter[15] = 1;
        let mut tag = [0; BLOCK_BYTES];
        self.cipher.core().ctr(Ctr { counter, data: &mut tag });
        increment_by(&mut counter, 1);
        let mut hash = Zeroizing::new([0; BLOCK_BYTES]);
        self.hash_key.update(&mut hash, aad);
        for piece in data.chunks_mut(PIECE_BYTES) {
            if !encrypts {
                self.hash_key.update(&mut hash, piece);
            }
            self.cipher.core().ctr(Ctr { counter, data: piece });
            increment_by(&mut counter, (PIECE_BYTES / BLOCK_BYTES) as u64);
            if encrypts {
                self.hash_key.update(&mut hash, piece);
            }
        }
        let lengths = [8 * aad.len() as u64, 8 * data.len() as u64].map(u64::to_be_bytes);
        self.hash_key.update(&mut hash, lengths.as_flattened());
        xor_block(&mut tag, &*hash);
        Ok(tag)
    }
}

impl HashKey {
    /// Hashes data, padded with zeros to whole blocks.
    fn update(&self, hash: &mut Block, data: &[u8]) {
        match self {
            HashKey::Crate(key) => {
                let (first, rest) = data.split_at(data.len().min(BLOCK_BYTES));
                if !first.is_empty() {
                    let mut state = key.clone();
                    xor_block(hash, first);
                    state.update(&[(*hash).into()]);
                    state.update_padded(rest);
                    hash.copy_from_slice(&state.finalize());
                }
            }
            #[cfg(target_arch = "x86_64")]
            HashKey::Wide(powers) => powers.update(hash, data),
        }
    }
}
