//! The digit type, with 16, 32 or 64 bits.

use core::fmt::Debug;
use core::hint::black_box;
use core::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

use zeroize::Zeroize;

/// Limits the implementations of [`Limb`] to this crate.
pub trait Sealed {}

/// A digit in base b = 2^[`BITS`](Self::BITS): `u16`, `u32` or `u64`. Other crates cannot implement it.
///
/// Carries and borrows are digits too, 0 or 1. All operations take the same time for all values, except [`divide`](Self::divide) and the
/// comparisons of `Ord`.
pub trait Limb:
    Sealed
    + Copy
    + Ord
    + Default
    + Debug
    + Zeroize
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + 'static
{
    /// Length of a digit in bits.
    const BITS: u32;
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// b − 1
    const MAX: Self;

    /// `self + other + carry` as (digit, carry); the carry is 0 or 1.
    fn add(self, other: Self, carry: Self) -> (Self, Self);

    /// `self − other − borrow` as (digit, borrow); the borrow is 0 or 1.
    fn subtract(self, other: Self, borrow: Self) -> (Self, Self);

    /// `self · other + addend + carry` as (digit, carry), which cannot overflow; the carry is a whole digit.
    fn multiply_add(self, other: Self, addend: Self, carry: Self) -> (Self, Self);

    /// `self · other` modulo b.
    fn multiply_low(self, other: Self) -> Self;

    /// `high · b + self` divided by `divisor`: (quotient, remainder). `high` must be below `divisor`.
    fn divide(self, high: Self, divisor: Self) -> (Self, Self);

    /// Number of zero bits above the highest one; [`BITS`](Self::BITS) for 0.
    fn leading_zeros(self) -> u32;

    /// Number of zero bits below the lowest one; [`BITS`](Self::BITS) for 0.
    fn trailing_zeros(self) -> u32;

    /// The number modulo b.
    fn from_u64(number: u64) -> Self;

    /// Converts the digit to `u64`.
    fn to_u64(self) -> u64;

    /// `product = a · b` by assembly, if this machine has some for these lengths. Returns whether it has.
    #[doc(hidden)]
    fn multiply_blocks(_: &[Self], _: &[Self], _: &mut [Self]) -> bool {
        false
    }

    /// All ones for 1, zero for 0. Hides from the optimiser that there are only two values, so that it makes no branch.
    #[inline(always)]
    fn mask(self) -> Self {
        black_box(Self::ZERO.subtract(self, Self::ZERO).0)
    }

    /// Bits of `one` where the mask has ones, bits of `zero` where it has zeros.
    #[inline(always)]
    fn select(mask: Self, one: Self, zero: Self) -> Self {
        zero ^ (mask & (one ^ zero))
    }

    /// 1 for zero, else 0.
    #[inline(always)]
    fn is_zero(self) -> Self {
        // Only zero gives a borrow.
        self.subtract(Self::ONE, Self::ZERO).1
    }
}

macro_rules! limb {
    ($($digit:ty, $wide:ty $(, $blocks:item)?;)*) => {$(
        impl Sealed for $digit {}

        impl Limb for $digit {
            const BITS: u32 = <$digit>::BITS;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const MAX: Self = <$digit>::MAX;

            #[inline(always)]
            fn add(self, other: Self, carry: Self) -> (Self, Self) {
                let (sum, first) = self.overflowing_add(other);
                let (sum, second) = sum.overflowing_add(carry);
                (sum, Self::from(first | second))
            }

            #[inline(always)]
            fn subtract(self, other: Self, borrow: Self) -> (Self, Self) {
                let (difference, first) = self.overflowing_sub(other);
                let (difference, second) = difference.overflowing_sub(borrow);
                (difference, Self::from(first | second))
            }

            #[inline(always)]
            fn multiply_add(self, other: Self, addend: Self, carry: Self) -> (Self, Self) {
                // (b − 1)² + 2 (b − 1) = b² − 1.
                let wide = <$wide>::from(self) * <$wide>::from(other) + <$wide>::from(addend) + <$wide>::from(carry);
                (wide as Self, (wide >> Self::BITS) as Self)
            }

            #[inline(always)]
            fn multiply_low(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn divide(self, high: Self, divisor: Self) -> (Self, Self) {
                debug_assert!(high < divisor);
                let wide = (<$wide>::from(high) << Self::BITS) | <$wide>::from(self);
                let divisor = <$wide>::from(divisor);
                ((wide / divisor) as Self, (wide % divisor) as Self)
            }

            #[inline(always)]
            fn leading_zeros(self) -> u32 {
                self.leading_zeros()
            }

            #[inline(always)]
            fn trailing_zeros(self) -> u32 {
                self.trailing_zeros()
            }

            #[inline(always)]
            fn from_u64(number: u64) -> Self {
                number as Self
            }

            #[inline(always)]
            fn to_u64(self) -> u64 {
                self.into()
            }

            $($blocks)?
        }
    )*};
}

limb! {
    u16, u32;
    u32, u64;
    u64, u128,
        #[cfg(all(feature = "alloc", target_arch = "x86_64"))]
        #[inline]
        fn multiply_blocks(a: &[u64], b: &[u64], product: &mut [u64]) -> bool {
            crate::one::multiply(a, b, product)
        };
}
