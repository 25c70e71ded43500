//! Powers, one at a time and in lanes, for the interpreter: moduli, bases and exponents are marked as secret by the
//! same requests as for Valgrind.

use core::array;

use tress_modular::Modulus;
use tress_modular::lanes::{self, Comb, CombPower, Power, Product};

/// Marks the digits as secret (MAKE_MEM_UNDEFINED).
fn hide(digits: &[u64]) {
    let bytes = size_of_val(digits) as u64;
    let request: [u64; 6] = [0x4d43_0001, digits.as_ptr().addr() as u64, bytes, 0, 0, 0];
    // SAFETY: on a processor the rotations add up to a full turn, and the exchange is of a register with itself.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") &raw const request, inout("rdx") 0u64 => _,
        );
    }
}

/// `count` secret digits.
fn secret(count: usize, seed: u64) -> Vec<u64> {
    let digits = public(count, seed);
    hide(&digits);
    digits
}

fn public(count: usize, seed: u64) -> Vec<u64> {
    (1..=count as u64).map(|i| (seed + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).collect()
}

/// Moduli of several lengths, eight of each. They are prepared on the processor, which is faster, and marked as
/// secret in the interpreter. `prepared` prepares some in the interpreter.
pub(crate) struct Moduli([[Modulus; 8]; 7]);

const LENGTHS: [usize; 7] = [2, 3, 8, 9, 16, 24, 32];

impl Moduli {
    pub(crate) fn new() -> Moduli {
        let prepare = |limbs: usize, i: usize| Modulus::new(&public(limbs, i as u64)).expect("an odd modulus");
        Moduli(LENGTHS.map(|limbs| array::from_fn(|i| prepare(limbs, i))))
    }

    fn of(&self, limbs: usize) -> &[Modulus; 8] {
        let location = LENGTHS.iter().position(|length| *length == limbs).expect("one of the lengths");
        self.0[location].iter().for_each(|modulus| hide(modulus.as_limbs()));
        &self.0[location]
    }
}

/// One at a time: whole blocks of eight digits, and other lengths.
extern "sysv64" fn one_at_a_time(moduli: &Moduli) {
    for limbs in [3, 8, 16] {
        let modulus = &moduli.of(limbs)[0];
        let base = secret(limbs, 2);
        let _ = modulus.multiply(&base, &secret(limbs + 1, 3));
        for exponent_limbs in [0, 1, 4] {
            let _ = modulus.power(&base, &secret(exponent_limbs, 4));
        }
        let _ = modulus.power_vartime(&base, &[65537]);
    }
}

/// Batches of `count` jobs with numbers of one length and exponents of one length.
fn batch(moduli: &Moduli, limbs: usize, count: usize, exponent_limbs: usize) {
    let moduli = moduli.of(limbs);
    let bases: Vec<_> = (0..count).map(|i| secret(limbs + i % 2, 20 + i as u64)).collect();
    let exponents: Vec<_> = (0..count).map(|i| secret(exponent_limbs, 40 + i as u64)).collect();
    let mut results = vec![vec![0; limbs]; count];
    let mut jobs: Vec<_> = (results.iter_mut().enumerate())
        .map(|(i, result)| Power { modulus: &moduli[i % 8], base: &bases[i], exponent: &exponents[i], result })
        .collect();
    lanes::power(&mut jobs);
}

/// Eight at a time: one, two and three blocks of digits, and exponents for all window widths.
extern "sysv64" fn eight_at_a_time(moduli: &Moduli) {
    batch(moduli, 8, 3, 0);
    batch(moduli, 8, 3, 1);
    batch(moduli, 9, 8, 2);
    batch(moduli, 16, 9, 4);
    batch(moduli, 8, 2, 10);
    batch(moduli, 24, 5, 1);
    batch(moduli, 2, 3, 1);
}

/// One or two pairs of numbers of two, three and four blocks, with secret and with public exponents.
extern "sysv64" fn pairs(moduli: &Moduli) {
    for (limbs, count) in [(16, 1), (24, 2), (32, 4)] {
        batch(moduli, limbs, count, 4);
        let moduli = moduli.of(limbs);
        let base = secret(2 * limbs, 20);
        let mut results = [vec![0; limbs], vec![0; limbs]];
        let mut jobs: Vec<_> = (results.iter_mut().zip(moduli).take(count))
            .map(|(result, modulus)| Power { modulus, base: &base, exponent: &[65537], result })
            .collect();
        lanes::power_vartime(&mut jobs);
    }
}

/// Public exponents, of one length and mixed, with secret moduli and bases.
extern "sysv64" fn public_exponents(moduli: &Moduli) {
    let moduli = moduli.of(16);
    let kinds = [[65537; 4], [3, 65537, 0, 1], [1; 4], [0; 4], [u64::MAX; 4]];
    for (exponents, length) in kinds.into_iter().flat_map(|exponents| [(exponents, 16), (exponents, 31)]) {
        let bases: Vec<_> = (0..4).map(|i| secret(length, 20 + i)).collect();
        let exponents = exponents.map(|exponent| [exponent]);
        let mut results = vec![vec![0; 16]; 4];
        let mut jobs: Vec<_> = (results.iter_mut().enumerate())
            .map(|(i, result)| Power { modulus: &moduli[i], base: &bases[i], exponent: &exponents[i], result })
            .collect();
        lanes::power_vartime(&mut jobs);
    }
}

/// A modulus that is secret from the beginning.
extern "sysv64" fn prepared(_: &Moduli) {
    for limbs in [2, 8, 9, 16] {
        let mut digits = public(limbs, 7);
        digits[limbs - 1] |= 1 << 63;
        hide(&digits);
        let modulus = Modulus::new(&digits).expect("an odd modulus");
        let _ = modulus.multiply(&secret(limbs, 1), &secret(limbs, 2));
    }
}

/// Products in lanes, with factors as long as the modulus and longer.
extern "sysv64" fn products(moduli: &Moduli) {
    for limbs in [8, 9, 16, 24] {
        let moduli = moduli.of(limbs);
        for length in [limbs, 2 * limbs - 1] {
            let factors: Vec<_> = (0..9).map(|i| [secret(length, i), secret(limbs, 40 + i)]).collect();
            let mut results = vec![vec![0; limbs]; 9];
            let mut jobs: Vec<_> = (results.iter_mut().enumerate())
                .map(|(i, result)| {
                    let [a, b] = &factors[i];
                    Product { modulus: &moduli[i % 8], a, b, result }
                })
                .collect();
            lanes::multiply(&mut jobs);
        }
    }
}

/// Powers by a comb.
extern "sysv64" fn combs(moduli: &Moduli) {
    for limbs in [3, 8, 16] {
        let comb = Comb::new(&moduli.of(limbs)[0], &secret(limbs, 3), 40);
        // As many bits as the comb supports.
        let exponents: Vec<_> = (0..3).map(|i| [secret(1, 40 + i)[0] >> 24]).collect();
        let mut results = vec![vec![0; limbs]; 3];
        let mut jobs: Vec<_> = (results.iter_mut().zip(&exponents))
            .map(|(result, exponent)| CombPower { comb: &comb, exponent, result })
            .collect();
        lanes::power_by_comb(&mut jobs);
    }
}

/// Name, and the address of the function that runs everything.
pub(crate) fn all() -> Vec<(&'static str, u64)> {
    vec![
        ("one at a time", one_at_a_time as *const () as u64),
        ("eight at a time", eight_at_a_time as *const () as u64),
        ("pairs", pairs as *const () as u64),
        ("public exponents", public_exponents as *const () as u64),
        ("prepared", prepared as *const () as u64),
        ("products", products as *const () as u64),
        ("combs", combs as *const () as u64),
    ]
}
