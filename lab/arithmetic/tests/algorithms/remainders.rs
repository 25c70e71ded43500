//! Division and all reductions.

use num_bigint::BigUint;
use tress_arithmetic::Limb;
use tress_arithmetic::reduce::montgomery::negative_inverse;
use tress_arithmetic::reduce::{Barrett, Selby, barrett_scratch, divide_vartime, three_by_two_vartime};

use crate::algorithms::rings::for_all_rings;
use crate::common::{Random, boundary_moduli, number, to_limbs, values_below};

for_all_digits! { rings division estimates corrections reductions_of_any_value negative_inverses }

/// Moduli with long runs of zeros and ones, including even ones.
fn moduli<L: Limb>(digits: usize, random: &mut Random) -> Vec<Vec<L>> {
    let mut moduli = boundary_moduli(digits, random);
    let mut power = vec![L::ZERO; digits];
    power[digits - 1] = L::ONE;
    moduli.push(power.clone());
    power[digits - 1] = L::ONE << (L::BITS - 1);
    moduli.push(power);
    moduli
}

fn rings<L: Limb>() {
    let mut random = Random::new(20);
    for digits in [2, 3, 4, 9, 16] {
        for modulus in moduli::<L>(digits, &mut random) {
            let n = number(&modulus);
            let values = values_below(&n, &mut random);
            let mut rings = 0;
            for_all_rings(&modulus, &mut |name, ring, form, back| {
                rings += 1;
                let (mut product, mut scratch) = (vec![L::MAX; digits], vec![L::MAX; ring.scratch()]);
                ring.one(&mut product);
                assert_eq!(back(&product), BigUint::from(1u32), "1 of {name} modulo {n}");
                for a in &values {
                    let x = form(a);
                    for b in &values {
                        ring.multiply(&x, &form(b), &mut product, &mut scratch);
                        assert!(number(&product) < n);
                        assert_eq!(back(&product), a * b % &n, "{name}: {a} · {b} modulo {n}");
                    }
                    ring.square(&x, &mut product, &mut scratch);
                    assert_eq!(back(&product), a * a % &n, "{name}: {a}² modulo {n}");
                }
            });
            assert_eq!(rings, if modulus[0] & L::ONE == L::ONE { 5 } else { 4 });
        }
    }
}

fn division<L: Limb>() {
    let mut random = Random::new(21);
    for digits in [2, 3, 5] {
        for modulus in moduli::<L>(digits, &mut random) {
            let n = number(&modulus);
            for length in 0..3 * digits {
                let mut values = vec![vec![L::MAX; length], vec![L::ZERO; length], random.digits(length)];
                if length >= digits {
                    // Multiples of the modulus, and one less: values whose quotient is easily off by one.
                    let multiple = (number(&values[0]) / &n) * &n;
                    values.push(to_limbs(&multiple, length));
                    values.push(to_limbs(&(multiple - 1u32), length));
                }
                for value in values {
                    let mut rest = value.clone();
                    let mut quotient = vec![L::MAX; (length + 1).saturating_sub(digits)];
                    divide_vartime(&mut rest, &modulus, Some(&mut quotient)).unwrap();
                    assert_eq!(number(&rest), number(&value) % &n);
                    assert_eq!(number(&quotient), number(&value) / &n);
                }
            }
        }
    }
}

/// For all kinds of digits the estimate equals the result of a wide division, and both corrections of the first guess occur.
fn estimates<L: Limb>() {
    let mut random = Random::new(22);
    let top = L::ONE << (L::BITS - 1);
    let digits = [L::ZERO, L::ONE, top, top | L::ONE, L::MAX, !L::ONE, !top];
    let mut seen = [0; 3];
    let mut check = |dividend: [L; 3], divisor: [L; 2]| {
        let wide = |digits: &[L]| number(&digits.iter().rev().copied().collect::<Vec<_>>());
        if divisor[0] < top || wide(&dividend[..2]) > wide(&divisor) {
            return;
        }
        let (quotient, corrections) = three_by_two_vartime(dividend, divisor);
        let exact = wide(&dividend) / wide(&divisor);
        assert_eq!(BigUint::from(quotient.to_u64()), exact.min(L::MAX.to_u64().into()), "{dividend:?} {divisor:?}");
        seen[corrections as usize] += 1;
    };
    for i in 0..digits.len().pow(5) {
        let digit = |position: u32| digits[i / digits.len().pow(position) % digits.len()];
        check([digit(0), digit(1), digit(2)], [digit(3), digit(4)]);
    }
    for _ in 0..20_000 {
        let five = random.digits::<L>(5);
        check([five[0] & !top, five[1], five[2]], [five[3] | top, five[4]]);
    }
    assert!(seen.iter().all(|&count| count > 10), "{seen:?}");
}

/// Sometimes the digit of the quotient is one too large, and the modulus is added back.
fn corrections<L: Limb>() {
    let mut random = Random::new(23);
    let top = L::ONE << (L::BITS - 1);
    let (mut exact, mut added_back) = (0, 0);
    for _ in 0..50 {
        // The third digit of the modulus, which the estimate ignores, is large, and the dividend is just below a multiple of the modulus.
        let modulus = [L::MAX, random.digits::<L>(1)[0], top];
        let n = number(&modulus);
        let quotient = number(&random.digits::<L>(1)) | BigUint::from(2u32);
        for value in [&n * &quotient, &n * &quotient - 1u32] {
            let mut rest = to_limbs::<L>(&value, 4);
            let count = divide_vartime(&mut rest, &modulus, None).unwrap();
            assert_eq!(number(&rest), &value % &n);
            *(if count == 0 { &mut exact } else { &mut added_back }) += 1;
        }
    }
    assert!(exact >= 20 && added_back >= 20, "{exact} exact, {added_back} added back");
}

/// Barrett's and Selby's reductions accept every value of 2 n digits, not only products.
fn reductions_of_any_value<L: Limb>() {
    let mut random = Random::new(24);
    for digits in [2, 3, 8] {
        for modulus in moduli::<L>(digits, &mut random) {
            let (mut reciprocal, mut scratch) = (vec![L::ZERO; digits + 2], vec![L::MAX; barrett_scratch(digits)]);
            let barrett = Barrett::new_vartime(&modulus, &mut reciprocal, &mut scratch).unwrap();
            let (mut table, mut scratch) = (vec![L::ZERO; digits * digits], vec![L::MAX; digits + 1]);
            let selby = Selby::new(&modulus, &mut table, &mut scratch).unwrap();
            let n = number(&modulus);
            let largest = number(&vec![L::MAX; 2 * digits]);
            let mut values = vec![BigUint::ZERO, largest.clone(), (&largest / &n) * &n, (&largest / &n) * &n - 1u32];
            values.extend((0..20).map(|_| number(&random.digits::<L>(2 * digits))));
            for value in values {
                let (mut result, mut scratch) = (vec![L::MAX; digits], vec![L::MAX; 5 * digits + 4]);
                barrett.reduce(&to_limbs(&value, 2 * digits), &mut result, &mut scratch).unwrap();
                assert_eq!(number(&result), &value % &n, "Barrett: {value} modulo {n}");
                selby.reduce_vartime(&to_limbs(&value, 2 * digits), &mut result, &mut scratch).unwrap();
                assert_eq!(number(&result), &value % &n, "Selby: {value} modulo {n}");
            }
        }
    }
}

fn negative_inverses<L: Limb>() {
    let mut random = Random::new(25);
    for digit in random.digits::<L>(100).into_iter().chain([L::ZERO, L::MAX]) {
        let odd = digit | L::ONE;
        assert_eq!(odd.multiply_low(negative_inverse(odd)), L::MAX);
    }
}
