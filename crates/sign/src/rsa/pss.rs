//! EMSA-PSS (RFC 8017, section 9.1) with MGF1, where both use the same hash function.

use std::ops::RangeInclusive;

use crate::{Error, Hash};

/// Encodes a digest as a number below 2^`bits`, with the minimum number of bytes for it.
pub(crate) fn encode(hash: Hash, digest: &[u8], salt: &[u8], bits: usize) -> Result<Vec<u8>, Error> {
    if digest.len() != hash.digest_bytes() {
        return Err(Error::DigestLength);
    }
    let length = bits.div_ceil(8);
    let masked_length = length.checked_sub(digest.len() + 1).ok_or(Error::ModulusTooShort)?;
    let padding = masked_length.checked_sub(salt.len() + 1).ok_or(Error::SaltTooLong)?;
    let h = hash.digest_parts(&[&[0; 8], digest, salt]);
    let mut message = vec![0; padding];
    message.push(1);
    message.extend(salt);
    mask(hash, &h, &mut message);
    message[0] &= first_byte(bits);
    message.extend(&h);
    message.push(0xbc);
    Ok(message)
}

/// Whether the encoded message belongs to this digest, with a salt of one of these lengths.
pub(crate) fn verify(
    hash: Hash,
    digest: &[u8],
    message: &[u8],
    bits: usize,
    salt_bytes: &RangeInclusive<usize>,
) -> Result<(), Error> {
    if digest.len() != hash.digest_bytes() {
        return Err(Error::DigestLength);
    }
    let h_at = message.len().checked_sub(digest.len() + 1).ok_or(Error::ModulusTooShort)?;
    let (masked, rest) = message.split_at(h_at);
    let (h, trailer) = rest.split_at(digest.len());
    if trailer != [0xbc] || masked.is_empty() || masked[0] & !first_byte(bits) != 0 {
        return Err(Error::Mismatch);
    }
    let mut block = masked.to_vec();
    mask(hash, h, &mut block);
    block[0] &= first_byte(bits);
    // Zeros, 1, salt.
    let one = block.iter().position(|byte| *byte != 0).filter(|one| block[*one] == 1).ok_or(Error::Mismatch)?;
    let salt = &block[one + 1..];
    if !salt_bytes.contains(&salt.len()) || hash.digest_parts(&[&[0; 8], digest, salt]) != h {
        return Err(Error::Mismatch);
    }
    Ok(())
}

/// The bits of the first byte that a number below 2^`bits` may use.
fn first_byte(bits: usize) -> u8 {
    0xff >> (8 * bits.div_ceil(8) - bits)
}

/// XORs the block with MGF1 of the seed (RFC 8017, appendix B.2.1).
fn mask(hash: Hash, seed: &[u8], block: &mut [u8]) {
    for (counter, chunk) in (0u32..).zip(block.chunks_mut(hash.digest_bytes())) {
        let stream = hash.digest_parts(&[seed, &counter.to_be_bytes()]);
        chunk.iter_mut().zip(stream).for_each(|(byte, mask)| *byte ^= mask);
    }
}
