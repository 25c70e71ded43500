//! Round keys for AES-NI and VAES.

use core::arch::x86_64::*;

use super::*;

/// Round keys as blocks. The ones for decryption belong to the equivalent inverse cipher (FIPS 197 section 5.3.5) and
/// stand in the order of their use.
// In this order, so that a lane that takes a key touches as few cache lines as can be.
#[repr(C)]
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Keys {
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

/// KEYEXPANSION() (FIPS 197 section 5.2). `key` has 16, 24 or 32 bytes. Any engine of this folder is proof of AES-NI.
pub(crate) fn expand_key(_: impl Engine<Keys = Keys>, key: &[u8]) -> Keys {
    // SAFETY: every engine with these keys has a token that includes AES-NI.
    unsafe { expand(key) }
}

/// SubWord on a word, in all bytes in parallel.
///
/// AESKEYGENASSIST puts SubWord of the second word into the first.
#[target_feature(enable = "aes,sse4.1")]
fn sub_word(word: u32) -> u32 {
    _mm_extract_epi32::<0>(_mm_aeskeygenassist_si128::<0>(_mm_set1_epi32(word as i32))) as u32
}

#[target_feature(enable = "aes,sse4.1")]
fn expand(key: &[u8]) -> Keys {
    let nk = key.len() / 4;
    let rounds = nk + 6;
    let mut keys = Keys { encryption: [[0; 16]; MAX_ROUNDS + 1], decryption: [[0; 16]; MAX_ROUNDS + 1], rounds };
    let words = keys.encryption.as_flattened_mut().as_chunks_mut::<4>().0;
    words.as_flattened_mut()[..key.len()].copy_from_slice(key);
    let mut rcon = 1;
    for i in nk..4 * (rounds + 1) {
        let mut temp = u32::from_le_bytes(words[i - 1]);
        if i % nk == 0 {
            temp = sub_word(temp).rotate_right(8) ^ rcon;
            rcon = if rcon == 0x80 { 0x1b } else { rcon << 1 };
        } else if nk > 6 && i % nk == 4 {
            temp = sub_word(temp);
        }
        words[i] = (u32::from_le_bytes(words[i - nk]) ^ temp).to_le_bytes();
    }
    keys.decryption[0] = keys.encryption[rounds];
    keys.decryption[rounds] = keys.encryption[0];
    for round in 1..rounds {
        let round_key = _mm_aesimc_si128(keys.encryption(rounds - round));
        // SAFETY: a block has 16 bytes.
        unsafe { _mm_storeu_si128(keys.decryption[round].as_mut_ptr().cast(), round_key) };
    }
    keys
}
