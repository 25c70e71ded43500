//! Montgomery's multiplication with the binary method: the paper's Algorithm 4.
//!
//! The printed algorithm multiplies by 1, which converts from Montgomery form, inside of its loop, and processes the highest bit of the
//! exponent although it starts from the base. Here the product by 1 is after the loop, which starts one bit lower.

use super::{binary_scratch, binary_vartime, check};
use crate::reduce::{Montgomery, Ring};
use crate::{Error, Limb};

/// Number of digits of scratch memory that [`montgomery_binary_vartime`] needs.
pub fn montgomery_binary_scratch<L: Limb>(ring: &Montgomery<'_, L>) -> usize {
    2 * ring.modulus().len() + binary_scratch(ring)
}

/// `result = base ^ exponent`, where both are plain numbers and not in Montgomery form.
pub fn montgomery_binary_vartime<L: Limb>(
    ring: &Montgomery<'_, L>,
    base: &[L],
    exponent: &[L],
    result: &mut [L],
    scratch: &mut [L],
) -> Result<(), Error> {
    check(ring, base, exponent, result, scratch, montgomery_binary_scratch(ring))?;
    let n = base.len();
    let (form, rest) = scratch.split_at_mut(n);
    let (one, rest) = rest.split_at_mut(n);
    ring.enter(base, form, rest);
    binary_vartime(ring, form, exponent, result, rest)?;
    one.fill(L::ZERO);
    one[0] = L::ONE;
    form.copy_from_slice(result);
    ring.multiply(form, one, result, rest);
    Ok(())
}
