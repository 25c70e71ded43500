//! Powers, one at a time and in lanes, as the interpreter runs them: moduli, bases and exponents marked as secret with the
//! requests that are Valgrind's elsewhere.

use tress_modular::Modulus;
use tress_modular::lanes::{self, Power};

/// Makes the digits secret (MAKE_MEM_UNDEFINED).
fn hide(digits: &mut [u64]) {
    let bytes = size_of_val(digits) as u64;
    let request: [u64; 6] = [0x4d43_0001, digits.as_ptr().addr() as u64, bytes, 0, 0, 0];
    // SAFETY: on a processor the rotations add up to nothing and the exchange is with itself.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") &raw const request, inout("rdx") 0u64 => _,
        );
    }
}

/// As many digits, secret.
fn secret(count: usize, seed: u64) -> Vec<u64> {
    let mut digits = public(count, seed);
    hide(&mut digits);
    digits
}

fn public(count: usize, seed: u64) -> Vec<u64> {
    (1..=count as u64).map(|i| (seed + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).collect()
}

/// One at a time: whole blocks of eight digits, and others.
extern "sysv64" fn one_at_a_time() {
    for limbs in [3, 8, 16, 24] {
        let modulus = Modulus::new(&secret(limbs, 1)).expect("an odd modulus");
        let base = secret(limbs, 2);
        let _ = modulus.multiply(&base, &secret(limbs + 1, 3));
        for exponent_limbs in [0, 1, 2, 4] {
            let _ = modulus.power(&base, &secret(exponent_limbs, 4));
        }
        let _ = modulus.power_vartime(&base, &[65537]);
        let _ = modulus.inverse(&public(limbs, 7));
    }
}

/// Batches of `count` jobs of a length, with exponents of several lengths.
fn batch(limbs: usize, count: usize, exponent_limbs: usize) {
    let modulus: Vec<_> = (0..count as u64).map(|i| Modulus::new(&secret(limbs, i)).expect("an odd modulus")).collect();
    let bases: Vec<_> = (0..count as u64).map(|i| secret(limbs + (i % 2) as usize, 20 + i)).collect();
    let exponents: Vec<_> = (0..count as u64).map(|i| secret(exponent_limbs, 40 + i)).collect();
    let mut results = vec![vec![0; limbs]; count];
    let mut jobs: Vec<_> = (results.iter_mut().enumerate())
        .map(|(i, result)| Power { modulus: &modulus[i], base: &bases[i], exponent: &exponents[i], result })
        .collect();
    lanes::power(&mut jobs);
}

/// Eight at a time: one block of digits, two and three, exponents of all widths of windows.
extern "sysv64" fn eight_at_a_time() {
    batch(8, 3, 0);
    batch(8, 3, 1);
    batch(9, 8, 2);
    batch(16, 9, 4);
    batch(8, 2, 10);
    batch(24, 2, 1);
    batch(2, 3, 1);
}

/// Public exponents, of one length and mixed; moduli and bases may be secret all the same.
extern "sysv64" fn public_exponents() {
    for exponents in [[65537; 4], [3, 65537, 0, 1], [1; 4], [0; 4], [u64::MAX; 4]] {
        let modulus: Vec<_> = (0..4).map(|i| Modulus::new(&secret(16, i)).expect("an odd modulus")).collect();
        let bases: Vec<_> = (0..4).map(|i| secret(16, 20 + i)).collect();
        let exponents = exponents.map(|exponent| [exponent]);
        let mut results = vec![vec![0; 16]; 4];
        let mut jobs: Vec<_> = (results.iter_mut().enumerate())
            .map(|(i, result)| Power { modulus: &modulus[i], base: &bases[i], exponent: &exponents[i], result })
            .collect();
        lanes::power_vartime(&mut jobs);
    }
}

/// Name and the address of what runs it all.
pub(crate) fn all() -> Vec<(&'static str, u64)> {
    vec![
        ("one at a time", one_at_a_time as *const () as u64),
        ("eight at a time", eight_at_a_time as *const () as u64),
        ("public exponents", public_exponents as *const () as u64),
    ]
}
