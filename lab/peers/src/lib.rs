//! All calls into other libraries with which Tress is compared.
//!
//! - [`aws_lc_rs`] and [`ring`]: the crates of these names, in builds with the features of these names.
//! - [`gcrypt`]: libgcrypt, through its C interface.
//! - [`openssl`]: libcrypto 3 through its EVP interface.
//! - [`ipsec_mb`]: Intel's multi-buffer library, version 1.3, 2.0 or 3.0.
//! - [`cryptopp`]: RC6 of Crypto++.
//! - [`crypto_bigint`]: powers of the crate of that name.
//! - [`gmp`]: products and powers of GMP.
//! - [`openssl_signatures`]: signatures of libcrypto.
//! - [`pipo`]: the crate of that name.
//! - `pthread`: the barrier of the C library, on Linux.
//! - [`rsa`]: the crate of that name, version 0.9.
//! - [`rustcrypto`]: the crates of RustCrypto, at the versions of this build.
//! - [`clock`]: a count of core cycles, for all measurements.
//! - [`roofline`]: loops that keep one part of the processor busy, which measure the rooflines.
//!
//! The C libraries are opened at run time. If one is not installed, the error [`Missing`] says how to install it, so
//! that no library is needed to build or test Tress. Every peer is used in the fastest way that its documentation
//! describes: keys are set once, and a message only costs its nonce and its data.
#![allow(missing_docs, reason = "only this repository uses the crate, and most names say it")]

pub mod aws_lc_rs;
pub mod clock;
pub mod crypto_bigint;
pub mod cryptopp;
mod error;
#[cfg(any(feature = "aws-lc-rs", feature = "ring"))]
mod gcm;
pub mod gcrypt;
pub mod gmp;
pub mod ipsec_mb;
mod library;
pub mod openssl;
pub mod openssl_signatures;
pub mod pipo;
#[cfg(target_os = "linux")]
pub mod pthread;
pub mod ring;
pub mod roofline;
pub mod rsa;
pub mod rustcrypto;

pub use error::{Error, Missing};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Encrypt,
    Decrypt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Electronic codebook, without padding.
    Ecb,
    /// Cipher block chaining, without padding.
    Cbc,
    /// Counter mode over a big-endian counter of a whole block.
    Ctr,
    /// Counter with CBC-MAC, with nonces of 12 bytes and tags of 16.
    Ccm,
    /// Galois counter mode, with the same lengths; encryption only.
    Gcm,
}

impl Mode {
    fn has_tag(self) -> bool {
        matches!(self, Mode::Ccm | Mode::Gcm)
    }

    /// Checks the lengths of a message for a cipher with blocks of 16 bytes.
    fn check(self, iv: &[u8], bytes: usize, tag_bytes: usize) -> Result<(), Error> {
        let is_right = match self {
            Mode::Ecb => iv.is_empty() && bytes.is_multiple_of(16),
            Mode::Cbc => iv.len() == 16 && bytes.is_multiple_of(16),
            Mode::Ctr => iv.len() == 16,
            Mode::Ccm | Mode::Gcm => iv.len() == NONCE_BYTES && tag_bytes == TAG_BYTES,
        };
        if is_right { Ok(()) } else { Err(Error::Length) }
    }
}

pub const NONCE_BYTES: usize = 12;
pub const TAG_BYTES: usize = 16;

/// A cipher of a peer in one mode and direction.
pub trait PeerCipher {
    /// Sets a key, for AES and RC6 of 16, 24 or 32 bytes.
    fn new(mode: Mode, direction: Direction, key: &[u8]) -> Result<Self, Error>
    where
        Self: Sized;

    /// Encrypts or decrypts one message in place. `iv` is a block, a nonce, or empty in ECB. Only CCM and GCM use the tag:
    /// encryption writes it, decryption compares it.
    fn apply(&mut self, iv: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error>;
}

/// A key of a peer that signs and verifies with SHA-256. Most libraries take the digest, some the message.
pub trait PeerKey {
    /// Reads a private key, PKCS #8 in DER.
    fn new(der: &[u8]) -> Result<Self, Error>
    where
        Self: Sized;

    /// Replaces the contents of `signature`.
    fn sign(&mut self, message: &[u8], digest: &[u8; 32], signature: &mut Vec<u8>) -> Result<(), Error>;

    fn verify(&mut self, message: &[u8], digest: &[u8; 32], signature: &[u8]) -> Result<(), Error>;
}

/// A library with which Tress is compared, installed or not.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The name in `tress bench --against`.
    pub name: &'static str,
    /// Its version, or how to install it.
    pub version: Result<String, Missing>,
}

pub fn list() -> Vec<Peer> {
    vec![
        Peer { name: aws_lc_rs::NAME, version: aws_lc_rs::version() },
        Peer { name: crypto_bigint::NAME, version: Ok(crypto_bigint::version()) },
        Peer { name: cryptopp::NAME, version: cryptopp::version() },
        Peer { name: gmp::NAME, version: gmp::version() },
        Peer { name: ipsec_mb::NAME, version: ipsec_mb::version() },
        Peer { name: gcrypt::NAME, version: gcrypt::version() },
        Peer { name: openssl::NAME, version: openssl::version() },
        Peer { name: pipo::NAME, version: Ok(pipo::version()) },
        Peer { name: ring::NAME, version: ring::version() },
        Peer { name: rsa::NAME, version: Ok(rsa::version()) },
        Peer { name: rustcrypto::NAME, version: Ok(rustcrypto::version()) },
    ]
}
