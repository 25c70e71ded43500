//! Exponentiations in lanes, compared with an independent library and with one at a time: all sizes, boundary values, mixed moduli and
//! exponents, any number of jobs.

use crate::common::{Random, boundary_moduli, number, to_limbs, values_below};
use num_bigint::BigUint;
use tress_modular::Modulus;
use tress_modular::lanes::{self, Comb, CombPower, Power, Product};

/// Index of the modulus, base, exponent.
type PowerCase = (usize, Vec<u64>, Vec<u64>);

/// Computes all powers, with secret and public exponents, all together and two at a time, and compares them with the other library.
fn check(moduli: &[Modulus], cases: &[PowerCase]) {
    let expected: Vec<BigUint> = cases
        .iter()
        .map(|(modulus, base, exponent)| number(base).modpow(&number(exponent), &number(moduli[*modulus].as_limbs())))
        .collect();
    for (power, name) in [(lanes::power as fn(&mut [Power<'_>]), "power"), (lanes::power_vartime, "power_vartime")] {
        for together in [cases.len().max(1), 2] {
            let mut results: Vec<_> = cases.iter().map(|(modulus, ..)| vec![7; moduli[*modulus].limbs()]).collect();
            let mut jobs: Vec<_> = cases
                .iter()
                .zip(&mut results)
                .map(|((modulus, base, exponent), result)| Power { modulus: &moduli[*modulus], base, exponent, result })
                .collect();
            jobs.chunks_mut(together).for_each(power);
            for (((modulus, base, exponent), result), expected) in cases.iter().zip(&results).zip(&expected) {
                let (n, base, exponent) = (number(moduli[*modulus].as_limbs()), number(base), number(exponent));
                assert_eq!(number(result), *expected, "{name}, {together} together: {base} ^ {exponent} modulo {n}");
            }
        }
    }
}

/// Exponents: 0 with and without digits, 1, 2, 3, 65537, all ones, one with long runs of zeros, random ones.
fn exponents(limbs: usize, random: &mut Random) -> Vec<Vec<u64>> {
    let mut sparse = vec![0; limbs];
    sparse[limbs - 1] = 1 << 63;
    vec![
        vec![],
        vec![0],
        vec![1],
        vec![2],
        vec![3, 0, 0],
        vec![65537],
        vec![u64::MAX; limbs],
        sparse,
        random.digits(limbs),
        vec![u64::MAX],
        vec![1 << 63, 0],
        vec![0; limbs],
    ]
}

#[test]
fn boundary_values_of_every_number_of_blocks() {
    let mut random = Random::new(11);
    // One to five blocks, with digits that fill them completely or barely need them.
    for limbs in [5, 8, 9, 16, 17, 24, 25, 32, 33] {
        let moduli: Vec<_> =
            boundary_moduli::<u64>(limbs, &mut random).iter().map(|n| Modulus::new(n).unwrap()).collect();
        let mut cases = Vec::new();
        for (i, modulus) in moduli.iter().enumerate() {
            for (k, base) in values_below(&number(modulus.as_limbs()), &mut random).iter().enumerate() {
                let exponents = exponents(4, &mut random);
                for exponent in [&exponents[(i + k) % exponents.len()], &exponents[(i + 5 * k + 6) % exponents.len()]] {
                    cases.push((i, to_limbs(base, limbs), exponent.clone()));
                }
            }
        }
        check(&moduli, &cases);
    }
}

#[test]
fn moduli_beside_a_power_of_two() {
    // At the limit of a block: one block takes at most 518 bits, two 1038, four 2078.
    let mut random = Random::new(12);
    for bits in [257u64, 511, 512, 513, 517, 518, 519, 1023, 1024, 1037, 1038, 1039, 1040, 2047, 2048, 2078, 2079] {
        let one = BigUint::from(1u32);
        let limbs = bits.div_ceil(64) as usize;
        let n = [(&one << bits) - 1u32, (&one << (bits - 1)) + 1u32, (&one << bits) - (&one << 60) + 1u32];
        let moduli: Vec<_> = n.iter().map(|n| Modulus::new(&to_limbs::<u64>(n, limbs)).unwrap()).collect();
        let mut cases = Vec::new();
        for i in 0..9 {
            let n = number(moduli[i % 3].as_limbs());
            let base = [&n - 1u32, &n >> 1, (&one << (bits - 1)) - 1u32][i / 3].clone() % &n;
            cases.push((i % 3, to_limbs(&base, limbs), random.digits(3)));
        }
        check(&moduli, &cases);
    }
}

/// Numbers that a ring could lose, in every entry: the modulus, R of a block's digits and R of the limbs with their neighbours, and numbers
/// of other lengths. The moduli begin or end a limb or a block.
#[test]
fn bases_that_are_not_reduced_or_have_other_lengths() {
    let one = BigUint::from(1u32);
    for bits in [512u64, 518, 519, 577, 1024, 1025, 1038, 1039, 1537, 1558, 1559, 2049, 2078, 2079, 2113] {
        let limbs = bits.div_ceil(64) as usize;
        for n in [(&one << (bits - 1)) + 1u32, (&one << bits) - 1u32] {
            let moduli = [Modulus::new(&to_limbs(&n, limbs)).unwrap()];
            let mut values: Vec<Vec<u64>> =
                [0, 1, limbs - 1, 2 * limbs, 2 * limbs + 1].map(|length| vec![u64::MAX; length]).into();
            for radix in [(bits + 2).div_ceil(520) * 520, 64 * limbs as u64].map(|bits| &one << bits) {
                let beside = [n.clone(), &n + 1u32, &radix - 1u32, radix.clone(), radix + 1u32];
                values.extend(beside.map(|value| to_limbs(&value, value.bits().div_ceil(64) as usize)));
            }
            // Neighbours have the same exponent, so that two together run as a pair.
            let exponents: [&[u64]; 5] = [&[1], &[2], &[3], &[65537], &[7, 0, 5]];
            let cases = exponents.iter().flat_map(|exponent| values.iter().map(|v| (0, v.clone(), exponent.to_vec())));
            check(&moduli, &cases.collect::<Vec<_>>());

            let (mut products, mut powers) = (vec![vec![7; limbs]; values.len()], vec![vec![7; limbs]; values.len()]);
            let other = |i: usize| &values[(i + 4) % values.len()];
            let jobs = products.iter_mut().zip(&values).enumerate();
            lanes::multiply(
                &mut jobs
                    .map(|(i, (result, a))| Product { modulus: &moduli[0], a, b: other(i), result })
                    .collect::<Vec<_>>(),
            );
            let combs: Vec<_> = values.iter().map(|value| Comb::new(&moduli[0], value, 8)).collect();
            let jobs = combs.iter().zip(&mut powers).map(|(comb, result)| CombPower { comb, exponent: &[5], result });
            lanes::power_by_comb(&mut jobs.collect::<Vec<_>>());
            for (i, value) in values.iter().enumerate() {
                let value = number(value);
                assert_eq!(number(&products[i]), &value * number(other(i)) % &n, "{value} modulo {n}");
                assert_eq!(number(&powers[i]), value.modpow(&5u32.into(), &n), "{value} modulo {n}");
            }
        }
    }
}

#[test]
fn any_number_of_jobs_of_mixed_sizes() {
    let mut random = Random::new(14);
    let sizes = [2, 4, 5, 8, 8, 8, 9, 16, 16, 32];
    let moduli: Vec<_> = sizes.map(|limbs| Modulus::new(&random.odd(limbs)).unwrap()).into_iter().collect();
    for count in 0..18 {
        let cases: Vec<PowerCase> = (0..count)
            .map(|i| {
                let (modulus, length) = (random.below(10), random.below(5));
                let exponent = if i % 2 == 0 { vec![65537] } else { random.digits(length) };
                (modulus, random.digits(sizes[modulus]), exponent)
            })
            .collect();
        check(&moduli, &cases);
        // All jobs with one modulus.
        let cases: Vec<PowerCase> = (0..count).map(|_| (3, random.digits(8), random.digits(8))).collect();
        check(&moduli, &cases);
    }
}

#[test]
fn whole_exponents_of_the_sizes_of_keys() {
    let mut random = Random::new(15);
    for limbs in [8, 16, 24, 32, 48, 64] {
        let moduli: Vec<_> = (0..8).map(|_| Modulus::new(&random.odd(limbs)).unwrap()).collect();
        let length = limbs.min(16);
        let cases: Vec<PowerCase> = (0..8).map(|i| (i, random.digits(limbs), random.digits(length))).collect();
        check(&moduli, &cases);
    }
    // The longest modulus.
    let moduli = [Modulus::new(&random.odd(128)).unwrap()];
    let cases: Vec<PowerCase> = (0..3).map(|_| (0, random.digits(128), vec![65537])).collect();
    check(&moduli, &cases);
}

#[test]
#[should_panic(expected = "a result of another length")]
fn a_result_of_another_length() {
    let modulus = Modulus::new(&[u64::MAX; 8]).unwrap();
    lanes::power(&mut [Power { modulus: &modulus, base: &[2], exponent: &[2], result: &mut [0; 7] }]);
}

#[test]
fn products_of_any_number_and_length() {
    let mut random = Random::new(17);
    for limbs in [2, 5, 8, 9, 16, 17, 24, 32, 33, 48] {
        let moduli: Vec<_> =
            boundary_moduli::<u64>(limbs, &mut random).iter().map(|n| Modulus::new(n).unwrap()).collect();
        let lengths = [0, 1, limbs - 1, limbs, limbs + 1, 2 * limbs - 1, 2 * limbs, 2 * limbs + 1];
        for count in [1, 2, 3, 8, 11] {
            for length in lengths {
                let factors: Vec<[Vec<u64>; 2]> = (0..count)
                    .map(|i| match i % 3 {
                        0 => [vec![u64::MAX; length], vec![u64::MAX; limbs]],
                        1 => [random.digits(limbs), random.digits(length)],
                        _ => [random.digits(length), random.digits(lengths[(i + length) % 8])],
                    })
                    .collect();
                let mut results = vec![vec![7; limbs]; count];
                let mut jobs: Vec<_> = (results.iter_mut().enumerate())
                    .map(|(i, result)| {
                        let [a, b] = &factors[i];
                        Product { modulus: &moduli[i % moduli.len()], a, b, result }
                    })
                    .collect();
                lanes::multiply(&mut jobs);
                for (i, [a, b]) in factors.iter().enumerate() {
                    let n = number(moduli[i % moduli.len()].as_limbs());
                    assert_eq!(
                        number(&results[i]),
                        number(a) * number(b) % &n,
                        "{} · {} modulo {n}",
                        number(a),
                        number(b)
                    );
                }
            }
        }
    }
}

/// A comb for 224 bits has 240: five teeth, four tables, twelve columns.
#[test]
fn exponents_beyond_a_comb() {
    let modulus = Modulus::new(&[u64::MAX; 8]).unwrap();
    let comb = Comb::new(&modulus, &[3], 224);
    assert_eq!(comb.bits(), 240);
    let power = |exponent: &[u64]| {
        let mut result = vec![0; 8];
        lanes::power_by_comb(&mut [CombPower { comb: &comb, exponent, result: &mut result }]);
        result
    };
    let last = [0, 0, 0, 1 << 47];
    assert_eq!(power(&last), modulus.power(&[3], &last));
    for exponent in [[0, 0, 0, 1 << 48].as_slice(), &[1, 0, 0, 1 << 63], &[1, 0, 0, 0, 0]] {
        assert!(std::panic::catch_unwind(|| power(exponent)).is_err(), "{exponent:?}");
    }
}

#[test]
fn empty_batches_and_extreme_numbers_of_bits() {
    lanes::power(&mut []);
    lanes::power_vartime(&mut []);
    lanes::multiply(&mut []);
    lanes::power_by_comb(&mut []);
    let modulus = Modulus::new(&[u64::MAX; 2]).unwrap();
    for (bits, expected) in [(0, 20), (1, 20), (65_536, 65_540)] {
        assert_eq!(Comb::new(&modulus, &[], bits).bits(), expected);
    }
    for bits in [65_537, usize::MAX] {
        assert!(std::panic::catch_unwind(|| Comb::new(&modulus, &[3], bits)).is_err(), "{bits}");
    }
}

#[test]
fn combs() {
    let mut random = Random::new(18);
    for (limbs, bits) in [(2, 64), (5, 1), (8, 40), (16, 160), (32, 256), (33, 224), (48, 256), (9, 1300)] {
        let moduli: Vec<_> = (0..2).map(|_| Modulus::new(&random.odd(limbs)).unwrap()).collect();
        let bases: Vec<Vec<u64>> = (0..2).map(|i| random.digits(limbs + i)).collect();
        let combs: Vec<_> = (0..2).map(|i| Comb::new(&moduli[i], &bases[i], bits)).collect();
        assert!(combs[0].bits() >= bits && combs[0].bits() < bits + 20);
        let length = bits.div_ceil(64);
        let all = vec![u64::MAX >> (64 * length - bits); 1];
        let mut exponents: Vec<Vec<u64>> = vec![vec![], vec![0], vec![1]];
        exponents.push([vec![u64::MAX; length - 1], all].concat());
        for _ in 0..18 {
            let mut exponent = random.digits(length);
            exponent[length - 1] &= u64::MAX >> (64 * length - bits);
            exponents.push(exponent);
        }
        let mut results = vec![vec![7; limbs]; exponents.len()];
        let mut jobs: Vec<_> = (results.iter_mut().zip(&exponents).enumerate())
            .map(|(i, (result, exponent))| CombPower { comb: &combs[i % 2], exponent, result })
            .collect();
        lanes::power_by_comb(&mut jobs);
        for (i, (result, exponent)) in results.iter().zip(&exponents).enumerate() {
            let expected = number(&bases[i % 2]).modpow(&number(exponent), &number(moduli[i % 2].as_limbs()));
            assert_eq!(number(result), expected, "{limbs} limbs, {i}");
        }
    }
}
