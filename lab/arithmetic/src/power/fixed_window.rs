//! Montgomery exponentiation with a fixed window, in constant time: every window takes the same number of squares, one reading of the whole
//! table and one product, whatever its bits.

use crate::reduce::montgomery::cios;
use crate::{Limb, add};

/// Window length in bits for an exponent of this many bits.
pub(crate) const fn window_bits(exponent_bits: usize) -> usize {
    match exponent_bits {
        0..24 => 1,
        24..80 => 3,
        80..240 => 4,
        240..1024 => 5,
        _ => 6,
    }
}

/// Number of digits of scratch memory that [`fixed_window`] needs.
pub const fn fixed_window_scratch(digits: usize, exponent_bits: usize) -> usize {
    digits * ((1 << window_bits(exponent_bits)) + 2)
}

/// `result = base ^ exponent` in Montgomery form: `base` is x R, `one` is R modulo N, the result x^e R.
///
/// Constant time for base, exponent and modulus: the time depends only on the lengths of the slices. The scratch memory of
/// [`fixed_window_scratch`] digits holds secrets afterwards.
#[allow(clippy::too_many_arguments)]
pub fn fixed_window<L: Limb>(
    base: &[L],
    exponent: &[L],
    modulus: &[L],
    inverse: L,
    one: &[L],
    result: &mut [L],
    scratch: &mut [L],
) {
    let n = modulus.len();
    let exponent_bits = exponent.len() * L::BITS as usize;
    let window = window_bits(exponent_bits);
    let (table, rest) = scratch[..fixed_window_scratch(n, exponent_bits)].split_at_mut(n << window);
    let (other, entry) = rest.split_at_mut(n);

    table[..n].copy_from_slice(one);
    table[n..2 * n].copy_from_slice(base);
    for i in 2..1 << window {
        let (below, from) = table.split_at_mut(i * n);
        cios(&below[(i - 1) * n..], base, modulus, inverse, &mut from[..n]);
    }

    result.copy_from_slice(one);
    for position in (0..exponent_bits.div_ceil(window)).rev() {
        for _ in 0..window {
            cios(result, result, modulus, inverse, other);
            result.copy_from_slice(other);
        }
        let mut index = L::ZERO;
        for bit in (0..window).rev() {
            index = (index << 1) | add::bit(exponent, position * window + bit);
        }
        gather(table, index, entry);
        cios(result, entry, modulus, inverse, other);
        result.copy_from_slice(other);
    }
}

/// Finds the table's entry with this index by reading the whole table.
#[inline(always)]
pub(crate) fn gather<L: Limb>(table: &[L], index: L, entry: &mut [L]) {
    entry.fill(L::ZERO);
    for (i, candidate) in table.chunks_exact(entry.len()).enumerate() {
        let mask = (index ^ L::from_u64(i as u64)).is_zero().mask();
        for (digit, &of_candidate) in entry.iter_mut().zip(candidate) {
            *digit = *digit | (of_candidate & mask);
        }
    }
}
