//! The binary method, which reads the bits of the exponent from the highest to the lowest: the paper's Algorithm 3. It multiplies by X,
//! where the paper prints d.

use super::{Accumulator, check};
use crate::reduce::Ring;
use crate::{Error, Limb, add};

/// Number of digits of scratch memory that [`binary_vartime`] needs.
pub fn binary_scratch<L: Limb>(ring: &(impl Ring<L> + ?Sized)) -> usize {
    ring.modulus().len() + ring.scratch()
}

/// `result = base ^ exponent`. Takes length − 1 squares, and a product for every set bit except the highest.
pub fn binary_vartime<L: Limb>(
    ring: &(impl Ring<L> + ?Sized),
    base: &[L],
    exponent: &[L],
    result: &mut [L],
    scratch: &mut [L],
) -> Result<(), Error> {
    let bits = check(ring, base, exponent, result, scratch, binary_scratch(ring))?;
    result.copy_from_slice(base);
    let mut power = Accumulator::new(ring, result, scratch);
    for position in (0..bits - 1).rev() {
        power.square();
        if add::bit(exponent, position) == L::ONE {
            power.multiply(base);
        }
    }
    Ok(())
}
