#![doc = include_str!("../README.md")]

mod aead;
pub mod ccm;
mod filler;
#[cfg(test)]
mod filler_test;
pub mod fork;
#[cfg(all(test, unix))]
mod fork_test;
mod groups;
mod nonces;
mod pool;
#[cfg(all(test, target_os = "linux"))]
mod stack_test;
#[cfg(test)]
mod tests;

pub use aead::{open, seal};
pub use filler::{AeadPacket, CcmPacket, Filler, FillerJob, FillerOptions, LocalFiller, Refused};
pub use nonces::{NonceOfKey, repeated_nonce};
pub use pool::{MAX_THREADS, Pool, STACK_BYTES, wipe_stack};
