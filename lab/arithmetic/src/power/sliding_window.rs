//! Sliding windows: runs of zeros take only squares, windows begin and end with a one, and the table contains only odd powers (A. J.
//! Menezes, P. C. van Oorschot, S. A. Vanstone, Handbook of Applied Cryptography, 14.85).

use super::{Accumulator, check, window};
use crate::reduce::Ring;
use crate::{Error, Limb, add};

/// Number of digits of scratch memory that [`sliding_window_vartime`] needs with windows of `k` bits.
pub fn sliding_window_scratch<L: Limb>(ring: &impl Ring<L>, k: usize) -> usize {
    let n = ring.modulus().len();
    (n << (k - 1)) + 2 * n + ring.scratch()
}

/// `result = base ^ exponent` with windows of up to `k` bits, 1 to 8. For an exponent of l bits, about l squares and l / (k + 1) products,
/// and 2^(k−1) products for the table.
///
/// # Panics
/// If `k` is not from 1 to 8.
pub fn sliding_window_vartime<L: Limb>(
    ring: &impl Ring<L>,
    base: &[L],
    exponent: &[L],
    k: usize,
    result: &mut [L],
    scratch: &mut [L],
) -> Result<(), Error> {
    assert!((1..=8).contains(&k), "windows of 1 to 8 bits");
    let bits = check(ring, base, exponent, result, scratch, sliding_window_scratch(ring, k))?;
    let n = base.len();
    // base ^ 1, base ^ 3, … base ^ (2^k − 1).
    let (table, rest) = scratch.split_at_mut(n << (k - 1));
    let (square, rest) = rest.split_at_mut(n);
    ring.square(base, square, rest);
    table[..n].copy_from_slice(base);
    for i in 1..1 << (k - 1) {
        let (below, from) = table.split_at_mut(i * n);
        ring.multiply(&below[(i - 1) * n..], square, &mut from[..n], rest);
    }

    // The bits from this position on are processed. The highest bit is set, so the first window sets the power.
    let mut position = bits;
    let mut power = Accumulator::new(ring, result, rest);
    while position > 0 {
        if add::bit(exponent, position - 1) == L::ZERO {
            power.square();
            position -= 1;
            continue;
        }
        let mut length = k.min(position);
        while add::bit(exponent, position - length) == L::ZERO {
            length -= 1;
        }
        let odd = window(exponent, position - length, length);
        let entry = &table[odd / 2 * n..][..n];
        if position == bits {
            power.value.copy_from_slice(entry);
        } else {
            for _ in 0..length {
                power.square();
            }
            power.multiply(entry);
        }
        position -= length;
    }
    Ok(())
}
