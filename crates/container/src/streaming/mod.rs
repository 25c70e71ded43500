//! Containers that are no files: pushed through piece by piece, streams, read at any place, or whole in memory.
//!
//! - [`Encryptor`] and [`Decryptor`] take pieces of any length and append what they make of them; memory is one batch.
//! - [`EncryptWriter`] and [`DecryptReader`] are `Write` and `Read` around them, for `io::copy` and for whatever takes a stream.
//! - [`Reader`] is `Read` and `Seek` over the plaintext of whatever is `Read` and `Seek` itself.
//! - [`RangeReader`] reads ranges of the plaintext through a shared reference, from several threads at once, of whatever is [`ReadAt`].
//! - [`encrypt_bytes`] and [`decrypt_bytes`] do a whole container; [`Sealing`] and [`Opening`] the same into buffers of the
//!   caller.
//! - [`rewrap_head`] makes a container's new header where only its first bytes are at hand.
//!
//! In async code use [`Encryptor`] and [`Decryptor`]: they do no input or output, so the program reads and writes as its runtime does and
//! passes the bytes to `push`. A `push` returns when up to one batch is computed. With more than one thread it starts threads and
//! waits for them, so with a large batch it belongs where the runtime allows blocking.
//!
//! What is here opens no file. Files and folders are [`commands`](crate::commands), which overlap reading, computing and
//! writing.
//!
//! ```
//! use tress_container::Threads;
//! use tress_container::keys::{Identities, KeyPair};
//! use tress_container::streaming::{Encryptor, decrypt_bytes};
//! use tress_container::commands::EncryptOptions;
//!
//! let key = KeyPair::generate()?;
//! let mut encryptor = Encryptor::new(&key.recipient().into(), &EncryptOptions::default())?;
//! let mut container = Vec::new();
//! for piece in [&b"lanes "[..], b"side ", b"by side"] {
//!     encryptor.push(piece, &mut container)?;
//! }
//! encryptor.finish(&mut container)?;
//!
//! let plain = decrypt_bytes(&container, &Identities::from(&key), Threads::ONE)?;
//! assert_eq!(plain, b"lanes side by side");
//! # Ok::<(), tress_container::Error>(())
//! ```

mod adapters;
#[cfg(test)]
mod adapters_tests;
mod decryptor;
mod encryptor;
mod head;
mod parallel;
mod range_reader;
mod reader;
mod rewrap;
#[cfg(test)]
mod tests;
mod whole;

pub use adapters::{DecryptReader, EncryptWriter};
pub use decryptor::Decryptor;
pub use encryptor::Encryptor;
pub use range_reader::{RangeReader, ReadAt};
pub use reader::Reader;
pub use rewrap::{NewHead, rewrap_head};
pub use whole::{Opening, Sealing, decrypt_bytes, encrypt_bytes};

use head::Head;

use crate::container::{CHUNK_BYTES, SEALED_CHUNK_BYTES};

/// Chunks that one thread does at a time: as many as the widest engine has lanes, and few enough for the second cache.
const BATCH_CHUNKS: usize = 32;
/// Plaintext of such a batch, and what it becomes.
const BATCH_BYTES: usize = BATCH_CHUNKS * CHUNK_BYTES;
const SEALED_BATCH_BYTES: usize = BATCH_CHUNKS * SEALED_CHUNK_BYTES;
