//! The rounds of RC6 on vector registers. A multiplication has a long latency (10 cycles on x86), but several can overlap, so each round
//! runs for several vectors before the next round begins. Four are best. With AVX2, four fill all 16 registers, so that temporary
//! values go to memory, but two would wait for the multiplier.

use super::keys::{ROUNDS, RoundKeys, WORDS};
use crate::ciphers::words::sliced::{RoundKeySource, SlicedKeys, WordRegister};
use crate::engine::Interleave;

/// One round. Register `P` holds A, and the next ones B, C and D: rounds rename the words instead of moving them.
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
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        for g in 0..G {
            let key_a = keys.word(2 * number, g);
            let key_c = keys.word(2 * number + 1, g);
            for row in &mut *x {
                let x = &mut row[g];
                let (t, by_t) = x[b].quadratic();
                let (u, by_u) = x[d].quadratic();
                x[a] = x[a].xor(t).rotate_left(by_u).add(key_a);
                x[c] = x[c].xor(u).rotate_left(by_t).add(key_c);
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
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let key_a = keys.word(2 * number, 0);
        let key_c = keys.word(2 * number + 1, 0);
        for x in x {
            let (t, by_t) = x[b].quadratic();
            let (u, by_u) = x[d].quadratic();
            x[c] = x[c].sub(key_c).rotate_right(by_t).xor(u);
            x[a] = x[a].sub(key_a).rotate_right(by_u).xor(t);
        }
    }
}

impl SlicedKeys for RoundKeys {
    const IN_FLIGHT: usize = 4;

    #[inline(always)]
    unsafe fn encrypt_rows<R: WordRegister, const G: usize, const K: usize>(
        keys: &impl RoundKeySource<R>,
        x: &mut [[[R; 4]; G]; K],
        between_rounds: &mut impl Interleave,
    ) {
        let mut y = *x;
        // SAFETY: the caller guarantees the instructions.
        unsafe {
            for g in 0..G {
                let (key_b, key_d) = (keys.word(0, g), keys.word(1, g));
                for row in &mut y {
                    row[g][1] = row[g][1].add(key_b);
                    row[g][3] = row[g][3].add(key_d);
                }
            }
            for four in 0..ROUNDS / 4 {
                round::<R, 0, G, K>(keys, 4 * four + 1, &mut y);
                round::<R, 1, G, K>(keys, 4 * four + 2, &mut y);
                // The work between the rounds has nine parts; RC6 has 20 rounds.
                between_rounds.run_part(2 * four + 1);
                round::<R, 2, G, K>(keys, 4 * four + 3, &mut y);
                round::<R, 3, G, K>(keys, 4 * four + 4, &mut y);
                if four + 1 < ROUNDS / 4 {
                    between_rounds.run_part(2 * four + 2);
                }
            }
            for g in 0..G {
                let (key_a, key_c) = (keys.word(WORDS - 2, g), keys.word(WORDS - 1, g));
                for row in &mut y {
                    row[g][0] = row[g][0].add(key_a);
                    row[g][2] = row[g][2].add(key_c);
                }
            }
        }
        *x = y;
    }

    #[inline(always)]
    unsafe fn decrypt_row<R: WordRegister, const G: usize>(keys: &impl RoundKeySource<R>, x: &mut [[R; 4]; G]) {
        let mut y = *x;
        // SAFETY: the caller guarantees the instructions.
        unsafe {
            let (key_a, key_c) = (keys.word(WORDS - 2, 0), keys.word(WORDS - 1, 0));
            for x in &mut y {
                x[0] = x[0].sub(key_a);
                x[2] = x[2].sub(key_c);
            }
            for four in (0..ROUNDS / 4).rev() {
                inverse_round::<R, 3, G>(keys, 4 * four + 4, &mut y);
                inverse_round::<R, 2, G>(keys, 4 * four + 3, &mut y);
                inverse_round::<R, 1, G>(keys, 4 * four + 2, &mut y);
                inverse_round::<R, 0, G>(keys, 4 * four + 1, &mut y);
            }
            let (key_b, key_d) = (keys.word(0, 0), keys.word(1, 0));
            for x in &mut y {
                x[1] = x[1].sub(key_b);
                x[3] = x[3].sub(key_d);
            }
        }
        *x = y;
    }
}
