//! Powers of a fixed base with a table: a comb, whose teeth are bits of the exponent that are far apart.
//!
//! C. H. Lim, P. J. Lee, More flexible exponentiation with precomputation, CRYPTO '94. For tooth *i* and table *j*, bit
//! *c* + *e* (*j* + 4 *i*) of an exponent belongs to column *c* of *e* columns. A table has the product of base ^ (2^(*e* (*j* + 4 *i*)))
//! over every choice of teeth. From column to column the power is squared. So 256 bits take 12 squares and 51 products.

use alloc::vec;
use alloc::vec::Vec;

use zeroize::{Zeroize, Zeroizing};

use crate::one::{self, MontgomeryMultiplier};
use crate::{Modulus, add};

/// Number of exponent bits that select an entry.
const TEETH: usize = 5;
/// Number of entries in a table.
pub(super) const ENTRIES: usize = 1 << TEETH;
/// Number of tables: one for each part of the distance between two teeth.
pub(super) const TABLES: usize = 4;

/// A base with a table of its powers. Wiped when it is dropped.
#[derive(Clone)]
pub struct Comb {
    modulus: Modulus,
    columns: usize,
    /// All entries of the first table, then of the next, in Montgomery form. If the machine has lanes for this modulus, it is the form of
    /// the lanes, in digits of 52 bits; otherwise the form of `Modulus`, in limbs.
    table: Vec<u64>,
}

/// One exponentiation: `result = base ^ exponent` modulo the comb's modulus.
pub struct CombPower<'a> {
    /// Base and modulus; each job may have its own.
    pub comb: &'a Comb,
    /// Exponent, with no more bits than the comb was made for.
    pub exponent: &'a [u64],
    /// Destination of the result: [`Modulus::limbs`] digits.
    pub result: &'a mut [u64],
}

impl Comb {
    /// Makes the table for exponents of up to `bits` bits, at most 65,536; 0 counts as 1. Takes as long as a few powers. The time depends
    /// only on lengths.
    ///
    /// # Panics
    /// If `bits` is above 65,536.
    pub fn new(modulus: &Modulus, base: &[u64], bits: usize) -> Comb {
        assert!(bits <= 65_536, "a comb for too many bits");
        let columns = bits.div_ceil(TEETH * TABLES).max(1);
        // base ^ (2^(columns · k)), where k = j + 4 i for tooth i and table j.
        let mut step = vec![0; columns / 64 + 1];
        step[columns / 64] = 1 << (columns % 64);
        let mut powers = vec![Zeroizing::new(modulus.reduce(base))];
        for k in 1..TEETH * TABLES {
            powers.push(Zeroizing::new(modulus.power(&powers[k - 1], &step)));
        }
        let mut table = Vec::with_capacity(TABLES * ENTRIES * modulus.limbs());
        for j in 0..TABLES {
            let mut entries = vec![Zeroizing::new(Self::one(modulus))];
            for index in 1..ENTRIES {
                let tooth = index.ilog2() as usize;
                let next = modulus.multiply(&entries[index - (1 << tooth)], &powers[j + TABLES * tooth]);
                entries.push(Zeroizing::new(next));
            }
            entries.iter().for_each(|entry| table.extend_from_slice(entry));
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = modulus.in_lanes() {
            let limbs = Zeroizing::new(table);
            table = limbs.chunks_exact(modulus.limbs()).flat_map(|entry| lanes.digits(entry)).collect();
        }
        Comb { modulus: modulus.clone(), columns, table }
    }

    /// The number 1 in the form of the table.
    fn one(modulus: &Modulus) -> Vec<u64> {
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = modulus.in_lanes() {
            return modulus.power_vartime(&[2], &[lanes.bits() as u64]);
        }
        modulus.montgomery_one().to_vec()
    }

    /// The modulus.
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// Largest length of an exponent in bits.
    pub fn bits(&self) -> usize {
        TEETH * TABLES * self.columns
    }

    #[cfg(target_arch = "x86_64")]
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// The entries of table `j`.
    pub(super) fn table(&self, j: usize) -> &[u64] {
        let length = self.table.len() / TABLES;
        &self.table[length * j..][..length]
    }

    /// The index of the entry that a column selects from table `j`.
    #[inline]
    pub(super) fn index(&self, exponent: &[u64], column: usize, j: usize) -> u64 {
        (0..TEETH)
            .map(|tooth| add::bit(exponent, column + self.columns * (j + TABLES * tooth)) << tooth)
            .fold(0, |index, bit| index | bit)
    }

    /// Computes one power, without lanes.
    pub(super) fn power_one(&self, exponent: &[u64], result: &mut [u64]) {
        let n = self.modulus.limbs();
        let mut montgomery = MontgomeryMultiplier::new(self.modulus.as_limbs(), self.modulus.negative_inverse());
        let mut power = Zeroizing::new(self.modulus.montgomery_one().to_vec());
        let mut entry = Zeroizing::new(vec![0; n]);
        for column in (0..self.columns).rev() {
            if column + 1 < self.columns {
                montgomery.square(&mut power);
            }
            for j in 0..TABLES {
                one::look_up(self.table(j), self.index(exponent, column, j), &mut entry);
                montgomery.multiply(&mut power, &entry);
            }
        }
        result.fill(0);
        result[0] = 1;
        montgomery.multiply_below(result, &power);
    }
}

impl Drop for Comb {
    fn drop(&mut self) {
        self.table.zeroize();
    }
}

impl core::fmt::Debug for Comb {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Comb of a base modulo {:?}, for {} bits", self.modulus, self.bits())
    }
}
