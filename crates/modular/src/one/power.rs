//! Powers of one number at a time.

use alloc::vec;
use alloc::vec::Vec;
use core::array;

use zeroize::Zeroizing;

use super::MontgomeryMultiplier;
use crate::{Limb, add};

/// [`power`] or [`power_vartime`].
pub(crate) type PowerFunction = fn(&mut MontgomeryMultiplier<'_>, &[u64], &[u64], &[u64]) -> Zeroizing<Vec<u64>>;

/// Window length in bits for an exponent of this many bits.
const fn window_bits(exponent_bits: usize) -> usize {
    match exponent_bits {
        0..24 => 1,
        24..80 => 3,
        80..240 => 4,
        _ => 5,
    }
}

/// `base ^ exponent` in Montgomery form, where `base` and `one` are also in Montgomery form. The result may be above N. The time depends
/// only on lengths: every window takes the same number of squares, one reading of the whole table and one product.
pub(crate) fn power(
    montgomery: &mut MontgomeryMultiplier<'_>,
    base: &[u64],
    exponent: &[u64],
    one: &[u64],
) -> Zeroizing<Vec<u64>> {
    let n = base.len();
    let bits = 64 * exponent.len();
    let window = window_bits(bits);

    let mut table = Zeroizing::new(vec![0; n << window]);
    table[..n].copy_from_slice(one);
    table[n..2 * n].copy_from_slice(base);
    for i in 2..1 << window {
        let (below, from) = table.split_at_mut(i * n);
        let next = &mut from[..n];
        if i % 2 == 0 {
            next.copy_from_slice(&below[i / 2 * n..][..n]);
            montgomery.square(next);
        } else {
            next.copy_from_slice(&below[(i - 1) * n..]);
            montgomery.multiply(next, base);
        }
    }

    let mut power = Zeroizing::new(one.to_vec());
    let mut entry = Zeroizing::new(vec![0; n]);
    let windows = bits.div_ceil(window);
    for i in (0..windows).rev() {
        look_up(&table, window_of(exponent, i * window, window), &mut entry);
        if i == windows - 1 {
            power.copy_from_slice(&entry);
            continue;
        }
        for _ in 0..window {
            montgomery.square(&mut power);
        }
        montgomery.multiply(&mut power, &entry);
    }
    power
}

/// Bits of the exponent from `position` on; zeros beyond its end.
#[inline(always)]
pub(crate) fn window_of(exponent: &[u64], position: usize, bits: usize) -> u64 {
    let (limb, shift) = (position / 64, position % 64);
    let low = exponent.get(limb).map_or(0, |limb| limb >> shift);
    let high = exponent.get(limb + 1).map_or(0, |limb| limb << 1 << (63 - shift));
    (low | high) & ((1 << bits) - 1)
}

/// Finds the entry with this index by reading the whole table.
#[inline(never)]
pub(crate) fn look_up(table: &[u64], index: u64, entry: &mut [u64]) {
    let length = entry.len();
    let (sixteens, rest) = entry.as_chunks_mut::<16>();
    let start = 16 * sixteens.len();
    for (k, part) in sixteens.iter_mut().enumerate() {
        look_up_part(table, length, 16 * k, index, part);
    }
    let (eights, rest) = rest.as_chunks_mut::<8>();
    let end = start + 8 * eights.len();
    for part in eights {
        look_up_part(table, length, start, index, part);
    }
    for (k, digit) in rest.iter_mut().enumerate() {
        look_up_part(table, length, end + k, index, array::from_mut(digit));
    }
}

/// Finds the digits from `start` on of the entry, few enough to stay in registers.
#[inline(always)]
fn look_up_part<const DIGITS: usize>(table: &[u64], length: usize, start: usize, index: u64, part: &mut [u64; DIGITS]) {
    let mut found = [0; DIGITS];
    for (i, candidate) in table.chunks_exact(length).enumerate() {
        let mask = (index ^ i as u64).is_zero().mask();
        let candidate: &[u64; DIGITS] = candidate[start..].first_chunk().expect("as many digits");
        for (digit, of_candidate) in found.iter_mut().zip(candidate) {
            *digit |= of_candidate & mask;
        }
    }
    *part = found;
}

/// Like [`power`], but reads the exponent bit by bit, for public exponents.
pub(crate) fn power_vartime(
    montgomery: &mut MontgomeryMultiplier<'_>,
    base: &[u64],
    exponent: &[u64],
    one: &[u64],
) -> Zeroizing<Vec<u64>> {
    let mut power = Zeroizing::new(one.to_vec());
    let bits = add::bits_vartime(exponent);
    for position in (0..bits).rev() {
        if position == bits - 1 {
            power.copy_from_slice(base);
            continue;
        }
        montgomery.square(&mut power);
        if add::bit(exponent, position) == 1 {
            montgomery.multiply(&mut power, base);
        }
    }
    power
}
