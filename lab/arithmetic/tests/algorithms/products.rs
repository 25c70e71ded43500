//! Products, squares, greatest common divisors, inverses.

use num_bigint::BigUint;
use tress_arithmetic::{Limb, gcd, inverse, multiply};

use crate::common::{Random, boundary_moduli, number, numbers, to_limbs, values_below};

for_all_digits! { two_lengths products greatest_common_divisors inverses }

fn two_lengths<L: Limb>() {
    let mut random = Random::new(11);
    for (m, n) in [(0, 0), (0, 3), (3, 0), (1, 5), (5, 1), (4, 7), (7, 4)] {
        for (a, b) in [(random.digits::<L>(m), random.digits(n)), (vec![L::MAX; m], vec![L::MAX; n])] {
            let expected = to_limbs::<L>(&(number(&a) * number(&b)), m + n);
            let mut product = vec![L::MAX; m + n];
            multiply::rows(&a, &b, &mut product);
            assert_eq!(product, expected);
            product.fill(L::MAX);
            multiply::columns(&a, &b, &mut product);
            assert_eq!(product, expected);
        }
    }
}

/// All products and squares. The lengths are below and above Karatsuba's threshold, odd, and two and four times the threshold.
fn products<L: Limb>() {
    let mut random = Random::new(12);
    let threshold = multiply::KARATSUBA_DIGITS;
    let around = [threshold - 1, threshold, threshold + 1, 2 * threshold - 1, 2 * threshold, 2 * threshold + 1];
    for digits in [1, 2, 3, 4, 7, 8, 12, 16, 4 * threshold + 3].into_iter().chain(around) {
        let numbers = numbers::<L>(digits, &mut random);
        for a in &numbers {
            for b in &numbers {
                let expected = to_limbs::<L>(&(number(a) * number(b)), 2 * digits);
                let mut scratch = vec![L::MAX; multiply::karatsuba_scratch(digits)];
                let mut check = |name, run: &mut dyn FnMut(&mut [L], &mut [L])| {
                    let mut product = vec![L::MAX; 2 * digits];
                    run(&mut product, &mut scratch);
                    assert_eq!(product, expected, "{name} of {digits} digits");
                };
                check("rows", &mut |product, _| multiply::rows(a, b, product));
                check("columns", &mut |product, _| multiply::columns(a, b, product));
                check("karatsuba", &mut |product, scratch| multiply::karatsuba(a, b, product, scratch));
                check("multiply", &mut |product, scratch| multiply::multiply(a, b, product, scratch));
                if a == b {
                    check("three steps", &mut |square, _| multiply::square::three_steps(a, square));
                    check("columns", &mut |square, _| multiply::square::columns(a, square));
                    check("karatsuba", &mut |square, scratch| multiply::square::karatsuba(a, square, scratch));
                }
            }
        }
    }
}

/// Euclid's algorithm, with the other library's remainders.
fn euclid(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

fn greatest_common_divisors<L: Limb>() {
    let mut random = Random::new(13);
    for digits in [1, 2, 5] {
        let mut numbers = numbers::<L>(digits, &mut random);
        // With a common factor, odd and even.
        for factor in [3u32, 48, 4096] {
            let part = (number(&random.digits::<L>(digits)) >> 13u32) * factor;
            numbers.push(to_limbs(&part, digits));
        }
        for a in &numbers {
            for b in &numbers {
                let (mut x, mut y) = (a.clone(), b.clone());
                gcd::gcd_vartime(&mut x, &mut y).unwrap();
                assert_eq!(number(&x), euclid(number(a), number(b)));
                assert_eq!(number(&y), BigUint::ZERO);
            }
        }
    }
}

fn inverses<L: Limb>() {
    let mut random = Random::new(14);
    for digits in [1, 2, 5] {
        for modulus in boundary_moduli::<L>(digits, &mut random) {
            if modulus[1..].iter().all(|&digit| digit == L::ZERO) && modulus[0] <= L::from_u64(2) {
                continue;
            }
            let n = number(&modulus);
            for value in values_below(&n, &mut random).into_iter().filter(|value| *value < n) {
                let mut result = vec![L::ZERO; digits];
                let mut scratch = vec![L::ZERO; inverse::inverse_scratch(digits)];
                let exists = inverse::inverse(&to_limbs(&value, digits), &modulus, &mut result, &mut scratch);
                let found = (exists == L::ONE).then(|| number(&result));
                // Even moduli are not supported.
                let expected = value.modinv(&n).filter(|_| n.bit(0));
                assert_eq!(found, expected, "1 / {value} modulo {n}");

                // The same inverse by division steps, with digits of 64 bits.
                let wide = n.bits().div_ceil(64) as usize;
                let (mut result, mut scratch) = (vec![0; wide], vec![u64::MAX; inverse::divsteps_scratch(wide)]);
                let (x, y) = (to_limbs(&value, wide), to_limbs(&n, wide));
                let exists = inverse::divsteps(&x, &y, &mut result, &mut scratch);
                assert_eq!((exists == 1).then(|| number(&result)), expected, "1 / {value} modulo {n}");
            }
        }
    }
}
