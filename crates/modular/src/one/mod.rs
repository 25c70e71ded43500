//! Montgomery's multiplication and powers for one number at a time, with the best that the machine has: what
//! [`Modulus`](crate::Modulus) computes with.
//!
//! On x86-64 with BMI2 and ADX, numbers of whole blocks of eight digits are multiplied in assembly (512 bits, 1024, and so
//! on: all usual sizes of keys and of their primes). Everywhere else the portable arrangement does it.

use zeroize::Zeroizing;

use crate::reduce::montgomery::cios;

#[cfg(all(target_arch = "x86_64", not(tress_without_adx)))]
mod adx;
mod power;

pub(crate) use power::{Way, power, power_vartime};

#[cfg(all(target_arch = "x86_64", not(tress_without_adx)))]
use crate::cpu::Adx;

/// Digits of a block of the assembly.
#[cfg(all(target_arch = "x86_64", not(tress_without_adx)))]
const BLOCK: usize = 8;

#[derive(Clone, Copy)]
enum Engine {
    Portable,
    #[cfg(all(target_arch = "x86_64", not(tress_without_adx)))]
    Adx(Adx),
}

/// Multiplication modulo N.
pub(crate) struct Montgomery<'a> {
    modulus: &'a [u64],
    inverse: u64,
    engine: Engine,
    /// The double product, and a block.
    scratch: Zeroizing<alloc::vec::Vec<u64>>,
}

impl<'a> Montgomery<'a> {
    /// `inverse` is −1 / N modulo b.
    pub(crate) fn new(modulus: &'a [u64], inverse: u64) -> Self {
        let scratch = Zeroizing::new(alloc::vec![0; 2 * modulus.len() + 8]);
        Montgomery { modulus, inverse, engine: Engine::of(modulus.len()), scratch }
    }

    /// `a = a · b / R` modulo N, below N where one of the factors is.
    #[inline]
    pub(crate) fn multiply(&mut self, a: &mut [u64], b: &[u64]) {
        let n = self.modulus.len();
        assert!(a.len() == n && b.len() == n);
        match self.engine {
            Engine::Portable => {
                cios(a, b, self.modulus, self.inverse, &mut self.scratch[..n]);
                a.copy_from_slice(&self.scratch[..n]);
            }
            #[cfg(all(target_arch = "x86_64", not(tress_without_adx)))]
            Engine::Adx(_) => {
                let (t, quotient) = self.scratch.split_at_mut(2 * n);
                assert!(n > 0 && n.is_multiple_of(BLOCK) && quotient.len() == BLOCK);
                t[..n].fill(0);
                // SAFETY: `Adx` is the proof of BMI2 and ADX; the lengths have been asserted: `t` has 2 n digits, the
                // factors and the modulus n, a positive multiple of 8, the quotient 8.
                let carry = unsafe {
                    adx::multiply(t.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n / BLOCK);
                    adx::reduce(t.as_mut_ptr(), self.modulus.as_ptr(), n / BLOCK, self.inverse, quotient.as_mut_ptr())
                };
                finish(&t[n..], carry, self.modulus, a);
            }
        }
    }

    /// `a = a² / R` modulo N, for a number below N.
    #[inline]
    pub(crate) fn square(&mut self, a: &mut [u64]) {
        let n = self.modulus.len();
        assert!(a.len() == n);
        match self.engine {
            Engine::Portable => {
                cios(a, a, self.modulus, self.inverse, &mut self.scratch[..n]);
                a.copy_from_slice(&self.scratch[..n]);
            }
            #[cfg(all(target_arch = "x86_64", not(tress_without_adx)))]
            Engine::Adx(_) => {
                let (t, quotient) = self.scratch.split_at_mut(2 * n);
                assert!(n > 0 && n.is_multiple_of(BLOCK) && quotient.len() == BLOCK);
                t[..n].fill(0);
                // SAFETY: as in `multiply`.
                let carry = unsafe {
                    adx::square(t.as_mut_ptr(), a.as_ptr(), n / BLOCK);
                    adx::reduce(t.as_mut_ptr(), self.modulus.as_ptr(), n / BLOCK, self.inverse, quotient.as_mut_ptr())
                };
                finish(&t[n..], carry, self.modulus, a);
            }
        }
    }
}

impl Engine {
    fn of(digits: usize) -> Engine {
        #[cfg(all(target_arch = "x86_64", not(tress_without_adx)))]
        if digits > 0
            && digits.is_multiple_of(BLOCK)
            && let Some(token) = Adx::detect()
        {
            return Engine::Adx(token);
        }
        let _ = digits;
        Engine::Portable
    }
}

/// `result = carry R + t` brought below the modulus, which is at most one subtraction away.
#[cfg(all(target_arch = "x86_64", not(tress_without_adx)))]
#[inline(always)]
fn finish(t: &[u64], carry: u64, modulus: &[u64], result: &mut [u64]) {
    use crate::Limb;
    let n = modulus.len();
    assert!(t.len() == n && result.len() == n);
    let mut borrow = 0;
    for i in 0..n {
        borrow = core::arch::x86_64::_subborrow_u64(borrow, t[i], modulus[i], &mut result[i]);
    }
    // Without a carry and below the modulus it stays.
    let keep = (u64::from(borrow) & !carry & 1).mask();
    for i in 0..n {
        result[i] = u64::select(keep, t[i], result[i]);
    }
}
