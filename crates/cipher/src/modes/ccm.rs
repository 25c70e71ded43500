//! Counter with CBC-MAC (SP 800-38C, RFC 3610): encryption with authentication.
//!
//! Nonces have 7 to 13 bytes; a nonce of n bytes leaves a field of 15 − n bytes for the length of the message in bytes. Tags have
//! 4, 6, …, 16 bytes. Associated data may have any length.

mod pieces;

use core::marker::PhantomData;

use cipher::consts::{U12, U16};
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::engine::{CcmEngine, CcmOperation, CipherDirection, increment, xor_block};
use crate::operation::{CcmHeader, CcmModes, OneCcm};
use crate::reveal::reveal;
use crate::{Aad, Block, CcmCipher, Error, Nonce, Tag, TagMut};

pub use pieces::{Lengths, Opener, Sealer};

/// CCM with the traits of the `aead` crate. `C` is [`Aes128`](crate::aes::Aes128), [`Aes192`](crate::aes::Aes192),
/// [`Aes256`](crate::aes::Aes256) or a type of another cipher such as [`Rc6_128`](crate::rc6::Rc6_128). `M` is the length of a tag
/// in bytes (4, 6, …, 16), `N` that of a nonce (7 to 13).
///
/// ```
/// use tress_cipher::aead::{AeadInOut, KeyInit, consts::{U12, U16}};
/// use tress_cipher::{aes::Aes256, modes::ccm::Ccm};
///
/// let ccm = Ccm::<Aes256, U16, U12>::new(&[7; 32].into());
/// let mut data = *b"hello";
/// let tag = ccm.encrypt_inout_detached(&[0; 12].into(), b"", (&mut data[..]).into())?;
/// # Ok::<(), tress_cipher::aead::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ccm<C, M = U16, N = U12> {
    pub(crate) cipher: C,
    pub(crate) sizes: PhantomData<(M, N)>,
}

/// Encrypts in place and writes the tag. A nonce must never be used twice with a key.
///
/// # Errors
/// `NonceLength`, `TagLength`, and `MessageTooLong` for more data than a nonce of this length allows.
pub fn seal<'n, 't, C: CcmCipher>(
    cipher: &C,
    nonce: impl Into<Nonce<'n>>,
    aad: Aad<'_>,
    data: &mut [u8],
    tag: impl Into<TagMut<'t>>,
) -> Result<(), Error> {
    let TagMut(tag) = tag.into();
    let header = CcmHeader::new(nonce.into().0, aad.0, data.len(), tag.len())?;
    let full = cipher.core().ccm(OneCcm { header: &header, data, direction: CipherDirection::Encrypt });
    tag.copy_from_slice(&full[..tag.len()]);
    Ok(())
}

/// Checks the lengths of nonce, message and tag before there is a message to encrypt or decrypt.
///
/// # Errors
/// `NonceLength`, `TagLength` and `MessageTooLong`, as [`seal`].
#[inline]
pub fn check_lengths<'n>(nonce: impl Into<Nonce<'n>>, message_bytes: usize, tag_bytes: usize) -> Result<(), Error> {
    CcmHeader::new(nonce.into().0, &[], message_bytes, tag_bytes).map(|_| ())
}

/// Decrypts in place. If the tag does not match, the data is wiped.
///
/// # Errors
/// `Authentication` if the tag does not match, and the errors of [`seal`].
pub fn open<'n, 't, C: CcmCipher>(
    cipher: &C,
    nonce: impl Into<Nonce<'n>>,
    aad: Aad<'_>,
    data: &mut [u8],
    tag: impl Into<Tag<'t>>,
) -> Result<(), Error> {
    let Tag(tag) = tag.into();
    let header = CcmHeader::new(nonce.into().0, aad.0, data.len(), tag.len())?;
    let mut full = cipher.core().ccm(OneCcm { header: &header, data: &mut *data, direction: CipherDirection::Decrypt });
    let good = full[..tag.len()].ct_eq(tag);
    // If the message is forged, this is its valid tag: do not leave it in memory.
    full.zeroize();
    if reveal(good) {
        Ok(())
    } else {
        data.zeroize();
        Err(Error::Authentication)
    }
}

/// The big-endian number in up to 16 bytes, without a call of memcpy. Reads the first and the last bytes, which may overlap.
#[inline]
fn number(bytes: &[u8]) -> u128 {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return u128::from(u64::from_be_bytes(*first)) << (8 * (bytes.len() - 8))
            | u128::from(u64::from_be_bytes(*last));
    }
    let number = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_be_bytes(*first)) << (8 * (bytes.len() - 4)) | u64::from(u32::from_be_bytes(*last))
        }
        _ => bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)),
    };
    number.into()
}

/// The encoded length of the associated data (SP 800-38C appendix A.2.2), as the first bytes of a block, and their number.
#[inline]
fn prefix(aad_bytes: u64) -> (u128, usize) {
    let number = u128::from(aad_bytes);
    match aad_bytes {
        0 => (0, 0),
        1..0xff00 => (number << 112, 2),
        0xff00..=0xffff_ffff => (0xfffe << 112 | number << 80, 6),
        _ => (0xffff << 112 | number << 48, 10),
    }
}

impl<'a> CcmHeader<'a> {
    #[inline]
    pub(crate) fn new(nonce: &[u8], aad: &'a [u8], message_bytes: usize, tag_bytes: usize) -> Result<Self, Error> {
        Ok(CcmHeader { aad, ..CcmHeader::of_lengths(nonce, aad.len() as u64, message_bytes as u64, tag_bytes)? })
    }

    /// The header without the associated data, but with its length.
    #[inline(always)]
    fn of_lengths(nonce: &[u8], aad_bytes: u64, message_bytes: u64, tag_bytes: usize) -> Result<Self, Error> {
        if !(7..=13).contains(&nonce.len()) {
            return Err(Error::NonceLength);
        }
        if !(4..=16).contains(&tag_bytes) || tag_bytes % 2 == 1 {
            return Err(Error::TagLength);
        }
        // Bytes of the length field, 2 to 8.
        let q = 15 - nonce.len();
        if q < 8 && message_bytes >> (8 * q) != 0 {
            return Err(Error::MessageTooLong);
        }
        let flags = (u8::from(aad_bytes > 0) << 6) | (((tag_bytes - 2) / 2) << 3 | (q - 1)) as u8;
        // Assembled in registers: reading a block whose bytes were just written one by one would stall.
        let b0 = u128::from(flags) << 120 | number(nonce) << (8 * q) | u128::from(message_bytes);
        Ok(CcmHeader { b0: b0.to_be_bytes(), aad: &[] })
    }

    /// Number of blocks, B_0 included.
    #[inline]
    pub(crate) fn blocks(&self) -> usize {
        if self.aad.is_empty() {
            return 1;
        }
        let (_, prefix_bytes) = prefix(self.aad.len() as u64);
        1 + (prefix_bytes + self.aad.len()).div_ceil(16)
    }

    /// Block `index` of the header; the last one is padded with zeros.
    #[inline]
    pub(crate) fn block(&self, index: usize) -> Block {
        if index == 0 { self.b0 } else { self.aad_block(index) }
    }

    #[inline(never)]
    fn aad_block(&self, index: usize) -> Block {
        let (prefix, prefix_bytes) = prefix(self.aad.len() as u64);
        let (before, from, room) = match index {
            1 => (prefix, 0, 16 - prefix_bytes),
            _ => (0, 16 * (index - 1) - prefix_bytes, 16),
        };
        let bytes = &self.aad[from..];
        let bytes = &bytes[..bytes.len().min(room)];
        // Assembled in registers, as B_0.
        (before | number(bytes) << (8 * (room - bytes.len()))).to_be_bytes()
    }

    /// Counter block 0 (SP 800-38C appendix A.3): flags, nonce, zero.
    #[inline]
    pub(crate) fn counter(&self) -> Block {
        (u128::from_ne_bytes(self.b0) & u128::from_ne_bytes(*self.counter_mask())).to_ne_bytes()
    }

    /// The bits of B_0 that counter block 0 has.
    #[inline(always)]
    pub(crate) fn counter_mask(&self) -> &'static Block {
        // The nonce is before the 1 + q' bytes of the length, where q' is in the flags.
        static KEPT: [Block; 8] = {
            let mut kept = [[0xff; 16]; 8];
            let mut q = 0;
            while q < 8 {
                kept[q][0] = 7;
                let mut byte = 15 - q;
                while byte < 16 {
                    kept[q][byte] = 0;
                    byte += 1;
                }
                q += 1;
            }
            kept
        };
        &KEPT[usize::from(self.b0[0] & 7)]
    }
}

impl CcmOperation for OneCcm<'_> {
    type Output = Block;

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::RoundKeys) -> Block
    where
        E: CcmEngine,
    {
        let mut mac = [0; 16];
        for index in 0..self.header.blocks() {
            xor_block(&mut mac, &self.header.block(index));
            engine.encrypt_block(keys, &mut mac);
        }
        let mut counter = self.header.counter();
        let mut mask = counter;
        engine.encrypt_block(keys, &mut mask);
        increment(&mut counter);
        let (whole, rest) = self.data.split_at_mut(self.data.len() / 16 * 16);
        engine.ccm_blocks(keys, &mut mac, &mut counter, whole, self.direction);
        if !rest.is_empty() {
            let mut key_stream = counter;
            engine.encrypt_block(keys, &mut key_stream);
            if self.direction == CipherDirection::Encrypt {
                xor_block(&mut mac, rest);
            }
            for (byte, key) in rest.iter_mut().zip(key_stream) {
                *byte ^= key;
            }
            if self.direction == CipherDirection::Decrypt {
                xor_block(&mut mac, rest);
            }
            engine.encrypt_block(keys, &mut mac);
            key_stream.zeroize();
        }
        xor_block(&mut mac, &mask);
        mask.zeroize();
        mac
    }
}
