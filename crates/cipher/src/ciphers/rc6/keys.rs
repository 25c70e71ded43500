//! Round keys (section 2.2 of the paper), in the same form for every backend.

use zeroize::{Zeroize, ZeroizeOnDrop};

/// Number of rounds in the AES submission.
pub(super) const ROUNDS: usize = 20;

/// Number of words of the round keys: two before the rounds, two for each round, two after them.
pub(super) const WORDS: usize = 2 * ROUNDS + 4;

/// Number of words of the longest key.
const MAX_KEY_WORDS: usize = 8;

/// The round keys of one key: the paper's table S.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct RoundKeys(pub(super) [u32; WORDS]);

/// Computes the round keys. `key` must have 16, 24 or 32 bytes.
///
/// The amounts of rotations depend on the key; addresses do not.
pub(super) fn expand_key(key: &[u8]) -> RoundKeys {
    let mut l = [0; MAX_KEY_WORDS];
    for (word, bytes) in l.iter_mut().zip(key.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let mut keys = RoundKeys([0; WORDS]);
    let mut progression = 0xb7e1_5163_u32;
    for word in &mut keys.0 {
        *word = progression;
        progression = progression.wrapping_add(0x9e37_79b9);
    }
    let (mut a, mut b, mut j) = (0_u32, 0_u32, 0);
    // Three passes over the table, which is longer than the key.
    for _ in 0..3 {
        for word in &mut keys.0 {
            a = word.wrapping_add(a).wrapping_add(b).rotate_left(3);
            *word = a;
            let sum = a.wrapping_add(b);
            b = l[j].wrapping_add(sum).rotate_left(sum & 31);
            l[j] = b;
            j = if j + 1 == key.len() / 4 { 0 } else { j + 1 };
        }
    }
    l.zeroize();
    keys
}
