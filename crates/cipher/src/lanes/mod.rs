//! Many messages in parallel: every message is a lane, an independent chain in one slot of a vector register.
//!
//! | backend | slots in a register | registers of lanes | lanes |
//! |---|---|---|---|
//! | `vaes512` | 4 | 4, or 2 for few messages; 8 with AVX-VNNI | 16, 8 or 32 |
//! | `vaes256` | 2 | 4 | 8 |
//! | `aesni` | 1 | 4 | 4 |
//! | `arm-aes` | 1 | 8 | 8 |
//! | `portable` | 16 | 1 | 16 |
//!
//! The table is for blocks of 128 bits. For larger blocks `vaes512` has 16 or 24 lanes, `arm-aes` 4, `portable` 8.
//!
//! RC6 has 64 lanes (`avx512`), 32 (`avx2`), 16 (`neon`) or 4 (`portable`): its vectors are four registers of words. LEA has
//! half as many: 32, 16, 8, and 4 (`portable`).
//!
//! PIPO has 64 lanes (`gfni512`), 32 (`avx2`) or 16 (`neon`, `portable`): each of its registers holds one row of many blocks.
//!
//! A batch may have any number of jobs, with any mix of lengths, keys and key lengths. A lane takes the next job as soon as its message
//! ends. Jobs that share a key run at a higher rate than jobs with a key each, and long messages at a higher rate than short ones.
//!
//! Buffers at a distance of a large power of two share the same sets of the first-level cache, which halves the rate. Chunks of a
//! container (16,384 bytes and a tag) do not.

mod aead;
pub mod cbc;
pub mod ccm;
mod kernel;
mod nonces;
mod schedule;
#[cfg(any(feature = "chacha20poly1305", feature = "gcm"))]
mod serial;

pub use aead::{Aead, AeadJob};
#[cfg(any(feature = "chacha20poly1305", feature = "gcm"))]
pub use serial::SerialJob;
