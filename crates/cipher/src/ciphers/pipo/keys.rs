//! Round keys of all backends except `reference`.
//!
//! The round keys are the key's 64-bit words, cyclically, each with the number of its round XORed into row 0. So rows 1 to 7 repeat
//! after two or four rounds. A round adds its key between the S-layer and the R-layer, because some of these additions merge with
//! those of the S-layer. So the rows of a round key are stored rotated back. Decryption uses them in this form too.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::layers::{MAX_ROUNDS, ROTATIONS, RoundKeySource, StateRow};

/// Largest number of 64-bit words in a key.
pub(super) const MAX_WORDS: usize = 4;

/// The round keys of one key, for one block (a row is a byte) and for many side by side.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct RoundKeys {
    pub(super) one: KeySchedule<u8>,
    pub(super) many: KeySchedule<u64>,
}

/// The rows of all round keys. A backend repeats `W` to fill a row of its state.
#[derive(Clone, Zeroize)]
pub(super) struct KeySchedule<W: Zeroize> {
    pub(super) rounds: usize,
    /// Index of the key's last 64-bit word: 1 or 3. Rows 1 to 7 repeat after `last_word + 1` rounds.
    pub(super) last_word: usize,
    /// Round key 0.
    pub(super) whitening: [W; 8],
    /// Row 0 of all round keys.
    row0: [W; MAX_ROUNDS + 1],
    /// The key's words, with their rows rotated back.
    pub(super) words: [[W; 8]; MAX_WORDS],
}

/// Computes the round keys. `key` must have 16 or 32 bytes. `spread` converts a row of a round key to a row of a state with the same
/// value for all blocks.
pub(super) fn expand_key(key: &[u8], spread: fn(u8) -> u64) -> RoundKeys {
    RoundKeys { one: schedule(key, |row| row), many: schedule(key, spread) }
}

fn schedule<W: Copy + Default + Zeroize>(key: &[u8], spread: fn(u8) -> W) -> KeySchedule<W> {
    let zero = W::default();
    let mut schedule = KeySchedule {
        rounds: if key.len() == 16 { 13 } else { 17 },
        last_word: key.len() / 8 - 1,
        whitening: [zero; 8],
        row0: [zero; MAX_ROUNDS + 1],
        words: [[zero; 8]; MAX_WORDS],
    };
    for row in 0..8 {
        schedule.whitening[row] = spread(key[row]);
        for (word, bytes) in schedule.words.iter_mut().zip(key.chunks_exact(8)) {
            word[row] = spread(bytes[row].rotate_right(ROTATIONS[row]));
        }
    }
    for round in 0..=schedule.rounds {
        // Row 0 is not rotated.
        schedule.row0[round] = spread(key[8 * (round & schedule.last_word)] ^ round as u8);
    }
    schedule
}

impl<R: StateRow> RoundKeySource<R> for KeySchedule<R::Word> {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }

    #[inline(always)]
    unsafe fn whitening(&self) -> [R; 8] {
        // SAFETY: the caller guarantees the instructions.
        unsafe { splat(&self.whitening) }
    }

    #[inline(always)]
    unsafe fn round_key(&self, round: usize) -> [R; 8] {
        // SAFETY: the caller guarantees the instructions.
        unsafe {
            let mut rows = splat::<R>(&self.words[round & self.last_word & (MAX_WORDS - 1)]);
            rows[0] = R::splat(self.row0[round]);
            rows
        }
    }
}

/// # Safety
/// The machine must have the instructions of `R`.
#[inline(always)]
unsafe fn splat<R: StateRow>(words: &[R::Word; 8]) -> [R; 8] {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let mut rows = [R::splat(words[0]); 8];
        for row in 1..8 {
            rows[row] = R::splat(words[row]);
        }
        rows
    }
}
