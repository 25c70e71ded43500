//! Montgomery's multiplication, a · b / R modulo an odd N with R = b^n. Constant time.
//!
//! P. L. Montgomery, Modular multiplication without trial division, Mathematics of Computation 44 (1985).

use crate::{Limb, add};

/// −1 / `digit` modulo b, for an odd digit.
///
/// Newton's iteration doubles the number of correct bits. An odd digit is its own inverse modulo 8.
pub fn negative_inverse<L: Limb>(digit: L) -> L {
    let mut inverse = digit;
    let mut bits = 3;
    while bits < L::BITS {
        // x = x (2 − d x)
        let (factor, _) = L::from_u64(2).subtract(digit.multiply_low(inverse), L::ZERO);
        inverse = inverse.multiply_low(factor);
        bits *= 2;
    }
    L::ZERO.subtract(inverse, L::ZERO).0
}

/// `product = a · b / R` modulo the odd `modulus` by coarsely integrated operand scanning: rows of the product and rows
/// of the reduction alternate (the paper's Algorithm 2). `inverse` is −1 / N modulo b, from [`negative_inverse`]. One
/// factor must be below the modulus, the other may have any value. Constant time.
///
/// 2 n² + n products of digits.
#[inline(always)]
pub fn cios<L: Limb>(a: &[L], b: &[L], modulus: &[L], inverse: L, product: &mut [L]) {
    let n = modulus.len();
    assert!(n > 0 && a.len() == n && b.len() == n && product.len() == n);
    product.fill(L::ZERO);
    // The digit above the product. Between rows the sum is below a + N, which is less than 2 R, so this digit is 0 or 1.
    let mut top = L::ZERO;
    for i in 0..n {
        let mut carry = L::ZERO;
        for j in 0..n {
            (product[j], carry) = a[j].multiply_add(b[i], product[j], carry);
        }
        let (high, higher) = top.add(carry, L::ZERO);

        let quotient = product[0].multiply_low(inverse);
        (_, carry) = quotient.multiply_add(modulus[0], product[0], L::ZERO);
        for j in 1..n {
            (product[j - 1], carry) = quotient.multiply_add(modulus[j], product[j], carry);
        }
        let (last, carry) = high.add(carry, L::ZERO);
        product[n - 1] = last;
        (top, _) = higher.add(carry, L::ZERO);
    }
    add::subtract_once(product, top, modulus);
}

/// Number of squarings in [`prepare`]. They are preceded by doublings.
const SQUARINGS: u32 = 6;

/// Computes R and R² modulo N by doublings and squarings, without division by the modulus. `squared` replaces a number below N by its
/// Montgomery square, below N.
pub fn prepare<L: Limb>(modulus: &[L], one: &mut [L], square: &mut [L], mut squared: impl FnMut(&mut [L])) {
    let n = modulus.len();
    let bits = L::BITS as usize;
    let top = crate::reveal(leading_zeros(modulus[n - 1]));
    // 2^(length − 1) is below the modulus, because the modulus is odd and not 1.
    one.fill(L::ZERO);
    one[n - 1] = L::ONE << (L::BITS - 1 - top);
    for _ in 0..=top {
        double(one, modulus);
    }
    // 2^(n bits) in Montgomery form: square and multiply over the bits of the exponent, which is public. A doubling takes n steps, a
    // squaring more than n², so the upper bits of the exponent are processed by doublings alone.
    let exponent = n * bits;
    let squarings = SQUARINGS.min(exponent.ilog2());
    square.copy_from_slice(one);
    for _ in 0..exponent >> squarings {
        double(square, modulus);
    }
    for bit in (0..squarings).rev() {
        squared(square);
        if (exponent >> bit) & 1 == 1 {
            double(square, modulus);
        }
    }
}

/// `value = 2 value` modulo N.
fn double<L: Limb>(value: &mut [L], modulus: &[L]) {
    let carry = add::double(value);
    add::subtract_once(value, carry, modulus);
}

/// Number of leading zero bits of a digit that is not zero, without a branch even on machines that have no instruction for it.
pub(crate) fn leading_zeros<L: Limb>(digit: L) -> u32 {
    let mut digits = digit;
    let mut shift = 1;
    while shift < L::BITS {
        digits = digits | (digits >> shift);
        shift *= 2;
    }
    // Now all bits below the highest one are set. Counting them takes only sums and masks, on every processor.
    L::BITS - digits.to_u64().count_ones()
}
