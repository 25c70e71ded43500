//! No branch and no address depends on a secret: numbers are marked as undefined, and Valgrind's memcheck reports every jump and every
//! address that is computed from undefined bytes.
//!
//! Needs the feature `secrets` (`make secrets`). The test runs itself again under Valgrind, which does not support AVX-512. So it covers
//! portable code and the assembly for one number at a time. The binary method, whose time depends on the exponent, is the planted leak: it
//! must be found.
#![cfg(target_arch = "x86_64")]

use tress_modular::lanes::{self, Comb, CombPower, Power, Product};
use tress_modular::power::{binary_scratch, binary_vartime, fixed_window, fixed_window_scratch};
use tress_modular::reduce::montgomery::{Arrangement, negative_inverse};
use tress_modular::reduce::{Barrett, Montgomery, Ring, barrett_scratch};
use tress_modular::{Limb, Modulus, add, inverse, multiply, prime};

#[path = "common/memcheck.rs"]
mod memcheck;

use memcheck::{hide, show, watch};

fn digits<L: Limb>(count: usize, seed: u64) -> Vec<L> {
    (0..count as u64)
        .map(|i| L::from_u64((i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(11) & (u64::MAX >> 1)))
        .collect()
}

fn secret<L: Limb>(count: usize, seed: u64) -> Vec<L> {
    let mut secret = digits(count, seed);
    hide(&mut secret);
    secret
}

/// An odd modulus with its highest bit set, two properties that are public. Its digits are not hidden here.
fn modulus<L: Limb>(count: usize) -> Vec<L> {
    let mut modulus = digits::<L>(count, 77);
    modulus[0] = modulus[0] | L::ONE;
    modulus[count - 1] = modulus[count - 1] | (L::ONE << (L::BITS - 1));
    modulus
}

/// All functions that claim constant time, with digits of one size.
fn slices<L: Limb>() {
    let name = |what: &str| format!("{} bits {what}", L::BITS);
    for n in [2, 8, 33] {
        let (mut a, b) = (secret::<L>(n, 1), secret::<L>(n, 2));
        let mut sum = vec![L::ZERO; n];
        watch(&name("sums"), || {
            add::add(&a, &b, &mut sum);
            add::subtract(&a, &b, &mut sum);
            add::subtract_complement(&a, &b, &mut sum);
            let mask = add::is_less(&a, &b).mask();
            add::add_masked(&mut a, &b, mask);
            let mask = (add::is_equal(&a, &b) | add::is_zero(&a)).mask();
            add::subtract_masked(&mut a, &b, mask);
            let carry = add::double(&mut a);
            add::halve(&mut a, carry);
        });
        let (mut product, mut scratch) = (vec![L::ZERO; 2 * n], vec![L::ZERO; multiply::karatsuba_scratch(n)]);
        watch(&name("products"), || {
            multiply::rows(&a, &b, &mut product);
            multiply::columns(&a, &b, &mut product);
            multiply::multiply(&a, &b, &mut product, &mut scratch);
        });
        watch(&name("squares"), || {
            multiply::square::three_steps(&a, &mut product);
            multiply::square::columns(&a, &mut product);
            multiply::square::karatsuba(&a, &mut product, &mut scratch);
        });
        let public = modulus::<L>(n);
        let (mut reciprocal, mut memory) = (vec![L::ZERO; n + 2], vec![L::ZERO; barrett_scratch(n)]);
        let barrett = Barrett::new_vartime(&public, &mut reciprocal, &mut memory).unwrap();
        let mut memory = vec![L::ZERO; barrett.scratch()];
        watch(&name("barrett"), || {
            barrett.multiply(&a, &b, &mut sum, &mut memory);
            barrett.square(&a, &mut sum, &mut memory);
        });
        // The modulus is secret here.
        let mut hidden = modulus::<L>(n);
        hide(&mut hidden);
        let mut one = vec![L::ZERO; n];
        for arrangement in Arrangement::ALL {
            let (mut powers, mut memory) = (vec![L::ZERO; 2 * n], vec![L::ZERO; 2 * n]);
            watch(&name(arrangement.name()), || {
                let ring = Montgomery::new(&hidden, arrangement, &mut powers, &mut memory).unwrap();
                ring.enter(&a, &mut sum, &mut memory);
                ring.square(&a, &mut sum, &mut memory);
                ring.leave(&a, &mut sum, &mut memory);
                ring.one(&mut one);
            });
        }
        let exponent = secret::<L>(3, 5);
        let mut memory = vec![L::ZERO; fixed_window_scratch(n, 3 * L::BITS as usize)];
        watch(&name("fixed window"), || {
            let inverse = negative_inverse(hidden[0]);
            fixed_window(&b, &exponent, &hidden, inverse, &one, &mut sum, &mut memory);
        });
        let mut memory = vec![L::ZERO; inverse::inverse_scratch(n)];
        watch(&name("inverse"), || _ = inverse::inverse(&a, &hidden, &mut sum, &mut memory));
    }
    // The planted leak.
    let n = 4;
    let public = modulus::<L>(n);
    let (mut powers, mut memory) = (vec![L::ZERO; 2 * n], vec![L::ZERO; n]);
    let ring = Montgomery::new(&public, Arrangement::Cios, &mut powers, &mut memory).unwrap();
    let (base, exponent) = (secret::<L>(n, 3), secret::<L>(n, 4));
    let (mut result, mut memory) = (vec![L::ZERO; n], vec![L::ZERO; binary_scratch(&ring)]);
    watch("planted", || _ = binary_vartime(&ring, &base, &exponent, &mut result, &mut memory));
}

fn whole_moduli() {
    for n in [2, 16] {
        let mut hidden = modulus::<u64>(n);
        hide(&mut hidden);
        let mut prepared = None;
        watch("modulus set-up", || prepared = Modulus::new(&hidden).ok());
        let prepared = prepared.expect("an odd modulus");
        let (a, b, exponent) = (secret::<u64>(n, 1), secret::<u64>(n, 2), secret::<u64>(2, 3));
        watch("modulus reduce", || _ = prepared.reduce(&secret::<u64>(2 * n, 4)));
        watch("modulus is_reduced", || _ = prepared.is_reduced(&a));
        watch("modulus add", || _ = prepared.add(&a, &b));
        watch("modulus subtract", || _ = prepared.subtract(&a, &b));
        watch("modulus multiply", || _ = prepared.multiply(&a, &b));
        watch("modulus power", || _ = prepared.power(&a, &exponent));
        watch("modulus inverse", || _ = prepared.inverse(&a));
        let mut results = vec![vec![0; n]; 9];
        let mut jobs: Vec<_> = results
            .iter_mut()
            .map(|result| Power { modulus: &prepared, base: &a, exponent: &exponent, result })
            .collect();
        watch("modulus lanes", || lanes::power(&mut jobs));
        let mut results = vec![vec![0; n]; 9];
        let mut jobs: Vec<_> =
            results.iter_mut().map(|result| Product { modulus: &prepared, a: &a, b: &exponent, result }).collect();
        watch("modulus products", || lanes::multiply(&mut jobs));
        let mut comb = None;
        watch("comb", || comb = Some(Comb::new(&prepared, &b, 128)));
        let comb = comb.expect("a comb");
        let mut result = vec![0; n];
        let job = CombPower { comb: &comb, exponent: &exponent, result: &mut result };
        watch("power by comb", || lanes::power_by_comb(&mut [job]));
        watch("modulus wiped", || drop(prepared));
    }
    // 2^127 − 1, which passes all rounds.
    let mut candidate = [u64::MAX, u64::MAX >> 1];
    hide(&mut candidate);
    let mut random = 0u8;
    let mut fill = |bytes: &mut [u8]| {
        bytes.fill_with(|| {
            random = random.wrapping_mul(29).wrapping_add(17);
            random
        });
        Ok::<(), ()>(())
    };
    watch("prime", || assert_eq!(prime::is_probable_prime(&candidate, 3, &mut fill), Ok(true)));
    show(&mut candidate);
}

/// The run under Valgrind. Does nothing elsewhere.
#[test]
fn inside() {
    if memcheck::is_inside() {
        slices::<u16>();
        slices::<u32>();
        slices::<u64>();
        whole_moduli();
    }
}

#[test]
fn no_branch_and_no_address_depends_on_a_secret() {
    memcheck::check(100, 100);
}
