//! Compares GMP's numbers with those of Tress.

use tress_arithmetic::multiply;
use tress_modular::Modulus;
use tress_peers::{Error, gmp};

use crate::present;

fn number(digits: usize, seed: u64) -> Vec<u64> {
    (0..digits as u64).map(|i| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) | 1).collect()
}

#[test]
fn products_and_powers_of_gmp_equal_ours() {
    if !present(gmp::version()) {
        return;
    }
    assert!(gmp::version().is_ok_and(|version| version.starts_with(char::is_numeric)));
    for digits in [2, 3, 4, 8, 16, 31, 32, 64, 70] {
        let (a, b) = (number(digits, 1), number(digits, 99));
        let (mut ours, mut theirs) = (vec![0; 2 * digits], vec![0; 2 * digits]);
        let mut scratch = vec![0; multiply::karatsuba_scratch(digits)];
        multiply::multiply(&a, &b, &mut ours, &mut scratch);
        gmp::multiply(&a, &b, &mut theirs).unwrap();
        assert_eq!(ours, theirs);
        if digits <= 16 {
            let modulus = number(digits, 7);
            let (base, exponent) = (Modulus::new(&modulus).unwrap().reduce(&a), number(digits, 5));
            let mut theirs = vec![0; digits];
            gmp::Power::new(&modulus).unwrap().power(&base, &exponent, &mut theirs).unwrap();
            assert_eq!(Modulus::new(&modulus).unwrap().power(&base, &exponent), theirs);
        }
    }
}

#[test]
fn invalid_arguments_do_not_reach_gmp() {
    if !present(gmp::version()) {
        return;
    }
    assert_eq!(gmp::multiply(&[], &[], &mut []), Err(Error::Length));
    assert_eq!(gmp::multiply(&[1], &[1], &mut [0]), Err(Error::Length));
    assert!(gmp::Power::new(&[]).is_err() && gmp::Power::new(&[2]).is_err() && gmp::Power::new(&[1, 0]).is_err());
    let mut power = gmp::Power::new(&[3, 1]).unwrap();
    assert_eq!(power.power(&[1], &[1], &mut [0; 2]), Err(Error::Length));
    assert_eq!(power.power(&[1, 1], &[0], &mut [0; 2]), Err(Error::Length));
}
