//! Small runs of all code, for Miri: `make miri` runs only this file. The other tests use larger numbers.

use crate::common::{Random, boundary_moduli, number, to_limbs};
use num_bigint::BigUint;
use tress_modular::lanes::{self, Power};
use tress_modular::power::{sliding_window_scratch, sliding_window_vartime};
use tress_modular::reduce::montgomery::Arrangement;
use tress_modular::reduce::{Barrett, Classical, Montgomery, Ring, Selby, Takagi, barrett_scratch};
use tress_modular::{Limb, Modulus, multiply, prime};

/// Two numbers below the modulus.
fn factors(n: &BigUint, random: &mut Random) -> [BigUint; 2] {
    [0; 2].map(|_| number(&random.digits::<u64>(4)) % n)
}

fn products<L: Limb>() {
    let mut random = Random::new(40);
    let digits = multiply::KARATSUBA_DIGITS + 1;
    let (a, b) = (vec![L::MAX; digits], random.digits::<L>(digits));
    let expected = to_limbs::<L>(&(number(&a) * number(&b)), 2 * digits);
    let mut product = vec![L::ZERO; 2 * digits];
    let mut scratch = vec![L::ZERO; multiply::karatsuba_scratch(digits)];
    multiply::multiply(&a, &b, &mut product, &mut scratch);
    assert_eq!(product, expected);
    multiply::columns(&a, &b, &mut product);
    assert_eq!(product, expected);
    multiply::square::karatsuba(&b, &mut product, &mut scratch);
    let square = product.clone();
    multiply::square::columns(&b, &mut product);
    assert_eq!(product, square);
    assert_eq!(number(&square), number(&b) * number(&b));
}

fn in_ring<L: Limb>(ring: &impl Ring<L>, a: &BigUint, b: &BigUint, expected: &BigUint) {
    let n = ring.modulus().len();
    let (mut product, mut scratch) = (vec![L::ZERO; n], vec![L::ZERO; sliding_window_scratch(ring, 2)]);
    ring.multiply(&to_limbs(a, n), &to_limbs(b, n), &mut product, &mut scratch);
    assert_eq!(number(&product), *expected);
    let (base, mut power) = (product.clone(), product.clone());
    sliding_window_vartime(ring, &base, &[L::from_u64(13)], 2, &mut power, &mut scratch).unwrap();
}

fn rings<L: Limb>() {
    let mut random = Random::new(41);
    // Miri takes seconds for each.
    let moduli = boundary_moduli::<L>(3, &mut random);
    for modulus in moduli.into_iter().take(if cfg!(miri) { 2 } else { 8 }) {
        let n = number(&modulus);
        let [a, b] = factors(&n, &mut random);
        let expected = &a * &b % &n;
        in_ring(&Classical::new(&modulus).unwrap(), &a, &b, &expected);
        in_ring(&Takagi::new(&modulus).unwrap(), &a, &b, &expected);
        let (mut table, mut scratch) = (vec![L::ZERO; 9], vec![L::ZERO; barrett_scratch(3)]);
        in_ring(&Selby::new(&modulus, &mut table, &mut scratch).unwrap(), &a, &b, &expected);
        let mut reciprocal = vec![L::ZERO; 5];
        in_ring(&Barrett::new_vartime(&modulus, &mut reciprocal, &mut scratch).unwrap(), &a, &b, &expected);
        let inverse_of_r = (BigUint::from(1u32) << (3 * L::BITS)).modinv(&n).unwrap();
        for arrangement in Arrangement::ALL {
            let mut powers = vec![L::ZERO; 6];
            let ring = Montgomery::new(&modulus, arrangement, &mut powers, &mut scratch).unwrap();
            in_ring(&ring, &a, &b, &(&expected * &inverse_of_r % &n));
        }
    }
}

#[test]
fn at_every_digit_size() {
    products::<u16>();
    products::<u32>();
    products::<u64>();
    rings::<u16>();
    rings::<u32>();
    rings::<u64>();
}

/// More jobs of one length than there are lanes, except under Miri, which has no lanes.
const JOBS: usize = if cfg!(miri) { 3 } else { 20 };

#[test]
fn moduli_and_lanes() {
    let mut random = Random::new(42);
    let moduli: Vec<_> = (0..JOBS).map(|i| Modulus::new(&random.odd(2 + i % 2)).unwrap()).collect();
    let bases: Vec<_> = moduli.iter().map(|modulus| random.digits(modulus.limbs() + 1)).collect();
    let exponents: Vec<_> = (0..JOBS).map(|i| random.digits::<u64>(i % 2)).collect();
    let mut results: Vec<_> = moduli.iter().map(|modulus| vec![0; modulus.limbs()]).collect();
    let mut jobs: Vec<_> = results
        .iter_mut()
        .enumerate()
        .map(|(i, result)| Power { modulus: &moduli[i], base: &bases[i], exponent: &exponents[i], result })
        .collect();
    lanes::power(&mut jobs);
    for i in 0..moduli.len() {
        let n = number(moduli[i].as_limbs());
        assert_eq!(number(&results[i]), number(&bases[i]).modpow(&number(&exponents[i]), &n));
        let value = number(&bases[i]) % &n;
        if i == 0 {
            assert_eq!(moduli[i].inverse(&bases[i]).map(|inverse| number(&inverse)), value.modinv(&n));
        }
    }
    // Divisible by 3.
    assert_eq!(prime::is_probable_prime(&[u64::MAX, 0xff], 1, &mut |bytes| random.fill(bytes)), Ok(false));
}
