//! Round keys for AES-NI and VAES.

use core::arch::x86_64::*;

use super::registers::Register;
use super::*;
use crate::ciphers::rijndael::expand::{self, SubWord};

/// Round keys as blocks. The ones for decryption belong to the equivalent inverse cipher (FIPS 197 section 5.3.5) and
/// stand in the order of their use.
// In this order, so that a lane that takes a key touches as few cache lines as can be.
#[repr(C)]
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Keys {
    pub(super) rounds: usize,
    encryption: [Block; MAX_ROUNDS + 1],
    decryption: [Block; MAX_ROUNDS + 1],
}

impl Keys {
    /// The keys of all rounds.
    #[inline(always)]
    pub(super) fn encryption_keys(&self) -> &[Block] {
        &self.encryption[..=self.rounds]
    }

    #[inline(always)]
    pub(super) fn encryption(&self, round: usize) -> __m128i {
        // SAFETY: SSE2 is part of x86-64; a block has 16 bytes.
        unsafe { _mm_loadu_si128(self.encryption[round].as_ptr().cast()) }
    }

    #[inline(always)]
    pub(super) fn decryption(&self, round: usize) -> __m128i {
        // SAFETY: SSE2 is part of x86-64; a block has 16 bytes.
        unsafe { _mm_loadu_si128(self.decryption[round].as_ptr().cast()) }
    }
}

impl<R: Register> RoundKeys<R> for Keys {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }

    #[inline(always)]
    unsafe fn round_key(&self, round: usize, _: usize) -> R {
        // SAFETY: the caller vouches for the instructions.
        unsafe { R::splat(self.encryption(round)) }
    }
}

impl<R: Register> InverseRoundKeys<R> for Keys {
    #[inline(always)]
    unsafe fn inverse_round_key(&self, round: usize) -> R {
        // SAFETY: the caller vouches for the instructions.
        unsafe { R::splat(self.decryption(round)) }
    }
}

/// AESKEYGENASSIST, which puts SubWord of the second word into the first.
pub(super) struct KeyGenAssist(());

impl KeyGenAssist {
    /// # Safety
    /// The machine needs AES-NI and SSE4.1.
    #[inline(always)]
    pub(super) unsafe fn new() -> Self {
        KeyGenAssist(())
    }
}

impl SubWord for KeyGenAssist {
    #[inline(always)]
    fn sub_word(&self, word: u32) -> u32 {
        // SAFETY: whoever made the value vouched for the instructions.
        unsafe { _mm_extract_epi32::<0>(_mm_aeskeygenassist_si128::<0>(_mm_set1_epi32(word as i32))) as u32 }
    }
}

/// The keys for blocks of 128 bits. `key` has a length that Rijndael has.
#[target_feature(enable = "aes,sse4.1")]
pub(super) fn expand_key(key: &[u8]) -> Keys {
    let mut keys = Keys { encryption: [[0; 16]; MAX_ROUNDS + 1], decryption: [[0; 16]; MAX_ROUNDS + 1], rounds: 0 };
    // SAFETY: this function has the instructions.
    let s_box = unsafe { KeyGenAssist::new() };
    let words = keys.encryption.as_flattened_mut().as_chunks_mut::<4>().0;
    let rounds = expand::expand_key(&s_box, 4, key, words);
    keys.rounds = rounds;
    keys.decryption[0] = keys.encryption[rounds];
    keys.decryption[rounds] = keys.encryption[0];
    for round in 1..rounds {
        let round_key = _mm_aesimc_si128(keys.encryption(rounds - round));
        // SAFETY: a block has 16 bytes.
        unsafe { _mm_storeu_si128(keys.decryption[round].as_mut_ptr().cast(), round_key) };
    }
    keys
}
