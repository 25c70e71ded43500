//! RSA, DSA and Schnorr signatures, made and checked many at a time.
//!
//! - [`KeyFile`] reads keys (PKCS #1, PKCS #8, SubjectPublicKeyInfo; PEM or DER), [`PrivateKey`] and [`PublicKey`] write
//!   them; `rsa::PrivateKey::generate` and `discrete::PrivateKey::generate` make new ones.
//! - [`SigningKey`] and [`VerifyingKey`] are a key and a [`Scheme`], with the traits of the crate `signature`.
//! - [`sign_batch`] and [`verify_batch`] take digests under any mix of keys: eight exponentiations run side by side where
//!   the processor has AVX-512 IFMA. [`Queue`] collects single requests into batches.
//!
//! ```
//! use tress_sign::{Hash, PrivateKey, Scheme, SigningKey, discrete};
//! use tress_sign::signature::{Keypair, Signer, Verifier};
//!
//! let key = discrete::PrivateKey::generate(discrete::GroupSize::Bits2048)?;
//! let key = SigningKey::new(PrivateKey::Schnorr(key), Scheme::Schnorr)?;
//! let signature = key.try_sign(b"eight lanes")?;
//! key.verifying_key().verify(b"eight lanes", &signature)?;
//!
//! let digests = [b"one", b"two"].map(|message| Hash::Sha256.digest(message));
//! assert!(key.sign_digests(&digests).iter().all(Result::is_ok));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/signatures.md` says what is signed, how, and what was left out.
#![forbid(unsafe_code)]

mod asn1;
mod batch;
pub mod discrete;
mod error;
mod hash;
#[cfg(test)]
mod inside_test;
mod integer;
mod key;
mod queue;
mod random;
pub mod rsa;
mod scheme;

// The tests' reader of vectors names the crate.
#[cfg(test)]
extern crate self as tress_sign;

pub use batch::{SignJob, VerifyJob, sign_batch, verify_batch};
pub use error::Error;
pub use hash::{Hash, Hasher};
pub use key::{EncryptedKey, KeyFile, PrivateKey, PublicKey};
pub use queue::{Pending, Queue, QueueOptions};
pub use scheme::{Scheme, Signature, SigningKey, VerifyingKey};
pub use signature;
