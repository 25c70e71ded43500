//! One number at a time, at the lengths that have assembly, compared with an independent library: products, squares and powers where
//! carries propagate far.

use crate::common::{Random, boundary_moduli, number, to_limbs, values_below};
use tress_modular::Modulus;

#[test]
fn products_of_whole_blocks_and_others() {
    let mut random = Random::new(21);
    for limbs in [7, 8, 9, 15, 16, 24, 32, 40, 64, 128] {
        for n in boundary_moduli::<u64>(limbs, &mut random) {
            let modulus = Modulus::new(&n).unwrap();
            let n = number(&n);
            let mut values: Vec<Vec<u64>> =
                values_below(&n, &mut random).iter().map(|value| to_limbs(value, limbs)).collect();
            // Not below the modulus, but not longer.
            values.push(vec![u64::MAX; limbs]);
            for (i, a) in values.iter().enumerate() {
                let b = &values[(5 * i + 3) % values.len()];
                assert_eq!(number(&modulus.multiply(a, b)), number(a) * number(b) % &n, "modulo {n}");
                assert_eq!(number(&modulus.multiply(a, a)), number(a) * number(a) % &n, "modulo {n}");
            }
        }
    }
}

#[test]
fn powers_of_whole_blocks_and_others() {
    let mut random = Random::new(22);
    for limbs in [8, 12, 16, 24, 32] {
        for n in boundary_moduli::<u64>(limbs, &mut random) {
            let modulus = Modulus::new(&n).unwrap();
            let n = number(&n);
            let exponents = [vec![], vec![0, 0], vec![1], vec![u64::MAX; 2], random.digits(5), vec![65537]];
            for (i, base) in values_below(&n, &mut random).iter().enumerate() {
                let exponent = &exponents[i % exponents.len()];
                let expected = base.modpow(&number(exponent), &n);
                let base = to_limbs::<u64>(base, limbs);
                assert_eq!(number(&modulus.power(&base, exponent)), expected, "modulo {n}");
                assert_eq!(number(&modulus.power_vartime(&base, exponent)), expected, "modulo {n}");
            }
            // Multiples of the modulus become zero.
            assert!(modulus.power(modulus.as_limbs(), &[3]).iter().all(|digit| *digit == 0));
        }
    }
}
