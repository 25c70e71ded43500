//! Greatest common divisors, by the binary algorithm (J. Stein, Computational problems associated with Racah algebra,
//! Journal of Computational Physics 1 (1967)). For public numbers: not constant time.

use core::cmp::Ordering;

use crate::{Error, Limb, add};

/// Sets `a` to the greatest common divisor of both numbers, which must have the same length, and `b` to 0. The greatest common divisor of a
/// number and 0 is the number.
pub fn gcd_vartime<L: Limb>(a: &mut [L], b: &mut [L]) -> Result<(), Error> {
    if a.len() != b.len() {
        return Err(Error::Length);
    }
    let Some(zeros_b) = trailing_zeros(b) else { return Ok(()) };
    let Some(zeros_a) = trailing_zeros(a) else {
        a.copy_from_slice(b);
        b.fill(L::ZERO);
        return Ok(());
    };
    shift_right(a, zeros_a);
    shift_right(b, zeros_b);
    // Both are odd, so their difference is even; it replaces the larger one.
    loop {
        if add::compare_vartime(a, b) == Ordering::Less {
            a.swap_with_slice(b);
        }
        add::subtract_assign(a, b);
        match trailing_zeros(a) {
            Some(zeros) => shift_right(a, zeros),
            None => break,
        }
    }
    a.swap_with_slice(b);
    shift_left(a, zeros_a.min(zeros_b));
    Ok(())
}

/// Number of zero bits below the lowest one; `None` for the number 0.
fn trailing_zeros<L: Limb>(a: &[L]) -> Option<usize> {
    let digit = a.iter().position(|&digit| digit != L::ZERO)?;
    Some(digit * L::BITS as usize + a[digit].trailing_zeros() as usize)
}

fn shift_right<L: Limb>(a: &mut [L], bits: usize) {
    let (digits, bits) = (bits / L::BITS as usize, (bits % L::BITS as usize) as u32);
    let n = a.len();
    for i in 0..n {
        let digit = |position: usize| a.get(position).copied().unwrap_or(L::ZERO);
        let (low, high) = (digit(i + digits), digit(i + digits + 1));
        a[i] = if bits == 0 { low } else { (low >> bits) | (high << (L::BITS - bits)) };
    }
}

fn shift_left<L: Limb>(a: &mut [L], bits: usize) {
    let (digits, bits) = (bits / L::BITS as usize, (bits % L::BITS as usize) as u32);
    for i in (0..a.len()).rev() {
        let digit = |position: Option<usize>| position.map_or(L::ZERO, |position| a[position]);
        let (high, low) = (digit(i.checked_sub(digits)), digit(i.checked_sub(digits + 1)));
        a[i] = if bits == 0 { high } else { (high << bits) | (low >> (L::BITS - bits)) };
    }
}
