//! CBC and CCM of one message: the serial chain, in 32-bit words on every backend. The blocks of a chain depend on each other, so
//! vectors can speed up only the key stream of CCM (`chain_ahead.rs`).

use super::{WordKeys, to_bytes, to_words};
use crate::block::Block;
use crate::engine::{CipherDirection, increment};

/// CBC encryption of whole blocks. Sets `chain` to the last ciphertext block.
#[inline(always)]
pub(crate) fn cbc_encrypt_blocks<K: WordKeys>(keys: &K, chain: &mut Block, data: &mut [u8]) {
    let mut x = [to_words(chain)];
    for block in data.as_chunks_mut::<16>().0 {
        let input = to_words(block);
        for word in 0..4 {
            x[0][word] ^= input[word];
        }
        K::encrypt(keys, &mut x);
        *block = to_bytes(x[0]);
    }
    *chain = to_bytes(x[0]);
}

/// CCM over whole blocks without vectors. The next block's key stream and the chain are encrypted together, so that their latencies
/// overlap.
#[inline(always)]
pub(crate) fn ccm_blocks_in_pairs<K: WordKeys>(
    keys: &K,
    mac: &mut Block,
    counter: &mut Block,
    data: &mut [u8],
    direction: CipherDirection,
) {
    let mut key_stream = [to_words(counter)];
    K::encrypt(keys, &mut key_stream);
    let mut x = [to_words(mac), key_stream[0]];
    for block in data.as_chunks_mut::<16>().0 {
        increment(counter);
        let input = to_words(block);
        let mut output = input;
        for word in 0..4 {
            output[word] ^= x[1][word];
            x[0][word] ^= if direction == CipherDirection::Encrypt { input[word] } else { output[word] };
        }
        *block = to_bytes(output);
        x[1] = to_words(counter);
        K::encrypt(keys, &mut x);
    }
    *mac = to_bytes(x[0]);
}
