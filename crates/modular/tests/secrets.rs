//! No branch and no address depends on a secret: numbers are marked as undefined, and Valgrind's memcheck reports every jump and every
//! address that is computed from undefined bytes.
//!
//! Needs the feature `secrets` (`make secrets`). The test runs itself again under Valgrind, which does not support AVX-512. So it covers
//! portable code and the assembly for one number at a time. A power whose time depends on the exponent is the planted leak: it must be
//! found.
#![cfg(target_arch = "x86_64")]

use tress_modular::lanes::{self, Comb, CombPower, Power, Product};
use tress_modular::{Limb, Modulus, add, prime};

#[path = "common/memcheck.rs"]
mod memcheck;
#[path = "common/secrets.rs"]
mod numbers;

use memcheck::{hide, show, watch};
use numbers::{modulus, secret};

/// Sums, with digits of one size.
fn sums<L: Limb>() {
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
    }
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
        watch("planted", || _ = prepared.power_vartime(&a, &exponent));
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
        sums::<u16>();
        sums::<u32>();
        sums::<u64>();
        whole_moduli();
    }
}

#[test]
fn no_branch_and_no_address_depends_on_a_secret() {
    memcheck::check(30, 1);
}
