//! Montgomery's multiplication and powers for one number at a time, with the best backend of the machine. [`Modulus`](crate::Modulus) uses
//! them.
//!
//! On x86-64 with BMI2 and ADX, assembly multiplies numbers of whole blocks of eight digits (512 bits, 1024, and so on: all usual sizes of
//! keys and of their primes). On 32-bit RISC-V with multiplication, assembly multiplies numbers of whole blocks of 256 bits. Everything
//! else is portable code.

use alloc::vec;
use alloc::vec::Vec;

use zeroize::{Zeroize, Zeroizing};

use crate::add;
use crate::montgomery::cios;

#[cfg(target_arch = "x86_64")]
mod adx;
mod power;
#[cfg(all(target_arch = "riscv32", target_feature = "m", not(tress_without_riscv32)))]
mod words;

#[cfg(target_arch = "x86_64")]
pub(crate) use power::window_of;
pub(crate) use power::{PowerFunction, look_up, power, power_vartime};

#[cfg(target_arch = "x86_64")]
use crate::cpu::Adx;

/// Number of digits of a block of the assembly.
#[cfg(target_arch = "x86_64")]
const BLOCK: usize = 8;

#[derive(Clone, Copy)]
enum MultiplyBackend {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Adx(Adx),
    #[cfg(all(target_arch = "riscv32", target_feature = "m", not(tress_without_riscv32)))]
    Riscv32,
}

/// Montgomery's multiplication modulo N.
///
/// Results are congruent to the product. If one factor is below N, one subtraction at most reduces the result below N. Results are valid
/// factors in any case.
pub(crate) struct MontgomeryMultiplier<'a> {
    modulus: &'a [u64],
    /// −1 / N modulo b², the lower digit first.
    inverse: [u64; 2],
    backend: MultiplyBackend,
    /// The double-length product, and a block.
    scratch: Zeroizing<Vec<u64>>,
}

impl<'a> MontgomeryMultiplier<'a> {
    /// `inverse` is −1 / N modulo b.
    pub(crate) fn new(modulus: &'a [u64], inverse: u64) -> Self {
        let backend = MultiplyBackend::of(modulus.len());
        let scratch = Zeroizing::new(vec![0; backend.scratch(modulus.len())]);
        MontgomeryMultiplier { modulus, inverse: double_inverse(modulus, inverse), backend, scratch }
    }

    /// `a = a · b / R` modulo N.
    #[inline]
    pub(crate) fn multiply(&mut self, a: &mut [u64], b: &[u64]) {
        self.run(a, Some(b));
    }

    /// `a = a² / R` modulo N.
    #[inline]
    pub(crate) fn square(&mut self, a: &mut [u64]) {
        self.run(a, None);
    }

    /// `a = a · b / R`, or `a² / R` without `b`.
    #[inline(always)]
    fn run(&mut self, a: &mut [u64], b: Option<&[u64]>) {
        let n = self.modulus.len();
        assert!(a.len() == n && b.is_none_or(|b| b.len() == n));
        match self.backend {
            MultiplyBackend::Portable => {
                cios(a, b.unwrap_or(a), self.modulus, self.inverse[0], &mut self.scratch[..n]);
                a.copy_from_slice(&self.scratch[..n]);
            }
            #[cfg(target_arch = "x86_64")]
            MultiplyBackend::Adx(_) => {
                assert!(n > 0 && n.is_multiple_of(BLOCK) && self.scratch.len() == 2 * n + BLOCK);
                let (modulus, inverse) = (self.modulus.as_ptr(), self.inverse.as_ptr());
                let (t, quotient) = self.scratch.split_at_mut(2 * n);
                // SAFETY: the token `Adx` proves BMI2 and ADX. The lengths were asserted: `t` has 2 n digits, the factors and the modulus
                // n, a positive multiple of 8, the quotient 8, and the inverse 2. `u64` pointers are aligned.
                unsafe {
                    match b {
                        Some(b) => adx::multiply(t.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n / BLOCK),
                        None => adx::square(t.as_mut_ptr(), a.as_ptr(), n / BLOCK),
                    }
                    adx::reduce(t.as_mut_ptr(), modulus, a.as_mut_ptr(), n / BLOCK, inverse, quotient.as_mut_ptr());
                }
            }
            #[cfg(all(target_arch = "riscv32", target_feature = "m", not(tress_without_riscv32)))]
            MultiplyBackend::Riscv32 => words::multiply(a, b, self.modulus, self.inverse[0], &mut self.scratch),
        }
    }

    /// `a = a · b / R` modulo N, below N. One of the factors must be below N.
    pub(crate) fn multiply_below(&mut self, a: &mut [u64], b: &[u64]) {
        self.multiply(a, b);
        add::subtract_once(a, 0, self.modulus);
    }

    /// `a = a² / R` modulo N, below N. `a` must be below N.
    pub(crate) fn square_below(&mut self, a: &mut [u64]) {
        self.square(a);
        add::subtract_once(a, 0, self.modulus);
    }
}

impl Drop for MontgomeryMultiplier<'_> {
    fn drop(&mut self) {
        self.inverse.zeroize();
    }
}

/// −1 / N modulo b², from −1 / N modulo b: one step of Newton's iteration, which doubles the number of correct bits.
fn double_inverse(modulus: &[u64], inverse: u64) -> [u64; 2] {
    let low = u128::from(modulus[0]) | u128::from(modulus.get(1).copied().unwrap_or(0)) << 64;
    let positive = u128::from(inverse.wrapping_neg());
    let positive = positive.wrapping_mul(2u128.wrapping_sub(low.wrapping_mul(positive)));
    let inverse = positive.wrapping_neg();
    [inverse as u64, (inverse >> 64) as u64]
}

/// `product = a · b`, if this machine has assembly for this length. Returns whether it has.
#[cfg(target_arch = "x86_64")]
pub(crate) fn multiply(a: &[u64], b: &[u64], product: &mut [u64]) -> bool {
    let n = a.len();
    assert!(b.len() == n && product.len() == 2 * n);
    let MultiplyBackend::Adx(_) = MultiplyBackend::of(n) else { return false };
    // SAFETY: the token `Adx` proves BMI2 and ADX. The lengths were asserted; `of` returns `Adx` for a positive multiple of 8.
    unsafe { adx::multiply(product.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n / BLOCK) };
    true
}

impl MultiplyBackend {
    fn of(digits: usize) -> MultiplyBackend {
        #[cfg(target_arch = "x86_64")]
        if digits > 0
            && digits.is_multiple_of(BLOCK)
            && let Some(token) = Adx::detect()
        {
            return MultiplyBackend::Adx(token);
        }
        #[cfg(all(target_arch = "riscv32", target_feature = "m", not(tress_without_riscv32)))]
        if words::fits(digits) {
            return MultiplyBackend::Riscv32;
        }
        let _ = digits;
        MultiplyBackend::Portable
    }

    /// Number of digits of scratch memory for numbers of `digits` digits.
    fn scratch(&self, digits: usize) -> usize {
        match self {
            MultiplyBackend::Portable => digits,
            #[cfg(target_arch = "x86_64")]
            MultiplyBackend::Adx(_) => 2 * digits + BLOCK,
            #[cfg(all(target_arch = "riscv32", target_feature = "m", not(tress_without_riscv32)))]
            MultiplyBackend::Riscv32 => words::scratch(digits),
        }
    }

    fn name(self) -> &'static str {
        match self {
            MultiplyBackend::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            MultiplyBackend::Adx(_) => "adx",
            #[cfg(all(target_arch = "riscv32", target_feature = "m", not(tress_without_riscv32)))]
            MultiplyBackend::Riscv32 => "riscv32",
        }
    }
}

/// The name of the backend that multiplies numbers of `digits` digits on this machine.
pub(crate) fn backend(digits: usize) -> &'static str {
    MultiplyBackend::of(digits).name()
}
