//! The hash functions of the schemes, all from `sha2`.

use std::io::{self, Read};

use hmac::digest::{FixedOutput, Output};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256, Sha384, Sha512};
use zeroize::Zeroizing;

/// Bytes of a file that are read at a time.
const BUFFER_BYTES: usize = 256 * 1024;

/// A hash function of FIPS 180-4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hash {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Hash {
    /// Length of a digest in bytes.
    #[must_use]
    pub const fn digest_bytes(self) -> usize {
        match self {
            Hash::Sha256 => 32,
            Hash::Sha384 => 48,
            Hash::Sha512 => 64,
        }
    }

    /// Hashes a message.
    #[must_use]
    pub fn digest(self, message: &[u8]) -> Vec<u8> {
        self.digest_parts(&[message])
    }

    /// Hashes the concatenation of the parts.
    pub(crate) fn digest_parts(self, parts: &[&[u8]]) -> Vec<u8> {
        let mut hasher = self.hasher();
        parts.iter().for_each(|part| hasher.update(part));
        hasher.finish()
    }

    /// Hashes the rest of `input`.
    ///
    /// # Errors
    /// The errors of reading.
    pub fn digest_reader(self, mut input: impl Read) -> io::Result<Vec<u8>> {
        let mut hasher = self.hasher();
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            match input.read(&mut buffer) {
                Ok(0) => return Ok(hasher.finish()),
                Ok(bytes) => hasher.update(&buffer[..bytes]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Starts to hash a message in pieces.
    #[must_use]
    pub fn hasher(self) -> Hasher {
        Hasher(match self {
            Hash::Sha256 => State::Sha256(Sha256::new()),
            Hash::Sha384 => State::Sha384(Sha384::new()),
            Hash::Sha512 => State::Sha512(Sha512::new()),
        })
    }

    /// HMAC of the concatenated parts (RFC 2104). It is wiped when it is dropped.
    pub(crate) fn mac(self, key: &[u8], parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
        fn mac<M: Mac + KeyInit + FixedOutput>(key: &[u8], parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
            let mut mac = <M as KeyInit>::new_from_slice(key).expect("HMAC takes keys of every length");
            parts.iter().for_each(|part| Mac::update(&mut mac, part));
            // Written directly to its destination: a returned value would leave copies behind.
            let mut code = Zeroizing::new(vec![0; M::output_size()]);
            let output: &mut Output<M> = code.as_mut_slice().try_into().expect("as long as the output");
            mac.finalize_into(output);
            code
        }
        match self {
            Hash::Sha256 => mac::<Hmac<Sha256>>(key, parts),
            Hash::Sha384 => mac::<Hmac<Sha384>>(key, parts),
            Hash::Sha512 => mac::<Hmac<Sha512>>(key, parts),
        }
    }
}

/// A hash of a message in pieces.
#[derive(Clone, Debug)]
pub struct Hasher(State);

#[derive(Clone, Debug)]
enum State {
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

impl Hasher {
    /// Adds the next piece of the message.
    pub fn update(&mut self, piece: &[u8]) {
        match &mut self.0 {
            State::Sha256(state) => state.update(piece),
            State::Sha384(state) => state.update(piece),
            State::Sha512(state) => state.update(piece),
        }
    }

    /// Returns the digest of all pieces.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        match self.0 {
            State::Sha256(state) => state.finalize().to_vec(),
            State::Sha384(state) => state.finalize().to_vec(),
            State::Sha512(state) => state.finalize().to_vec(),
        }
    }
}
