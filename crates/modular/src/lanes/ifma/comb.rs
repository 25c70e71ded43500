//! Eight powers of one base in lanes, with a table that all lanes share.

use core::arch::x86_64::{_mm512_set1_epi64, _mm512_setzero_si512, _mm512_ternarylogic_epi64};
use core::array;

use super::digits::{BLOCK, Digit, LANES};
use super::power::{OR_AND, choose};
use super::ring::LaneRing;
use crate::lanes::comb::{Comb, ENTRIES, TABLES};

/// Number of digits that are looked up together.
const PART: usize = 5;

/// Number of digits of memory that [`power`] needs.
pub(crate) const fn comb_digits(blocks: usize) -> usize {
    let length = BLOCK * blocks;
    2 * length + ENTRIES + LaneRing::digits(length)
}

/// Finds the entry for each lane by reading the whole table.
#[target_feature(enable = "avx512f")]
#[inline(never)]
fn look_up(table: &[u64], masks: &[Digit], entry: &mut [Digit]) {
    let length = entry.len();
    for (part, entry) in entry.as_chunks_mut::<PART>().0.iter_mut().enumerate() {
        let mut found = [_mm512_setzero_si512(); PART];
        for (candidate, mask) in table.chunks_exact(length).zip(masks) {
            let candidate: &[u64; PART] = candidate[PART * part..].first_chunk().expect("a part");
            let mask = mask.load();
            for k in 0..PART {
                let digit = _mm512_set1_epi64(candidate[k] as i64);
                found[k] = _mm512_ternarylogic_epi64::<OR_AND>(found[k], mask, digit);
            }
        }
        for k in 0..PART {
            entry[k].store(found[k]);
        }
    }
}

/// Raises the comb's base to eight exponents. `memory` has [`comb_digits`] digits and holds secrets afterwards.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn power(comb: &Comb, exponents: [&[u64]; LANES], blocks: usize, memory: &mut [Digit], results: &mut [u64]) {
    let length = BLOCK * blocks;
    let (power, memory) = memory.split_at_mut(length);
    let (factor, memory) = memory.split_at_mut(length);
    let (masks, memory) = memory.split_at_mut(ENTRIES);
    let mut ring = LaneRing::new([comb.modulus(); LANES], memory);
    for column in (0..comb.columns()).rev() {
        for j in 0..TABLES {
            choose(array::from_fn(|lane| comb.index(exponents[lane], column, j)), masks);
            if (column + 1, j) == (comb.columns(), 0) {
                look_up(comb.table(j), masks, power);
                continue;
            }
            if j == 0 {
                ring.square(power);
            }
            look_up(comb.table(j), masks, factor);
            ring.multiply(power, factor);
        }
    }
    ring.divide(power);
    ring.leave(power, results);
}
