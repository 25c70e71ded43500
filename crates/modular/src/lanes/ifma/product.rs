//! Eight products at once.

use super::digits::{BLOCK, Digit, LANES};
use super::ring::Ring;
use crate::Modulus;

/// What one lane multiplies. All lanes have moduli of as many limbs and blocks.
#[derive(Clone, Copy)]
pub(crate) struct Factors<'a> {
    pub(crate) modulus: &'a Modulus,
    /// Not longer than [`super::longest`].
    pub(crate) a: &'a [u64],
    /// As `a`.
    pub(crate) b: &'a [u64],
}

/// Digits that [`product`] needs.
pub(crate) const fn product_digits(blocks: usize) -> usize {
    2 * BLOCK * blocks + Ring::digits(BLOCK * blocks)
}

/// Multiplies; `memory` has [`product_digits`] digits and holds secrets afterwards.
///
/// # Panics
/// If the moduli have not the same length.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn product(lanes: &[Factors<'_>; LANES], blocks: usize, memory: &mut [Digit], results: &mut [u64]) {
    let length = BLOCK * blocks;
    let (a, memory) = memory.split_at_mut(length);
    let (b, memory) = memory.split_at_mut(length);
    let mut ring = Ring::new(lanes.each_ref().map(|lane| lane.modulus), memory);
    ring.enter_any(lanes.each_ref().map(|lane| lane.a), a);
    ring.enter_any(lanes.each_ref().map(|lane| lane.b), b);
    ring.raise(a);
    ring.multiply(a, b);
    ring.leave(a, results);
}
