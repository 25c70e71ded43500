//! Containers that are not files: processed piece by piece, as streams, at any offset, or whole in memory.
//!
//! - [`Encryptor`] and [`Decryptor`] take pieces of any length and append their output; they hold up to one batch.
//! - [`EncryptWriter`] and [`DecryptReader`] wrap them as `Write` and `Read`, for `io::copy` and everything else that takes a stream.
//! - [`Reader`] provides `Read` and `Seek` over the plaintext of a container that has `Read` and `Seek`.
//! - [`RangeReader`] reads ranges of the plaintext through a shared reference, from several threads, of any source with [`ReadAt`].
//! - [`encrypt_bytes`] and [`decrypt_bytes`] process a whole container; [`WholeEncryptor`] and [`WholeDecryptor`] do so in buffers of the
//!   caller.
//! - [`rewrap_head`] makes a new header from the container's first bytes.
//!
//! In async code use [`Encryptor`] and [`Decryptor`]: they do no input or output. The program reads and writes with its runtime, and
//! passes the bytes to `push`. A `push` collects bytes until they fill a batch, and then processes the batch before it returns; it
//! processes a piece that is longer than a batch in the same call. With more than one thread it starts threads and waits for them. So with
//! large batches or pieces, call it where the runtime allows blocking.
//!
//! This module opens no files. For files and folders use [`commands`](crate::commands), which overlap reading, computing and writing.
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
mod decryptor;
mod encryptor;
mod parallel;
mod range_reader;
mod reader;
mod rewrap;
mod whole;

pub use adapters::{DecryptReader, EncryptWriter};
pub use decryptor::Decryptor;
pub use encryptor::Encryptor;
pub use range_reader::{OffsetFile, RangeReader, ReadAt};
pub use reader::Reader;
pub(crate) use reader::Window;
pub use rewrap::{NewHead, rewrap_head};
pub use whole::{WholeDecryptor, WholeEncryptor, decrypt_bytes, encrypt_bytes};
