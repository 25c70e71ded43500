//! Nonces by RFC 6979, section 3.2: HMAC-DRBG over the key and the digest, so that no two different digests share one even
//! where the system's randomness fails. The scheme's name and fresh noise go in as additional data (section 3.6): two
//! requests for one digest have unrelated nonces, so what a fault changes in one signature says nothing about the other.
//! DSA's name is empty, which makes it RFC 6979 as it stands where there is no noise.
//!
//! The crate `rfc6979` does the same over the numbers of `crypto-bigint`, a second library for numbers.

use tress_modular::Modulus;
use zeroize::Zeroizing;

use crate::Hash;
use crate::integer::{self, Number};

/// How much noise a nonce gets: as much as its size asks for.
pub(super) const NOISE_BYTES: usize = 32;

/// The nonce for this key and digest, from 1 to q − 1. Noise is `NOISE_BYTES` long, or empty for the deterministic nonce, so
/// no other scheme's name has the length of this one's with noise.
pub(super) fn derive(q: &Modulus, x: &[u64], hash: Hash, digest: &[u8], scheme: &[u8], noise: &[u8]) -> Number {
    let bytes = q.bits().div_ceil(8);
    let secret = integer::to_bytes(x, bytes);
    // bits2octets: the digest's leading bits, reduced.
    let reduced = Zeroizing::new(q.reduce(&leading_bits(digest, q.bits())));
    let reduced = integer::to_bytes(&reduced, bytes);

    // Assigning to the whole drops what was there before, which wipes it; assigning to the inside would free it as it is.
    let mut v = Zeroizing::new(vec![1; hash.digest_bytes()]);
    let mut k = Zeroizing::new(vec![0; hash.digest_bytes()]);
    for separator in [0, 1] {
        k = hash.mac(&k, &[&v, &[separator], &secret, &reduced, scheme, noise]);
        v = hash.mac(&k, &[&v]);
    }
    loop {
        let mut candidate = Zeroizing::new(Vec::with_capacity(bytes + hash.digest_bytes()));
        while candidate.len() < bytes {
            v = hash.mac(&k, &[&v]);
            candidate.extend_from_slice(&v);
        }
        let nonce = leading_bits(&candidate[..bytes], q.bits());
        // What is thrown away here has nothing to do with the nonce that is used.
        if !integer::is_zero(&nonce) && integer::is_less(&nonce, q.as_limbs()) {
            return integer::padded(&nonce[..nonce.len().min(q.limbs())], q.limbs());
        }
        k = hash.mac(&k, &[&v, &[0]]);
        v = hash.mac(&k, &[&v]);
    }
}

/// bits2int of RFC 6979: the first `bits` of the bytes as a number, all of them where there are fewer. `bits` is a
/// multiple of 8 for every q that is supported.
pub(super) fn leading_bits(bytes: &[u8], bits: usize) -> Number {
    integer::from_bytes(&bytes[..bytes.len().min(bits / 8)])
}
