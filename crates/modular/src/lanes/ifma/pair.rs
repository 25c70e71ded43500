//! Montgomery's multiplication of two numbers side by side, for one power or a few. A register holds four digits of 52 bits of both
//! numbers: the lowest of the first number, of the second, then the next of the first, and so on. So the two powers of an RSA signature
//! share all instructions.
//!
//! R is that of [`PreparedModulus`](super::PreparedModulus): factors below 2 N give a product below 2 N. Constant time: all values take the
//! same instructions.

use core::arch::x86_64::{
    __m512i, _mm_cvtsi64_si128, _mm_set_epi64x, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_and_si512,
    _mm512_broadcast_i32x4, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_mov_epi64,
    _mm512_maskz_mov_epi64, _mm512_maskz_srli_epi64, _mm512_or_si512, _mm512_set_epi64, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_shuffle_i64x2, _mm512_sllv_epi64, _mm512_srl_epi64, _mm512_srli_epi64,
    _mm512_srlv_epi64, _mm512_xor_si512,
};
use core::hint::black_box;
use core::mem::take;
use core::ops::RangeInclusive;

use super::digits::{BLOCK, DIGIT_BITS, DIGIT_MASK, Digit};
use crate::{Modulus, add};

/// Number of digits of one number in a register.
const FOUR: usize = 4;
/// Numbers of blocks of ten digits that moduli may have.
pub(crate) const BLOCKS: RangeInclusive<usize> = 2..=4;

/// Number of registers of two numbers, in memory a multiple of five.
pub(super) const fn length(blocks: usize) -> usize {
    (BLOCK * blocks).div_ceil(FOUR).next_multiple_of(5)
}

/// Length of the longest numbers, in limbs, that [`PairRing::enter`] accepts: below R. A modulus may have one limb more.
pub(crate) const fn pair_limbs(blocks: usize) -> usize {
    BLOCK * DIGIT_BITS * blocks / 64
}

/// Two moduli with the same number of limbs and blocks.
pub(super) struct PairRing<'a> {
    moduli: [&'a Modulus; 2],
    n: &'a mut [Digit],
    /// N without its lowest digit, divided by 2^52.
    above: &'a mut [Digit],
    /// R² modulo N
    form: &'a mut [Digit],
    /// −1 / N modulo 2^52, in the lanes of the lowest digits.
    inverse: &'a mut Digit,
    /// Multiples of a factor.
    scratch: &'a mut [Digit],
    blocks: usize,
}

impl<'a> PairRing<'a> {
    /// Number of digits that [`new`](Self::new) needs.
    pub(super) const fn digits(blocks: usize) -> usize {
        (3 + MULTIPLES) * length(blocks) + 1
    }

    /// # Panics
    /// If the moduli do not have the same number of limbs and blocks, or not as many as [`BLOCKS`].
    pub(super) fn new(moduli: [&'a Modulus; 2], memory: &'a mut [Digit]) -> Self {
        let prepared = moduli.map(|modulus| modulus.in_lanes().expect("a modulus for lanes"));
        let blocks = prepared[0].blocks;
        assert!(moduli[0].limbs() == moduli[1].limbs() && blocks == prepared[1].blocks && BLOCKS.contains(&blocks));
        let (n, memory) = memory.split_at_mut(length(blocks));
        let (above, memory) = memory.split_at_mut(length(blocks));
        let (form, memory) = memory.split_at_mut(length(blocks));
        let (inverse, scratch) = memory.split_first_mut().expect("a digit");
        place([0, 1].map(|i| prepared[i].digits(moduli[i].as_limbs())), n);
        place([0, 1].map(|i| prepared[i].digits(moduli[i].as_limbs()).skip(1)), above);
        place(prepared.map(|prepared| prepared.digits(&prepared.form)), form);
        *inverse = Digit::default();
        for (i, modulus) in moduli.iter().enumerate() {
            inverse.0[i] = modulus.negative_inverse() & DIGIT_MASK;
        }
        PairRing { moduli, n, above, form, inverse, scratch, blocks }
    }

    /// Converts two numbers of up to [`pair_limbs`] limbs to Montgomery form.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn enter(&mut self, numbers: [&[u64]; 2], digits: &mut [Digit]) {
        let prepared = self.moduli.map(|modulus| modulus.in_lanes().expect("a modulus for lanes"));
        place([0, 1].map(|i| prepared[i].digits(numbers[i])), digits);
        let form = take(&mut self.form);
        self.multiply(digits, form);
        self.form = form;
    }

    /// The number 1 in Montgomery form.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn one(&mut self, digits: &mut [Digit]) {
        digits.copy_from_slice(self.form);
        self.divide(digits);
    }

    /// `a = a / R` modulo N.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn divide(&mut self, a: &mut [Digit]) {
        let mut one = [Digit::default(); length(*BLOCKS.end())];
        place([[1], [1]], &mut one);
        self.multiply(a, &one[..a.len()]);
    }

    /// `a = a² / R` modulo N.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&mut self, a: &mut [Digit]) {
        match self.blocks {
            2 => product::<5, true>(a, None, self),
            3 => product::<8, true>(a, None, self),
            _ => product::<10, true>(a, None, self),
        }
    }

    /// `a = a · b / R` modulo N.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn multiply(&mut self, a: &mut [Digit], b: &[Digit]) {
        match self.blocks {
            2 => product::<5, false>(a, Some(b), self),
            3 => product::<8, false>(a, Some(b), self),
            _ => product::<10, false>(a, Some(b), self),
        }
    }

    /// Reduces two numbers below 2 N to numbers below N. `results` gets the limbs of the first, then of the second.
    pub(super) fn leave(&self, digits: &[Digit], results: &mut [u64]) {
        let limbs = self.moduli[0].limbs();
        for (i, result) in results.chunks_exact_mut(limbs).enumerate() {
            let mut above = 0;
            result.fill(0);
            for k in 0..BLOCK * self.blocks {
                let digit = digits[k / FOUR].0[2 * (k % FOUR) + i];
                let (limb, shift) = (k * DIGIT_BITS / 64, k * DIGIT_BITS % 64);
                *result.get_mut(limb).unwrap_or(&mut above) |= digit << shift;
                // Two shifts, because the total is 64 bits if the digit begins at the beginning of a limb.
                *result.get_mut(limb + 1).unwrap_or(&mut above) |= digit >> 1 >> (63 - shift);
            }
            add::subtract_once(result, above & 1, self.moduli[i].as_limbs());
        }
    }
}

/// Puts the digits of two numbers side by side, with zeros above.
fn place(numbers: [impl IntoIterator<Item = u64>; 2], digits: &mut [Digit]) {
    digits.fill(Digit::default());
    for (i, number) in numbers.into_iter().enumerate() {
        for (k, digit) in number.into_iter().enumerate() {
            digits[k / FOUR].0[2 * (k % FOUR) + i] = digit;
        }
    }
}

/// Repeats a block for each of a number's registers. The compiler may leave a loop, which would need the registers in memory.
macro_rules! for_registers {
    ($count:expr, $k:ident => $block:block) => {
        for_registers!(@ $count, $k => $block; 0 1 2 3 4 5 6 7 8 9)
    };
    (@ $count:expr, $k:ident => $block:block; $($value:literal)*) => {
        $(if $value < $count {
            let $k = $value;
            $block
        })*
    };
}

/// Number of multiples of a factor: for a square, six numbers.
const MULTIPLES: usize = 6;

/// What a digit is multiplied by. For a product that is always the other factor. For a square it is half of the number: the digit itself,
/// and twice the digits above it, because each product of different digits occurs twice.
#[derive(Clone, Copy)]
struct Multiples<'a, const N: usize> {
    /// The factor, or twice the number.
    whole: &'a [Digit; N],
    /// For each digit, the register with the same digit, without the digits below it.
    from: &'a [[Digit; FOUR]; N],
    /// Registers of twice the number without what the digits below the register carry.
    alone: &'a [Digit; N],
}

impl<'a, const N: usize> Multiples<'a, N> {
    /// Computes those for a square.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn of_square(a: &[Digit; N], scratch: &'a mut [Digit]) -> Self {
        let (whole, scratch) = scratch.split_first_chunk_mut::<N>().expect("six numbers");
        let (alone, scratch) = scratch.split_first_chunk_mut::<N>().expect("six numbers");
        let from = scratch.as_chunks_mut().0.first_chunk_mut::<N>().expect("six numbers");
        let mask = _mm512_set1_epi64(DIGIT_MASK as i64);
        let mut top = _mm512_setzero_si512();
        for k in 0..N {
            let digits = a[k].load();
            let (twice, below) = (_mm512_and_si512(_mm512_add_epi64(digits, digits), mask), top);
            top = _mm512_srli_epi64::<{ DIGIT_BITS as u32 - 1 }>(digits);
            let carried = _mm512_or_si512(twice, up(top, below));
            whole[k].store(carried);
            alone[k].store(_mm512_mask_mov_epi64(carried, 0b11, twice));
            for (i, from) in from[k].iter_mut().enumerate() {
                let without = _mm512_mask_mov_epi64(carried, 0b11 << (2 * i) << 2, twice);
                let with_itself = _mm512_mask_mov_epi64(without, 0b11 << (2 * i), digits);
                from.store(_mm512_maskz_mov_epi64(0xff << (2 * i), with_itself));
            }
        }
        Multiples { whole, from, alone }
    }

    /// The register `k` of what the digit `i` is multiplied by, unless it is zero.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn register<const SQUARE: bool>(&self, k: usize, i: usize) -> Option<__m512i> {
        Some(match k.checked_sub(i / FOUR) {
            _ if !SQUARE => self.whole[k].load(),
            None => return None,
            Some(0) => self.from[k][i % FOUR].load(),
            Some(1) if i % FOUR == FOUR - 1 => self.alone[k].load(),
            Some(_) => self.whole[k].load(),
        })
    }
}

/// The registers of digits one place up or down, with those of the neighbour.
#[target_feature(enable = "avx512f")]
#[inline]
fn up(register: __m512i, below: __m512i) -> __m512i {
    _mm512_alignr_epi64::<6>(register, below)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn down(register: __m512i, above: __m512i) -> __m512i {
    _mm512_alignr_epi64::<2>(above, register)
}

/// `a = a · b / R` modulo N, or `a² / R`. For each digit of `b`, adds the multiple of `a`, and a multiple of N that clears the lowest
/// digit of the sum, by which the sum is then divided.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
fn product<const N: usize, const SQUARE: bool>(a: &mut [Digit], b: Option<&[Digit]>, ring: &mut PairRing<'_>) {
    let (a, _) = a.split_first_chunk_mut::<N>().expect("a number");
    let a_or_b: &[Digit; N] = b.unwrap_or(a).first_chunk().expect("a number");
    let multiples = if SQUARE {
        Multiples::of_square(a, ring.scratch)
    } else {
        Multiples { whole: a, from: &[const { [Digit([0; 8]); FOUR] }; N], alone: a }
    };
    let factors = Factors {
        multiples,
        b: a_or_b,
        n: ring.n.first_chunk().expect("a number"),
        above: ring.above.first_chunk().expect("a number"),
        inverse: ring.inverse.load(),
    };
    let mut sum = [_mm512_setzero_si512(); N];
    for k in 0..N {
        if let Some(multiple) = factors.multiples.register::<SQUARE>(k, 0) {
            sum[k] = _mm512_madd52lo_epu64(sum[k], multiple, digit(factors.b, 0));
        }
    }
    let mut state = (sum, quotient_of(sum[0], factors.inverse));
    macro_rules! rows {
        ($($i:literal)*) => {
            $(state = row::<N, $i, SQUARE>(state, &factors);)*
        };
    }
    rows!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39);
    for (digit, register) in a.iter_mut().zip(normalize::<N, SQUARE>(state.0)) {
        digit.store(register);
    }
}

/// What the rows of a product read.
#[derive(Clone, Copy)]
struct Factors<'a, const N: usize> {
    multiples: Multiples<'a, N>,
    b: &'a [Digit; N],
    n: &'a [Digit; N],
    above: &'a [Digit; N],
    inverse: __m512i,
}

/// A digit of both numbers, in all places.
#[target_feature(enable = "avx512f")]
#[inline]
fn digit(number: &[Digit], i: usize) -> __m512i {
    let [first, second] = number[i / FOUR].0.as_chunks().0[i % FOUR];
    _mm512_broadcast_i32x4(_mm_set_epi64x(second as i64, first as i64))
}

/// The row of digit `I`, whose lower products are in the sum already. Adds those of the next digit, and returns its quotient. That is
/// computed before most products of this row, because processors execute ready instructions in program order.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn row<const N: usize, const I: usize, const SQUARE: bool>(
    (mut sum, quotient): ([__m512i; N], __m512i),
    factors: &Factors<'_, N>,
) -> ([__m512i; N], __m512i) {
    let digits = N * FOUR / BLOCK * BLOCK;
    if I >= digits {
        return (sum, quotient);
    }
    let Factors { mut multiples, b, mut n, mut above, inverse } = *factors;
    // What finds no room in registers is read from where it is. The compiler must not keep copies of it on the stack.
    if N > 5 || SQUARE {
        multiples = black_box(multiples);
    }
    if N > 5 {
        (n, above) = black_box((n, above));
    }
    let zero = _mm512_setzero_si512();
    // The lowest digit becomes zero. Its carry is the digit divided by 2^52, rounded up.
    let rounded = _mm512_add_epi64(sum[0], _mm512_set1_epi64(DIGIT_MASK as i64));
    let carry = _mm512_maskz_srli_epi64::<{ DIGIT_BITS as u32 }>(0b11, rounded);
    let mut next = zero;
    for_registers!(N, k => {
        // Separate from the sum, so that products do not wait for each other.
        let mut other = if k == 0 { carry } else { zero };
        if let Some(multiple) = multiples.register::<SQUARE>(k, I) {
            other = _mm512_madd52hi_epu64(other, multiple, digit(b, I));
        }
        if I + 1 < digits && let Some(multiple) = multiples.register::<SQUARE>(k, I + 1) {
            other = _mm512_madd52lo_epu64(other, multiple, digit(b, I + 1));
        }
        other = _mm512_madd52hi_epu64(other, n[k].load(), quotient);
        sum[k] = down(sum[k], if k + 1 < N { sum[k + 1] } else { zero });
        sum[k] = _mm512_add_epi64(_mm512_madd52lo_epu64(sum[k], above[k].load(), quotient), other);
        if k == 0 {
            next = quotient_of(sum[0], inverse);
        }
    });
    (sum, next)
}

/// The digit by which N has to be multiplied, so that its sum with the lowest digit is divisible by 2^52.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn quotient_of(lowest: __m512i, inverse: __m512i) -> __m512i {
    let quotient = _mm512_madd52lo_epu64(_mm512_setzero_si512(), lowest, inverse);
    _mm512_shuffle_i64x2::<0>(quotient, quotient)
}

/// Propagates carries, until all digits have 52 bits. It has one caller only, so that it becomes a part of that.
#[target_feature(enable = "avx512f")]
#[inline]
fn normalize<const N: usize, const SQUARE: bool>(mut digits: [__m512i; N]) -> [__m512i; N] {
    let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi64(1));
    let mask = _mm512_set1_epi64(DIGIT_MASK as i64);
    // After carries between neighbours, no digit carries more than 1.
    let mut top = zero;
    for digit in &mut digits {
        let below = top;
        top = _mm512_srli_epi64::<{ DIGIT_BITS as u32 }>(*digit);
        *digit = _mm512_add_epi64(_mm512_and_si512(*digit, mask), up(top, below));
    }
    // A bit for each digit: whether it carries, and whether it carries if it gets a carry. Adding both numbers propagates carries.
    let (mut carries, mut passes) = (zero, zero);
    for (k, digit) in digits.iter().enumerate() {
        let place = _mm_cvtsi64_si128((DIGIT_BITS - FOUR * k) as i64);
        let bit = _mm512_set1_epi64(1 << (FOUR * k));
        let carry = _mm512_srl_epi64(*digit, place);
        let pass = _mm512_srl_epi64(_mm512_add_epi64(*digit, one), place);
        carries = _mm512_or_si512(carries, _mm512_and_si512(carry, bit));
        passes = _mm512_or_si512(passes, _mm512_and_si512(pass, bit));
    }
    let (carries, passes) = (gather_bits(carries), gather_bits(passes));
    let carried = _mm512_xor_si512(_mm512_add_epi64(carries, passes), _mm512_xor_si512(carries, passes));
    let carried = _mm512_srlv_epi64(carried, places());
    for (k, digit) in digits.iter_mut().enumerate() {
        let carry = _mm512_and_si512(_mm512_srl_epi64(carried, _mm_cvtsi64_si128((FOUR * k) as i64)), one);
        *digit = _mm512_and_si512(_mm512_add_epi64(*digit, carry), mask);
    }
    digits
}

/// The places of a register's digits.
#[target_feature(enable = "avx512f")]
#[inline]
fn places() -> __m512i {
    _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0)
}

/// Moves every bit to the place of its digit, and unites those of a number.
#[target_feature(enable = "avx512f")]
#[inline]
fn gather_bits(bits: __m512i) -> __m512i {
    let bits = _mm512_sllv_epi64(bits, places());
    let bits = _mm512_or_si512(bits, _mm512_shuffle_i64x2::<0b10_11_00_01>(bits, bits));
    _mm512_or_si512(bits, _mm512_shuffle_i64x2::<0b01_00_11_10>(bits, bits))
}
