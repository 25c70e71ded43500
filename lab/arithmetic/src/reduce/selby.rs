//! Reduction with a table of residues, which the paper mentions as Selby's: each digit above the modulus is replaced by its multiple of a
//! reduced power of b.
//!
//! A. Selby, C. Mitchell, Algorithms for software implementations of RSA, IEE Proceedings E 136 (1989). Written from descriptions by
//! others, with a table of residues instead of quotients.

use super::{check, divide_vartime};
use crate::multiply::multiply_add_row;
use crate::{Error, Limb};

/// Multiplication modulo N by a product and a table. Not constant time; the modulus may be even.
#[derive(Clone, Copy, Debug)]
pub struct Selby<'a, L> {
    modulus: &'a [L],
    /// b^n, b^(n+1), …, b^(2n−1) modulo N.
    table: &'a [L],
}

impl<'a, L: Limb> Selby<'a, L> {
    /// Computes the table into memory of n² digits, with n + 1 digits of scratch memory.
    pub fn new(modulus: &'a [L], table: &'a mut [L], scratch: &mut [L]) -> Result<Self, Error> {
        check(modulus)?;
        let n = modulus.len();
        if table.len() != n * n || scratch.len() < n + 1 {
            return Err(Error::Length);
        }
        let value = &mut scratch[..n + 1];
        value.fill(L::ZERO);
        value[n] = L::ONE;
        for residue in table.chunks_exact_mut(n) {
            divide_vartime(value, modulus, None)?;
            residue.copy_from_slice(&value[..n]);
            // Times b.
            value[1..].copy_from_slice(residue);
            value[0] = L::ZERO;
        }
        Ok(Selby { modulus, table })
    }

    /// `result = value` modulo N for a value of 2 n digits, with n + 2 digits of scratch memory.
    ///
    /// n² products of digits, and two or three steps of the classical division for the part above the modulus.
    pub fn reduce_vartime(&self, value: &[L], result: &mut [L], scratch: &mut [L]) -> Result<(), Error> {
        let n = self.modulus.len();
        if value.len() != 2 * n || result.len() != n || scratch.len() < n + 2 {
            return Err(Error::Length);
        }
        let (low, upper) = value.split_at(n);
        // Below (n b + 1) b^n.
        let sum = &mut scratch[..n + 2];
        sum[..n].copy_from_slice(low);
        sum[n..].fill(L::ZERO);
        for (&digit, residue) in upper.iter().zip(self.table.chunks_exact(n)) {
            let carry = multiply_add_row(residue, digit, sum);
            let above;
            (sum[n], above) = sum[n].add(carry, L::ZERO);
            (sum[n + 1], _) = sum[n + 1].add(above, L::ZERO);
        }
        divide_vartime(sum, self.modulus, None)?;
        result.copy_from_slice(&sum[..n]);
        Ok(())
    }
}

ring_by_reduction!(Selby::reduce_vartime, |n| 3 * n + 2);
