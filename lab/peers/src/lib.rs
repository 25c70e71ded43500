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
    /// Counter with CBC-MAC. Types for messages without tags reject it.
    Ccm,
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
