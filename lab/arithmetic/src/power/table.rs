//! The power table, which the paper mentions: base ^ (2^i) for every i, computed once for a base. Then a power takes only products, one for
//! each set bit.

use super::{Accumulator, check};
use crate::reduce::Ring;
use crate::{Error, Limb, add};

/// Number of digits of a table for exponents of up to `bits` bits.
pub fn power_table_digits<L: Limb>(ring: &(impl Ring<L> + ?Sized), bits: usize) -> usize {
    bits * ring.modulus().len()
}

/// The repeated squares of a base.
#[derive(Clone, Copy, Debug)]
pub struct PowerTable<'a, L, R: ?Sized> {
    ring: &'a R,
    table: &'a [L],
}

impl<'a, L: Limb, R: Ring<L> + ?Sized> PowerTable<'a, L, R> {
    /// Fills the table. Its length determines the maximum length of exponents. Needs the ring's scratch memory.
    pub fn new(ring: &'a R, base: &[L], table: &'a mut [L], scratch: &mut [L]) -> Result<Self, Error> {
        ring.check(base)?;
        let n = base.len();
        if table.is_empty() || !table.len().is_multiple_of(n) || scratch.len() < ring.scratch() {
            return Err(Error::Length);
        }
        table[..n].copy_from_slice(base);
        for i in 1..table.len() / n {
            let (below, from) = table.split_at_mut(i * n);
            ring.square(&below[(i - 1) * n..], &mut from[..n], scratch);
        }
        Ok(PowerTable { ring, table })
    }

    /// Number of digits of scratch memory that [`power_vartime`](Self::power_vartime) needs.
    pub fn scratch(&self) -> usize {
        self.ring.modulus().len() + self.ring.scratch()
    }

    /// `result = base ^ exponent`. The table must be long enough for the exponent.
    pub fn power_vartime(&self, exponent: &[L], result: &mut [L], scratch: &mut [L]) -> Result<(), Error> {
        let n = self.ring.modulus().len();
        let bits = check(self.ring, &self.table[..n], exponent, result, scratch, self.scratch())?;
        if bits > self.table.len() / n {
            return Err(Error::Length);
        }
        // The highest bit is set.
        result.copy_from_slice(&self.table[(bits - 1) * n..bits * n]);
        let mut power = Accumulator::new(self.ring, result, scratch);
        for position in 0..bits - 1 {
            if add::bit(exponent, position) == L::ONE {
                power.multiply(&self.table[position * n..][..n]);
            }
        }
        Ok(())
    }
}
