//! Exponentiations: eight in lanes, or two side by side.

use core::arch::x86_64::{
    __m512i, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srai_epi64, _mm512_sub_epi64, _mm512_ternarylogic_epi64,
    _mm512_xor_si512,
};
use core::array;

use super::digits::{BLOCK, Digit, LANES};
use super::pair::{self, PairRing};
use super::ring::LaneRing;
use crate::one::window_of;
use crate::{Modulus, add};

/// Input of one lane. The moduli of all lanes have the same number of limbs and blocks.
#[derive(Clone, Copy)]
pub(crate) struct PowerInput<'a> {
    pub(crate) modulus: &'a Modulus,
    /// At most [`super::longest`] limbs; in a pair at most [`super::pair_limbs`].
    pub(crate) base: &'a [u64],
    pub(crate) exponent: &'a [u64],
}

/// How the exponent is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exponents {
    /// In windows, in constant time.
    Secret,
    /// Bit by bit, for short exponents. The time depends on the exponent.
    Public,
}

/// Window length in bits for an exponent of `exponent_limbs` limbs. Longer windows would save products, but their tables exceed the L1
/// cache.
const fn window_bits(exponent_limbs: usize) -> usize {
    match exponent_limbs {
        0..=2 => 3,
        _ => 4,
    }
}

/// Number of digits of memory that [`power`] needs.
pub(crate) const fn memory_digits(blocks: usize, exponents: Exponents, exponent_limbs: usize) -> usize {
    let length = BLOCK * blocks;
    let entries = match exponents {
        Exponents::Secret => 1 << window_bits(exponent_limbs),
        Exponents::Public => 2,
    };
    (3 + entries) * length + entries + LaneRing::digits(length)
}

/// Number of digits of memory that [`power_pair`] needs.
pub(crate) const fn pair_digits(blocks: usize) -> usize {
    let length = pair::length(blocks);
    (3 + PAIR_ENTRIES) * length + PAIR_ENTRIES + PairRing::digits(blocks)
}

/// Entries of a table of two numbers, which is a quarter as long as one of eight.
const PAIR_ENTRIES: usize = 32;

/// The arithmetic of an exponentiation.
enum Ring<'r, 'm> {
    Lanes(&'r mut LaneRing<'m>),
    Pair(&'r mut PairRing<'m>),
}

impl Ring<'_, '_> {
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn one(&mut self, digits: &mut [Digit]) {
        match self {
            Ring::Lanes(ring) => ring.one(digits),
            Ring::Pair(ring) => ring.one(digits),
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn multiply(&mut self, a: &mut [Digit], b: &[Digit]) {
        match self {
            Ring::Lanes(ring) => ring.multiply(a, b),
            Ring::Pair(ring) => ring.multiply(a, b),
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn square(&mut self, a: &mut [Digit]) {
        match self {
            Ring::Lanes(ring) => ring.square(a),
            Ring::Pair(ring) => ring.square(a),
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn divide(&mut self, a: &mut [Digit]) {
        match self {
            Ring::Lanes(ring) => ring.divide(a),
            Ring::Pair(ring) => ring.divide(a),
        }
    }
}

/// The numbers that one exponentiation uses throughout.
struct PowerMemory<'a> {
    base: &'a mut [Digit],
    power: &'a mut [Digit],
    /// The next factor.
    factor: &'a mut [Digit],
    table: &'a mut [Digit],
    /// For each entry of the table, all ones in the lanes that select it.
    masks: &'a mut [Digit],
}

impl<'a> PowerMemory<'a> {
    fn new(length: usize, memory: &'a mut [Digit]) -> Self {
        let (base, memory) = memory.split_at_mut(length);
        let (power, memory) = memory.split_at_mut(length);
        let (factor, memory) = memory.split_at_mut(length);
        let entries = memory.len() / (length + 1);
        let (table, masks) = memory.split_at_mut(entries * length);
        PowerMemory { base, power, factor, table, masks }
    }
}

/// `a | (b & c)`, as the constant of VPTERNLOGQ.
pub(super) const OR_AND: i32 = 0b1111_1000;

/// All ones in the lanes whose index is `index`. Does not use mask registers, which are only for public values.
#[target_feature(enable = "avx512f")]
#[inline]
fn is_index(indices: __m512i, index: usize) -> __m512i {
    let difference = _mm512_xor_si512(indices, _mm512_set1_epi64(index as i64));
    _mm512_srai_epi64::<63>(_mm512_sub_epi64(difference, _mm512_set1_epi64(1)))
}

/// Computes the masks of all entries. Not inline: a compiler that knows the length of indices makes comparisons into mask registers.
#[target_feature(enable = "avx512f")]
#[inline(never)]
pub(super) fn choose(indices: [u64; LANES], masks: &mut [Digit]) {
    let indices = Digit(indices).load();
    for (index, mask) in masks.iter_mut().enumerate() {
        mask.store(is_index(indices, index));
    }
}

/// Number of digits that are looked up together. A table contains this part of all entries, then the next part of all, and so on.
const PART: usize = 5;

/// Writes entry `index` of a table with `entries` entries.
fn put(table: &mut [Digit], entries: usize, index: usize, entry: &[Digit]) {
    for (part, all) in entry.chunks_exact(PART).zip(table.chunks_exact_mut(entries * PART)) {
        all[PART * index..][..PART].copy_from_slice(part);
    }
}

/// Reads an entry with a public index.
fn get(table: &[Digit], entries: usize, index: usize, entry: &mut [Digit]) {
    for (part, all) in entry.chunks_exact_mut(PART).zip(table.chunks_exact(entries * PART)) {
        part.copy_from_slice(&all[PART * index..][..PART]);
    }
}

/// Finds a part of the entry for each lane by reading this part of the whole table.
#[target_feature(enable = "avx512f")]
#[inline]
fn look_up_part<const ENTRIES: usize>(table: &[Digit], masks: &[Digit], entry: &mut [Digit]) {
    let masks: &[Digit; ENTRIES] = masks.first_chunk().expect("a mask for each entry");
    let (candidates, _) = table.as_chunks::<PART>();
    let candidates: &[[Digit; PART]; ENTRIES] = candidates.first_chunk().expect("all entries");
    let mut found = [_mm512_setzero_si512(); PART];
    for index in 0..ENTRIES {
        let mask = masks[index].load();
        for k in 0..PART {
            found[k] = _mm512_ternarylogic_epi64::<OR_AND>(found[k], mask, candidates[index][k].load());
        }
    }
    for k in 0..PART {
        entry[k].store(found[k]);
    }
}

/// Like [`look_up_part`], for a table of any size.
#[target_feature(enable = "avx512f")]
#[inline(never)]
fn look_up(table: &[Digit], masks: &[Digit], entry: &mut [Digit], part: usize) {
    let table = &table[masks.len() * PART * part..];
    let entry = &mut entry[PART * part..][..PART];
    match masks.len() {
        8 => look_up_part::<8>(table, masks, entry),
        16 => look_up_part::<16>(table, masks, entry),
        PAIR_ENTRIES => look_up_part::<PAIR_ENTRIES>(table, masks, entry),
        entries => unreachable!("{entries} entries"),
    }
}

/// `power = base ^ exponent`. `base` is in Montgomery form, `power` is not.
#[target_feature(enable = "avx512f,avx512ifma")]
fn fixed_window(exponents: [&[u64]; LANES], mut ring: Ring<'_, '_>, memory: &mut PowerMemory<'_>) {
    let limbs = exponents.iter().map(|exponent| exponent.len()).max().unwrap_or(0);
    let PowerMemory { base, power, factor, table, masks } = memory;
    let (length, entries) = (base.len(), masks.len());
    let (bits, window_bits) = (64 * limbs, entries.ilog2() as usize);

    // 1 in Montgomery form, and the powers of the base.
    ring.one(power);
    put(table, entries, 0, power);
    put(table, entries, 1, base);
    for i in 2..entries {
        if i % 2 == 0 {
            get(table, entries, i / 2, power);
            ring.square(power);
        } else {
            ring.multiply(power, base);
        }
        put(table, entries, i, power);
    }

    get(table, entries, 0, power);
    let (windows, parts) = (bits.div_ceil(window_bits), length / PART);
    for i in (0..windows).rev() {
        choose(array::from_fn(|lane| window_of(exponents[lane], i * window_bits, window_bits)), masks);
        if i == windows - 1 {
            (0..parts).for_each(|part| look_up(table, masks, power, part));
            continue;
        }
        // Lookups and squares use different units of the processor, so they alternate.
        let mut part = 0;
        for square in 1..=window_bits {
            ring.square(power);
            while part < parts * square / window_bits {
                look_up(table, masks, factor, part);
                part += 1;
            }
        }
        ring.multiply(power, factor);
    }
    ring.divide(power);
}

/// `power = base ^ exponent` for public exponents: a square for every bit, and a product if any lane has a one. The last product is with
/// the base itself or 1, which converts from Montgomery form.
#[target_feature(enable = "avx512f,avx512ifma")]
fn binary_vartime(
    lanes: &[PowerInput<'_>; LANES],
    is_long: bool,
    ring: &mut LaneRing<'_>,
    memory: &mut PowerMemory<'_>,
) {
    let length = ring.length();
    let PowerMemory { base, power, factor, table, .. } = memory;
    let bits = lanes.iter().map(|lane| add::bits_vartime(lane.exponent)).max().unwrap_or(0);

    // 1 in Montgomery form, needed only if exponents differ or are shorter than two bits.
    let one = &mut table[..length];
    if lanes.iter().any(|lane| add::compare_vartime(lane.exponent, lanes[0].exponent).is_ne()) || bits < 2 {
        ring.one(one);
    }
    power.copy_from_slice(one);
    for position in (1..bits).rev() {
        let bits_here: [u64; LANES] = array::from_fn(|lane| add::bit(lanes[lane].exponent, position));
        for (factor, (base, one)) in factor.iter_mut().zip(base.iter().zip(&*one)) {
            for lane in 0..LANES {
                factor.0[lane] = if bits_here[lane] == 1 { base.0[lane] } else { one.0[lane] };
            }
        }
        if position == bits - 1 {
            power.copy_from_slice(factor);
        } else if bits_here != [0; LANES] {
            ring.multiply(power, factor);
        }
        ring.square(power);
    }
    let is_odd = lanes.each_ref().map(|lane| add::bit(lane.exponent, 0) == 1);
    if is_long {
        ring.divide(base);
        let one = &mut table[..length];
        super::ring::set_one(one);
        for (factor, (base, one)) in factor.iter_mut().zip(base.iter().zip(&*one)) {
            *factor = Digit(array::from_fn(|lane| if is_odd[lane] { base.0[lane] } else { one.0[lane] }));
        }
    } else {
        ring.enter(array::from_fn(|lane| if is_odd[lane] { lanes[lane].base } else { &[1] }), factor);
    }
    ring.multiply(power, factor);
}

/// Raises the bases of all lanes. `memory` has [`memory_digits`] digits and holds secrets afterwards.
///
/// # Panics
/// If the moduli do not have the same length.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn power(
    lanes: &[PowerInput<'_>; LANES],
    blocks: usize,
    exponents: Exponents,
    memory: &mut [Digit],
    results: &mut [u64],
) {
    let length = BLOCK * blocks;
    let (digits, memory) = memory.split_at_mut(LaneRing::digits(length));
    let mut ring = LaneRing::new(lanes.each_ref().map(|lane| lane.modulus), digits);
    let mut memory = PowerMemory::new(length, memory);
    let is_long = ring.enter_any(lanes.each_ref().map(|lane| lane.base), memory.base);
    ring.raise(memory.base);
    match exponents {
        Exponents::Secret => {
            fixed_window(lanes.each_ref().map(|lane| lane.exponent), Ring::Lanes(&mut ring), &mut memory);
        }
        Exponents::Public => binary_vartime(lanes, is_long, &mut ring, &mut memory),
    }
    ring.leave(memory.power, results);
}

/// Raises two bases of up to [`pair::pair_limbs`] limbs. Public exponents are equal, and not 0. `memory` has [`pair_digits`] digits and
/// holds secrets afterwards.
///
/// # Panics
/// If the moduli do not have the same length.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn power_pair(
    pair: &[PowerInput<'_>; 2],
    blocks: usize,
    exponents: Exponents,
    memory: &mut [Digit],
    results: &mut [u64],
) {
    let (digits, memory) = memory.split_at_mut(PairRing::digits(blocks));
    let mut ring = PairRing::new(pair.each_ref().map(|of| of.modulus), digits);
    let mut memory = PowerMemory::new(pair::length(blocks), memory);
    ring.enter(pair.each_ref().map(|of| of.base), memory.base);
    let [first, second] = pair.each_ref().map(|of| of.exponent);
    match exponents {
        Exponents::Secret => {
            let lanes = [first, second, first, second, first, second, first, second];
            fixed_window(lanes, Ring::Pair(&mut ring), &mut memory);
        }
        Exponents::Public => {
            let PowerMemory { base, power, .. } = &mut memory;
            power.copy_from_slice(base);
            for position in (0..add::bits_vartime(first) - 1).rev() {
                ring.square(power);
                if add::bit(first, position) == 1 {
                    ring.multiply(power, base);
                }
            }
            ring.divide(power);
        }
    }
    ring.leave(memory.power, results);
}
