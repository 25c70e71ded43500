//! `L` 64-bit words for bitsliced code. Operations apply to all words at a time; compilers turn them into the vector instructions of
//! the target.

use core::ops::{BitAnd, BitOr, BitXor, BitXorAssign, Not};

use zeroize::Zeroize;

#[derive(Clone, Copy, Zeroize)]
pub(super) struct Word<const L: usize>(pub [u64; L]);

impl<const L: usize> Word<L> {
    /// Sets all words to `word`.
    #[inline(always)]
    pub(super) const fn splat(word: u64) -> Self {
        Word([word; L])
    }

    /// Shifts each word left.
    #[inline(always)]
    pub(super) fn left(mut self, bits: u32) -> Self {
        for word in &mut self.0 {
            *word <<= bits;
        }
        self
    }

    /// Shifts each word right.
    #[inline(always)]
    pub(super) fn right(mut self, bits: u32) -> Self {
        for word in &mut self.0 {
            *word >>= bits;
        }
        self
    }

    /// Clears the bits of each word that are not in `mask`.
    #[inline(always)]
    pub(super) fn mask(mut self, mask: u64) -> Self {
        for word in &mut self.0 {
            *word &= mask;
        }
        self
    }
}

macro_rules! bitwise {
    ($trait:ident, $method:ident, $assign:tt) => {
        impl<const L: usize> $trait for Word<L> {
            type Output = Self;
            #[inline(always)]
            fn $method(mut self, other: Self) -> Self {
                for l in 0..L {
                    self.0[l] $assign other.0[l];
                }
                self
            }
        }
    };
}

bitwise!(BitXor, bitxor, ^=);
bitwise!(BitAnd, bitand, &=);
bitwise!(BitOr, bitor, |=);

impl<const L: usize> BitXorAssign for Word<L> {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

impl<const L: usize> Not for Word<L> {
    type Output = Self;
    #[inline(always)]
    fn not(mut self) -> Self {
        for word in &mut self.0 {
            *word = !*word;
        }
        self
    }
}
