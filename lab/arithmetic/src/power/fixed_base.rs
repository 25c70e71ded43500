//! Powers of a fixed base, as Schnorr signatures and DSA raise their generator: base ^ (2^(k i)) is computed once for every position i of
//! an exponent's digits, and entries whose digits are equal are multiplied together before they are raised.
//!
//! E. F. Brickell, D. M. Gordon, K. S. McCurley, D. B. Wilson, Fast exponentiation with precomputation, EUROCRYPT '92.

use super::{Accumulator, check, window};
use crate::reduce::Ring;
use crate::{Error, Limb};

/// Number of digits of a table for exponents of up to `bits` bits, read as digits of `k` bits.
pub fn fixed_base_digits<L: Limb>(ring: &(impl Ring<L> + ?Sized), bits: usize, k: usize) -> usize {
    bits.div_ceil(k) * ring.modulus().len()
}

/// The table of a fixed base.
#[derive(Clone, Copy, Debug)]
pub struct FixedBase<'a, L, R: ?Sized> {
    ring: &'a R,
    table: &'a [L],
    k: usize,
}

impl<'a, L: Limb, R: Ring<L> + ?Sized> FixedBase<'a, L, R> {
    /// Fills the table for digits of `k` bits, 1 to 8. The table's length determines the maximum length of exponents. Needs n digits of
    /// scratch memory in addition to the ring's.
    ///
    /// # Panics
    /// If `k` is not from 1 to 8.
    pub fn new(ring: &'a R, base: &[L], k: usize, table: &'a mut [L], scratch: &mut [L]) -> Result<Self, Error> {
        assert!((1..=8).contains(&k), "digits of 1 to 8 bits");
        ring.check(base)?;
        let n = base.len();
        if table.is_empty() || !table.len().is_multiple_of(n) || scratch.len() < n + ring.scratch() {
            return Err(Error::Length);
        }
        table[..n].copy_from_slice(base);
        for i in 1..table.len() / n {
            table.copy_within((i - 1) * n..i * n, i * n);
            let mut entry = Accumulator::new(ring, &mut table[i * n..(i + 1) * n], scratch);
            for _ in 0..k {
                entry.square();
            }
        }
        Ok(FixedBase { ring, table, k })
    }

    /// Number of digits of scratch memory that [`power_vartime`](Self::power_vartime) needs.
    pub fn scratch(&self) -> usize {
        2 * self.ring.modulus().len() + self.ring.scratch()
    }

    /// `result = base ^ exponent`. The table must be long enough for the exponent. About l / k + 2^k products for an exponent of l bits.
    pub fn power_vartime(&self, exponent: &[L], result: &mut [L], scratch: &mut [L]) -> Result<(), Error> {
        let n = self.ring.modulus().len();
        let bits = check(self.ring, &self.table[..n], exponent, result, scratch, self.scratch())?;
        let digits = bits.div_ceil(self.k);
        if digits > self.table.len() / n {
            return Err(Error::Length);
        }
        // With c_d the product of the entries whose digit is d, the power is the product of all c_d ^ d: the product of all (c_r−1 · … ·
        // c_d), for d from r − 1 down to 1.
        self.ring.one(result);
        let (collected, scratch) = scratch.split_at_mut(n);
        self.ring.one(collected);
        let mut power = Accumulator::new(self.ring, result, scratch);
        for value in (1..1 << self.k).rev() {
            for i in 0..digits {
                if window(exponent, i * self.k, self.k) == value {
                    self.ring.multiply(collected, &self.table[i * n..][..n], power.next, power.scratch);
                    collected.copy_from_slice(power.next);
                }
            }
            power.multiply(collected);
        }
        Ok(())
    }
}
