//! Random numbers from the system.

use zeroize::Zeroizing;

use crate::Error;
use crate::integer::Number;

/// Fills memory with random bytes.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|_| Error::Random)
}

/// A random number below 2^`bits`.
pub(crate) fn number(bits: usize) -> Result<Number, Error> {
    Ok(numbers([bits].into_iter())?.remove(0))
}

/// Random numbers below 2^`bits`, for each of `bits`. Calls the system once.
pub(crate) fn numbers(bits: impl Iterator<Item = usize> + Clone) -> Result<Vec<Number>, Error> {
    let mut bytes = Zeroizing::new(vec![0; bits.clone().map(|bits| bits.div_ceil(64) * 8).sum()]);
    fill(&mut bytes)?;
    let mut rest = bytes.as_slice();
    let number = |bits: usize| {
        let (these, others) = rest.split_at(bits.div_ceil(64) * 8);
        rest = others;
        let mut number: Number = Zeroizing::new(
            these.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().expect("eight bytes"))).collect(),
        );
        if let Some(top) = number.last_mut()
            && !bits.is_multiple_of(64)
        {
            *top &= (1 << (bits % 64)) - 1;
        }
        number
    };
    Ok(bits.map(number).collect())
}
