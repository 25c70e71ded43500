//! Round keys (KS X 3246, key schedule), in the same form for every backend.

use zeroize::{Zeroize, ZeroizeOnDrop};

/// Number of rounds with the longest key.
pub(super) const MAX_ROUNDS: usize = 32;

/// Number of words of a round key.
pub(super) const ROUND_WORDS: usize = 6;

/// Number of words of the round keys with the longest key.
pub(super) const WORDS: usize = ROUND_WORDS * MAX_ROUNDS;

/// The constants δ: the fraction of √766965 in base 16. 76, 69 and 65 are the codes of the letters L, E and A.
pub(super) const DELTA: [u32; 8] =
    [0xc3ef_e9db, 0x4462_6b02, 0x79e2_7c8a, 0x78df_30ec, 0x715e_a49e, 0xc785_da0a, 0xe04e_f22a, 0xe5c4_0957];

/// The rotations of the words of a round.
const ROTATIONS: [u32; ROUND_WORDS] = [1, 3, 6, 11, 13, 17];

/// The round keys of one key: six words for each of 24, 28 or 32 rounds.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct RoundKeys {
    pub(super) words: [u32; WORDS],
    pub(super) rounds: usize,
}

impl RoundKeys {
    pub(super) const ZERO: RoundKeys = RoundKeys { words: [0; WORDS], rounds: 0 };
}

/// Number of rounds with a key of this many bytes: 16, 24 or 32.
pub(super) const fn rounds(key_bytes: usize) -> usize {
    16 + key_bytes / 2
}

/// Computes the round keys. `key` must have 16, 24 or 32 bytes.
pub(super) fn expand_key(key: &[u8]) -> RoundKeys {
    let mut t = [0_u32; 8];
    for (word, bytes) in t.iter_mut().zip(key.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let key_words = key.len() / 4;
    let mut keys = RoundKeys { words: [0; WORDS], rounds: rounds(key.len()) };
    let rounds = keys.words.as_chunks_mut::<ROUND_WORDS>().0.iter_mut().take(keys.rounds);
    for (i, round_key) in rounds.enumerate() {
        let delta = DELTA[i % key_words];
        // With eight words of key, a round changes the next six of them.
        let first = if key_words == 8 { 6 * i } else { 0 };
        for (j, word) in round_key.iter_mut().enumerate().take(key_words) {
            let t = &mut t[(first + j) % 8];
            *t = t.wrapping_add(delta.rotate_left((i + j) as u32)).rotate_left(ROTATIONS[j]);
            *word = *t;
        }
        // Four words of key make six words of a round key.
        if key_words == 4 {
            round_key[3..].copy_from_slice(&[t[1], t[3], t[1]]);
        }
    }
    t.zeroize();
    keys
}
