//! EMSA-PKCS1-v1_5 (RFC 8017, section 9.2).

use crate::{Error, Hash};

/// DigestInfo in DER up to the digest: the hash function's identifier with NULL as its parameter.
const fn prefix(hash: Hash) -> &'static [u8; 19] {
    match hash {
        Hash::Sha256 => b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20",
        Hash::Sha384 => b"\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30",
        Hash::Sha512 => b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40",
    }
}

/// `00 01 FF … FF 00 DigestInfo`, with the length of the modulus. A verifier makes the same encoding and compares all of it. A verifier
/// that parses it instead may accept forgeries (Bleichenbacher, 2006).
pub(crate) fn encode(hash: Hash, digest: &[u8], length: usize) -> Result<Vec<u8>, Error> {
    if digest.len() != hash.digest_bytes() {
        return Err(Error::DigestLength);
    }
    let info = prefix(hash).len() + digest.len();
    // The shortest modulus has 128 bytes and the longest DigestInfo 83.
    let padding = length.checked_sub(info + 3).filter(|padding| *padding >= 8).ok_or(Error::ModulusTooShort)?;
    let mut message = Vec::with_capacity(length);
    message.extend([0, 1]);
    message.extend(std::iter::repeat_n(0xff, padding));
    message.push(0);
    message.extend(prefix(hash));
    message.extend(digest);
    Ok(message)
}
