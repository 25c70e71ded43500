//! Changes the recipients of a container whose payload is stored elsewhere.

use std::io::Read;

use crate::Error;
use crate::format::{Head, SealedReader};
use crate::keys::{Identities, Recipients};

/// The new first bytes of a container, for other recipients.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewHead {
    /// Number of bytes at the start of the file that the new ones replace.
    pub old_bytes: u64,
    /// The new bytes. For a container their length is a multiple of 4096, as is `old_bytes`.
    pub head: Vec<u8>,
}

/// Reads the first bytes of a file (69 KiB at most of a container, 2 MiB of an age file), opens it with `identities`, and makes a header
/// for `recipients` instead. The payload is unchanged. This is not a revocation: anyone who could open the file before may have kept its
/// key. The file is not armored.
///
/// # Errors
/// The errors of [`Header::read`](crate::format::Header::read), [`Header::open`](crate::format::Header::open) and
/// [`Header::seal`](crate::format::Header::seal); `Commitment`; `Truncated`; `OtherFormat`; `Io` of the file.
pub fn rewrap_head(file: &mut dyn Read, identities: &Identities, recipients: &Recipients) -> Result<NewHead, Error> {
    let head = Head::read(&mut SealedReader::new(file, false), identities.format())?;
    let opened = head.open(identities)?;
    Ok(NewHead { old_bytes: head.header_bytes(), head: head.rewrapped(&opened.content, recipients)? })
}
