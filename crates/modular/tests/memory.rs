//! Small runs of all code, for Miri: `make miri` runs only this file. The other tests use larger numbers.

use crate::common::{Random, number};
use tress_modular::lanes::{self, Power};
use tress_modular::{Modulus, prime};

/// More jobs of one length than there are lanes, except under Miri, which has no lanes.
const JOBS: usize = if cfg!(miri) { 3 } else { 20 };

#[test]
fn moduli_and_lanes() {
    let mut random = Random::new(42);
    let moduli: Vec<_> = (0..JOBS).map(|i| Modulus::new(&random.odd(2 + i % 2)).unwrap()).collect();
    let bases: Vec<_> = moduli.iter().map(|modulus| random.digits(modulus.limbs() + 1)).collect();
    let exponents: Vec<_> = (0..JOBS).map(|i| random.digits::<u64>(i % 2)).collect();
    let mut results: Vec<_> = moduli.iter().map(|modulus| vec![0; modulus.limbs()]).collect();
    let mut jobs: Vec<_> = results
        .iter_mut()
        .enumerate()
        .map(|(i, result)| Power { modulus: &moduli[i], base: &bases[i], exponent: &exponents[i], result })
        .collect();
    lanes::power(&mut jobs);
    for i in 0..moduli.len() {
        let n = number(moduli[i].as_limbs());
        assert_eq!(number(&results[i]), number(&bases[i]).modpow(&number(&exponents[i]), &n));
        let value = number(&bases[i]) % &n;
        if i == 0 {
            assert_eq!(moduli[i].inverse(&bases[i]).map(|inverse| number(&inverse)), value.modinv(&n));
        }
    }
    // Divisible by 3.
    assert_eq!(prime::is_probable_prime(&[u64::MAX, 0xff], 1, &mut |bytes| random.fill(bytes)), Ok(false));
}
