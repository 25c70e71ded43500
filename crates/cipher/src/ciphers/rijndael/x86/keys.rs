//! Round keys for AES-NI and VAES.

use core::arch::x86_64::*;

use super::registers::BlockRegister;
use super::*;
use crate::ciphers::rijndael::expand::SubWord;
use crate::ciphers::rijndael::shape::rounds;

impl RoundKeys<Block> {
    /// The round key as a register.
    #[inline(always)]
    pub(super) fn register(&self, round: usize) -> __m128i {
        load(&self.round_keys[round])
    }
}

impl<R: BlockRegister> RoundKeySource<R> for RoundKeys<Block> {
    #[inline(always)]
    fn rounds(&self) -> usize {
        RoundKeys::rounds(self)
    }

    #[inline(always)]
    unsafe fn round_key(&self, round: usize, _: usize) -> R {
        // SAFETY: the caller guarantees the instructions.
        unsafe { R::splat(self.register(round)) }
    }
}

/// The round keys of the equivalent inverse cipher (FIPS 197 section 5.3.5). `BYTES` is a multiple of 16.
///
/// # Safety
/// The machine must have AES-NI.
#[inline(always)]
pub(super) unsafe fn inverse_keys<'k, const BYTES: usize>(
    keys: &RoundKeys<[u8; BYTES]>,
    buffer: &'k mut KeyBuffer<RoundKeys<[u8; BYTES]>>,
) -> &'k RoundKeys<[u8; BYTES]> {
    let rounds = keys.rounds();
    let inverse = buffer.keys.insert(RoundKeys::new(rounds, RoundKeys::ZERO));
    inverse.round_keys[0] = keys.round_keys[rounds];
    inverse.round_keys[rounds] = keys.round_keys[0];
    for round in 1..rounds {
        let blocks = inverse.round_keys[round].as_chunks_mut::<16>().0;
        for (inverse, block) in blocks.iter_mut().zip(keys.round_keys[rounds - round].as_chunks::<16>().0) {
            // SAFETY: the caller guarantees the instructions.
            unsafe { store(_mm_aesimc_si128(load(block)), inverse) };
        }
    }
    inverse
}

/// SubWord by AESKEYGENASSIST, whose first word is SubWord of the second.
pub(super) struct KeyGenAssist(());

impl KeyGenAssist {
    /// # Safety
    /// The machine must have AES-NI and SSE4.1.
    #[inline(always)]
    pub(super) unsafe fn new() -> Self {
        KeyGenAssist(())
    }
}

impl SubWord for KeyGenAssist {
    #[inline(always)]
    fn sub_word(&self, word: u32) -> u32 {
        // SAFETY: the caller of `new` guarantees the instructions.
        unsafe { _mm_extract_epi32::<0>(_mm_aeskeygenassist_si128::<0>(_mm_set1_epi32(word as i32))) as u32 }
    }
}

#[inline(always)]
fn load(block: &Block) -> __m128i {
    // SAFETY: SSE2 is part of x86-64; a block has 16 bytes, and the load needs no alignment.
    unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
}

#[inline(always)]
fn store(block: __m128i, bytes: &mut [u8]) {
    // SAFETY: SSE2 is part of x86-64; the slice has 16 bytes, and the store needs no alignment.
    unsafe { _mm_storeu_si128(bytes[..16].as_mut_ptr().cast(), block) }
}

/// XORs into each word all words before it.
#[inline(always)]
fn sums(words: __m128i) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        let pairs = _mm_xor_si128(words, _mm_slli_si128::<4>(words));
        _mm_xor_si128(pairs, _mm_slli_si128::<8>(pairs))
    }
}

/// KEYEXPANSION() (FIPS 197 section 5.2, algorithm 2) for blocks of 128 bits. It computes `NK` words at a time, as many as the key has:
/// the first four in one register, the others in a second.
///
/// # Safety
/// The machine must have AES-NI and SSSE3.
#[inline(always)]
unsafe fn expand<const NK: usize>(key: &[u8]) -> RoundKeys<Block> {
    let rounds = rounds(4, NK);
    let mut round_keys = RoundKeys::ZERO;
    let end = 4 * (rounds + 1);
    round_keys.as_flattened_mut()[..4 * NK].copy_from_slice(&key[..4 * NK]);
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let [mut low, mut high] = [load(&round_keys[0]), load(&round_keys[1])];
        let bytes = round_keys.as_flattened_mut();
        // The shuffle puts RotWord of the last word into every word. AESENCLAST of four equal words is SubWord, and adds its key.
        let rotated = _mm_set1_epi32(0x0003_0201 + 0x0404_0404 * ((NK as i32 - 1) % 4));
        let mut rcon = 1;
        let mut word = NK;
        while word < end {
            let last = _mm_shuffle_epi8(if NK > 4 { high } else { low }, rotated);
            low = _mm_xor_si128(sums(low), _mm_aesenclast_si128(last, _mm_set1_epi32(rcon)));
            store(low, &mut bytes[4 * word..]);
            if NK > 4 && word + 4 < end {
                let mut last = _mm_shuffle_epi32::<0xff>(low);
                if NK > 6 {
                    last = _mm_aesenclast_si128(last, _mm_setzero_si128());
                }
                high = _mm_xor_si128(sums(high), last);
                // Words behind those of the key are overwritten later or not used.
                store(high, &mut bytes[4 * word + 16..]);
            }
            rcon = (rcon << 1) ^ ((rcon >> 7) * 0x11b);
            word += NK;
        }
    }
    RoundKeys::new(rounds, round_keys)
}

/// Computes the round keys for blocks of 128 bits. `key` must have 16, 20, 24, 28 or 32 bytes.
#[target_feature(enable = "aes,ssse3,sse4.1")]
pub(super) fn expand_key(key: &[u8]) -> RoundKeys<Block> {
    // SAFETY: this function enables the instructions.
    unsafe {
        match key.len() {
            16 => expand::<4>(key),
            20 => expand::<5>(key),
            24 => expand::<6>(key),
            28 => expand::<7>(key),
            _ => expand::<8>(key),
        }
    }
}
