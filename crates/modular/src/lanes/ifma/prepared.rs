//! Values that lanes need for a modulus, computed once.

use alloc::vec;
use alloc::vec::Vec;

use zeroize::Zeroize;

use super::digits::{BLOCK, BLOCK_BITS, DIGIT_BITS, DIGIT_MASK};

/// Shortest modulus for lanes, in limbs; shorter ones would waste most of a block.
const SHORTEST_LIMBS: usize = 5;

/// Values for R = 2^(520 · blocks).
#[derive(Clone)]
pub(crate) struct PreparedModulus {
    /// Number of blocks of the modulus.
    pub(in super::super) blocks: usize,
    /// R² modulo N, for conversion to Montgomery form.
    pub(super) form: Vec<u64>,
}

impl PreparedModulus {
    /// Number of blocks for a modulus of `bits` bits, such that R is at least 4 N.
    const fn blocks(bits: usize) -> usize {
        (bits + 2).div_ceil(BLOCK_BITS)
    }

    /// Computes the values from 2^(128 limbs) modulo N, with Montgomery's multiplication, which divides by 2^(64 limbs). `None` for a
    /// modulus that is too short.
    pub(crate) fn new(
        bits: usize,
        square: &[u64],
        montgomery: impl Fn(&[u64], &[u64], &mut [u64]),
    ) -> Option<PreparedModulus> {
        let limbs = square.len();
        if limbs < SHORTEST_LIMBS {
            return None;
        }
        let blocks = Self::blocks(bits);
        let (digits_bits, wanted) = (64 * limbs, 2 * BLOCK_BITS * blocks);
        let power_of_two = |exponent: usize| {
            let mut power = vec![0; limbs];
            power[exponent / 64] = 1 << (exponent % 64);
            power
        };
        // `form` is 2^exponent. The exponent grows in steps of `digits_bits` beyond that of R², then decreases by less than a step.
        let mut form = vec![0; limbs];
        let mut last = square.to_vec();
        let mut exponent = 2 * digits_bits;
        while exponent <= wanted {
            montgomery(&last, square, &mut form);
            last.copy_from_slice(&form);
            exponent += digits_bits;
        }
        montgomery(&last, &power_of_two(wanted + digits_bits - exponent), &mut form);
        last.zeroize();
        Some(PreparedModulus { blocks, form })
    }

    /// The exponent of R = 2^bits.
    pub(crate) fn bits(&self) -> usize {
        BLOCK_BITS * self.blocks
    }

    /// The digits of a number below N.
    pub(crate) fn digits(&self, number: &[u64]) -> impl Iterator<Item = u64> {
        (0..BLOCK * self.blocks).map(|i| {
            let (limb, shift) = (i * DIGIT_BITS / 64, i * DIGIT_BITS % 64);
            let low = number.get(limb).map_or(0, |limb| limb >> shift);
            // Two shifts, because the total is 64 bits if a digit ends at the end of a limb.
            let high = number.get(limb + 1).map_or(0, |limb| limb << 1 << (63 - shift));
            (low | high) & DIGIT_MASK
        })
    }
}

impl Drop for PreparedModulus {
    fn drop(&mut self) {
        self.form.zeroize();
    }
}
