//! Randomness from the system.

use zeroize::Zeroizing;

use crate::Error;

/// Fills memory with random bytes.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|_| Error::Random)
}

/// A random number below 2^`bits`.
pub(crate) fn number(bits: usize) -> Result<Zeroizing<Vec<u64>>, Error> {
    let mut bytes = Zeroizing::new(vec![0; bits.div_ceil(64) * 8]);
    fill(&mut bytes)?;
    let mut number: Zeroizing<Vec<u64>> = Zeroizing::new(
        bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().expect("eight bytes"))).collect(),
    );
    if let Some(top) = number.last_mut()
        && !bits.is_multiple_of(64)
    {
        *top &= (1 << (bits % 64)) - 1;
    }
    Ok(number)
}
