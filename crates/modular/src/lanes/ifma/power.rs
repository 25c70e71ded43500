//! Eight exponentiations at once.

use core::arch::x86_64::{
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srai_epi64, _mm512_sub_epi64, _mm512_ternarylogic_epi64,
    _mm512_xor_si512,
};

use super::digits::{BLOCK, BLOCK_BITS, DIGIT_MASK, Digit, LANES, enter, leave};
use super::montgomery::{Moduli, Scratch, multiply, square};
use crate::add;
use crate::reduce::montgomery::negative_inverse;

/// What one lane computes. All lanes have moduli of one length in limbs, and of as many blocks.
#[derive(Clone, Copy)]
pub(crate) struct Lane<'a> {
    pub(crate) modulus: &'a [u64],
    /// 2^(128 limbs) modulo N.
    pub(crate) square: &'a [u64],
    /// Below 2^(520 blocks − 1).
    pub(crate) base: &'a [u64],
    pub(crate) exponent: &'a [u64],
}

/// How the exponent is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exponents {
    /// Constant time.
    Secret,
    /// Bit by bit, for short ones.
    Public,
}

/// Blocks of a modulus of that many bits: R is at least 4 N.
pub(crate) const fn blocks(bits: usize) -> usize {
    (bits + 2).div_ceil(BLOCK_BITS)
}

/// Bits of a window. A look into the table costs as much as a seventh (16 entries) or a quarter (32) of a product.
const fn window_bits(exponent_bits: usize) -> usize {
    match exponent_bits {
        0..16 => 1,
        16..48 => 2,
        48..192 => 3,
        192..576 => 4,
        _ => 5,
    }
}

/// Digits that [`power`] needs.
pub(crate) const fn memory_digits(blocks: usize, exponents: Exponents, exponent_limbs: usize) -> usize {
    let length = BLOCK * blocks;
    let entries = match exponents {
        Exponents::Secret => 1 << window_bits(64 * exponent_limbs),
        Exponents::Public => 2,
    };
    (5 + entries) * length + 1 + Scratch::digits(length)
}

/// Numbers of one exponentiation that last.
struct Memory<'a> {
    n: &'a mut [Digit],
    inverse: &'a mut Digit,
    /// R² modulo N
    form: &'a mut [Digit],
    base: &'a mut [Digit],
    power: &'a mut [Digit],
    /// What is multiplied by.
    factor: &'a mut [Digit],
    table: &'a mut [Digit],
    scratch: Scratch<'a>,
}

impl<'a> Memory<'a> {
    fn new(length: usize, memory: &'a mut [Digit]) -> Self {
        let (numbers, memory) = memory.split_at_mut(5 * length);
        let (inverse, memory) = memory.split_first_mut().expect("a digit");
        let (table, scratch) = memory.split_at_mut(memory.len() - Scratch::digits(length));
        let (n, numbers) = numbers.split_at_mut(length);
        let (form, numbers) = numbers.split_at_mut(length);
        let (base, numbers) = numbers.split_at_mut(length);
        let (power, factor) = numbers.split_at_mut(length);
        Memory { n, inverse, form, base, power, factor, table, scratch: Scratch::new(length, scratch) }
    }
}

/// The number 1 in all lanes.
fn set_one(digits: &mut [Digit]) {
    digits.fill(Digit::default());
    digits[0] = Digit([1; LANES]);
}

/// `form = R²` modulo N, from 2^(128 limbs): a Montgomery square or two and a product with a power of two.
#[target_feature(enable = "avx512f,avx512ifma")]
fn prepare_form(
    form: &mut [Digit],
    factor: &mut [Digit],
    limbs: usize,
    moduli: &Moduli<'_>,
    scratch: &mut Scratch<'_>,
) {
    let r_bits = form.len() / BLOCK * BLOCK_BITS;
    // `form` is 2^exponent. It is above R, since R is less than 2^(64 limbs) · 2^520 and there are five limbs or more.
    let mut exponent = 128 * limbs;
    while exponent < 2 * r_bits {
        square(form, moduli, scratch);
        exponent = 2 * exponent - r_bits;
    }
    if exponent > 2 * r_bits {
        let missing = 3 * r_bits - exponent;
        factor.fill(Digit::default());
        factor[missing / 52] = Digit([1 << (missing % 52); LANES]);
        multiply(form, factor, moduli, scratch);
    }
}

/// Bits of the exponent from `position` on; zeros beyond its end.
#[inline(always)]
fn window(exponent: &[u64], position: usize, bits: usize) -> u64 {
    let (limb, shift) = (position / 64, position % 64);
    let low = exponent.get(limb).map_or(0, |limb| limb >> shift);
    let high = exponent.get(limb + 1).map_or(0, |limb| limb << 1 << (63 - shift));
    (low | high) & ((1 << bits) - 1)
}

/// `a | (b & c)` as VPTERNLOGQ has it.
const OR_AND: i32 = 0b1111_1000;

/// `entry = table[index]` in each lane, found by reading the whole table.
#[target_feature(enable = "avx512f")]
#[inline(never)]
fn look_up(table: &[Digit], indices: &Digit, entry: &mut [Digit]) {
    let length = entry.len();
    let indices = indices.load();
    for (i, entry) in entry.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        let mut found = [_mm512_setzero_si512(); BLOCK];
        for (index, candidate) in table.chunks_exact(length).enumerate() {
            let candidate: &[Digit; BLOCK] = candidate[BLOCK * i..].first_chunk().expect("a block");
            // All ones where there is no difference. Mask registers are for what is public.
            let difference = _mm512_xor_si512(indices, _mm512_set1_epi64(index as i64));
            let is_it = _mm512_srai_epi64::<63>(_mm512_sub_epi64(difference, _mm512_set1_epi64(1)));
            for k in 0..BLOCK {
                found[k] = _mm512_ternarylogic_epi64::<OR_AND>(found[k], is_it, candidate[k].load());
            }
        }
        for k in 0..BLOCK {
            entry[k].store(found[k]);
        }
    }
}

/// `power = base ^ exponent`: `base` in Montgomery form, `power` is not.
#[target_feature(enable = "avx512f,avx512ifma")]
fn fixed_window(exponents: [&[u64]; LANES], memory: &mut Memory<'_>) {
    let bits = 64 * exponents.iter().map(|exponent| exponent.len()).max().unwrap_or(0);
    let window_bits = window_bits(bits);
    let length = memory.n.len();
    let Memory { n, inverse, form, base, power, factor, table, scratch } = memory;
    let moduli = Moduli { n, inverse };

    // 1 in Montgomery form, and the powers of the base.
    set_one(&mut table[..length]);
    multiply(&mut table[..length], form, &moduli, scratch);
    table[length..2 * length].copy_from_slice(base);
    for i in 2..1 << window_bits {
        let (below, from) = table.split_at_mut(i * length);
        let next = &mut from[..length];
        if i % 2 == 0 {
            next.copy_from_slice(&below[i / 2 * length..][..length]);
            square(next, &moduli, scratch);
        } else {
            next.copy_from_slice(&below[(i - 1) * length..]);
            multiply(next, base, &moduli, scratch);
        }
    }

    power.copy_from_slice(&table[..length]);
    let windows = bits.div_ceil(window_bits);
    for i in (0..windows).rev() {
        let indices = Digit(core::array::from_fn(|lane| window(exponents[lane], i * window_bits, window_bits)));
        if i == windows - 1 {
            look_up(table, &indices, power);
            continue;
        }
        for _ in 0..window_bits {
            square(power, &moduli, scratch);
        }
        look_up(table, &indices, factor);
        multiply(power, factor, &moduli, scratch);
    }
    set_one(factor);
    multiply(power, factor, &moduli, scratch);
}

/// The same for public exponents: a square for every bit and a product where a lane has a one. The last product is with
/// the base itself, or 1, which leaves Montgomery form.
#[target_feature(enable = "avx512f,avx512ifma")]
fn binary_vartime(lanes: &[Lane<'_>; LANES], memory: &mut Memory<'_>) {
    let length = memory.n.len();
    let Memory { n, inverse, form, base, power, factor, table, scratch } = memory;
    let moduli = Moduli { n, inverse };
    let bits = lanes.iter().map(|lane| add::bits_vartime(lane.exponent)).max().unwrap_or(0);

    // 1 in Montgomery form, where lanes differ.
    let one = &mut table[..length];
    set_one(one);
    if lanes.iter().any(|lane| add::compare_vartime(lane.exponent, lanes[0].exponent).is_ne()) || bits < 2 {
        multiply(one, form, &moduli, scratch);
    }
    power.copy_from_slice(one);
    for position in (1..bits).rev() {
        let bits_here: [u64; LANES] = core::array::from_fn(|lane| add::bit(lanes[lane].exponent, position));
        for (factor, (base, one)) in factor.iter_mut().zip(base.iter().zip(&*one)) {
            for lane in 0..LANES {
                factor.0[lane] = if bits_here[lane] == 1 { base.0[lane] } else { one.0[lane] };
            }
        }
        if position == bits - 1 {
            power.copy_from_slice(factor);
        } else if bits_here != [0; LANES] {
            multiply(power, factor, &moduli, scratch);
        }
        square(power, &moduli, scratch);
    }
    for (lane, job) in lanes.iter().enumerate() {
        enter(if add::bit(job.exponent, 0) == 1 { job.base } else { &[1] }, factor, lane);
    }
    multiply(power, factor, &moduli, scratch);
}

/// Raises the bases; `memory` has [`memory_digits`] digits and holds secrets afterwards.
///
/// # Panics
/// If the moduli have not the same length.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn power(
    lanes: &[Lane<'_>; LANES],
    blocks: usize,
    exponents: Exponents,
    memory: &mut [Digit],
    results: &mut [u64],
) {
    let length = BLOCK * blocks;
    let limbs = lanes[0].modulus.len();
    assert_eq!(results.len(), LANES * limbs);
    let mut memory = Memory::new(length, memory);
    for (i, lane) in lanes.iter().enumerate() {
        assert!(lane.modulus.len() == limbs && lane.square.len() == limbs && limbs > 4);
        enter(lane.modulus, memory.n, i);
        enter(lane.square, memory.form, i);
        enter(lane.base, memory.base, i);
        memory.inverse.0[i] = negative_inverse(lane.modulus[0]) & DIGIT_MASK;
    }
    let moduli = Moduli { n: memory.n, inverse: memory.inverse };
    prepare_form(memory.form, memory.factor, limbs, &moduli, &mut memory.scratch);
    multiply(memory.base, memory.form, &moduli, &mut memory.scratch);
    match exponents {
        Exponents::Secret => fixed_window(lanes.map(|lane| lane.exponent), &mut memory),
        Exponents::Public => binary_vartime(lanes, &mut memory),
    }
    // Below 2 N.
    for (i, result) in results.chunks_exact_mut(limbs).enumerate() {
        let carry = leave(memory.power, i, result);
        add::subtract_once(result, carry, lanes[i].modulus);
    }
}
