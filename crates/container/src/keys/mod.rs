//! Who may open a container: recipients and identities of every kind that age has, passphrases, raw key files, and the
//! key pairs that `tress keygen` makes.

mod address;
mod identities;
mod pair;
mod passphrase;
mod raw;
mod recipients;

pub use address::Address;
pub use identities::{identities_file, identities_file_with};
pub use pair::KeyPair;
pub use passphrase::{
    MAX_WORK_FACTOR, WORK_FACTOR, passphrase_file, passphrase_identity, passphrase_identity_up_to,
    passphrase_recipient, passphrase_recipient_with_work_factor,
};
pub use raw::{RawKey, key_file};
pub use recipients::{recipient, recipients_file};

/// Longest file of recipients or identities that is read, in bytes.
const MAX_KEY_LIST_BYTES: u64 = 1 << 20;
