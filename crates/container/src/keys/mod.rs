//! Who may open a container: recipients and identities of every kind that age has, passphrases, raw key files, and the
//! key pairs that `tress keygen` makes.

mod address;
mod ask;
mod identities;
mod list;
mod pair;
mod passphrase;
mod raw;
mod recipients;

pub use address::{Address, Recipient};
pub use ask::Ask;
pub use identities::Identities;
pub use pair::KeyPair;
pub use passphrase::{MAX_WORK_FACTOR, WORK_FACTOR};
pub use raw::{RawKey, key_file};
pub use recipients::Recipients;

/// Longest file of recipients or identities that is read, in bytes.
const MAX_KEY_LIST_BYTES: u64 = 1 << 20;
