//! The binary method, bits of the exponent from the highest down: the paper's Algorithm 3, which multiplies by X where it
//! prints d.

use super::{Accumulator, check};
use crate::reduce::Ring;
use crate::{Error, Limb, add};

/// Digits of scratch memory that [`binary_vartime`] needs.
pub fn binary_scratch<L: Limb>(ring: &impl Ring<L>) -> usize {
    ring.modulus().len() + ring.scratch()
}

/// `result = base ^ exponent`. Length − 1 squares, and a product for every bit that is set but the highest.
pub fn binary_vartime<L: Limb>(
    ring: &impl Ring<L>,
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
