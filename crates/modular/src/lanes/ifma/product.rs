//! Eight products in lanes.

use super::digits::{BLOCK, Digit, LANES};
use super::ring::LaneRing;
use crate::Modulus;

/// Input of one lane. The moduli of all lanes have the same number of limbs and blocks.
#[derive(Clone, Copy)]
pub(crate) struct Factors<'a> {
    pub(crate) modulus: &'a Modulus,
    /// At most [`super::longest`] limbs.
    pub(crate) a: &'a [u64],
    /// At most [`super::longest`] limbs.
    pub(crate) b: &'a [u64],
}

/// Number of digits of memory that [`product`] needs.
pub(crate) const fn product_digits(blocks: usize) -> usize {
    2 * BLOCK * blocks + LaneRing::digits(BLOCK * blocks)
}

/// Multiplies the factors of all lanes. `memory` has [`product_digits`] digits and holds secrets afterwards.
///
/// # Panics
/// If the moduli do not have the same length.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn product(lanes: &[Factors<'_>; LANES], blocks: usize, memory: &mut [Digit], results: &mut [u64]) {
    let length = BLOCK * blocks;
    let (a, memory) = memory.split_at_mut(length);
    let (b, memory) = memory.split_at_mut(length);
    let mut ring = LaneRing::new(lanes.each_ref().map(|lane| lane.modulus), memory);
    ring.enter_any(lanes.each_ref().map(|lane| lane.a), a);
    ring.enter_any(lanes.each_ref().map(|lane| lane.b), b);
    ring.raise(a);
    ring.multiply(a, b);
    ring.leave(a, results);
}
