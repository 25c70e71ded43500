//! All rings over one modulus, for tests that apply to each of them.

use num_bigint::BigUint;
use tress_arithmetic::Limb;
use tress_arithmetic::reduce::{Barrett, Classical, Montgomery, Ring, Selby, Takagi, barrett_scratch};

use crate::common::{number, to_limbs};

/// Computes in a ring with this name. The last two functions convert a number to the ring's representation, and back.
type Visit<'a, L> = dyn FnMut(&str, &dyn Ring<L>, &dyn Fn(&BigUint) -> Vec<L>, &dyn Fn(&[L]) -> BigUint) + 'a;

/// Visits all rings; Montgomery's only if the modulus is odd.
pub(crate) fn for_all_rings<L: Limb>(modulus: &[L], visit: &mut Visit<'_, L>) {
    let n = modulus.len();
    let plain = |value: &BigUint| to_limbs(value, n);
    visit("classical", &Classical::new(modulus).unwrap(), &plain, &number);
    visit("Takagi", &Takagi::new(modulus).unwrap(), &plain, &number);
    let (mut table, mut scratch) = (vec![L::ZERO; n * n], vec![L::ZERO; n + 1]);
    visit("Selby", &Selby::new(modulus, &mut table, &mut scratch).unwrap(), &plain, &number);
    let (mut reciprocal, mut scratch) = (vec![L::ZERO; n + 2], vec![L::ZERO; barrett_scratch(n)]);
    visit("Barrett", &Barrett::new_vartime(modulus, &mut reciprocal, &mut scratch).unwrap(), &plain, &number);
    if modulus[0] & L::ONE == L::ZERO {
        return;
    }
    let (mut powers, mut scratch) = (vec![L::ZERO; 2 * n], vec![L::ZERO; n]);
    let ring = Montgomery::new(modulus, &mut powers, &mut scratch).unwrap();
    let form = |value: &BigUint| {
        let (mut form, mut scratch) = (vec![L::ZERO; n], vec![L::ZERO; ring.scratch()]);
        ring.enter(&to_limbs(value, n), &mut form, &mut scratch);
        form
    };
    let back = |form: &[L]| {
        let (mut value, mut scratch) = (vec![L::ZERO; n], vec![L::ZERO; ring.scratch()]);
        ring.leave(form, &mut value, &mut scratch);
        number(&value)
    };
    visit("Montgomery", &ring, &form, &back);
}
