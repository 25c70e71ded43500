//! Nonces by RFC 6979, section 3.2: HMAC-DRBG over the key and the digest, so that different digests never share a nonce, even if the
//! system's randomness fails. The scheme's name and fresh noise are additional data (section 3.6). So two requests for one digest have
//! unrelated nonces, and a faulty signature reveals nothing together with a correct one. DSA's name is empty, so without noise the nonce is
//! exactly that of RFC 6979.
//!
//! The crate `rfc6979` does the same, but with the numbers of `crypto-bigint`, a second library for numbers.

use tress_modular::Modulus;
use zeroize::Zeroizing;

use crate::Hash;
use crate::integer::{self, Number};

/// Length of a nonce's noise in bytes: that of the longest q.
pub(super) const NOISE_BYTES: usize = 32;

/// The nonce for this key and digest, from 1 to q − 1. `noise` has `NOISE_BYTES` bytes, or none for the deterministic nonce. So a
/// scheme's name with noise never has the same length as another scheme's name.
pub(super) fn derive(q: &Modulus, x: &[u64], hash: Hash, digest: &[u8], scheme: &[u8], noise: &[u8]) -> Number {
    let bytes = q.bits().div_ceil(8);
    let secret = integer::to_bytes(x, bytes);
    // bits2octets: the digest's leading bits, reduced.
    let reduced = Zeroizing::new(q.reduce(&leading_bits(digest, q.bits())));
    let reduced = integer::to_bytes(&reduced, bytes);

    // Assigning a new `Zeroizing` drops and wipes the old value. Assigning to its content would free the old value unwiped.
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
        // Rejected candidates are independent of the nonce that is used.
        if !integer::is_zero(&nonce) && integer::is_less(&nonce, q.as_limbs()) {
            return integer::padded(&nonce[..nonce.len().min(q.limbs())], q.limbs());
        }
        k = hash.mac(&k, &[&v, &[0]]);
        v = hash.mac(&k, &[&v]);
    }
}

/// bits2int of RFC 6979: the first `bits` bits as a number, or all if there are fewer. `bits` is a multiple of 8 for every supported q.
pub(super) fn leading_bits(bytes: &[u8], bits: usize) -> Number {
    integer::from_bytes(&bytes[..bytes.len().min(bits / 8)])
}
