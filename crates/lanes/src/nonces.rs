//! The search for repeated nonces, for callers that have not created jobs yet.

use std::collections::{HashSet, TryReserveError};
use std::hash::{BuildHasherDefault, Hash, Hasher};

use tress_cipher::lanes::ccm::nonce_hash;

/// A key, identified by its address, and a nonce of up to 15 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NonceOfKey(pub(crate) usize, pub(crate) u128);

impl Hash for NonceOfKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(nonce_hash(self.0, self.1));
    }
}

impl NonceOfKey {
    /// Combines the key at `key` with a nonce. Only the first 15 bytes of longer nonces count.
    pub fn new<T>(key: *const T, nonce: &[u8]) -> Self {
        let nonce = &nonce[..nonce.len().min(15)];
        let number = match (nonce.first_chunk(), nonce.last_chunk()) {
            // The first and the last eight bytes, which overlap, in registers.
            (Some(first), Some(last)) => {
                let high = u64::from_be_bytes(*first) >> 8 >> (8 * (15 - nonce.len()));
                u128::from(high) << 64 | u128::from(u64::from_be_bytes(*last))
            }
            _ => nonce.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)),
        };
        Self(key.addr(), (nonce.len() as u128) << 120 | number)
    }
}

/// The index of the first nonce that is equal to an earlier one, or `None`. Sorted nonces take one comparison each, others about 10 ns.
///
/// ```
/// use tress_lanes::{NonceOfKey, repeated_nonce};
///
/// let (key, nonces) = ([7; 16], [[1; 12], [2; 12], [1; 12]]);
/// let pairs = nonces.iter().map(|nonce| NonceOfKey::new(&key, nonce));
/// assert_eq!(repeated_nonce(pairs)?, Some(2));
/// # Ok::<(), std::collections::TryReserveError>(())
/// ```
///
/// # Errors
/// If there is not enough memory.
pub fn repeated_nonce(of: impl Iterator<Item = NonceOfKey> + Clone) -> Result<Option<usize>, TryReserveError> {
    if of.clone().is_sorted_by(|a, b| a < b) {
        return Ok(None);
    }
    let mut seen = HashSet::<NonceOfKey, BuildHasherDefault<NonceHasher>>::default();
    seen.try_reserve(of.size_hint().0)?;
    for (index, nonce) in of.enumerate() {
        seen.try_reserve(1)?;
        if !seen.insert(nonce) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Hands on [`nonce_hash`], for tables that take their lowest bits.
#[derive(Default)]
pub(crate) struct NonceHasher(u64);

impl Hasher for NonceHasher {
    fn write(&mut self, _: &[u8]) {
        unreachable!("`NonceOfKey` writes one number");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash ^ hash >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
