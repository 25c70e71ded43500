//! Montgomery's multiplication of eight numbers in lanes. The inner loops process twenty digits of one factor, and ten for a remaining
//! block of numbers with an odd number of blocks.
//!
//! R is 2^(520 · blocks), and at least 4 N. So factors below 2 N give a product below 2 N, and no subtraction is needed in between. The
//! whole product is computed first, then the reduction. Karatsuba's method would not help: on processors where one unit adds and
//! multiplies, its sums cost as much as the products that it saves.
//!
//! Only the low 52 bits of a result's digits are valid.

use core::arch::x86_64::{
    _mm512_add_epi64, _mm512_and_si512, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srai_epi64, _mm512_srli_epi64,
};

use super::digits::{DIGIT_BITS, Digit};
use super::twenty::TWENTY;
use super::{ten, twenty};

/// Eight moduli with the same number of blocks, and −1 / N modulo 2^52.
pub(super) struct LaneModuli<'a> {
    pub(super) n: &'a [Digit],
    pub(super) inverse: &'a Digit,
}

/// Memory for intermediate results.
pub(super) struct Scratch<'a> {
    /// The product, twice as long as the moduli.
    pub(super) t: &'a mut [Digit],
    /// Twice a factor, a quotient, or limbs of numbers; also twice as long as the moduli.
    pub(super) other: &'a mut [Digit],
}

impl<'a> Scratch<'a> {
    /// Number of digits that [`new`](Self::new) needs.
    pub(super) const fn digits(length: usize) -> usize {
        4 * length
    }

    /// # Panics
    /// If `memory` does not have [`digits`](Self::digits) digits.
    pub(super) fn new(length: usize, memory: &'a mut [Digit]) -> Self {
        let (t, memory) = memory.split_at_mut(2 * length);
        Scratch { t, other: &mut memory[..2 * length] }
    }
}

/// `t = a · b`
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn product(a: &[Digit], b: &[Digit], t: &mut [Digit]) {
    let (twenties, rest) = a.as_chunks::<TWENTY>();
    for (i, a) in twenties.iter().enumerate() {
        if i == 0 {
            twenty::multiply(t, a, b);
            t[TWENTY + b.len()..].fill(Digit::default());
        } else {
            twenty::multiply_add(&mut t[TWENTY * i..], a, b);
        }
    }
    if let Some(a) = rest.first_chunk() {
        if twenties.is_empty() {
            t.fill(Digit::default());
        }
        ten::multiply_add(&mut t[TWENTY * twenties.len()..], a, b);
    }
}

/// `t = a²`: squares of pieces of twenty or ten digits, and each piece times twice the digits above it.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn square_product(a: &[Digit], scratch: &mut Scratch<'_>) {
    let Scratch { t, other } = scratch;
    let (twenties, rest) = a.as_chunks::<TWENTY>();
    for (i, a) in twenties.iter().enumerate() {
        twenty::square(t[2 * TWENTY * i..].first_chunk_mut().expect("twice as many digits"), a);
    }
    if let Some(a) = rest.first_chunk() {
        ten::square(t[2 * TWENTY * twenties.len()..].first_chunk_mut().expect("twice as many digits"), a);
    }
    for (i, piece) in twenties.iter().enumerate() {
        let above = TWENTY * (i + 1);
        if above < a.len() {
            let twice = &mut other[..a.len() - above];
            double(&a[above..], twice);
            twenty::multiply_add(&mut t[TWENTY * i + above..], piece, twice);
        }
    }
}

/// `twice = 2 a`. The highest bit of `a` must be zero.
#[target_feature(enable = "avx512f")]
#[inline]
fn double(a: &[Digit], twice: &mut [Digit]) {
    let one = _mm512_set1_epi64(1);
    let mut carry = _mm512_setzero_si512();
    for (twice, digit) in twice.iter_mut().zip(a) {
        let digit = digit.load();
        twice.store(_mm512_add_epi64(_mm512_add_epi64(digit, digit), carry));
        carry = _mm512_and_si512(_mm512_srli_epi64::<{ DIGIT_BITS as u32 - 1 }>(digit), one);
    }
}

/// `result = t / R` modulo N, below `t / R + N`.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduce(result: &mut [Digit], moduli: &LaneModuli<'_>, scratch: &mut Scratch<'_>) {
    let length = moduli.n.len();
    let Scratch { t, other } = scratch;
    match moduli.n.split_first_chunk::<TWENTY>() {
        Some((lowest, above)) => {
            // As many rows at a time as a piece has digits, so that the pieces after the lowest find their quotient complete.
            for start in (0..length).step_by(TWENTY) {
                let quotient = &mut other[..TWENTY.min(length - start)];
                twenty::reduce(&mut t[start..], lowest, moduli.inverse, quotient);
                let (twenties, rest) = above.as_chunks::<TWENTY>();
                for (i, n) in twenties.iter().enumerate() {
                    twenty::multiply_add(&mut t[start + TWENTY * (i + 1)..], n, quotient);
                }
                if let Some(n) = rest.first_chunk() {
                    ten::multiply_add(&mut t[start + TWENTY * (twenties.len() + 1)..], n, quotient);
                }
            }
        }
        None => {
            let n = moduli.n.first_chunk().expect("a block");
            let quotient = other.first_chunk_mut().expect("a block");
            ten::reduce(t.first_chunk_mut().expect("two blocks"), n, moduli.inverse, quotient);
        }
    }
    let mut carry = _mm512_setzero_si512();
    for (digit, column) in result.iter_mut().zip(&t[length..]) {
        let sum = _mm512_add_epi64(column.load(), carry);
        digit.store(sum);
        carry = _mm512_srai_epi64::<{ DIGIT_BITS as u32 }>(sum);
    }
}

/// `a = a · b / R` modulo N.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
pub(super) fn multiply(a: &mut [Digit], b: &[Digit], moduli: &LaneModuli<'_>, scratch: &mut Scratch<'_>) {
    assert!(a.len() == moduli.n.len() && b.len() == a.len());
    product(a, b, scratch.t);
    reduce(a, moduli, scratch);
}

/// `a = a² / R` modulo N.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
pub(super) fn square(a: &mut [Digit], moduli: &LaneModuli<'_>, scratch: &mut Scratch<'_>) {
    assert_eq!(a.len(), moduli.n.len());
    square_product(a, scratch);
    reduce(a, moduli, scratch);
}

/// `result = t / R` modulo N, below N + t / R, where `t` is in the scratch memory.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
pub(super) fn divide(result: &mut [Digit], moduli: &LaneModuli<'_>, scratch: &mut Scratch<'_>) {
    reduce(result, moduli, scratch);
}
