//! Lanes over cores: many messages at once, on threads that wait for the next batch.
//!
//! `tress_cipher::lanes` encrypts many messages side by side on one core. This crate divides a batch of them among cores.
//!
//! - [`ccm::Batch`]: CCM messages of one type of cipher, with any keys.
//! - [`Pool`]: the threads. [`Pool::shared`] is one for the whole process; [`Pool::for_each_group`] divides other work.
//!
//! ```
//! use tress_cipher::aes::Aes;
//! use tress_lanes::{Pool, ccm::Batch};
//!
//! let cipher = Aes::new(&[7; 16])?;
//! let mut packets = vec![([0; 600], [0; 16]); 1000];
//! let mut batch = Batch::new();
//! for (number, (data, tag)) in packets.iter_mut().enumerate() {
//!     let mut nonce = [0; 12];
//!     nonce[..8].copy_from_slice(&number.to_be_bytes());
//!     batch.push(&cipher, &nonce, b"", data, tag)?;
//! }
//! batch.encrypt(Pool::shared(), 0);
//! # Ok::<(), tress_cipher::Error>(())
//! ```

pub mod ccm;
mod groups;
mod pool;
#[cfg(test)]
mod tests;

pub use pool::{MAX_THREADS, Pool};
