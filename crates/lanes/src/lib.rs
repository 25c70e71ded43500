#![doc = include_str!("../README.md")]

pub mod ccm;
mod groups;
mod nonces;
mod pool;
#[cfg(test)]
mod tests;

pub use nonces::{NonceOfKey, repeated};
pub use pool::{MAX_THREADS, Pool};
