//! Other recipients for a container whose payload is elsewhere.

use std::io::Read;

use super::Head;
use crate::Error;
use crate::container::Header;
use crate::keys::{Identities, Recipients};

/// The first bytes of a container for other recipients.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewHead {
    /// How many bytes of the container these take the place of.
    pub old_bytes: u64,
    /// The new ones; a multiple of 4096, as the old ones are.
    pub head: Vec<u8>,
}

/// Reads the first bytes of a container (69 KiB at most), opens it with `identities`, and makes a header for `recipients`
/// instead. The payload stays as it is. Who could open the container before may have kept its key: this is no revocation.
///
/// # Errors
/// As [`Header::read`], [`Header::open`] and [`Header::seal`]; `Commitment`; `Truncated`; `Io` of the container.
pub fn rewrap_head(
    container: &mut dyn Read,
    identities: &Identities,
    recipients: &Recipients,
) -> Result<NewHead, Error> {
    let head = Head::read(container, identities)?;
    Ok(NewHead { old_bytes: head.header_bytes, head: Header::seal(&head.content, recipients)? })
}
