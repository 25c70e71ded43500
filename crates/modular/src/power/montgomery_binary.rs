//! Montgomery's multiplication with the binary method: the paper's Algorithm 4.
//!
//! As printed it multiplies by 1, which leaves Montgomery form, inside its loop, and goes through the highest bit of the
//! exponent although it starts from the base. Here the product by 1 stands after the loop, which starts one bit lower.

use super::{binary_scratch, binary_vartime, check};
use crate::reduce::{Montgomery, Ring};
use crate::{Error, Limb};

/// Digits of scratch memory that [`montgomery_binary_vartime`] needs.
pub fn montgomery_binary_scratch<L: Limb>(ring: &Montgomery<'_, L>) -> usize {
    2 * ring.modulus().len() + binary_scratch(ring)
}

/// `result = base ^ exponent`, of the numbers themselves and not of their Montgomery forms.
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
