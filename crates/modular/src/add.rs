//! Addition, subtraction and comparison (section 3.1.1 of the paper). Constant time, except for functions with `_vartime` in their name.
//!
//! All numbers of a call must have the same length; otherwise functions panic.

use core::cmp::Ordering;

use crate::Limb;

/// `sum = a + b`; returns the carry.
#[inline]
pub fn add<L: Limb>(a: &[L], b: &[L], sum: &mut [L]) -> L {
    assert!(a.len() == sum.len() && b.len() == sum.len());
    let mut carry = L::ZERO;
    for i in 0..sum.len() {
        (sum[i], carry) = a[i].add(b[i], carry);
    }
    carry
}

/// `a += b`; returns the carry.
#[inline]
pub fn add_assign<L: Limb>(a: &mut [L], b: &[L]) -> L {
    assert_eq!(a.len(), b.len());
    let mut carry = L::ZERO;
    for i in 0..a.len() {
        (a[i], carry) = a[i].add(b[i], carry);
    }
    carry
}

/// `difference = a − b`; returns the borrow.
#[inline]
pub fn subtract<L: Limb>(a: &[L], b: &[L], difference: &mut [L]) -> L {
    assert!(a.len() == difference.len() && b.len() == difference.len());
    let mut borrow = L::ZERO;
    for i in 0..difference.len() {
        (difference[i], borrow) = a[i].subtract(b[i], borrow);
    }
    borrow
}

/// `a −= b`; returns the borrow.
#[inline]
pub fn subtract_assign<L: Limb>(a: &mut [L], b: &[L]) -> L {
    assert_eq!(a.len(), b.len());
    let mut borrow = L::ZERO;
    for i in 0..a.len() {
        (a[i], borrow) = a[i].subtract(b[i], borrow);
    }
    borrow
}

/// `difference = a − b` in the paper's way: adds the two's complement of `b`, that is, its inverted digits and 1. Returns the carry, which
/// is the opposite of a borrow: 1 if `a` is at least `b`.
#[inline]
pub fn subtract_complement<L: Limb>(a: &[L], b: &[L], difference: &mut [L]) -> L {
    assert!(a.len() == difference.len() && b.len() == difference.len());
    let mut carry = L::ONE;
    for i in 0..difference.len() {
        (difference[i], carry) = a[i].add(!b[i], carry);
    }
    carry
}

/// `a += b` if the mask is all ones; leaves `a` unchanged if it is zero. Returns the carry.
#[inline]
pub fn add_masked<L: Limb>(a: &mut [L], b: &[L], mask: L) -> L {
    assert_eq!(a.len(), b.len());
    let mut carry = L::ZERO;
    for i in 0..a.len() {
        (a[i], carry) = a[i].add(b[i] & mask, carry);
    }
    carry
}

/// `a −= b` if the mask is all ones; leaves `a` unchanged if it is zero. Returns the borrow.
#[inline]
pub fn subtract_masked<L: Limb>(a: &mut [L], b: &[L], mask: L) -> L {
    assert_eq!(a.len(), b.len());
    let mut borrow = L::ZERO;
    for i in 0..a.len() {
        (a[i], borrow) = a[i].subtract(b[i] & mask, borrow);
    }
    borrow
}

/// Reduces `carry · b^n + a`, which must be below twice the modulus, to a number below the modulus.
#[doc(hidden)]
#[inline]
pub fn subtract_once<L: Limb>(a: &mut [L], carry: L, modulus: &[L]) {
    let borrow = is_less(a, modulus);
    // Without a carry, a number below the modulus is unchanged.
    subtract_masked(a, modulus, (carry | (borrow ^ L::ONE)).mask());
}

/// `a = 2 a`; returns the bit that is shifted out.
#[inline]
pub fn double<L: Limb>(a: &mut [L]) -> L {
    let mut carry = L::ZERO;
    for digit in a {
        (*digit, carry) = ((*digit << 1) | carry, *digit >> (L::BITS - 1));
    }
    carry
}

/// `a = a / 2`, with `carry` as the new highest bit; returns the bit that is shifted out.
#[inline]
pub fn halve<L: Limb>(a: &mut [L], carry: L) -> L {
    let mut carry = carry;
    for digit in a.iter_mut().rev() {
        (*digit, carry) = ((*digit >> 1) | (carry << (L::BITS - 1)), *digit & L::ONE);
    }
    carry
}

/// 1 if `a < b`, else 0.
#[inline]
pub fn is_less<L: Limb>(a: &[L], b: &[L]) -> L {
    assert_eq!(a.len(), b.len());
    let mut borrow = L::ZERO;
    for i in 0..a.len() {
        borrow = a[i].subtract(b[i], borrow).1;
    }
    borrow
}

/// 1 if `a = b`, else 0.
#[inline]
pub fn is_equal<L: Limb>(a: &[L], b: &[L]) -> L {
    assert_eq!(a.len(), b.len());
    let mut difference = L::ZERO;
    for i in 0..a.len() {
        difference = difference | (a[i] ^ b[i]);
    }
    difference.is_zero()
}

/// 1 if all digits are zero, else 0.
#[inline]
pub fn is_zero<L: Limb>(a: &[L]) -> L {
    let mut digits = L::ZERO;
    for &digit in a {
        digits = digits | digit;
    }
    digits.is_zero()
}

/// Compares numbers of any two lengths, starting with the highest digit.
pub fn compare_vartime<L: Limb>(a: &[L], b: &[L]) -> Ordering {
    let (a, b) = (strip_vartime(a), strip_vartime(b));
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

/// The number without leading zero digits.
pub fn strip_vartime<L: Limb>(a: &[L]) -> &[L] {
    let length = a.iter().rposition(|&digit| digit != L::ZERO).map_or(0, |i| i + 1);
    &a[..length]
}

/// Length of the number in bits.
pub fn bits_vartime<L: Limb>(a: &[L]) -> usize {
    let a = strip_vartime(a);
    a.last().map_or(0, |top| a.len() * L::BITS as usize - top.leading_zeros() as usize)
}

/// The bit at this position, 0 or 1; 0 beyond the end of the number. The position is public.
#[inline]
pub fn bit<L: Limb>(a: &[L], position: usize) -> L {
    let (digit, shift) = (position / L::BITS as usize, position % L::BITS as usize);
    a.get(digit).map_or(L::ZERO, |&digit| (digit >> shift as u32) & L::ONE)
}
