//! Eight numbers side by side: digits of 52 bits, one number in each slot of a 512-bit register.

use core::arch::x86_64::{__m512i, _mm512_load_si512, _mm512_store_si512};

use zeroize::DefaultIsZeroes;

/// Numbers side by side.
pub(crate) const LANES: usize = 8;
/// Bits of a digit: what `vpmadd52luq` and `vpmadd52huq` multiply.
pub(crate) const DIGIT_BITS: usize = 52;
/// All bits of a digit.
pub(crate) const DIGIT_MASK: u64 = (1 << DIGIT_BITS) - 1;
/// Digits of a block. Numbers are padded to whole blocks: twice as many columns and one factor fit in the registers.
pub(crate) const BLOCK: usize = 10;
/// Bits of a block.
pub(crate) const BLOCK_BITS: usize = BLOCK * DIGIT_BITS;

/// One digit of each of eight numbers. Sums that have not been carried yet use all 64 bits, with a sign.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Digit(pub(crate) [u64; LANES]);

impl DefaultIsZeroes for Digit {}

impl Digit {
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn load(&self) -> __m512i {
        // SAFETY: 64 bytes, aligned to 64.
        unsafe { _mm512_load_si512(self.0.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn store(&mut self, digits: __m512i) {
        // SAFETY: 64 bytes, aligned to 64.
        unsafe { _mm512_store_si512(self.0.as_mut_ptr().cast(), digits) }
    }
}

/// The block of this number.
#[inline(always)]
pub(super) fn block(digits: &[Digit], index: usize) -> &[Digit; BLOCK] {
    digits[BLOCK * index..].first_chunk().expect("a whole block")
}

/// The two blocks from this one on.
#[inline(always)]
pub(super) fn two_blocks(digits: &mut [Digit], index: usize) -> &mut [Digit; 2 * BLOCK] {
    digits[BLOCK * index..].first_chunk_mut().expect("two whole blocks")
}

/// Puts a number into a lane; it has to fit. Not for the compiler to make gathers of.
#[inline(never)]
pub(super) fn enter(limbs: &[u64], digits: &mut [Digit], lane: usize) {
    for (i, digit) in digits.iter_mut().enumerate() {
        let (limb, shift) = (i * DIGIT_BITS / 64, i * DIGIT_BITS % 64);
        let low = limbs.get(limb).map_or(0, |limb| limb >> shift);
        // Shifted in two steps, as the shift is 64 where a limb ends at its digit's end.
        let high = limbs.get(limb + 1).map_or(0, |limb| limb << 1 << (63 - shift));
        digit.0[lane] = (low | high) & DIGIT_MASK;
    }
}

/// Takes a number out of a lane; returns what is above the limbs.
#[inline(never)]
pub(super) fn leave(digits: &[Digit], lane: usize, limbs: &mut [u64]) -> u64 {
    let (mut pending, mut bits, mut next) = (0u128, 0, digits.iter());
    let mut draw = |bits_wanted: usize| {
        while bits < bits_wanted {
            pending |= u128::from(next.next().map_or(0, |digit| digit.0[lane])) << bits;
            bits += DIGIT_BITS;
        }
        bits -= bits_wanted;
        let drawn = pending as u64;
        pending >>= bits_wanted;
        drawn
    };
    for limb in limbs.iter_mut() {
        *limb = draw(64);
    }
    draw(1) & 1
}
