//! Many messages at once: every message is a lane, a chain of its own in a slot of a vector register.
//!
//! | engine | slots in a register | registers of lanes | lanes |
//! |---|---|---|---|
//! | `vaes512` | 4 | 8 | 32 |
//! | `vaes256` | 2 | 4 | 8 |
//! | `aesni` | 1 | 4 | 4 |
//! | `arm-aes` | 1 | 8 | 8 |
//! | `portable` | 16 | 1 | 16 |
//!
//! These are for blocks of 128 bits. Of larger ones `vaes512` has 16 or 24 lanes, `arm-aes` 4, `portable` 8.
//!
//! RC6 has 64 lanes (`avx512`), 32 (`avx2`), 16 (`neon`) or 4 (`portable`): a vector of it is four registers of words.
//!
//! PIPO, whose registers hold a row of many blocks, has 64 lanes (`gfni512`), 32 (`avx2`) or 16 (`neon`, `portable`).
//!
//! Jobs may have any mix of lengths, keys and key sizes, in any number. A lane takes the next job as soon as its message
//! ends. Jobs with the same key are quicker than jobs with a key each, and long ones quicker than short ones.
//!
//! Buffers whose distance is a large power of two fall into the same sets of the first cache and halve the rate; chunks
//! in the layout of the container (16,384 bytes and a tag) do not.

mod aead;
pub mod cbc;
pub mod ccm;
mod kernel;
mod nonces;
mod schedule;

pub use aead::Aead;
