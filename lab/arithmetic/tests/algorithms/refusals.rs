//! Invalid inputs of every algorithm, by the kind of their error.

use tress_arithmetic::power::{FixedBase, PowerTable, binary_vartime, montgomery_binary_vartime, r_ary_vartime};
use tress_arithmetic::reduce::{Barrett, Classical, Montgomery, Ring, Selby, Takagi, divide_vartime};
use tress_arithmetic::{Error, Limb};

use crate::algorithms::rings::for_all_rings;

for_all_digits! { moduli lengths values_and_exponents }

/// The error of each ring for a modulus, with memory of the required lengths.
fn refusals<L: Limb>(modulus: &[L]) -> [Option<Error>; 6] {
    let n = modulus.len();
    let memory = || vec![L::ZERO; n * n + 4 * n + 4];
    let (mut powers, mut table, mut reciprocal) = (memory(), memory(), memory());
    [
        Classical::new(modulus).err(),
        Takagi::new(modulus).err(),
        Barrett::new_vartime(modulus, &mut reciprocal[..n + 2], &mut memory()).err(),
        Selby::new(modulus, &mut table[..n * n], &mut memory()).err(),
        divide_vartime(&mut memory(), modulus, None).err(),
        Montgomery::new(modulus, &mut powers[..2 * n], &mut memory()).err(),
    ]
}

fn moduli<L: Limb>() {
    let seven = L::from_u64(7);
    assert_eq!(refusals::<L>(&[]), [Some(Error::Empty); 6]);
    assert_eq!(refusals(&[L::ZERO]), [Some(Error::Zero); 6]);
    assert_eq!(refusals(&[L::ZERO; 3]), [Some(Error::Zero); 6]);
    assert_eq!(refusals(&[seven]), [Some(Error::OneDigit); 6]);
    assert_eq!(refusals(&[seven, seven, L::ZERO]), [Some(Error::LeadingZero); 6]);
    assert_eq!(refusals(&[seven, L::ONE]), [None; 6]);
    // Only Montgomery's needs an odd modulus.
    let even = refusals(&[L::from_u64(6), L::ONE]);
    assert_eq!((&even[..5], even[5]), (&[None; 5][..], Some(Error::Even)));
}

fn lengths<L: Limb>() {
    let modulus = [L::MAX; 3];
    let (mut short, mut long) = (vec![L::ZERO; 2], vec![L::ZERO; 40]);
    let length = Some(Error::Length);
    assert_eq!(Barrett::new_vartime(&modulus, &mut long[..4], &mut [L::ZERO; 7]).err(), length);
    assert_eq!(Barrett::new_vartime(&modulus, &mut long[..5], &mut [L::ZERO; 6]).err(), length);
    assert_eq!(Selby::new(&modulus, &mut long[..8], &mut [L::ZERO; 4]).err(), length);
    assert_eq!(Selby::new(&modulus, &mut long[..9], &mut [L::ZERO; 3]).err(), length);
    assert_eq!(Montgomery::new(&modulus, &mut long[..7], &mut [L::ZERO; 3]).err(), length);
    assert_eq!(Montgomery::new(&modulus, &mut long[..6], &mut short).err(), length);
    assert_eq!(divide_vartime(&mut [L::ONE; 5], &modulus, Some(&mut short)).err(), length);

    let mut reciprocal = vec![L::ZERO; 5];
    let barrett = Barrett::new_vartime(&modulus, &mut reciprocal, &mut long).unwrap();
    let mut memory = vec![L::ZERO; 40];
    assert_eq!(barrett.reduce(&[L::ONE; 5], &mut [L::ZERO; 3], &mut memory).err(), length);
    assert_eq!(barrett.reduce(&[L::ONE; 6], &mut short, &mut memory).err(), length);
    assert_eq!(barrett.reduce(&[L::ONE; 6], &mut [L::ZERO; 3], &mut memory[..12]).err(), length);
    let mut table = vec![L::ZERO; 9];
    let selby = Selby::new(&modulus, &mut table, &mut long).unwrap();
    assert_eq!(selby.reduce_vartime(&[L::ONE; 7], &mut [L::ZERO; 3], &mut memory).err(), length);
    assert_eq!(selby.reduce_vartime(&[L::ONE; 6], &mut [L::ZERO; 3], &mut memory[..4]).err(), length);
}

fn refused_by_ring<L: Limb>(ring: &dyn Ring<L>, two: &[L]) {
    let n = ring.modulus().len();
    let mut memory = vec![L::ZERO; 100 * n];
    let mut result = vec![L::ZERO; n];
    let all = |base: &[L], exponent: &[L], result: &mut [L], memory: &mut [L]| {
        [
            binary_vartime(ring, base, exponent, result, memory).err(),
            r_ary_vartime(ring, base, exponent, 3, result, memory).err(),
        ]
    };
    let three = [L::from_u64(3)];
    assert_eq!(all(two, &three, &mut result, &mut memory), [None; 2]);
    for zero in [&[][..], &[L::ZERO], &[L::ZERO; 4]] {
        assert_eq!(all(two, zero, &mut result, &mut memory), [Some(Error::ZeroExponent); 2]);
    }
    for large in [ring.modulus(), &vec![L::MAX; n]] {
        assert_eq!(all(large, &three, &mut result, &mut memory), [Some(Error::NotReduced); 2]);
    }
    assert_eq!(all(&two[1..], &three, &mut result, &mut memory), [Some(Error::Length); 2]);
    assert_eq!(all(two, &three, &mut result[1..], &mut memory), [Some(Error::Length); 2]);
    assert_eq!(all(two, &three, &mut result, &mut memory[..n]), [Some(Error::Length); 2]);

    let mut table = vec![L::ZERO; 20 * n];
    let (nothing, odd) = (&mut table.clone()[..0], &mut table.clone()[..n + 1]);
    for wrong in [nothing, odd] {
        assert_eq!(PowerTable::new(ring, two, wrong, &mut memory).err(), Some(Error::Length));
        assert_eq!(FixedBase::new(ring, two, 2, wrong, &mut memory).err(), Some(Error::Length));
    }
    let over = ring.modulus();
    assert_eq!(PowerTable::new(ring, over, &mut table, &mut memory).err(), Some(Error::NotReduced));
    assert_eq!(FixedBase::new(ring, over, 2, &mut table, &mut memory).err(), Some(Error::NotReduced));
    let mut other = table.clone();
    let powers = PowerTable::new(ring, two, &mut table[..4 * n], &mut memory).unwrap();
    let fixed = FixedBase::new(ring, two, 2, &mut other[..2 * n], &mut memory).unwrap();
    for (exponent, refused) in [(0, Some(Error::ZeroExponent)), (15, None), (16, Some(Error::Length))] {
        let exponent = [L::from_u64(exponent)];
        assert_eq!(powers.power_vartime(&exponent, &mut result, &mut memory).err(), refused);
        assert_eq!(fixed.power_vartime(&exponent, &mut result, &mut memory).err(), refused);
    }
}

fn values_and_exponents<L: Limb>() {
    let modulus = [L::from_u64(1001), L::from_u64(77), L::from_u64(5)];
    for_all_rings(&modulus, &mut |_, ring, form, _| refused_by_ring(ring, &form(&2u32.into())));
    let (mut powers, mut memory) = (vec![L::ZERO; 6], vec![L::ZERO; 100]);
    let ring = Montgomery::new(&modulus, &mut powers, &mut memory).unwrap();
    let mut result = vec![L::ZERO; 3];
    let mut run = |base: &[L], exponent: &[L], memory: &mut [L]| {
        montgomery_binary_vartime(&ring, base, exponent, &mut result, memory).err()
    };
    assert_eq!(run(&[L::ONE; 3], &[L::ZERO; 2], &mut memory), Some(Error::ZeroExponent));
    assert_eq!(run(&modulus, &[L::ONE; 2], &mut memory), Some(Error::NotReduced));
    assert_eq!(run(&[L::ONE; 3], &[L::ONE; 2], &mut memory[..5]), Some(Error::Length));
    assert_eq!(run(&[L::ONE; 3], &[L::ONE; 2], &mut memory), None);
}
