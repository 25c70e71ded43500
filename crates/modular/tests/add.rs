//! Sums, differences and comparisons at every digit size, compared with an independent library.

use std::cmp::Ordering;

use num_bigint::BigUint;
use tress_modular::{Limb, add};

use crate::common::{Random, number, numbers};

#[test]
fn sums_of_every_digit_size() {
    sums::<u16>();
    sums::<u32>();
    sums::<u64>();
}

fn sums<L: Limb>() {
    let mut random = Random::new(10);
    for digits in [1, 2, 3, 8, 17] {
        let power = BigUint::from(1u32) << (digits as u32 * L::BITS);
        let numbers = numbers::<L>(digits, &mut random);
        for a in &numbers {
            for b in &numbers {
                let (x, y) = (number(a), number(b));
                let mut result = vec![L::ZERO; digits];
                let carry = add::add(a, b, &mut result);
                assert_eq!(number(&result) + (BigUint::from(carry.to_u64()) << (digits as u32 * L::BITS)), &x + &y);
                let mut assigned = a.clone();
                assert_eq!((add::add_assign(&mut assigned, b), &assigned), (carry, &result));
                assigned.clone_from(a);
                assert_eq!((add::add_masked(&mut assigned, b, L::MAX), &assigned), (carry, &result));
                assert_eq!((add::add_masked(&mut assigned, b, L::ZERO), &assigned), (L::ZERO, &result));

                let borrow = add::subtract(a, b, &mut result);
                assert_eq!(borrow == L::ONE, x < y);
                assert_eq!(number(&result), (&x + &power - &y) % &power);
                let mut other = vec![L::ZERO; digits];
                let carry = add::subtract_complement(a, b, &mut other);
                assert_eq!((carry == L::ONE, &other), (x >= y, &result));
                assigned.clone_from(a);
                assert_eq!((add::subtract_assign(&mut assigned, b), &assigned), (borrow, &result));

                assert_eq!(add::compare_vartime(a, b), x.cmp(&y));
                assert_eq!(add::is_less(a, b) == L::ONE, x < y);
                assert_eq!(add::is_equal(a, b) == L::ONE, x == y);
            }
            let mut twice = a.clone();
            let carry = add::double(&mut twice);
            assert_eq!(number(&twice) + (BigUint::from(carry.to_u64()) << (digits as u32 * L::BITS)), number(a) * 2u32);
            assert_eq!(add::halve(&mut twice, carry), L::ZERO);
            assert_eq!(&twice, a);
            assert_eq!(add::is_zero(a) == L::ONE, number(a) == BigUint::ZERO);
            assert_eq!(add::bits_vartime(a) as u64, number(a).bits());
            let longer = [&a[..], &[L::ZERO; 3]].concat();
            assert_eq!(add::compare_vartime(a, &longer), Ordering::Equal);
        }
    }
}
