//! LEA as it was published, line by line: D. Hong, J.-K. Lee, D.-C. Kim, D. Kwon, K. H. Ryu, D.-G. Lee, "LEA: A 128-Bit Block Cipher
//! for Fast Encryption on Common Processors", WISA 2013; KS X 3246.
//!
//! It is slow, for tests and study only. Every other backend is tested against it. The names are those of the paper: K is the key, T
//! the state of the key schedule, RK the round keys, X the state of a block.

use super::keys::{DELTA, ROUND_WORDS, RoundKeys};
use crate::Block;
use crate::ciphers::reference::ReferenceKeys;

/// Rotates to the left. An amount above 31 counts modulo 32.
fn rol(amount: usize, x: u32) -> u32 {
    x.rotate_left(amount as u32 % 32)
}

/// Rotates to the right.
fn ror(amount: usize, x: u32) -> u32 {
    x.rotate_right(amount as u32)
}

/// The words of bytes, which are little-endian.
fn to_words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    core::array::from_fn(|i| u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]))
}

/// a + b modulo 2^32, the operation ⊞.
fn plus(a: u32, b: u32) -> u32 {
    a.wrapping_add(b)
}

/// Round `i` of the key schedule for a key of 128 bits.
fn schedule_128(i: usize, t: &mut [u32; 4]) -> [u32; ROUND_WORDS] {
    let delta = DELTA[i % 4];
    t[0] = rol(1, plus(t[0], rol(i, delta)));
    t[1] = rol(3, plus(t[1], rol(i + 1, delta)));
    t[2] = rol(6, plus(t[2], rol(i + 2, delta)));
    t[3] = rol(11, plus(t[3], rol(i + 3, delta)));
    [t[0], t[1], t[2], t[1], t[3], t[1]]
}

/// Round `i` of the key schedule for a key of 192 bits.
fn schedule_192(i: usize, t: &mut [u32; 6]) -> [u32; ROUND_WORDS] {
    let delta = DELTA[i % 6];
    t[0] = rol(1, plus(t[0], rol(i, delta)));
    t[1] = rol(3, plus(t[1], rol(i + 1, delta)));
    t[2] = rol(6, plus(t[2], rol(i + 2, delta)));
    t[3] = rol(11, plus(t[3], rol(i + 3, delta)));
    t[4] = rol(13, plus(t[4], rol(i + 4, delta)));
    t[5] = rol(17, plus(t[5], rol(i + 5, delta)));
    *t
}

/// Round `i` of the key schedule for a key of 256 bits.
fn schedule_256(i: usize, t: &mut [u32; 8]) -> [u32; ROUND_WORDS] {
    let delta = DELTA[i % 8];
    let at = |j| (6 * i + j) % 8;
    t[at(0)] = rol(1, plus(t[at(0)], rol(i, delta)));
    t[at(1)] = rol(3, plus(t[at(1)], rol(i + 1, delta)));
    t[at(2)] = rol(6, plus(t[at(2)], rol(i + 2, delta)));
    t[at(3)] = rol(11, plus(t[at(3)], rol(i + 3, delta)));
    t[at(4)] = rol(13, plus(t[at(4)], rol(i + 4, delta)));
    t[at(5)] = rol(17, plus(t[at(5)], rol(i + 5, delta)));
    [t[at(0)], t[at(1)], t[at(2)], t[at(3)], t[at(4)], t[at(5)]]
}

/// Round keys of `rounds` rounds from the key's words and a round of the key schedule.
fn expand<const N: usize>(
    rounds: usize,
    key: &[u8],
    schedule: fn(usize, &mut [u32; N]) -> [u32; ROUND_WORDS],
) -> RoundKeys {
    let (mut t, mut keys) = (to_words(key), RoundKeys::ZERO);
    keys.rounds = rounds;
    for i in 0..rounds {
        keys.words.as_chunks_mut().0[i] = schedule(i, &mut t);
    }
    keys
}

impl ReferenceKeys for RoundKeys {
    type Block = Block;

    fn expand_key(key: &[u8]) -> Self {
        match key.len() {
            16 => expand(24, key, schedule_128),
            24 => expand(28, key, schedule_192),
            _ => expand(32, key, schedule_256),
        }
    }

    fn rounds(&self) -> usize {
        self.rounds
    }

    fn encrypt_block(&self, block: &mut Block) {
        let mut x: [u32; 4] = to_words(block);
        for rk in &self.words.as_chunks::<ROUND_WORDS>().0[..self.rounds] {
            x = [
                rol(9, plus(x[0] ^ rk[0], x[1] ^ rk[1])),
                ror(5, plus(x[1] ^ rk[2], x[2] ^ rk[3])),
                ror(3, plus(x[2] ^ rk[4], x[3] ^ rk[5])),
                x[0],
            ];
        }
        block.copy_from_slice(x.map(u32::to_le_bytes).as_flattened());
    }

    fn decrypt_block(&self, block: &mut Block) {
        let mut x: [u32; 4] = to_words(block);
        for rk in self.words.as_chunks::<ROUND_WORDS>().0[..self.rounds].iter().rev() {
            let mut y = [x[3], 0, 0, 0];
            y[1] = ror(9, x[0]).wrapping_sub(y[0] ^ rk[0]) ^ rk[1];
            y[2] = rol(5, x[1]).wrapping_sub(y[1] ^ rk[2]) ^ rk[3];
            y[3] = rol(3, x[2]).wrapping_sub(y[2] ^ rk[4]) ^ rk[5];
            x = y;
        }
        block.copy_from_slice(x.map(u32::to_le_bytes).as_flattened());
    }
}

/// The reference engine.
pub(super) type Reference = crate::ciphers::reference::Reference<RoundKeys>;
