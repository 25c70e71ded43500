#![doc = include_str!("../README.md")]
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

// The test vectors' module, which the integration tests share, refers to the crate by this name.
#[cfg(test)]
extern crate self as tress_sign;

pub use batch::{SignJob, VerifyJob, sign_batch, verify_batch};
pub use error::{Error, UnsupportedKey};
pub use hash::{Hash, Hasher};
pub use key::{EncryptedKey, KeyFile, PrivateKey, PublicKey};
pub use queue::{Pending, Queue, QueueOptions};
pub use scheme::{Scheme, Signature, SigningKey, VerifyingKey};
pub use signature;
