//! `Modulus` and `prime`, compared with an independent library, for random and boundary values.

use crate::common::{Random, boundary_moduli, number, to_limbs, values_below};
use crate::freed;
use num_bigint::BigUint;
use tress_modular::prime::{self, PrimeError};
use tress_modular::{Error, Modulus};

fn fitted(value: &BigUint, modulus: &Modulus) -> Vec<u64> {
    to_limbs(value, modulus.limbs())
}

#[test]
fn arithmetic() {
    let mut random = Random::new(1);
    // Whole blocks of eight limbs, for which there is assembly, their neighbours, and others.
    for limbs in [2, 3, 4, 7, 8, 9, 15, 16, 17, 24, 32, 40, 64, 128] {
        for n in boundary_moduli::<u64>(limbs, &mut random) {
            let modulus = Modulus::new(&n).unwrap();
            let n = number(&n);
            assert_eq!(number(modulus.as_limbs()), n);
            assert_eq!(modulus.bits() as u64, n.bits());
            let values = values_below(&n, &mut random);
            for a in &values {
                for b in &values {
                    let (x, y) = (fitted(a, &modulus), fitted(b, &modulus));
                    assert_eq!(modulus.add(&x, &y), fitted(&((a + b) % &n), &modulus));
                    assert_eq!(modulus.subtract(&x, &y), fitted(&((a + &n - b) % &n), &modulus));
                    assert_eq!(modulus.multiply(&x, &y), fitted(&(a * b % &n), &modulus));
                }
            }
        }
    }
}

#[test]
fn values_that_are_not_reduced_or_have_other_lengths() {
    let mut random = Random::new(2);
    for limbs in [2, 5, 16] {
        for n in boundary_moduli::<u64>(limbs, &mut random) {
            let modulus = Modulus::new(&n).unwrap();
            let n = number(&n);
            for length in [0, 1, limbs - 1, limbs, limbs + 1, 2 * limbs, 3 * limbs + 1] {
                for value in [vec![u64::MAX; length], random.digits(length), vec![0; length]] {
                    let exact = number(&value);
                    assert_eq!(modulus.is_reduced(&value), exact < n);
                    let reduced = fitted(&(&exact % &n), &modulus);
                    assert_eq!(modulus.reduce(&value), reduced);
                    assert_eq!(modulus.add(&value, &value), fitted(&(&exact * 2u32 % &n), &modulus));
                    assert_eq!(modulus.multiply(&value, &value), fitted(&(&exact * &exact % &n), &modulus));
                    assert_eq!(modulus.power(&value, &[3]), fitted(&exact.modpow(&3u32.into(), &n), &modulus));
                }
            }
        }
    }
}

#[test]
fn powers() {
    let mut random = Random::new(3);
    for limbs in [2, 4, 8, 12, 16, 24, 32] {
        for n in boundary_moduli::<u64>(limbs, &mut random) {
            let modulus = Modulus::new(&n).unwrap();
            let (n, most) = (number(&n), limbs.min(8));
            let mut exponents = vec![vec![], vec![0], vec![1], vec![2, 0], vec![65537], vec![u64::MAX; most]];
            exponents.extend([1, 2, most, most + 1].map(|length| random.digits(length)));
            for (i, base) in values_below(&n, &mut random).into_iter().enumerate() {
                // Each of them for short moduli, alternating for long ones.
                let step = if limbs > 8 { exponents.len() } else { 1 };
                for exponent in exponents.iter().skip(i % step).step_by(step) {
                    let base_limbs = fitted(&base, &modulus);
                    let expected = fitted(&base.modpow(&number(exponent), &n), &modulus);
                    assert_eq!(modulus.power(&base_limbs, exponent), expected, "{base} ^ {exponent:?} modulo {n}");
                    assert_eq!(modulus.power_vartime(&base_limbs, exponent), expected);
                }
            }
            // Multiples of the modulus become zero.
            assert!(modulus.power(modulus.as_limbs(), &[3]).iter().all(|digit| *digit == 0));
        }
    }
}

#[test]
fn inverses() {
    let mut random = Random::new(4);
    let mut without = 0;
    for limbs in [2, 3, 8, 33] {
        for n in boundary_moduli::<u64>(limbs, &mut random) {
            let modulus = Modulus::new(&n).unwrap();
            let n = number(&n);
            let mut values = values_below(&n, &mut random);
            values.extend((2u32..20).map(BigUint::from));
            for value in values {
                let inverse = modulus.inverse(&fitted(&value, &modulus));
                without += usize::from(inverse.is_none());
                assert_eq!(inverse.map(|inverse| number(&inverse)), value.modinv(&n), "1 / {value} modulo {n}");
            }
        }
    }
    assert!(without > 10);
}

#[test]
fn moduli_that_are_refused() {
    let refused = |modulus: &[u64]| Modulus::new(modulus).unwrap_err();
    assert_eq!(refused(&[]), Error::Empty);
    assert_eq!(refused(&[0]), Error::Zero);
    assert_eq!(refused(&[0, 0, 0]), Error::Zero);
    assert_eq!(refused(&[7]), Error::OneDigit);
    assert_eq!(refused(&[7, 0, 0]), Error::OneDigit);
    assert_eq!(refused(&[8, 1]), Error::Even);
    assert_eq!(refused(&[u64::MAX; 129]), Error::TooLong);
    assert_eq!(Modulus::new(&[u64::MAX; 128]).unwrap().bits(), 8192);
    assert_eq!(Modulus::new(&[1, 1, 0, 0]).unwrap().limbs(), 2);
    assert_eq!(format!("{:?}", Modulus::new(&[99, 1]).unwrap()), "Modulus of 65 bits");
}

#[test]
fn primes() {
    let mut random = Random::new(5);
    let mut fill = |bytes: &mut [u8]| random.fill(bytes);
    let mut is_prime = |number: &BigUint| {
        prime::is_probable_prime(&to_limbs::<u64>(number, number.bits().div_ceil(64) as usize), 20, &mut fill).unwrap()
    };
    let mersenne = |bits: u32| (BigUint::from(1u32) << bits) - 1u32;
    // The exponents of Mersenne primes (OEIS A000043).
    let exponents = [2, 3, 5, 7, 13, 17, 19, 31, 61, 89, 107, 127, 521, 607];
    for bits in 2..=610 {
        assert_eq!(is_prime(&mersenne(bits)), exponents.contains(&bits), "2^{bits} - 1");
    }
    // Carmichael numbers, and strong pseudoprimes to the bases 2 to 37 and 2 to 41 (OEIS A014233).
    for composite in ["561", "41041", "9746347772161", "318665857834031151167461", "3317044064679887385961981"] {
        assert!(!is_prime(&composite.parse().unwrap()), "{composite}");
    }
    // Products of twin primes p and p + 2 with p = 2 modulo 5, which pass Lucas's test.
    for composite in ["1000000000000006676000000000011142243", "1000000000000008896000000000019784703"] {
        assert!(!is_prime(&composite.parse().unwrap()), "{composite}");
    }
    // A strong pseudoprime to all prime bases below 307 (F. Arnault, Constructing Carmichael numbers which are strong
    // pseudoprimes to several bases, Journal of Symbolic Computation 20, 1995).
    let p: BigUint =
        "29674495668685510550154174642905332730771991799853043350995075531276838753171770199594238596428121188033\
                      664754218345562493168782883"
            .parse()
            .unwrap();
    let before = &p - 1u32;
    assert!(is_prime(&p) && !is_prime(&(&p * (&before * 313u32 + 1u32) * (&before * 353u32 + 1u32))));
    // 2^255 - 19, and the orders of Curve25519 and P-256.
    assert!(is_prime(&((BigUint::from(1u32) << 255u32) - 19u32)));
    let order = "7237005577332262213973186563042994240857116359379907606001950938285454250989";
    assert!(is_prime(&order.parse().unwrap()));
    let small = |limit: u32| (2..limit).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0));
    let found: Vec<u32> = (0..3000).filter(|&n| is_prime(&BigUint::from(n))).collect();
    assert_eq!(found, small(3000).collect::<Vec<_>>());
}

/// A number that is too long for the test is an error, not a composite number: 2^9689 − 1 is a prime (OEIS A000043).
#[test]
fn numbers_too_long_for_the_test_of_primes() {
    let mut random = Random::new(7);
    let mut test = |bits: usize| {
        let number = (BigUint::from(1u32) << bits) - 1u32;
        prime::is_probable_prime(&to_limbs::<u64>(&number, bits.div_ceil(64)), 1, &mut |bytes| random.fill(bytes))
    };
    for bits in [8193, 9689, 20_000] {
        assert_eq!(test(bits), Err(PrimeError::TooLong), "2^{bits} - 1");
    }
    // Divisible by 3.
    assert_eq!(test(8192), Ok(false));
    assert_eq!(
        prime::is_probable_prime(&[u64::MAX, u64::MAX >> 1], 1, &mut |_| Err("no randomness")),
        Err(PrimeError::Random("no randomness"))
    );
}

#[test]
fn random_primes() {
    let mut random = Random::new(6);
    for bits in [128, 129, 160, 256, 512] {
        let mut asked = 0;
        let accept = |candidate: &[u64]| {
            asked += 1;
            candidate[0] % 4 == 3
        };
        let found = prime::random_prime(bits, accept, &mut |bytes| random.fill(bytes)).unwrap();
        assert!(asked > 0);
        assert_eq!(found[0] % 4, 3);
        let found = number(&found);
        assert_eq!(found.bits(), bits as u64);
        // At least the square root of 2 times 2^(bits - 1).
        assert!(&found * &found >= BigUint::from(1u32) << (2 * bits - 1));
        // Fermat's test, with the other library.
        let two = BigUint::from(2u32);
        assert_eq!(two.modpow(&(&found - 1u32), &found), BigUint::from(1u32));
    }
    let failed = prime::random_prime(256, |_| true, &mut |_| Err("no randomness"));
    assert_eq!(failed, Err("no randomness"));
}

/// N − 1, N + 1 and numbers slightly below, which share most digits with N, must not be left either.
#[test]
fn a_fresh_prime_leaves_nothing_in_freed_memory() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let draw = || prime::random_prime(256, |_| true, &mut |bytes| random.fill(bytes)).unwrap();
        let bytes = |prime: &Vec<u64>| vec![prime.iter().flat_map(|digit| digit.to_le_bytes()).collect()];
        assert_eq!(freed::secrets_left_by(draw, bytes).1, <[String; 0]>::default(), "seed {seed}");
    }
}
