//! CCM of one message in pieces. The first block of the MAC contains the lengths, so callers announce them first.

use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::block::flat_mut;
use crate::engine::{increment_by, xor_block};
use crate::modes::{cbc, ctr, ecb};
use crate::operation::CcmHeader;
use crate::reveal::reveal;
use crate::{Aad, Block, CcmCipher, Error, Nonce, Tag, TagMut};

/// The lengths of a message, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// Length of the associated data.
    pub aad: u64,
    /// Length of the data.
    pub data: u64,
    /// Length of the tag: 4, 6, …, 16.
    pub tag: usize,
}

/// Number of blocks that are copied to a buffer and chained at a time.
const BLOCKS: usize = 32;

/// The state between two pieces.
struct PieceState<'c, C> {
    cipher: &'c C,
    /// The bytes that are still to come.
    lengths: Lengths,
    /// The chain, with the first `filled` bytes of the next block XORed into it.
    mac: Block,
    filled: usize,
    mask: Block,
    counter: Block,
    /// The key stream for the block that `filled` counts in.
    key_stream: Block,
}

impl<'c, C: CcmCipher> PieceState<'c, C> {
    fn new(cipher: &'c C, nonce: Nonce<'_>, lengths: Lengths) -> Result<Self, Error> {
        let header = CcmHeader::of_lengths(nonce.0, lengths.aad, lengths.data, lengths.tag)?;
        let counter = header.counter();
        let mut pieces =
            PieceState { cipher, lengths, mac: [0; 16], filled: 0, mask: [0; 16], counter, key_stream: [0; 16] };
        pieces.mask = pieces.next_key_stream()?;
        pieces.chain(&header.b0)?;
        let (prefix, bytes) = super::prefix(pieces.lengths.aad);
        pieces.chain(&prefix.to_be_bytes()[..bytes])?;
        Ok(pieces)
    }

    fn next_key_stream(&mut self) -> Result<Block, Error> {
        let mut block = [0; 16];
        ctr::apply(self.cipher, &self.counter, &mut block)?;
        increment_by(&mut self.counter, 1);
        Ok(block)
    }

    /// XORs bytes into the chain, and encrypts it at the end of each block.
    fn chain(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let (first, bytes) = bytes.split_at(bytes.len().min((16 - self.filled) % 16));
        self.xor_into_chain(first)?;
        let (whole, last) = bytes.as_chunks::<16>();
        let mut buffer = [[0; 16]; BLOCKS];
        for blocks in whole.chunks(BLOCKS) {
            let buffer = &mut buffer[..blocks.len()];
            buffer.copy_from_slice(blocks);
            cbc::encrypt(self.cipher, &self.mac, flat_mut(buffer))?;
            self.mac = buffer[blocks.len() - 1];
        }
        buffer.zeroize();
        self.xor_into_chain(last)
    }

    /// XORs bytes of one block into the chain.
    fn xor_into_chain(&mut self, bytes: &[u8]) -> Result<(), Error> {
        for (mac, byte) in self.mac[self.filled..].iter_mut().zip(bytes) {
            *mac ^= byte;
        }
        self.filled += bytes.len();
        if self.filled == 16 { self.end_block() } else { Ok(()) }
    }

    /// Ends an incomplete block, as if padded with zeros.
    fn end_block(&mut self) -> Result<(), Error> {
        if self.filled > 0 {
            self.filled = 0;
            ecb::encrypt(self.cipher, &mut self.mac)?;
        }
        Ok(())
    }

    fn aad(&mut self, piece: &[u8]) -> Result<(), Error> {
        self.lengths.aad = self.lengths.aad.checked_sub(piece.len() as u64).ok_or(Error::AnnouncedLength)?;
        self.chain(piece)?;
        if self.lengths.aad == 0 && !piece.is_empty() { self.end_block() } else { Ok(()) }
    }

    /// Checks that the data was announced and that no associated data is missing.
    fn check_announced(&mut self, data: &[u8]) -> Result<(), Error> {
        if self.lengths.aad > 0 {
            return Err(Error::AnnouncedLength);
        }
        self.lengths.data = self.lengths.data.checked_sub(data.len() as u64).ok_or(Error::AnnouncedLength)?;
        Ok(())
    }

    /// XORs the key stream into data that starts at byte `filled` of a block.
    fn xor_key_stream(&mut self, filled: usize, data: &mut [u8]) -> Result<(), Error> {
        let (first, data) = data.split_at_mut(data.len().min((16 - filled) % 16));
        for (byte, key) in first.iter_mut().zip(&self.key_stream[filled..]) {
            *byte ^= key;
        }
        let (whole, last) = data.split_at_mut(data.len() / 16 * 16);
        ctr::apply(self.cipher, &self.counter, whole)?;
        increment_by(&mut self.counter, whole.len() as u64 / 16);
        if !last.is_empty() {
            self.key_stream = self.next_key_stream()?;
            for (byte, key) in last.iter_mut().zip(self.key_stream) {
                *byte ^= key;
            }
        }
        Ok(())
    }

    /// Returns the full tag of 16 bytes.
    fn finish(&mut self) -> Result<Block, Error> {
        if self.lengths.aad > 0 || self.lengths.data > 0 {
            return Err(Error::AnnouncedLength);
        }
        self.end_block()?;
        xor_block(&mut self.mac, &self.mask);
        Ok(self.mac)
    }
}

impl<C> Drop for PieceState<'_, C> {
    fn drop(&mut self) {
        self.mac.zeroize();
        self.mask.zeroize();
        self.key_stream.zeroize();
    }
}

macro_rules! direction {
    ($name:ident) => {
        impl<C> fmt::Debug for $name<'_, C> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("left", &self.0.lengths).finish_non_exhaustive()
            }
        }

        impl<'c, C: CcmCipher> $name<'c, C> {
            /// Begins a message.
            ///
            /// # Errors
            /// The errors of [`seal`](super::seal).
            pub fn new<'n>(cipher: &'c C, nonce: impl Into<Nonce<'n>>, lengths: Lengths) -> Result<Self, Error> {
                PieceState::new(cipher, nonce.into(), lengths).map($name)
            }

            /// Adds the next associated data. All of it comes before the data.
            ///
            /// # Errors
            /// `AnnouncedLength` if it is longer than announced.
            pub fn aad(&mut self, piece: Aad<'_>) -> Result<(), Error> {
                self.0.aad(piece.0)
            }
        }
    };
}

/// Encrypts one message piece by piece; pieces may have any length. Use [`seal`](super::seal) for a message that is in memory as a
/// whole, and [`crate::lanes::ccm`] for many of them.
///
/// ```
/// use tress_cipher::{Aad, aes::Aes, modes::ccm::{Lengths, Sealer}};
///
/// let cipher = Aes::new(&[7; 16])?;
/// let (mut data, mut tag) = (*b"in two pieces", [0; 16]);
/// let mut sealer = Sealer::new(&cipher, &[1; 12], Lengths { aad: 6, data: 13, tag: 16 })?;
/// sealer.aad(Aad(b"header"))?;
/// sealer.update(&mut data[..7])?;
/// sealer.update(&mut data[7..])?;
/// sealer.finish(&mut tag)?;
/// # Ok::<(), tress_cipher::Error>(())
/// ```
pub struct Sealer<'c, C>(PieceState<'c, C>);

/// Decrypts one message piece by piece. The plaintext is unverified until [`finish`](Opener::finish) has returned `Ok`. If that fails,
/// the caller must wipe it. Use [`open`](super::open) if the message fits into memory.
pub struct Opener<'c, C>(PieceState<'c, C>);

direction!(Sealer);
direction!(Opener);

impl<C: CcmCipher> Sealer<'_, C> {
    /// Encrypts the next data in place.
    ///
    /// # Errors
    /// `AnnouncedLength` if it is longer than announced, or if associated data is missing.
    pub fn update(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        self.0.check_announced(piece)?;
        let filled = self.0.filled;
        self.0.chain(piece)?;
        self.0.xor_key_stream(filled, piece)
    }

    /// Writes the tag.
    ///
    /// # Errors
    /// `AnnouncedLength` if data is missing, `TagLength` if the tag does not have the announced length.
    pub fn finish<'t>(mut self, tag: impl Into<TagMut<'t>>) -> Result<(), Error> {
        let TagMut(tag) = tag.into();
        if tag.len() != self.0.lengths.tag {
            return Err(Error::TagLength);
        }
        tag.copy_from_slice(&self.0.finish()?[..tag.len()]);
        Ok(())
    }
}

impl<C: CcmCipher> Opener<'_, C> {
    /// Decrypts the next data in place. The plaintext is not verified yet.
    ///
    /// # Errors
    /// The errors of [`Sealer::update`].
    pub fn update_unverified(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        self.0.check_announced(piece)?;
        let filled = self.0.filled;
        self.0.xor_key_stream(filled, piece)?;
        self.0.chain(piece)
    }

    /// Verifies the message.
    ///
    /// # Errors
    /// `Authentication` if the tag does not match, and the errors of [`Sealer::finish`].
    pub fn finish<'t>(mut self, tag: impl Into<Tag<'t>>) -> Result<(), Error> {
        let Tag(tag) = tag.into();
        if tag.len() != self.0.lengths.tag {
            return Err(Error::TagLength);
        }
        let mut full = self.0.finish()?;
        let good = full[..tag.len()].ct_eq(tag);
        full.zeroize();
        if reveal(good) { Ok(()) } else { Err(Error::Authentication) }
    }
}
