//! Square roots, by the integer square root of the significand: one digit more than the format has, and whether there
//! is a remainder. A root never overflows or underflows, and is never subnormal.

use super::{FloatBits, Rounding, flag};

pub(super) fn root<F: FloatBits>(bits: u64, rounding: Rounding) -> (u64, u8) {
    if F::is_nan(bits) {
        return (F::CANONICAL_NAN, if F::is_signaling(bits) { flag::INVALID } else { 0 });
    }
    if F::is_zero(bits) {
        return (bits, 0);
    }
    if bits & F::SIGN != 0 {
        return (F::CANONICAL_NAN, flag::INVALID);
    }
    if F::is_infinite(bits) {
        return (bits, 0);
    }
    let bias = (1 << (F::EXPONENT_BITS - 1)) - 1;
    // The number is significand * 2^exponent.
    let fraction = bits & (F::SMALLEST_NORMAL - 1);
    let field = (bits >> F::FRACTION_BITS) as i32;
    let significand = if field == 0 { fraction } else { fraction | F::SMALLEST_NORMAL };
    let exponent = field.max(1) - bias - F::FRACTION_BITS as i32;

    // Shifted so that its root has FRACTION_BITS + 2 bits, one more than a significand, and the exponent is even.
    let length = (u64::BITS - significand.leading_zeros()) as i32;
    let wanted = 2 * (F::FRACTION_BITS as i32 + 2);
    let shift = wanted - length - ((exponent - (wanted - length)) & 1);
    let shifted = u128::from(significand) << shift;
    let root = shifted.isqrt();
    let is_exact = root * root == shifted;
    let exponent = (exponent - shift) / 2;

    let half = root & 1 != 0;
    let mut significand = (root >> 1) as u64;
    let up = match rounding {
        Rounding::NearestEven => half && (!is_exact || significand & 1 != 0),
        Rounding::NearestAway => half,
        Rounding::Up => half || !is_exact,
        Rounding::TowardZero | Rounding::Down => false,
    };
    significand += u64::from(up);
    // The exponent field is one larger if rounding carried. Its lowest bit includes the hidden bit of the significand.
    let field = (exponent + 1 + F::FRACTION_BITS as i32 + bias - 1) as u64;
    let inexact = half || !is_exact;
    ((field << F::FRACTION_BITS) + significand, if inexact { flag::INEXACT } else { 0 })
}
