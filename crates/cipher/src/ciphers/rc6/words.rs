//! RC6 in 32-bit words, for several blocks side by side.

use super::keys::{self, ROUNDS, RoundKeys, WORDS};
use crate::ciphers::words::{BlockWords, RoundKeySource, WordKeys};

impl WordKeys for RoundKeys {
    const ZERO: Self = RoundKeys([0; WORDS]);

    fn expand_key(key: &[u8]) -> Self {
        keys::expand_key(key)
    }

    #[inline(always)]
    fn rounds(&self) -> usize {
        ROUNDS
    }

    #[inline(always)]
    fn word(&self, index: usize) -> u32 {
        self.0[index]
    }

    #[inline(always)]
    fn encrypt<const N: usize>(keys: &impl RoundKeySource, x: &mut [BlockWords; N]) {
        encrypt(keys, x);
    }

    #[inline(always)]
    fn decrypt<const N: usize>(keys: &impl RoundKeySource, x: &mut [BlockWords; N]) {
        decrypt(keys, x);
    }
}

/// x (2x + 1), rotated left by lg 32 = 5.
#[inline(always)]
fn quadratic(x: u32) -> u32 {
    x.wrapping_mul(x.wrapping_add(x) | 1).rotate_left(5)
}

/// One round of all blocks. Word `P` is A, and the next ones B, C and D: rounds rename the words instead of moving them.
#[inline(always)]
fn round<const P: usize, const N: usize>(keys: &impl RoundKeySource, number: usize, x: &mut [BlockWords; N]) {
    let (a, b, c, d) = (P % 4, (P + 1) % 4, (P + 2) % 4, (P + 3) % 4);
    for slot in 0..N {
        let x = &mut x[slot];
        let t = quadratic(x[b]);
        let u = quadratic(x[d]);
        x[a] = (x[a] ^ t).rotate_left(u & 31).wrapping_add(keys.word(2 * number, slot));
        x[c] = (x[c] ^ u).rotate_left(t & 31).wrapping_add(keys.word(2 * number + 1, slot));
    }
}

#[inline(always)]
fn inverse_round<const P: usize, const N: usize>(keys: &impl RoundKeySource, number: usize, x: &mut [BlockWords; N]) {
    let (a, b, c, d) = (P % 4, (P + 1) % 4, (P + 2) % 4, (P + 3) % 4);
    for slot in 0..N {
        let x = &mut x[slot];
        let t = quadratic(x[b]);
        let u = quadratic(x[d]);
        x[c] = x[c].wrapping_sub(keys.word(2 * number + 1, slot)).rotate_right(t & 31) ^ u;
        x[a] = x[a].wrapping_sub(keys.word(2 * number, slot)).rotate_right(u & 31) ^ t;
    }
}

/// Encrypts `N` blocks side by side.
#[inline(always)]
fn encrypt<const N: usize>(keys: &impl RoundKeySource, x: &mut [BlockWords; N]) {
    let mut y = *x;
    for slot in 0..N {
        y[slot][1] = y[slot][1].wrapping_add(keys.word(0, slot));
        y[slot][3] = y[slot][3].wrapping_add(keys.word(1, slot));
    }
    for four in 0..ROUNDS / 4 {
        round::<0, N>(keys, 4 * four + 1, &mut y);
        round::<1, N>(keys, 4 * four + 2, &mut y);
        round::<2, N>(keys, 4 * four + 3, &mut y);
        round::<3, N>(keys, 4 * four + 4, &mut y);
    }
    for slot in 0..N {
        y[slot][0] = y[slot][0].wrapping_add(keys.word(WORDS - 2, slot));
        y[slot][2] = y[slot][2].wrapping_add(keys.word(WORDS - 1, slot));
    }
    *x = y;
}

/// Decrypts `N` blocks side by side.
#[inline(always)]
fn decrypt<const N: usize>(keys: &impl RoundKeySource, x: &mut [BlockWords; N]) {
    let mut y = *x;
    for slot in 0..N {
        y[slot][0] = y[slot][0].wrapping_sub(keys.word(WORDS - 2, slot));
        y[slot][2] = y[slot][2].wrapping_sub(keys.word(WORDS - 1, slot));
    }
    for four in (0..ROUNDS / 4).rev() {
        inverse_round::<3, N>(keys, 4 * four + 4, &mut y);
        inverse_round::<2, N>(keys, 4 * four + 3, &mut y);
        inverse_round::<1, N>(keys, 4 * four + 2, &mut y);
        inverse_round::<0, N>(keys, 4 * four + 1, &mut y);
    }
    for slot in 0..N {
        y[slot][1] = y[slot][1].wrapping_sub(keys.word(0, slot));
        y[slot][3] = y[slot][3].wrapping_sub(keys.word(1, slot));
    }
    *x = y;
}
