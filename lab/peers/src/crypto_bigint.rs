//! The crate `crypto-bigint`: its constant-time exponentiation for numbers of fixed sizes.

use crypto_bigint::Uint;
use crypto_bigint::modular::{FixedMontyForm, FixedMontyParams};

use crate::Error;

pub const NAME: &str = "crypto-bigint";

pub fn version() -> String {
    "0.7".to_owned()
}

/// One exponentiation, to be repeated: numbers of 64-bit digits, the lowest first.
pub struct Power<const LIMBS: usize> {
    base: FixedMontyForm<LIMBS>,
    exponent: Uint<LIMBS>,
    result: Uint<LIMBS>,
}

impl<const LIMBS: usize> Power<LIMBS> {
    /// # Errors
    /// If the modulus is even or not greater than the base, or if a number does not have `LIMBS` digits.
    pub fn new(modulus: &[u64], base: &[u64], exponent: &[u64]) -> Result<Power<LIMBS>, Error> {
        let number = |limbs: &[u64]| <[u64; LIMBS]>::try_from(limbs).map(Uint::from_words).map_err(|_| Error::Length);
        let modulus = Option::from(number(modulus)?.to_odd()).ok_or(Error::Refused("Uint::to_odd"))?;
        let base = FixedMontyForm::new(&number(base)?, &FixedMontyParams::new(modulus));
        Ok(Power { base, exponent: number(exponent)?, result: Uint::ZERO })
    }

    /// Runs `FixedMontyForm::pow`.
    pub fn run(&mut self) {
        self.result = std::hint::black_box(&self.base).pow(&self.exponent).retrieve();
    }

    pub fn result(&self) -> Vec<u64> {
        self.result.to_words().to_vec()
    }
}
