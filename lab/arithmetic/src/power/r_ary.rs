//! The r-ary method, which the paper mentions: reads the exponent's digits in base r = 2^k from the highest down, with a table of the
//! powers below r (D. E. Knuth, The Art of Computer Programming 2, section 4.6.3).

use super::{Accumulator, check, window};
use crate::reduce::Ring;
use crate::{Error, Limb};

/// Number of digits of scratch memory that [`r_ary_vartime`] needs with r = 2^`k`.
pub fn r_ary_scratch<L: Limb>(ring: &(impl Ring<L> + ?Sized), k: usize) -> usize {
    (ring.modulus().len() << k) + ring.scratch()
}

/// `result = base ^ exponent` with r = 2^`k`, `k` from 1 to 8. For an exponent of l bits, about l squares and l / k · (1 − 2^−k) products,
/// and 2^k − 2 products for the table.
///
/// # Panics
/// If `k` is not from 1 to 8.
pub fn r_ary_vartime<L: Limb>(
    ring: &(impl Ring<L> + ?Sized),
    base: &[L],
    exponent: &[L],
    k: usize,
    result: &mut [L],
    scratch: &mut [L],
) -> Result<(), Error> {
    assert!((1..=8).contains(&k), "r is 2 to 256");
    let bits = check(ring, base, exponent, result, scratch, r_ary_scratch(ring, k))?;
    let n = base.len();
    // base ^ 1, base ^ 2, … base ^ (r − 1).
    let (table, rest) = scratch.split_at_mut(n * ((1 << k) - 1));
    table[..n].copy_from_slice(base);
    for i in 1..(1 << k) - 1 {
        let (below, from) = table.split_at_mut(i * n);
        ring.multiply(&below[(i - 1) * n..], base, &mut from[..n], rest);
    }
    let digits = bits.div_ceil(k);
    // The highest digit is not zero.
    let first = window(exponent, (digits - 1) * k, k);
    result.copy_from_slice(&table[(first - 1) * n..first * n]);
    let mut power = Accumulator::new(ring, result, rest);
    for position in (0..digits - 1).rev() {
        for _ in 0..k {
            power.square();
        }
        let digit = window(exponent, position * k, k);
        if digit > 0 {
            power.multiply(&table[(digit - 1) * n..digit * n]);
        }
    }
    Ok(())
}
