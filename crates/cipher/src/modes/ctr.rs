//! Counter mode (SP 800-38A section 6.5) with a big-endian counter.
//!
//! The counter is the whole block, which wraps from ff…ff to 00…00. Ciphers with a shorter counter (the last
//! [`BlockCipher::COUNTER_BYTES`] bytes of the block, after a nonce) return an error at its end.
//!
//! ```
//! use tress_cipher::{aes::Aes, modes::ctr};
//!
//! let (cipher, counter) = (Aes::new(&[7; 16])?, [1; 16]);
//! let mut data = *b"a message of any length";
//! ctr::apply(&cipher, &counter, &mut data)?;
//! ctr::apply(&cipher, &counter, &mut data)?;
//! assert_eq!(&data, b"a message of any length");
//!
//! // CCM* of IEEE 802.15.4 without a tag (security level 4): the first counter block is 01, the nonce of 13 bytes, and 00 01. This is
//! // the example of annex C.2.2.
//! let cipher = Aes::new(&[0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf])?;
//! let nonce = [0xac, 0xde, 0x48, 0, 0, 0, 0, 1, 0, 0, 0, 5, 4];
//! let mut data = *b"abcd";
//! ctr::apply(&cipher, &[&[1][..], &nonce, &[0, 1]].concat(), &mut data)?;
//! assert_eq!(data, [0xd4, 0x3e, 0x02, 0x2b]);
//! # Ok::<(), tress_cipher::Error>(())
//! ```

use super::{BlockOf, ParallelMode, iv_block, run_parallel, vector_bytes};
use crate::block::{BlockBytes, wipe};
use crate::engine::{Engine, NoInterleave, Operation, increment_by};
use crate::operation::{Ctr, Modes};
use crate::{BlockCipher, Error};

/// Encrypts or decrypts data of any length in place. `counter` is the first counter block. No counter block may ever be
/// used twice with a key.
///
/// # Errors
/// `IvLength`, and `CounterExhausted` if the data needs more counter blocks than a counter shorter than its block has left.
pub fn apply<C: BlockCipher>(cipher: &C, counter: &[u8], data: &mut [u8]) -> Result<(), Error> {
    Stream::new(cipher, counter)?.apply(data)
}

/// Checks a first counter block before there are `bytes` bytes of data.
///
/// # Errors
/// As [`apply`].
pub fn check_counter<C: BlockCipher>(cipher: &C, counter: &[u8], bytes: usize) -> Result<(), Error> {
    let left = Stream::new(cipher, counter)?.left;
    match left.is_some_and(|left| bytes.div_ceil(C::BLOCK_BYTES) as u64 > left) {
        true => Err(Error::CounterExhausted),
        false => Ok(()),
    }
}

/// A key stream that encrypts or decrypts data in pieces of any length.
pub struct Stream<'c, C: BlockCipher> {
    cipher: &'c C,
    /// The counter block of the next byte.
    counter: BlockOf<C>,
    /// Number of bytes of this counter block's key stream that earlier pieces used.
    used: usize,
    /// Number of counter blocks that no piece used; `None` if the counter wraps.
    left: Option<u64>,
}

impl<C: BlockCipher> core::fmt::Debug for Stream<'_, C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Stream").field("left", &self.left).finish_non_exhaustive()
    }
}

impl<'c, C: BlockCipher> Stream<'c, C> {
    /// The key stream that starts with the counter block `counter`.
    ///
    /// # Errors
    /// `IvLength` unless `counter` has the length of a block.
    pub fn new(cipher: &'c C, counter: &[u8]) -> Result<Self, Error> {
        let counter: BlockOf<C> = iv_block(counter)?;
        let number = &counter.as_ref()[C::BLOCK_BYTES - C::COUNTER_BYTES..];
        let left = (C::COUNTER_BYTES < C::BLOCK_BYTES).then(|| {
            let used = number.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
            (1 << (8 * C::COUNTER_BYTES)) - used
        });
        Ok(Stream { cipher, counter, used: 0, left })
    }

    /// Encrypts or decrypts the next bytes in place. A piece that begins inside of a block costs a block more: its key stream is computed
    /// again.
    ///
    /// # Errors
    /// `CounterExhausted`. The data is unchanged then, and the next piece continues where the last one ended.
    pub fn apply(&mut self, data: &mut [u8]) -> Result<(), Error> {
        let unused = if self.used == 0 { 0 } else { C::BLOCK_BYTES - self.used };
        let (first, data) = data.split_at_mut(unused.min(data.len()));
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(data.len().div_ceil(C::BLOCK_BYTES) as u64).ok_or(Error::CounterExhausted)?;
        }
        if !first.is_empty() {
            let mut block = BlockOf::<C>::ZERO;
            let end = self.used + first.len();
            block.as_mut()[self.used..end].copy_from_slice(first);
            self.cipher.core().ctr(Ctr { counter: self.counter, data: &mut block.as_mut()[..end] });
            first.copy_from_slice(&block.as_ref()[self.used..end]);
            wipe(core::slice::from_mut(&mut block));
            self.advance(first.len());
        }
        self.cipher.core().ctr(Ctr { counter: self.counter, data });
        self.advance(data.len());
        Ok(())
    }

    fn advance(&mut self, bytes: usize) {
        let end = self.used + bytes;
        increment_by(self.counter.as_mut(), (end / C::BLOCK_BYTES) as u64);
        self.used = end % C::BLOCK_BYTES;
    }
}

impl<B: BlockBytes> Operation<B> for Ctr<'_, B> {
    type Output = ();

    #[inline(always)]
    fn call<E, const FLIGHT: usize, const BLOCKS: usize>(self, engine: E, keys: &E::RoundKeys)
    where
        E: Engine<Block = B>,
    {
        if !engine.ctr(keys, &self.counter, self.data) {
            run_parallel::<E, _, FLIGHT, BLOCKS>(
                NextCounter { block: self.counter, is_first: true },
                engine,
                keys,
                self.data,
            );
        }
    }
}

/// The next counter block.
struct NextCounter<B> {
    block: B,
    is_first: bool,
}

impl<E: Engine, const BLOCKS: usize> ParallelMode<E, BLOCKS> for NextCounter<E::Block> {
    #[inline(always)]
    fn apply<const N: usize>(&mut self, engine: E, keys: &E::RoundKeys, bytes: &mut [u8]) {
        let counters =
            if self.is_first { engine.counters::<N>(&self.block) } else { engine.more_counters(&self.block) };
        let mut key_stream = [counters];
        self.is_first = false;
        increment_by(self.block.as_mut(), (N * E::SLOTS) as u64);
        engine.encrypt(keys, &mut key_stream, &mut NoInterleave);
        let (size, [key_stream]) = (vector_bytes::<E>(), key_stream);
        let bytes = &mut bytes[..N * size];
        for i in 0..N {
            engine.add_to(key_stream[i], &mut bytes[size * i..][..size]);
        }
    }
}
