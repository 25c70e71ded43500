//! Eight numbers in lanes: digits of 52 bits, one number in each slot of a 512-bit register.

use core::arch::x86_64::{
    __m512i, _mm_cvtsi64_si128, _mm512_and_si512, _mm512_load_si512, _mm512_or_si512, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_sll_epi64, _mm512_srl_epi64, _mm512_store_si512,
};

use zeroize::DefaultIsZeroes;

/// Number of numbers in a register.
pub(crate) const LANES: usize = 8;
/// Length of a digit in bits: the factors of `vpmadd52luq` and `vpmadd52huq`.
pub(crate) const DIGIT_BITS: usize = 52;
/// Mask of all bits of a digit.
pub(crate) const DIGIT_MASK: u64 = (1 << DIGIT_BITS) - 1;
/// Number of digits in a block. Numbers are padded to whole blocks. The registers hold one factor and twice as many columns.
pub(crate) const BLOCK: usize = 10;
/// Length of a block in bits.
pub(crate) const BLOCK_BITS: usize = BLOCK * DIGIT_BITS;

/// One digit of each of eight numbers. Sums whose carries were not propagated yet are signed and use all 64 bits.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Digit(pub(crate) [u64; LANES]);

impl DefaultIsZeroes for Digit {}

impl Digit {
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn load(&self) -> __m512i {
        // SAFETY: `self` has 64 bytes and is aligned to 64 (`repr(align(64))`); AVX-512 F is enabled by `target_feature`.
        unsafe { _mm512_load_si512(self.0.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn store(&mut self, digits: __m512i) {
        // SAFETY: `self` has 64 bytes and is aligned to 64 (`repr(align(64))`); AVX-512 F is enabled by `target_feature`.
        unsafe { _mm512_store_si512(self.0.as_mut_ptr().cast(), digits) }
    }
}

/// Number of limbs for numbers of `digits` digits, and one more.
const fn staged_limbs(digits: usize) -> usize {
    (digits - 1) * DIGIT_BITS / 64 + 2
}

/// Puts a number into each lane. The numbers must fit. `staging` is at least as long as `digits`.
#[target_feature(enable = "avx512f")]
pub(super) fn enter(numbers: [&[u64]; LANES], staging: &mut [Digit], digits: &mut [Digit]) {
    assert!(!digits.is_empty(), "numbers have digits");
    let limbs = &mut staging[..staged_limbs(digits.len())];
    arrange_in_lanes(numbers, limbs);
    let mask = _mm512_set1_epi64(DIGIT_MASK as i64);
    for (i, digit) in digits.iter_mut().enumerate() {
        let (limb, shift) = (i * DIGIT_BITS / 64, i * DIGIT_BITS % 64);
        let low = shift_right(limbs[limb].load(), shift);
        let high = shift_left(limbs[limb + 1].load(), 64 - shift);
        digit.store(_mm512_and_si512(_mm512_or_si512(low, high), mask));
    }
}

/// Converts numbers to limbs, as many as `limbs` has. Only the low 52 bits of the digits are used.
#[target_feature(enable = "avx512f")]
pub(super) fn leave(digits: &[Digit], limbs: &mut [Digit]) {
    let mask = _mm512_set1_epi64(DIGIT_MASK as i64);
    for (i, limb) in limbs.iter_mut().enumerate() {
        let (digit, shift) = (64 * i / DIGIT_BITS, 64 * i % DIGIT_BITS);
        let mut sum = _mm512_setzero_si512();
        if let Some(digit) = digits.get(digit) {
            sum = shift_right(_mm512_and_si512(digit.load(), mask), shift);
        }
        for (above, digit) in (1..).zip(digits.iter().skip(digit + 1).take(2)) {
            let digit = _mm512_and_si512(digit.load(), mask);
            sum = _mm512_or_si512(sum, shift_left(digit, above * DIGIT_BITS - shift));
        }
        limb.store(sum);
    }
}

/// The result is 0 if `bits` is 64 or more.
#[target_feature(enable = "avx512f")]
#[inline]
fn shift_left(digits: __m512i, bits: usize) -> __m512i {
    _mm512_sll_epi64(digits, _mm_cvtsi64_si128(bits as i64))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn shift_right(digits: __m512i, bits: usize) -> __m512i {
    _mm512_srl_epi64(digits, _mm_cvtsi64_si128(bits as i64))
}

/// Arranges the limbs of eight numbers in lanes, padded with zeros. Without AVX-512, so that the compiler does not use scatter
/// instructions.
#[inline(never)]
fn arrange_in_lanes(numbers: [&[u64]; LANES], limbs: &mut [Digit]) {
    limbs.fill(Digit::default());
    for (lane, number) in numbers.iter().enumerate() {
        for (digit, limb) in limbs.iter_mut().zip(*number) {
            digit.0[lane] = *limb;
        }
    }
}
