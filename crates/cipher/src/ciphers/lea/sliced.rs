//! The rounds of LEA on vector registers. A round has three additions that do not wait for each other, so two vectors in flight keep the
//! units busy.

use super::keys::{ROUND_WORDS, RoundKeys};
use crate::ciphers::words::sliced::{RoundKeySource, SlicedKeys, WordRegister};
use crate::engine::Interleave;

/// One round. Register `P` holds word 0, and the next ones words 1 to 3: rounds rename the words instead of moving them.
///
/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn round<R: WordRegister, const P: usize, const G: usize, const K: usize>(
    keys: &impl RoundKeySource<R>,
    number: usize,
    x: &mut [[[R; 4]; G]; K],
) {
    let (a, b, c, d) = (P % 4, (P + 1) % 4, (P + 2) % 4, (P + 3) % 4);
    let first = ROUND_WORDS * number;
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        for g in 0..G {
            let key: [R; ROUND_WORDS] = [
                keys.word(first, g),
                keys.word(first + 1, g),
                keys.word(first + 2, g),
                keys.word(first + 3, g),
                keys.word(first + 4, g),
                keys.word(first + 5, g),
            ];
            for row in &mut *x {
                let x = &mut row[g];
                x[d] = x[c].xor(key[4]).add(x[d].xor(key[5])).rotate_by::<29, 3>();
                x[c] = x[b].xor(key[2]).add(x[c].xor(key[3])).rotate_by::<27, 5>();
                x[b] = x[a].xor(key[0]).add(x[b].xor(key[1])).rotate_by::<9, 23>();
            }
        }
    }
}

/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn inverse_round<R: WordRegister, const P: usize, const G: usize>(
    keys: &impl RoundKeySource<R>,
    number: usize,
    x: &mut [[R; 4]; G],
) {
    let (a, b, c, d) = (P % 4, (P + 1) % 4, (P + 2) % 4, (P + 3) % 4);
    let first = ROUND_WORDS * number;
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        for x in x {
            x[b] = x[b].rotate_by::<23, 9>().sub(x[a].xor(keys.word(first, 0))).xor(keys.word(first + 1, 0));
            x[c] = x[c].rotate_by::<5, 27>().sub(x[b].xor(keys.word(first + 2, 0))).xor(keys.word(first + 3, 0));
            x[d] = x[d].rotate_by::<3, 29>().sub(x[c].xor(keys.word(first + 4, 0))).xor(keys.word(first + 5, 0));
        }
    }
}

/// Number of times that four rounds run with the shortest key.
const LEAST_FOURS: usize = 6;

/// Number of times that four rounds run with the longest key.
const MOST_FOURS: usize = super::keys::MAX_ROUNDS / 4;

impl SlicedKeys for RoundKeys {
    const IN_FLIGHT: usize = 2;

    #[inline(always)]
    unsafe fn encrypt_rows<R: WordRegister, const G: usize, const K: usize>(
        keys: &impl RoundKeySource<R>,
        x: &mut [[[R; 4]; G]; K],
        between_rounds: &mut impl Interleave,
    ) {
        let mut y = *x;
        // SAFETY: the caller guarantees the instructions.
        unsafe {
            for four in 0..LEAST_FOURS {
                round::<R, 0, G, K>(keys, 4 * four, &mut y);
                round::<R, 1, G, K>(keys, 4 * four + 1, &mut y);
                // The work between the rounds has nine parts.
                if four < 5 {
                    between_rounds.run_part(2 * four + 1);
                }
                round::<R, 2, G, K>(keys, 4 * four + 2, &mut y);
                round::<R, 3, G, K>(keys, 4 * four + 3, &mut y);
                if four < 4 {
                    between_rounds.run_part(2 * four + 2);
                }
            }
            for four in LEAST_FOURS..(keys.rounds() / 4).min(MOST_FOURS) {
                round::<R, 0, G, K>(keys, 4 * four, &mut y);
                round::<R, 1, G, K>(keys, 4 * four + 1, &mut y);
                round::<R, 2, G, K>(keys, 4 * four + 2, &mut y);
                round::<R, 3, G, K>(keys, 4 * four + 3, &mut y);
            }
        }
        *x = y;
    }

    #[inline(always)]
    unsafe fn decrypt_row<R: WordRegister, const G: usize>(keys: &impl RoundKeySource<R>, x: &mut [[R; 4]; G]) {
        let mut y = *x;
        // SAFETY: the caller guarantees the instructions.
        unsafe {
            for four in (0..(keys.rounds() / 4).min(MOST_FOURS)).rev() {
                inverse_round::<R, 3, G>(keys, 4 * four + 3, &mut y);
                inverse_round::<R, 2, G>(keys, 4 * four + 2, &mut y);
                inverse_round::<R, 1, G>(keys, 4 * four + 1, &mut y);
                inverse_round::<R, 0, G>(keys, 4 * four, &mut y);
            }
        }
        *x = y;
    }
}
