//! Inverses modulo an odd number, in constant time: the binary extended Euclidean algorithm with the maximum number of steps, which are all
//! alike (Niels Möller's variant, as in Nettle and in GMP's `mpn_sec_invert`). For digits of 64 bits there is also
//! [`divsteps`](divsteps()), which takes a fraction of the time.

pub use tress_modular::parts::{divsteps, divsteps_scratch};

use crate::{Limb, add};

/// Number of digits of scratch memory that [`inverse`] needs.
pub const fn inverse_scratch(digits: usize) -> usize {
    4 * digits
}

/// `result = 1 / value` modulo the odd `modulus`. Returns 1, or 0 if there is no inverse or the modulus is even; then the result is
/// meaningless. The value must be below the modulus.
///
/// Constant time for both numbers. The scratch memory of [`inverse_scratch`] digits holds secrets afterwards.
pub fn inverse<L: Limb>(value: &[L], modulus: &[L], result: &mut [L], scratch: &mut [L]) -> L {
    let n = modulus.len();
    assert!(n > 0 && value.len() == n && result.len() == n);
    let (a, rest) = scratch[..inverse_scratch(n)].split_at_mut(n);
    let (b, rest) = rest.split_at_mut(n);
    let (u, half) = rest.split_at_mut(n);
    let v = result;

    // Invariants: value · u = a and value · v = b modulo N; b is odd.
    a.copy_from_slice(value);
    b.copy_from_slice(modulus);
    u.fill(L::ZERO);
    u[0] = L::ONE;
    v.fill(L::ZERO);
    // (N + 1) / 2
    half.copy_from_slice(modulus);
    add::halve(half, L::ZERO);
    increment(half);

    // Each step removes at least one bit from a and b together.
    for _ in 0..2 * n * L::BITS as usize {
        let odd = (a[0] & L::ONE).mask();
        // If a is odd, the even |a − b| replaces it, and b becomes the smaller of the two.
        let swap = add::subtract_masked(a, b, odd).mask();
        // If a − b wrapped, then b + (a − b) is the old a.
        add::add_masked(b, a, swap);
        negate_masked(a, swap);
        swap_masked(u, v, swap);
        // u = (u − v) / 2 modulo N
        let borrow = add::subtract_masked(u, v, odd).mask();
        add::add_masked(u, modulus, borrow);
        add::halve(a, L::ZERO);
        let odd = add::halve(u, L::ZERO).mask();
        add::add_masked(u, half, odd);
    }
    // Now a is 0 and b is the greatest common divisor.
    let mut others = b[0] ^ L::ONE;
    for &digit in &b[1..] {
        others = others | digit;
    }
    others.is_zero() & modulus[0] & L::ONE
}

fn increment<L: Limb>(a: &mut [L]) {
    let mut carry = L::ONE;
    for digit in a {
        (*digit, carry) = digit.add(L::ZERO, carry);
    }
}

fn negate_masked<L: Limb>(a: &mut [L], mask: L) {
    let mut carry = mask & L::ONE;
    for digit in a {
        (*digit, carry) = (*digit ^ mask).add(L::ZERO, carry);
    }
}

fn swap_masked<L: Limb>(a: &mut [L], b: &mut [L], mask: L) {
    for (a, b) in a.iter_mut().zip(b) {
        let difference = (*a ^ *b) & mask;
        (*a, *b) = (*a ^ difference, *b ^ difference);
    }
}
