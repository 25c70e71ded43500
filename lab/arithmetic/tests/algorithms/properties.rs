//! Identities that hold for all numbers.

use proptest::prelude::*;
use tress_arithmetic::reduce::{Classical, Montgomery, Ring};
use tress_arithmetic::{add, multiply};
use tress_modular::Modulus;

/// Digits with long runs of ones and zeros, where carries propagate.
fn digits(count: impl Into<prop::collection::SizeRange>) -> impl Strategy<Value = Vec<u64>> {
    let digit = prop_oneof![Just(0), Just(u64::MAX), Just(1), Just(1 << 63), any::<u64>()];
    prop::collection::vec(digit, count)
}

fn modulus() -> impl Strategy<Value = Vec<u64>> {
    digits(2..9).prop_map(|mut digits| {
        digits[0] |= 1;
        let last = digits.len() - 1;
        digits[last] |= 1 << 9;
        digits
    })
}

proptest! {
    /// (a + b)(a − b) = a² − b², and a (b + c) = a b + a c.
    #[test]
    fn rings_distribute(modulus in modulus(), a in digits(0..12), b in digits(0..12), c in digits(0..12)) {
        let n = Modulus::new(&modulus).unwrap();
        let left = n.multiply(&n.add(&a, &b), &n.subtract(&a, &b));
        prop_assert_eq!(left, n.subtract(&n.multiply(&a, &a), &n.multiply(&b, &b)));
        let left = n.multiply(&a, &n.add(&b, &c));
        prop_assert_eq!(left, n.add(&n.multiply(&a, &b), &n.multiply(&a, &c)));
    }

    /// a^(x + y) = a^x a^y, and (a^x)^y = (a^y)^x, by both exponentiations.
    #[test]
    fn powers_add_up(modulus in modulus(), a in digits(1..9), x in digits(3), y in digits(3)) {
        let n = Modulus::new(&modulus).unwrap();
        let mut sum = vec![0; 4];
        sum[3] = add::add(&x, &y, &mut sum[..3]);
        prop_assert_eq!(n.power(&a, &sum), n.multiply(&n.power_vartime(&a, &x), &n.power(&a, &y)));
        let (first, second) = (n.power(&a, &x), n.power_vartime(&a, &y));
        prop_assert_eq!(n.power_vartime(&first, &y), n.power(&second, &x));
    }

    /// a · 1/a = 1 if there is an inverse.
    #[test]
    fn inverses_undo(modulus in modulus(), a in digits(1..9)) {
        let n = Modulus::new(&modulus).unwrap();
        if let Some(inverse) = n.inverse(&a) {
            prop_assert_eq!(n.multiply(&a, &inverse), n.reduce(&[1]));
            prop_assert_eq!(n.inverse(&inverse), Some(n.reduce(&a)));
        }
    }

    /// Montgomery's method and the classical method give the same product.
    #[test]
    fn products_both_ways(modulus in modulus(), a in digits(8), b in digits(8)) {
        let n = modulus.len();
        let prepared = Modulus::new(&modulus).unwrap();
        let (a, b) = (prepared.reduce(&a), prepared.reduce(&b));
        let classical = Classical::new(&modulus).unwrap();
        let (mut expected, mut scratch) = (vec![0; n], vec![0; 2 * n]);
        classical.multiply(&a, &b, &mut expected, &mut scratch);
        prop_assert_eq!(prepared.multiply(&a, &b), expected.clone());
        let mut powers = vec![0; 2 * n];
        let ring = Montgomery::new(&modulus, &mut powers, &mut scratch).unwrap();
        let (mut form, mut product) = (vec![0; n], vec![0; n]);
        ring.enter(&a, &mut form, &mut scratch);
        ring.multiply(&form, &b, &mut product, &mut scratch);
        prop_assert_eq!(product, expected);
    }

    /// (a + b)² = a² + 2 a b + b², each square and product by another method.
    #[test]
    fn squares(a in digits(70), b in digits(70)) {
        let (a, b) = ([&a[..], &[0]].concat(), [&b[..], &[0]].concat());
        let n = a.len();
        let mut scratch = vec![0; multiply::karatsuba_scratch(n)];
        let mut sum = vec![0; n];
        add::add(&a, &b, &mut sum);
        let mut whole = vec![0; 2 * n];
        multiply::square::karatsuba(&sum, &mut whole, &mut scratch);
        let (mut parts, mut term) = (vec![0; 2 * n], vec![0; 2 * n]);
        multiply::karatsuba(&a, &b, &mut parts, &mut scratch);
        add::double(&mut parts);
        multiply::columns(&a, &a, &mut term);
        add::add_assign(&mut parts, &term);
        multiply::square::three_steps(&b, &mut term);
        add::add_assign(&mut parts, &term);
        prop_assert_eq!(whole, parts);
    }
}
