//! Montgomery's multiplication of eight numbers at once, from products of blocks.
//!
//! R is 2^520 to the number of blocks and at least 4 N. Then factors below 2 N give a product below 2 N, and nothing has
//! to be subtracted in between.
//!
//! The product comes first, by differences: a_i b_j + a_j b_i = a_i b_i + a_j b_j − (a_i − a_j)(b_i − b_j), so that
//! two products of blocks cost one, and a product of different blocks in a square costs a square. That is Karatsuba's
//! idea for any number of blocks. The reduction goes block by block.

use core::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srai_epi64,
    _mm512_sub_epi64,
};

use super::digits::{BLOCK, DIGIT_BITS, DIGIT_MASK, Digit, block, two_blocks};
use super::kernel;

/// Eight moduli of as many blocks, with −1 / N modulo 2^52.
pub(super) struct Moduli<'a> {
    pub(super) n: &'a [Digit],
    pub(super) inverse: &'a Digit,
}

/// Memory for what is in between.
pub(super) struct Scratch<'a> {
    /// The product: twice as long as the moduli.
    t: &'a mut [Digit],
    /// Products of a block with its own: as long.
    own: &'a mut [Digit],
    /// Differences of blocks, one of them also the quotient of a reduction.
    first: &'a mut [Digit; BLOCK],
    second: &'a mut [Digit; BLOCK],
    /// The product of differences.
    cross: &'a mut [Digit; 2 * BLOCK],
}

impl<'a> Scratch<'a> {
    /// Digits that [`new`](Self::new) needs.
    pub(super) const fn digits(length: usize) -> usize {
        4 * length + 4 * BLOCK
    }

    /// # Panics
    /// If the memory has not [`digits`](Self::digits) digits.
    pub(super) fn new(length: usize, memory: &'a mut [Digit]) -> Self {
        let (t, memory) = memory.split_at_mut(2 * length);
        let (own, memory) = memory.split_at_mut(2 * length);
        let (first, memory) = memory.split_first_chunk_mut().expect("a block");
        let (second, memory) = memory.split_first_chunk_mut().expect("a block");
        Scratch { t, own, first, second, cross: memory.first_chunk_mut().expect("two blocks") }
    }
}

/// `difference = a − b` modulo 2^520; returns 0, or −1 where it was negative.
#[target_feature(enable = "avx512f")]
#[inline]
fn subtract(a: &[Digit; BLOCK], b: &[Digit; BLOCK], difference: &mut [Digit; BLOCK]) -> __m512i {
    let mask = _mm512_set1_epi64(DIGIT_MASK as i64);
    let mut carry = _mm512_setzero_si512();
    for i in 0..BLOCK {
        let digit = _mm512_add_epi64(_mm512_sub_epi64(a[i].load(), b[i].load()), carry);
        difference[i].store(_mm512_and_si512(digit, mask));
        carry = _mm512_srai_epi64::<{ DIGIT_BITS as u32 }>(digit);
    }
    carry
}

/// The indices i < j of different blocks.
fn pairs(blocks: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..blocks).flat_map(move |i| (i + 1..blocks).map(move |j| (i, j)))
}

/// `t = Σ own_i 2^(1040 i)`, and `own` the same.
#[inline(always)]
fn start(scratch: &mut Scratch<'_>) {
    scratch.t.copy_from_slice(scratch.own);
}

/// `t += (own_i + own_j − cross') 2^(520 (i + j))`, where cross' is the product of the differences themselves:
/// (first − s 2^520)(second − s' 2^520), of which `cross` is first · second; s and s' are minus the signs given.
#[target_feature(enable = "avx512f")]
#[inline]
fn add_pair(
    t: &mut [Digit],
    (own_i, own_j): (&[Digit], &[Digit]),
    cross: &[Digit; 2 * BLOCK],
    (first, first_sign): (&[Digit; BLOCK], __m512i),
    (second, second_sign): (&[Digit; BLOCK], __m512i),
) {
    assert!(t.len() > 2 * BLOCK && own_i.len() == 2 * BLOCK && own_j.len() == 2 * BLOCK);
    for k in 0..2 * BLOCK {
        let mut sum = _mm512_sub_epi64(_mm512_add_epi64(own_i[k].load(), own_j[k].load()), cross[k].load());
        if k >= BLOCK {
            sum = _mm512_add_epi64(sum, _mm512_and_si512(first[k - BLOCK].load(), second_sign));
            sum = _mm512_add_epi64(sum, _mm512_and_si512(second[k - BLOCK].load(), first_sign));
        }
        let sum = _mm512_add_epi64(t[k].load(), sum);
        t[k].store(sum);
    }
    // − s s' 2^1040; the product of two signs is −1 as a mask.
    let sum = _mm512_add_epi64(t[2 * BLOCK].load(), _mm512_and_si512(first_sign, second_sign));
    t[2 * BLOCK].store(sum);
}

/// `t = a · b`
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn product(a: &[Digit], b: &[Digit], scratch: &mut Scratch<'_>) {
    let blocks = a.len() / BLOCK;
    for i in 0..blocks {
        kernel::multiply(two_blocks(scratch.own, 2 * i), block(a, i), block(b, i));
    }
    start(scratch);
    for (i, j) in pairs(blocks) {
        let first_sign = subtract(block(a, i), block(a, j), scratch.first);
        let second_sign = subtract(block(b, i), block(b, j), scratch.second);
        kernel::multiply(scratch.cross, scratch.first, scratch.second);
        let own = (&scratch.own[2 * BLOCK * i..][..2 * BLOCK], &scratch.own[2 * BLOCK * j..][..2 * BLOCK]);
        let (first, second) = ((&*scratch.first, first_sign), (&*scratch.second, second_sign));
        add_pair(&mut scratch.t[BLOCK * (i + j)..], own, scratch.cross, first, second);
    }
}

/// `t = a²`
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn square_product(a: &[Digit], scratch: &mut Scratch<'_>) {
    let blocks = a.len() / BLOCK;
    for i in 0..blocks {
        kernel::square(two_blocks(scratch.own, 2 * i), block(a, i));
    }
    start(scratch);
    for (i, j) in pairs(blocks) {
        let sign = subtract(block(a, i), block(a, j), scratch.first);
        kernel::square(scratch.cross, scratch.first);
        let own = (&scratch.own[2 * BLOCK * i..][..2 * BLOCK], &scratch.own[2 * BLOCK * j..][..2 * BLOCK]);
        let difference = (&*scratch.first, sign);
        add_pair(&mut scratch.t[BLOCK * (i + j)..], own, scratch.cross, difference, difference);
    }
}

/// `result = t / R` modulo N, below `t / R + N`.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduce(result: &mut [Digit], moduli: &Moduli<'_>, scratch: &mut Scratch<'_>) {
    let length = moduli.n.len();
    let blocks = length / BLOCK;
    let (t, quotient) = (&mut *scratch.t, &mut *scratch.first);
    for i in 0..blocks {
        kernel::reduce(two_blocks(t, i), block(moduli.n, 0), moduli.inverse, quotient);
        for j in 1..blocks {
            kernel::multiply_add(two_blocks(t, i + j), quotient, block(moduli.n, j));
        }
    }
    let mask = _mm512_set1_epi64(DIGIT_MASK as i64);
    let mut carry = _mm512_setzero_si512();
    for (digit, column) in result.iter_mut().zip(&t[length..]) {
        let sum = _mm512_add_epi64(column.load(), carry);
        digit.store(_mm512_and_si512(sum, mask));
        carry = _mm512_srai_epi64::<{ DIGIT_BITS as u32 }>(sum);
    }
}

/// `a = a · b / R` modulo N.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
pub(super) fn multiply(a: &mut [Digit], b: &[Digit], moduli: &Moduli<'_>, scratch: &mut Scratch<'_>) {
    assert!(a.len() == moduli.n.len() && b.len() == moduli.n.len());
    product(a, b, scratch);
    reduce(a, moduli, scratch);
}

/// `a = a² / R` modulo N.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
pub(super) fn square(a: &mut [Digit], moduli: &Moduli<'_>, scratch: &mut Scratch<'_>) {
    assert_eq!(a.len(), moduli.n.len());
    square_product(a, scratch);
    reduce(a, moduli, scratch);
}
