//! LEA in 32-bit words, for several blocks side by side.

use super::keys::{self, MAX_ROUNDS, ROUND_WORDS, RoundKeys};
use crate::ciphers::words::{BlockWords, RoundKeySource, WordKeys};

impl WordKeys for RoundKeys {
    const ZERO: Self = RoundKeys::ZERO;

    fn expand_key(key: &[u8]) -> Self {
        keys::expand_key(key)
    }

    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }

    #[inline(always)]
    fn word(&self, index: usize) -> u32 {
        self.words[index]
    }

    #[inline(always)]
    fn encrypt<const N: usize>(keys: &impl RoundKeySource, x: &mut [BlockWords; N]) {
        let mut y = *x;
        // The maximum lets the compiler omit checks of indices.
        for four in 0..keys.rounds().min(MAX_ROUNDS) / 4 {
            round::<0, N>(keys, 4 * four, &mut y);
            round::<1, N>(keys, 4 * four + 1, &mut y);
            round::<2, N>(keys, 4 * four + 2, &mut y);
            round::<3, N>(keys, 4 * four + 3, &mut y);
        }
        *x = y;
    }

    #[inline(always)]
    fn decrypt<const N: usize>(keys: &impl RoundKeySource, x: &mut [BlockWords; N]) {
        let mut y = *x;
        for four in (0..keys.rounds().min(MAX_ROUNDS) / 4).rev() {
            inverse_round::<3, N>(keys, 4 * four + 3, &mut y);
            inverse_round::<2, N>(keys, 4 * four + 2, &mut y);
            inverse_round::<1, N>(keys, 4 * four + 1, &mut y);
            inverse_round::<0, N>(keys, 4 * four, &mut y);
        }
        *x = y;
    }
}

/// One round of all blocks. Word `P` is word 0 of the round, and the next ones words 1 to 3: rounds rename the words instead of moving
/// them.
#[inline(always)]
fn round<const P: usize, const N: usize>(keys: &impl RoundKeySource, number: usize, x: &mut [BlockWords; N]) {
    let (a, b, c, d) = (P % 4, (P + 1) % 4, (P + 2) % 4, (P + 3) % 4);
    let first = ROUND_WORDS * number;
    for slot in 0..N {
        let x = &mut x[slot];
        let key = |index| keys.word(first + index, slot);
        x[d] = (x[c] ^ key(4)).wrapping_add(x[d] ^ key(5)).rotate_right(3);
        x[c] = (x[b] ^ key(2)).wrapping_add(x[c] ^ key(3)).rotate_right(5);
        x[b] = (x[a] ^ key(0)).wrapping_add(x[b] ^ key(1)).rotate_left(9);
    }
}

#[inline(always)]
fn inverse_round<const P: usize, const N: usize>(keys: &impl RoundKeySource, number: usize, x: &mut [BlockWords; N]) {
    let (a, b, c, d) = (P % 4, (P + 1) % 4, (P + 2) % 4, (P + 3) % 4);
    let first = ROUND_WORDS * number;
    for slot in 0..N {
        let x = &mut x[slot];
        let key = |index| keys.word(first + index, slot);
        x[b] = x[b].rotate_right(9).wrapping_sub(x[a] ^ key(0)) ^ key(1);
        x[c] = x[c].rotate_left(5).wrapping_sub(x[b] ^ key(2)) ^ key(3);
        x[d] = x[d].rotate_left(3).wrapping_sub(x[c] ^ key(4)) ^ key(5);
    }
}
