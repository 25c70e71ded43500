//! Every exponentiation in every ring.

use num_bigint::BigUint;
use tress_arithmetic::Limb;
use tress_arithmetic::power::{
    FixedBase, PowerTable, binary_scratch, binary_vartime, fixed_base_digits, montgomery_binary_scratch,
    montgomery_binary_vartime, power_table_digits, r_ary_scratch, r_ary_vartime,
};
use tress_arithmetic::reduce::{Montgomery, Ring};

use crate::algorithms::rings::for_all_rings;
use crate::common::{Random, boundary_moduli, number, to_limbs, values_below};

for_all_digits! { in_every_ring montgomery_from_end_to_end }

/// 1, 2, 3, a Fermat prime, all ones, a one followed by zeros, random exponents; also with a leading zero digit.
fn exponents<L: Limb>(random: &mut Random) -> Vec<Vec<L>> {
    let mut power = vec![L::ZERO; 3];
    power[2] = L::ONE;
    let mut exponents: Vec<Vec<L>> = vec![power, vec![L::MAX; 2], random.digits(3), random.digits(2)];
    exponents.extend([1u32, 2, 3, 65537].map(|small| to_limbs(&small.into(), 4)));
    exponents
}

fn in_every_ring<L: Limb>() {
    let mut random = Random::new(30);
    for digits in [2, 4] {
        for modulus in boundary_moduli::<L>(digits, &mut random) {
            let n = number(&modulus);
            let bases = values_below(&n, &mut random);
            let exponents: Vec<_> = exponents::<L>(&mut random).iter().map(|exponent| number(exponent)).collect();
            for_all_rings(&modulus, &mut |name, ring, form, back| {
                for base in &bases[..4] {
                    powers_of(ring, &form(base), &exponents, &mut |how, exponent, result| {
                        let expected = base.modpow(exponent, &n);
                        assert_eq!(back(result), expected, "{how}, {name}: {base} ^ {exponent} modulo {n}");
                    });
                }
            });
        }
    }
}

/// Passes the powers of `x` to `check`, each with its method and its exponent.
fn powers_of<L: Limb>(ring: &dyn Ring<L>, x: &[L], exponents: &[BigUint], check: &mut dyn FnMut(&str, &BigUint, &[L])) {
    let mut result = vec![L::MAX; ring.modulus().len()];
    // A table is made once for a base.
    let bits = exponents.iter().map(BigUint::bits).max().unwrap() as usize;
    let mut table = vec![L::MAX; power_table_digits(ring, bits)];
    let mut scratch = vec![L::MAX; binary_scratch(ring)];
    let powers = PowerTable::new(ring, x, &mut table, &mut scratch).unwrap();
    let mut table = vec![L::MAX; fixed_base_digits(ring, bits, 3)];
    let fixed = FixedBase::new(ring, x, 3, &mut table, &mut scratch).unwrap();
    for exponent in exponents {
        let digits = to_limbs::<L>(exponent, 5);
        let mut scratch = vec![L::MAX; binary_scratch(ring)];
        binary_vartime(ring, x, &digits, &mut result, &mut scratch).unwrap();
        check("binary", exponent, &result);
        for k in [1, 2, 5] {
            let mut scratch = vec![L::MAX; r_ary_scratch(ring, k)];
            r_ary_vartime(ring, x, &digits, k, &mut result, &mut scratch).unwrap();
            check("r-ary", exponent, &result);
        }
        let mut scratch = vec![L::MAX; fixed.scratch()];
        powers.power_vartime(&digits, &mut result, &mut scratch).unwrap();
        check("table", exponent, &result);
        fixed.power_vartime(&digits, &mut result, &mut scratch).unwrap();
        check("fixed base", exponent, &result);
    }
}

/// The paper's Algorithm 4, corrected, takes and returns plain numbers.
fn montgomery_from_end_to_end<L: Limb>() {
    let mut random = Random::new(31);
    for digits in [2, 5] {
        for modulus in boundary_moduli::<L>(digits, &mut random) {
            let n = number(&modulus);
            let (mut powers, mut scratch) = (vec![L::ZERO; 2 * digits], vec![L::ZERO; digits]);
            let ring = Montgomery::new(&modulus, &mut powers, &mut scratch).unwrap();
            let mut scratch = vec![L::MAX; montgomery_binary_scratch(&ring)];
            for base in values_below(&n, &mut random) {
                for exponent in exponents(&mut random) {
                    let mut result = vec![L::MAX; digits];
                    let x = to_limbs(&base, digits);
                    montgomery_binary_vartime(&ring, &x, &exponent, &mut result, &mut scratch).unwrap();
                    assert_eq!(number(&result), base.modpow(&number(&exponent), &n));
                }
            }
        }
    }
}
