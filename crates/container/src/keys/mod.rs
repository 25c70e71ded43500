//! Recipients and identities: all of age's types, passphrases, raw key files, and the key pairs that `tress keygen` makes.

mod address;
mod ask;
mod cobblestone;
mod identities;
mod lines;
mod list;
mod pair;
mod passphrase;
mod post_quantum;
mod raw;
mod recipients;
#[cfg(feature = "ssh")]
mod ssh;

pub use address::{Address, Recipient};
pub use ask::Ask;
pub use cobblestone::CobblestoneKey;
pub use identities::Identities;
#[doc(hidden)]
pub use lines::{OLD_PEM, encoding_fault, key_lines, read_key_file};
pub use pair::KeyPair;
#[doc(hidden)]
pub use passphrase::other_forms;
pub use passphrase::{LARGEST_WORK_FACTOR, MAX_WORK_FACTOR, WORK_FACTOR};
pub use post_quantum::{PostQuantumIdentity, PostQuantumRecipient};
pub use raw::{RawKey, key_file};
pub use recipients::Recipients;

/// Longest accepted file of recipients or identities, in bytes.
const MAX_KEY_LIST_BYTES: usize = 1 << 20;
