//! Other recipients for a container whose payload is elsewhere.

use std::io::{self, Read};

use crate::container::{Header, PREFIX_BYTES, Payload};
use crate::{Error, ErrorKind};

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
    identities: &[Box<dyn age::Identity>],
    recipients: &[Box<dyn age::Recipient + Send>],
) -> Result<NewHead, Error> {
    let header = Header::read(container)?;
    let mut prefix = [0; PREFIX_BYTES];
    container.read_exact(&mut prefix).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => ErrorKind::Truncated.into(),
        _ => Error::from(error),
    })?;
    let content = header.open(identities)?;
    Payload::open(&content, &prefix)?;
    Ok(NewHead { old_bytes: header.header_bytes(), head: Header::seal(&content, recipients)? })
}
