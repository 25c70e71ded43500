//! Modes of operation for one message, in place.
//!
//! | mode | source | note |
//! |---|---|---|
//! | [`ecb`] | SP 800-38A section 6.1 | reveals equal blocks; for tests and as a building block |
//! | [`cbc`] | SP 800-38A section 6.2 | decryption is parallel, encryption is not: see [`crate::lanes::cbc`] |
//! | [`ctr`] | SP 800-38A section 6.5 | big-endian counter: the whole block, or in PIPO its last two bytes |
//! | [`ccm`] | SP 800-38C | authenticated, for blocks of 128 bits; for many messages see [`crate::lanes::ccm`] |
//! | `gcm` | SP 800-38D | authenticated, of blocks of 128 bits; with the feature `gcm` |
//! | [`pkcs7`] | RFC 5652 section 6.3 | padding for `ecb` and `cbc` |
//!
//! Callers choose nonces and initialisation vectors. Never use one twice with a key. If messages can be counted, the number of the
//! message is the safest nonce. Random nonces of 12 bytes repeat with a probability of 2^-32 after 2^32 messages. ECB, CBC and CTR do
//! not detect changes of the ciphertext; prefer CCM.
//!
//! Callers must count the use of a key over all messages:
//!
//! | mode | limit under one key | source |
//! |---|---|---|
//! | CCM | 2^61 calls of the cipher, two a block and two a message; far less for short tags | SP 800-38C, 5.3 |
//! | any, blocks of 128 bits | 2^52 blocks (2^56 bytes) keep the probability of equal blocks below 2^-24 | q² / 2^129 |
//! | any, blocks of 64 bits (PIPO) | 2^20 blocks (8 MiB), for the same reason | SP 800-67 rev. 2, 3.4 |
//! | CTR of PIPO | 2^16 blocks a message, which is enforced | its counter has 16 bits |
//!
//! With a tag of t bits, one forgery in 2^t succeeds. Use tags below 64 bits only after an analysis of what a forgery can do (SP
//! 800-38C, appendix B.2).

pub mod cbc;
pub mod ccm;
pub mod ctr;
pub mod ecb;
#[cfg(feature = "gcm")]
pub mod gcm;
pub mod pkcs7;

use zeroize::Zeroize;

use crate::block::{BlockBytes, flat_mut};
use crate::engine::{Core, Engine};
use crate::{BlockCipher, Error};

/// The block type of a cipher.
pub(crate) type BlockOf<C> = <<C as BlockCipher>::Core as Core>::Block;

/// `DataLength` unless `data` is a whole number of blocks.
pub(crate) fn check_whole_blocks<C: BlockCipher>(data: &[u8]) -> Result<(), Error> {
    if data.len().is_multiple_of(C::BLOCK_BYTES) { Ok(()) } else { Err(Error::DataLength) }
}

/// Converts an initialisation vector to a block.
pub(crate) fn iv_block<B: BlockBytes>(iv: &[u8]) -> Result<B, Error> {
    iv.try_into().map_err(|_| Error::IvLength)
}

/// A mode whose blocks do not depend on each other. `BLOCKS` is the number of blocks of a flight.
pub(crate) trait ParallelMode<E: Engine, const BLOCKS: usize> {
    /// Transforms `bytes`, the next `N` vectors of the message, in place. Must be `#[inline(always)]`.
    fn apply<const N: usize>(&mut self, engine: E, keys: &E::RoundKeys, bytes: &mut [u8]);
}

/// Number of vectors in a flight after the last long flight of a message.
const SHORT_FLIGHT: usize = 4;

/// Runs a mode over data of any length, `FLIGHT` vectors at a time. The remaining data runs in short flights, then vector by vector; an
/// incomplete last vector is padded with zeros in a buffer.
#[inline(always)]
pub(crate) fn run_parallel<E, P, const FLIGHT: usize, const BLOCKS: usize>(
    mut mode: P,
    engine: E,
    keys: &E::RoundKeys,
    data: &mut [u8],
) where
    E: Engine,
    P: ParallelMode<E, BLOCKS>,
{
    const { assert!(BLOCKS == FLIGHT * E::SLOTS) };
    let vector_bytes = vector_bytes::<E>();
    let mut rest = data;
    if E::HAS_PAIRS {
        let mut pairs = rest.chunks_exact_mut(2 * vector_bytes);
        for pair in &mut pairs {
            mode.apply::<2>(engine, keys, pair);
        }
        rest = pairs.into_remainder();
    }
    let mut flights = rest.chunks_exact_mut(FLIGHT * vector_bytes);
    for flight in &mut flights {
        mode.apply::<FLIGHT>(engine, keys, flight);
    }
    let mut rest = flights.into_remainder();
    if FLIGHT > SHORT_FLIGHT {
        let mut flights = rest.chunks_exact_mut(SHORT_FLIGHT * vector_bytes);
        for flight in &mut flights {
            mode.apply::<SHORT_FLIGHT>(engine, keys, flight);
        }
        rest = flights.into_remainder();
    }
    let mut vectors = rest.chunks_exact_mut(vector_bytes);
    for vector in &mut vectors {
        mode.apply::<1>(engine, keys, vector);
    }
    let rest = vectors.into_remainder();
    if !rest.is_empty() {
        let mut buffer = [E::Block::ZERO; BLOCKS];
        let padded = &mut flat_mut(&mut buffer)[..vector_bytes];
        padded[..rest.len()].copy_from_slice(rest);
        mode.apply::<1>(engine, keys, padded);
        rest.copy_from_slice(&padded[..rest.len()]);
        padded.zeroize();
    }
}

/// Length of a vector in bytes.
#[inline(always)]
pub(crate) fn vector_bytes<E: Engine>() -> usize {
    E::SLOTS * E::Block::BYTES
}

/// Reads `N` vectors.
#[inline(always)]
pub(crate) fn load<E: Engine, const N: usize>(engine: E, bytes: &[u8]) -> [E::Vector; N] {
    let size = vector_bytes::<E>();
    let bytes = &bytes[..N * size];
    let mut vectors = [engine.load(&bytes[..size]); N];
    for i in 1..N {
        vectors[i] = engine.load(&bytes[size * i..][..size]);
    }
    vectors
}

/// Writes `N` vectors.
#[inline(always)]
pub(crate) fn store<E: Engine, const N: usize>(engine: E, vectors: [E::Vector; N], bytes: &mut [u8]) {
    let size = vector_bytes::<E>();
    let bytes = &mut bytes[..N * size];
    for i in 0..N {
        engine.store(vectors[i], &mut bytes[size * i..][..size]);
    }
}
