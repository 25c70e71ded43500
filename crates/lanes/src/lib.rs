#![doc = include_str!("../README.md")]

pub mod ccm;
mod groups;
mod pool;
#[cfg(test)]
mod tests;

pub use pool::{MAX_THREADS, Pool};
