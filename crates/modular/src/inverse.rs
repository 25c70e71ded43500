//! Inverses by division steps, in batches of 61. A batch is computed on the lowest digits of two numbers, then applied to the whole numbers
//! as a matrix.
//!
//! D. J. Bernstein, B.-Y. Yang, Fast constant-time gcd computation and modular inversion, IACR Transactions on Cryptographic Hardware and
//! Embedded Systems 2019. Here numbers are in two's complement, with one more digit for the sign.

use crate::montgomery::negative_inverse;
use crate::{Limb, add};

/// Steps of a batch. The absolute values in a row of its matrix add up to at most 2^61, so that sums of products stay below 2^127.
const BATCH: u32 = 61;
const MASK: u64 = (1 << BATCH) - 1;

/// Number of digits of scratch memory that [`divsteps`] needs.
pub(crate) const fn divsteps_scratch(digits: usize) -> usize {
    4 * (digits + 1)
}

/// Number of steps that is enough for any two numbers of this length (theorem 11.2 of the article).
const fn steps(bits: usize) -> usize {
    (49 * bits + if bits < 46 { 80 } else { 57 }) / 17
}

/// `result = 1 / value` modulo the odd `modulus`. Returns 1, or 0 if there is no inverse or the modulus is even; then the result is
/// meaningless. The value must be below the modulus.
///
/// Constant time for both numbers. The scratch memory of [`divsteps_scratch`] digits holds secrets afterwards. For numbers of *l* bits,
/// about 0.05 *l* batches of 10 *n* products of digits each.
pub(crate) fn divsteps(value: &[u64], modulus: &[u64], result: &mut [u64], scratch: &mut [u64]) -> u64 {
    let n = modulus.len();
    assert!(n > 0 && value.len() == n && result.len() == n);
    let scratch = &mut scratch[..divsteps_scratch(n)];
    scratch.fill(0);
    let (f, rest) = scratch.split_at_mut(n + 1);
    let (g, rest) = rest.split_at_mut(n + 1);
    let (d, e) = rest.split_at_mut(n + 1);
    // Invariants: value · d = f and value · e = g modulo N, up to the same power of two.
    f[..n].copy_from_slice(modulus);
    g[..n].copy_from_slice(value);
    e[0] = 1;
    let inverse = negative_inverse(modulus[0]).wrapping_neg();

    let mut delta = 1;
    for _ in 0..steps(64 * n).div_ceil(BATCH as usize) {
        let matrix = batch(&mut delta, f[0], g[0]);
        update(f, g, matrix, [0; 2], modulus);
        update_modulo(d, e, matrix, modulus, inverse);
    }

    // Now g is 0 and f is the greatest common divisor or its negative; d is above −2 N and below N.
    let negative = sign(f);
    add_modulus(d, modulus);
    negate(d, negative);
    add_modulus(d, modulus);
    negate(f, negative);
    result.copy_from_slice(&d[..n]);
    let mut others = f[0] ^ 1;
    for &digit in &f[1..] {
        others |= digit;
    }
    others.is_zero() & modulus[0] & 1
}

/// The matrix of a batch, times 2^61, from the lowest digits of f and g.
#[inline(always)]
fn batch(delta: &mut i64, f: u64, g: u64) -> [[i64; 2]; 2] {
    let (mut f, mut g) = (f, g);
    let [mut u, mut v, mut q, mut r] = [1u64, 0, 0, 1];
    for _ in 0..BATCH {
        let odd = (g & 1).mask();
        // If delta > 0 and g is odd, (f, g) = (g, −f) and delta = −delta.
        let swap = odd & (delta.wrapping_neg() >> 63) as u64;
        for (first, second) in [(&mut f, &mut g), (&mut u, &mut q), (&mut v, &mut r)] {
            let difference = (*first ^ *second) & swap;
            *first ^= difference;
            *second ^= difference;
            *second = (*second ^ swap).wrapping_sub(swap);
        }
        *delta = (*delta ^ swap as i64).wrapping_sub(swap as i64) + 1;
        g = g.wrapping_add(f & odd) >> 1;
        q = q.wrapping_add(u & odd);
        r = r.wrapping_add(v & odd);
        u <<= 1;
        v <<= 1;
    }
    [[u as i64, v as i64], [q as i64, r as i64]]
}

/// `(f, g) = (matrix · (f, g) + multiples · N) / 2^61`. The division is exact.
#[inline(always)]
fn update(f: &mut [u64], g: &mut [u64], matrix: [[i64; 2]; 2], multiples: [i64; 2], modulus: &[u64]) {
    let n = modulus.len();
    let mut carries = [0i128; 2];
    let mut below = [0u64; 2];
    for i in 0..=n {
        // The highest digit contains the sign; the modulus is 0 there.
        let signed = |digit: u64| if i == n { i128::from(digit as i64) } else { i128::from(digit) };
        let digits = [signed(f[i]), signed(g[i])];
        let of_modulus = if i == n { 0 } else { i128::from(modulus[i]) };
        for (row, target) in [&mut *f, &mut *g].into_iter().enumerate() {
            // The two products of a row add up to at most 2^125; the multiple is below 2^62 and its product at most 2^126.
            let sum = carries[row]
                + i128::from(matrix[row][0]) * digits[0]
                + i128::from(matrix[row][1]) * digits[1]
                + i128::from(multiples[row]) * of_modulus;
            let low = sum as u64;
            carries[row] = sum >> 64;
            if i > 0 {
                target[i - 1] = (below[row] >> BATCH) | (low << (64 - BATCH));
            }
            below[row] = low;
        }
    }
    f[n] = (below[0] >> BATCH) | ((carries[0] as u64) << (64 - BATCH));
    g[n] = (below[1] >> BATCH) | ((carries[1] as u64) << (64 - BATCH));
}

/// Like [`update`], modulo N: adds multiples of N that make the division exact and keep both numbers above −2 N and below N.
#[inline(always)]
fn update_modulo(d: &mut [u64], e: &mut [u64], matrix: [[i64; 2]; 2], modulus: &[u64], inverse: u64) {
    let signs = [sign(d), sign(e)];
    let multiples = matrix.map(|row| {
        // N once for each factor of a negative number.
        let multiple = (row[0] as u64 & signs[0]).wrapping_add(row[1] as u64 & signs[1]);
        let low = (row[0] as u64).wrapping_mul(d[0]).wrapping_add((row[1] as u64).wrapping_mul(e[0]));
        multiple.wrapping_sub(inverse.wrapping_mul(low).wrapping_add(multiple) & MASK) as i64
    });
    update(d, e, matrix, multiples, modulus);
}

/// All ones for a negative number, else zero.
fn sign(number: &[u64]) -> u64 {
    (number[number.len() - 1] >> 63).mask()
}

/// Adds the modulus to a negative number.
fn add_modulus(number: &mut [u64], modulus: &[u64]) {
    let negative = sign(number);
    let (low, top) = number.split_at_mut(modulus.len());
    let carry = add::add_masked(low, modulus, negative);
    top[0] = top[0].wrapping_add(carry);
}

/// Negates the number if the mask is all ones.
fn negate(number: &mut [u64], mask: u64) {
    let mut carry = mask & 1;
    for digit in number {
        (*digit, carry) = Limb::add(*digit ^ mask, 0, carry);
    }
}
