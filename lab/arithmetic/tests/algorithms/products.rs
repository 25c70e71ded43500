//! Products and squares.

use tress_arithmetic::{Limb, multiply};

use crate::common::{Random, number, numbers, to_limbs};

for_all_digits! { two_lengths products }

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
                    check("karatsuba", &mut |square, scratch| multiply::square::karatsuba(a, square, scratch));
                }
            }
        }
    }
}
