//! CCM of one message on backends with vectors: the MAC is a chain as in `chain.rs`; vectors compute the key stream ahead of it.

use zeroize::Zeroize;

use super::{WordKeys, to_bytes, to_words};
use crate::block::Block;
use crate::engine::{CcmEngine, CipherDirection, NoInterleave, increment_by};

/// Number of vectors of key stream computed at a time.
const AHEAD: usize = 2;

/// Largest length of these in bytes.
const MAX_AHEAD_BYTES: usize = 16 * 16 * AHEAD;

/// CCM over whole blocks with a key stream from vectors.
#[inline(always)]
pub(crate) fn ccm_blocks<K: WordKeys, E: CcmEngine<RoundKeys = K>>(
    engine: E,
    keys: &K,
    mac: &mut Block,
    counter: &mut Block,
    data: &mut [u8],
    direction: CipherDirection,
) {
    let vector_bytes = 16 * E::SLOTS;
    let mut key_stream = [0; MAX_AHEAD_BYTES];
    let mut x = [to_words(mac)];
    for part in data.chunks_mut(AHEAD * vector_bytes) {
        let mut vectors = [engine.counters::<AHEAD>(counter)];
        engine.encrypt(keys, &mut vectors, &mut NoInterleave);
        for (vector, bytes) in vectors[0].into_iter().zip(key_stream.chunks_exact_mut(vector_bytes)) {
            engine.store(vector, bytes);
        }
        for (block, key_stream) in part.as_chunks_mut::<16>().0.iter_mut().zip(key_stream.as_chunks::<16>().0) {
            let input = to_words(block);
            let key_stream = to_words(key_stream);
            let mut output = input;
            for word in 0..4 {
                output[word] ^= key_stream[word];
                x[0][word] ^= if direction == CipherDirection::Encrypt { input[word] } else { output[word] };
            }
            *block = to_bytes(output);
            K::encrypt(keys, &mut x);
        }
        increment_by(counter, part.len() as u64 / 16);
    }
    key_stream.zeroize();
    *mac = to_bytes(x[0]);
}
