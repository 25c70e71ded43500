//! Changes the recipients of a container whose payload is stored elsewhere.

use std::io::Read;

use super::Head;
use crate::Error;
use crate::format::Header;
use crate::keys::{Identities, Recipients};

/// The new first bytes of a container, for other recipients.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewHead {
    /// Number of bytes at the start of the container that the new ones replace.
    pub old_bytes: u64,
    /// The new bytes. Their length is a multiple of 4096, as is `old_bytes`.
    pub head: Vec<u8>,
}

/// Reads the first bytes of a container (69 KiB at most), opens it with `identities`, and makes a header for `recipients` instead. The
/// payload is unchanged. This is not a revocation: anyone who could open the container before may have kept its key.
///
/// # Errors
/// The errors of [`Header::read`], [`Header::open`] and [`Header::seal`]; `Commitment`; `Truncated`; `Io` of the container.
pub fn rewrap_head(
    container: &mut dyn Read,
    identities: &Identities,
    recipients: &Recipients,
) -> Result<NewHead, Error> {
    let head = Head::read(container, identities)?;
    Ok(NewHead { old_bytes: head.header_bytes, head: Header::seal(&head.content, recipients)? })
}
