//! Eight moduli, and the conversion of numbers to and from their lanes.

use core::array;

use super::digits::{BLOCK, BLOCK_BITS, DIGIT_MASK, Digit, LANES, enter, leave};
use super::montgomery::{self, LaneModuli, Scratch};
use crate::{Modulus, add};

/// Length of the longest number that lanes accept, in limbs, for moduli of this many blocks and bits: below 2^bits R / 2, and so below N R.
/// This is almost twice the length of the modulus.
pub(crate) const fn longest(blocks: usize, bits: usize) -> usize {
    (BLOCK_BITS * blocks + bits - 1) / 64
}

/// Eight moduli with the same number of limbs and blocks.
pub(super) struct LaneRing<'a> {
    lanes: [&'a Modulus; LANES],
    moduli: LaneModuli<'a>,
    /// R² modulo N
    form: &'a [Digit],
    scratch: Scratch<'a>,
}

impl<'a> LaneRing<'a> {
    /// Number of digits that [`new`](Self::new) needs for numbers of `length` digits.
    pub(super) const fn digits(length: usize) -> usize {
        2 * length + 1 + Scratch::digits(length)
    }

    /// # Panics
    /// If the moduli do not have the same number of limbs and blocks, or `memory` does not have [`digits`](Self::digits) digits.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn new(lanes: [&'a Modulus; LANES], memory: &'a mut [Digit]) -> Self {
        let prepared = lanes.map(|modulus| modulus.in_lanes().expect("a modulus for lanes"));
        let (limbs, blocks) = (lanes[0].limbs(), prepared[0].blocks);
        assert!(lanes.iter().zip(prepared).all(|(lane, prepared)| (lane.limbs(), prepared.blocks) == (limbs, blocks)));
        let length = BLOCK * blocks;
        let (n, memory) = memory.split_at_mut(length);
        let (form, memory) = memory.split_at_mut(length);
        let (inverse, memory) = memory.split_first_mut().expect("a digit");
        let scratch = Scratch::new(length, memory);
        enter(lanes.map(Modulus::as_limbs), scratch.other, n);
        enter(prepared.map(|prepared| &prepared.form[..]), scratch.other, form);
        *inverse = Digit(lanes.map(|modulus| modulus.negative_inverse() & DIGIT_MASK));
        LaneRing { lanes, moduli: LaneModuli { n, inverse }, form, scratch }
    }

    /// Number of digits of a number.
    pub(super) fn length(&self) -> usize {
        self.moduli.n.len()
    }

    /// Length of the longest numbers, in limbs, that [`enter`](Self::enter) accepts: below R / 2.
    const fn short_limbs(blocks: usize) -> usize {
        (BLOCK_BITS * blocks - 1) / 64
    }

    /// Converts numbers of up to [`short_limbs`](Self::short_limbs) limbs, without reduction.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn enter(&mut self, numbers: [&[u64]; LANES], digits: &mut [Digit]) {
        enter(numbers, self.scratch.other, digits);
    }

    /// Converts numbers of up to [`longest`] limbs. If one of them has more than [`short_limbs`](Self::short_limbs),
    /// reduces all below 2 N and returns true.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn enter_any(&mut self, numbers: [&[u64]; LANES], digits: &mut [Digit]) -> bool {
        let is_long = numbers.iter().any(|number| number.len() > Self::short_limbs(digits.len() / BLOCK));
        if is_long {
            enter(numbers, self.scratch.other, self.scratch.t);
            montgomery::divide(digits, &self.moduli, &mut self.scratch);
            self.raise(digits);
        } else {
            self.enter(numbers, digits);
        }
        is_long
    }

    /// `a = a · R` modulo N: converts to Montgomery form.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn raise(&mut self, a: &mut [Digit]) {
        montgomery::multiply(a, self.form, &self.moduli, &mut self.scratch);
    }

    /// `a = a · b / R` modulo N.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn multiply(&mut self, a: &mut [Digit], b: &[Digit]) {
        montgomery::multiply(a, b, &self.moduli, &mut self.scratch);
    }

    /// `a = a² / R` modulo N.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&mut self, a: &mut [Digit]) {
        montgomery::square(a, &self.moduli, &mut self.scratch);
    }

    /// `a = a / R` modulo N.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn divide(&mut self, a: &mut [Digit]) {
        let (low, high) = self.scratch.t.split_at_mut(a.len());
        for (column, digit) in low.iter_mut().zip(&*a) {
            *column = Digit(digit.0.map(|digit| digit & DIGIT_MASK));
        }
        high.fill(Digit::default());
        montgomery::divide(a, &self.moduli, &mut self.scratch);
    }

    /// The number 1 in Montgomery form.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn one(&mut self, digits: &mut [Digit]) {
        digits.copy_from_slice(self.form);
        self.divide(digits);
    }

    /// Reduces numbers below 2 N to numbers below N. `results` gets the limbs of the first lane, then of the next, and so on.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn leave(&mut self, digits: &[Digit], results: &mut [u64]) {
        let limbs = self.lanes[0].limbs();
        assert_eq!(results.len(), LANES * limbs);
        let staged = &mut self.scratch.other[..limbs + 1];
        leave(digits, staged);
        for (i, result) in results.chunks_exact_mut(limbs).enumerate() {
            for (limb, staged) in result.iter_mut().zip(&*staged) {
                *limb = staged.0[i];
            }
            add::subtract_once(result, staged[limbs].0[i] & 1, self.lanes[i].as_limbs());
        }
    }
}

/// Sets all lanes to 1.
pub(super) fn set_one(digits: &mut [Digit]) {
    digits.fill(Digit::default());
    digits[0] = Digit(array::from_fn(|_| 1));
}
