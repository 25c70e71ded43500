//! Barrett's reduction, which the paper mentions: the quotient is computed by multiplication with a precomputed reciprocal.
//!
//! P. Barrett, Implementing the Rivest Shamir and Adleman public key encryption algorithm on a standard digital signal
//! processor, CRYPTO '86; A. J. Menezes, P. C. van Oorschot, S. A. Vanstone, Handbook of Applied Cryptography, 14.42.

use super::{check, divide_vartime};
use crate::multiply::{multiply_add_row, multiply_subtract_row};
use crate::{Error, Limb, add};

/// Number of digits of scratch memory that [`Barrett::new_vartime`] needs.
pub const fn barrett_scratch(digits: usize) -> usize {
    2 * digits + 1
}

/// Multiplication modulo N with reduction by a reciprocal. Products take constant time, the set-up does not. The modulus may be even.
#[derive(Clone, Copy, Debug)]
pub struct Barrett<'a, L> {
    modulus: &'a [L],
    /// b^2n / N, rounded down: n + 1 digits, because the highest digit of N is not zero; n + 2 for N = b^(n − 1).
    reciprocal: &'a [L],
}

impl<'a, L: Limb> Barrett<'a, L> {
    /// Computes the reciprocal into memory of n + 2 digits, with [`barrett_scratch`] digits of scratch memory.
    pub fn new_vartime(modulus: &'a [L], reciprocal: &'a mut [L], scratch: &mut [L]) -> Result<Self, Error> {
        check(modulus)?;
        let n = modulus.len();
        if reciprocal.len() != n + 2 || scratch.len() < barrett_scratch(n) {
            return Err(Error::Length);
        }
        let power = &mut scratch[..2 * n + 1];
        power.fill(L::ZERO);
        power[2 * n] = L::ONE;
        divide_vartime(power, modulus, Some(reciprocal))?;
        Ok(Barrett { modulus, reciprocal })
    }

    /// `result = value` modulo N for any value of 2 n digits, with 3 n + 4 digits of scratch memory.
    ///
    /// n² + O(n) products of digits: the upper half of one product and the lower half of another.
    pub fn reduce(&self, value: &[L], result: &mut [L], scratch: &mut [L]) -> Result<(), Error> {
        let n = self.modulus.len();
        if value.len() != 2 * n || result.len() != n || scratch.len() < 3 * n + 4 {
            return Err(Error::Length);
        }
        // The quotient is (value / b^(n−1)) · reciprocal / b^(n+1), without the columns below n − 1. It is too small by at most three: one
        // for each of two roundings, one for those columns.
        let upper = &value[n - 1..];
        let (columns, rest) = scratch.split_at_mut(2 * n + 3);
        columns.fill(L::ZERO);
        for (i, &factor) in self.reciprocal.iter().enumerate() {
            let first = (n - 1).saturating_sub(i);
            let row = &mut columns[i + first..];
            let above = &upper[first.min(upper.len())..];
            let carry = multiply_add_row(above, factor, row);
            row[above.len()] = carry;
        }
        let quotient = &columns[n + 1..2 * n + 2];
        // The remainder modulo b^(n+1), which is large enough for it.
        let rest = &mut rest[..n + 1];
        rest.copy_from_slice(&value[..n + 1]);
        for i in 0..=n {
            let length = (n + 1 - i).min(n);
            let part = &mut rest[i..];
            let borrow = multiply_subtract_row(&self.modulus[..length], quotient[i], part);
            if length < part.len() {
                (part[length], _) = part[length].subtract(borrow, L::ZERO);
            }
        }
        let (low, top) = rest.split_at_mut(n);
        for _ in 0..3 {
            let less = add::is_less(low, self.modulus);
            let enough = top[0].is_zero() & less;
            let borrow = add::subtract_masked(low, self.modulus, (enough ^ L::ONE).mask());
            (top[0], _) = top[0].subtract(borrow, L::ZERO);
        }
        result.copy_from_slice(low);
        Ok(())
    }
}

ring_by_reduction!(Barrett::reduce, |n| 5 * n + 4);
