//! Classical division: digit by digit from the top. Each digit of the quotient is estimated from three digits of the dividend and two of
//! the divisor (section 3.2.1 of the paper, its second estimate; D. E. Knuth, The Art of Computer Programming 2, algorithm D).

use core::cmp::Ordering;

use super::check;
use crate::multiply::multiply_subtract_row;
use crate::{Error, Limb, add};

/// The estimate q' of a digit of the quotient, and how often the first guess, from two digits by one, was corrected: 0, 1 or 2 times.
///
/// q' is `dividend / divisor` rounded down, at most b − 1. The highest digit comes first, the divisor's highest bit is set, and the
/// dividend is below b times (divisor + 1). For the quotient q of the complete numbers, q ≤ q' ≤ q + 1, and q' is too large with a
/// probability of about 2/b.
///
/// Not constant time.
#[inline(always)]
pub fn three_by_two_vartime<L: Limb>(dividend: [L; 3], divisor: [L; 2]) -> (L, u32) {
    let [high, middle, low] = dividend;
    let [first, second] = divisor;
    // high · b + middle = quotient · first + rest
    let (mut quotient, mut rest, mut overflow) = if high < first {
        let (quotient, rest) = middle.divide(high, first);
        (quotient, rest, L::ZERO)
    } else {
        let (rest, overflow) = middle.add(first, high.subtract(first, L::ZERO).0);
        (L::MAX, rest, overflow)
    };
    let mut corrections = 0;
    // If rest ≥ b, the product, which is below b², cannot be too large.
    while overflow == L::ZERO {
        let (product_low, product_high) = quotient.multiply_add(second, L::ZERO, L::ZERO);
        if (product_high, product_low) <= (rest, low) {
            break;
        }
        (quotient, _) = quotient.subtract(L::ONE, L::ZERO);
        (rest, overflow) = rest.add(first, L::ZERO);
        corrections += 1;
    }
    (quotient, corrections)
}

/// Divides: `value` becomes the remainder. The quotient, if requested, has `value.len() − modulus.len() + 1` digits. Returns how often an
/// estimated digit was one too large.
///
/// The modulus may be even. The numbers are not normalised such that the highest bit of the modulus is set: only the digits for the
/// estimates are shifted. About (m − n + 1) (n + 3) products of digits for a value of m digits. Not constant time.
pub fn divide_vartime<L: Limb>(value: &mut [L], modulus: &[L], mut quotient: Option<&mut [L]>) -> Result<usize, Error> {
    check(modulus)?;
    let n = modulus.len();
    if let Some(quotient) = &mut quotient {
        if quotient.len() != (value.len() + 1).saturating_sub(n) {
            return Err(Error::Length);
        }
        quotient.fill(L::ZERO);
    }
    let shift = modulus[n - 1].leading_zeros();
    let shifted = |high: L, low: L| if shift == 0 { high } else { (high << shift) | (low >> (L::BITS - shift)) };
    let third = if n > 2 { modulus[n - 3] } else { L::ZERO };
    let divisor = [shifted(modulus[n - 1], modulus[n - 2]), shifted(modulus[n - 2], third)];

    let mut added_back = 0;
    for i in (0..(value.len() + 1).saturating_sub(n)).rev() {
        let digit = |position: usize| value.get(position).copied().unwrap_or(L::ZERO);
        let below = if i + n >= 3 { digit(i + n - 3) } else { L::ZERO };
        let dividend = [
            shifted(digit(i + n), digit(i + n - 1)),
            shifted(digit(i + n - 1), digit(i + n - 2)),
            shifted(digit(i + n - 2), below),
        ];
        if dividend[0] == L::ZERO && [dividend[1], dividend[2]] < divisor {
            continue;
        }
        let (mut estimate, _) = three_by_two_vartime(dividend, divisor);
        let top = digit(i + n);
        let part = &mut value[i..i + n];
        let borrow = multiply_subtract_row(modulus, estimate, part);
        let (mut top, negative) = top.subtract(borrow, L::ZERO);
        if negative == L::ONE {
            (estimate, _) = estimate.subtract(L::ONE, L::ZERO);
            let carry = add::add_assign(part, modulus);
            (top, _) = top.add(carry, L::ZERO);
            added_back += 1;
        }
        debug_assert!(top == L::ZERO);
        if i + n < value.len() {
            value[i + n] = top;
        }
        if let Some(quotient) = &mut quotient {
            quotient[i] = estimate;
        }
    }
    Ok(added_back)
}

/// Multiplication modulo N by a product and a classical division. Not constant time.
#[derive(Clone, Copy, Debug)]
pub struct Classical<'a, L> {
    modulus: &'a [L],
}

impl<'a, L: Limb> Classical<'a, L> {
    /// Takes a modulus of at least two digits, the highest of which is not zero.
    pub fn new(modulus: &'a [L]) -> Result<Self, Error> {
        check(modulus)?;
        Ok(Classical { modulus })
    }

    fn reduce(&self, value: &mut [L], result: &mut [L], _: &mut [L]) -> Result<(), Error> {
        divide_vartime(value, self.modulus, None)?;
        result.copy_from_slice(&value[..result.len()]);
        debug_assert!(add::compare_vartime(result, self.modulus) == Ordering::Less);
        Ok(())
    }
}

ring_by_reduction!(Classical::reduce, |n| 2 * n);
